// SPDX-License-Identifier: Apache-2.0
/// A file's bytes, gzip or plain (told by its first two bytes, 1f 8b), read in pieces: memory is
/// bounded whatever the file holds. Gzip data that inflates out of proportion to the file is refused.
/// Errors: ConfigError with the file: it cannot be read, is a folder, or its gzip data is cut off or
/// damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// zlib's handle; its header stays out of ours.
struct gzFile_s;

namespace sluice::chakra {

class ByteSource {
  public:
    explicit ByteSource(const std::string& path);
    ~ByteSource();
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    /// Fills `into` with up to `size` bytes; fewer only at the end of the file.
    std::size_t read(char* into, std::size_t size);

    const std::string& path() const { return path_; }

  private:
    std::string path_;
    gzFile_s* file_ = nullptr;
    std::uint64_t read_ = 0;
    std::uint64_t most_ = 0;  ///< bytes of gzip data, by the file's size
};

/// A whole text file. ConfigError if it holds more than `most` bytes.
std::string read_text(const std::string& path, std::size_t most);

/// The line, from 1, of the byte before `offset`.
int line_at(const std::string& text, std::size_t offset);

}  // namespace sluice::chakra
