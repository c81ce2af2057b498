// SPDX-License-Identifier: Apache-2.0
#include "restore/bytes.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/checksum.h"
#include "core/error.h"

namespace sluice::restore {

namespace fs = std::filesystem;

std::string read_file(const std::string& path, std::size_t most) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
        throw ConfigError(path, 0, fs::exists(path, error) ? "is not a file" : "does not exist");
    }
    const auto size = fs::file_size(path, error);
    if (error) throw ConfigError(path, 0, "cannot be read: " + error.message());
    if (size > most) {
        throw ConfigError(path, 0,
                          "has " + std::to_string(size) + " bytes; at most " +
                              std::to_string(most) + " are possible");
    }
    std::ifstream in(path, std::ios::binary);
    std::string bytes(size, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(size));
    if (!in) throw ConfigError(path, 0, "cannot be read");
    return bytes;
}

void append_float(std::string& bytes, float value) {
    std::uint32_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    append_word(bytes, word);
}

std::string_view ByteReader::take(std::size_t count) {
    require(count <= bytes_.size(), "is cut short");
    const std::string_view front = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return front;
}

std::vector<float> ByteReader::floats(std::size_t count) {
    std::vector<float> values;
    for (const std::uint32_t bits : words<std::uint32_t>(count)) {
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        require(std::isfinite(value), "has a weight that is not a finite number");
        values.push_back(value);
    }
    return values;
}

void ByteReader::require(bool good, const std::string& what) const {
    if (!good) throw ConfigError(path_, 0, what);
}

Framed open_frame(std::string_view bytes, const std::string& path, std::string_view magic,
                  std::uint32_t version, const std::string& kind, std::size_t most_header) {
    ByteReader reader(bytes, path);
    reader.require(bytes.substr(0, magic.size()) == magic, "is no " + kind);
    reader.take(magic.size());
    const auto found = reader.word<std::uint32_t>();
    reader.require(found == version, "is a " + kind + " of version " + std::to_string(found) +
                                         "; this build reads version " + std::to_string(version));
    const auto length = reader.word<std::uint32_t>();
    reader.require(length <= most_header, "has a header of " + std::to_string(length) +
                                              " bytes; at most " + std::to_string(most_header));
    const std::string_view header = reader.take(length);
    reader.require(reader.left() >= sizeof(std::uint64_t), "is cut short");
    const std::size_t sum_at = bytes.size() - sizeof(std::uint64_t);
    ByteReader sum(bytes.substr(sum_at), path);
    reader.require(sum.word<std::uint64_t>() == checksum(bytes.substr(0, sum_at)),
                   "is damaged or cut short: its checksum does not match");
    return {header, ByteReader(reader.take(reader.left() - sizeof(std::uint64_t)), path)};
}

}  // namespace sluice::restore
