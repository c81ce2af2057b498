// SPDX-License-Identifier: Apache-2.0
/// Little-endian words in files of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::restore {

/// The whole file; ConfigError "PATH: ..." if it cannot be read, is no plain file, or has more bytes.
std::string read_file(const std::string& path, std::size_t most);

template <typename Word>
void append_word(std::string& bytes, Word word) {
    for (std::size_t i = 0; i < sizeof(Word); ++i) {
        bytes += static_cast<char>(static_cast<std::uint64_t>(word) >> (8 * i) & 0xff);
    }
}
void append_float(std::string& bytes, float value);

/// Takes words from the front. What is not there is a ConfigError "PATH: is cut short".
class ByteReader {
  public:
    ByteReader(std::string_view bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}

    std::string_view take(std::size_t count);
    template <typename Word>
    Word word() {
        const std::string_view bytes = take(sizeof(Word));
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(Word); ++i) {
            value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
        }
        return static_cast<Word>(value);
    }
    template <typename Word>
    std::vector<Word> words(std::size_t count) {
        require(count <= bytes_.size() / sizeof(Word), "is cut short");
        std::vector<Word> all;
        all.reserve(count);
        for (std::size_t i = 0; i < count; ++i) all.push_back(word<Word>());
        return all;
    }
    /// ConfigError if one is not finite.
    std::vector<float> floats(std::size_t count);
    std::size_t left() const { return bytes_.size(); }
    /// ConfigError "PATH: WHAT" unless `good`.
    void require(bool good, const std::string& what) const;

  private:
    std::string_view bytes_;
    std::string path_;
};

/// What both formats begin and end with: `magic`, `version`, a JSON header, then a body, and a checksum over
/// all. Returns a reader of the body. ConfigError "PATH: is no KIND", "... version ...", "... damaged".
struct Framed {
    std::string_view header;
    ByteReader body;
};
Framed open_frame(std::string_view bytes, const std::string& path, std::string_view magic,
                  std::uint32_t version, const std::string& kind, std::size_t most_header);

}  // namespace sluice::restore
