// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/text_source.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace sluice::chakra {

namespace {

constexpr unsigned kBuffer = 256 * 1024;
/// Of gzip data; traces shrink to a thirtieth.
constexpr std::uint64_t kMostInflated = std::uint64_t{16} << 20;
constexpr std::uint64_t kMostRatio = 50;

}  // namespace

ByteSource::ByteSource(const std::string& path) : path_(path) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0) {
        throw ConfigError(path + ": cannot be read: " + std::strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) throw ConfigError(path + ": is a folder, not a file");
    most_ = kMostInflated + kMostRatio * static_cast<std::uint64_t>(status.st_size);
    file_ = gzopen(path.c_str(), "rb");
    if (file_ == nullptr) throw ConfigError(path + ": cannot be read: " + std::strerror(errno));
    gzbuffer(file_, kBuffer);
}

ByteSource::~ByteSource() { gzclose_r(file_); }

std::size_t ByteSource::read(char* into, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const auto wanted = static_cast<unsigned>(std::min<std::size_t>(size - done, 1U << 30));
        const int got = gzread(file_, into + done, wanted);
        if (got > 0) {
            done += static_cast<std::size_t>(got);
            read_ += static_cast<std::uint64_t>(got);
            if (read_ > most_ && gzdirect(file_) == 0) {
                throw ConfigError(path_ + ": its gzip data holds more than " +
                                  std::to_string(most_) + " bytes, " + std::to_string(kMostRatio) +
                                  " times its size and 16 MiB: gunzip it, if that is meant");
            }
            continue;
        }
        int error = Z_OK;
        const char* text = gzerror(file_, &error);
        if (error == Z_BUF_ERROR) throw ConfigError(path_ + ": its gzip data is cut off");
        if (error == Z_ERRNO) {
            throw ConfigError(path_ + ": cannot be read: " + std::strerror(errno));
        }
        if (error != Z_OK && error != Z_STREAM_END) {
            throw ConfigError(path_ + ": its gzip data is damaged (" + text + ")");
        }
        break;
    }
    return done;
}

std::string read_text(const std::string& path, std::size_t most) {
    ByteSource source(path);
    std::string text;
    for (;;) {
        const std::size_t before = text.size();
        text.resize(before + kBuffer);
        text.resize(before + source.read(text.data() + before, kBuffer));
        if (text.size() > most) {
            throw ConfigError(path + ": holds more than " + std::to_string(most) +
                              " bytes, the most that is read");
        }
        if (text.size() < before + kBuffer) return text;
    }
}

int line_at(const std::string& text, std::size_t offset) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
    // A byte count that points behind a line's end belongs to that line.
    const auto last = end == text.begin() ? end : end - 1;
    return 1 + static_cast<int>(std::count(text.begin(), last, '\n'));
}

}  // namespace sluice::chakra
