// SPDX-License-Identifier: Apache-2.0
#include "core/results/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "core/error.h"

namespace sluice {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

[[noreturn]] void fail(const std::string& path, const std::string& action) {
    throw ConfigError(path, 0, action + ": " + std::strerror(errno));
}

std::string partial_name(const std::string& path) { return path + ".partial"; }

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
    const std::string partial = partial_name(path);
    descriptor_ = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
        fail(partial, "cannot be written");
    }
    // Emptied only once it is ours: another run may be writing it.
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(descriptor_);
        throw ConfigError(partial, 0, "another run is writing into this folder; give another one");
    }
    if (::ftruncate(descriptor_, 0) != 0) {
        const int reason = errno;
        ::close(descriptor_);
        errno = reason;
        fail(partial, "cannot be emptied");
    }
    buffer_.reserve(kBufferBytes);
}

OutputFile::~OutputFile() {
    if (descriptor_ < 0) {
        return;
    }
    const std::string partial = partial_name(path_);
    try {
        write_out();
    } catch (const ConfigError&) {
        // Nothing better to do here than to leave what the system took.
    }
    ::close(descriptor_);
    if (!worth_keeping_) {
        std::remove(partial.c_str());
    }
}

OutputFile& OutputFile::operator<<(std::string_view text) {
    worth_keeping_ = true;
    if (buffer_.size() + text.size() > kBufferBytes) {
        write_out();
    }
    buffer_ += text;
    return *this;
}

OutputFile& OutputFile::operator<<(std::int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return *this << std::string_view(digits, static_cast<std::size_t>(end - digits));
}

OutputFile& OutputFile::operator<<(char character) {
    return *this << std::string_view(&character, 1);
}

void OutputFile::preamble_done() { worth_keeping_ = false; }

void OutputFile::write_out() {
    std::size_t done = 0;
    while (done < buffer_.size()) {
        const ssize_t written = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            buffer_.erase(0, done);
            fail(partial_name(path_), "cannot be written");
        }
        done += static_cast<std::size_t>(written);
    }
    buffer_.clear();
}

void OutputFile::flush() { write_out(); }

void OutputFile::commit() {
    write_out();
    const std::string partial = partial_name(path_);
    if (std::rename(partial.c_str(), path_.c_str()) != 0) {
        fail(path_, "cannot be put in place");
    }
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) {
        fail(path_, "cannot be written");
    }
}

}  // namespace sluice
