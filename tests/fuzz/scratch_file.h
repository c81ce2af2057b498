// SPDX-License-Identifier: Apache-2.0
/// An input as a file, for what reads files only. In memory: a fuzzer writes thousands a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <system_error>

namespace sluice::fuzz {

class ScratchFile {
  public:
    /// `end`: of its name, where there are several.
    ScratchFile(const std::uint8_t* data, std::size_t size, const char* end = "")
        : path_(name() + end) {
        remove();
        std::ofstream(path_, std::ios::binary)
            .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    }
    ~ScratchFile() { remove(); }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    const std::string& path() const { return path_; }

  private:
    /// Unlike that of any other process.
    static const std::string& name() {
        static const std::string kName =
            "/dev/shm/sluice-fuzz-" + std::to_string(std::random_device{}());
        return kName;
    }
    void remove() const {
        std::error_code none;
        // A database has files beside it.
        for (const char* const end : {"", "-wal", "-shm", "-journal"}) {
            std::filesystem::remove(path_ + end, none);
        }
    }

    std::string path_;
};

}  // namespace sluice::fuzz
