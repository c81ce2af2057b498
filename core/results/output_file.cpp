// SPDX-License-Identifier: Apache-2.0
#include "core/results/output_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "core/error.h"

namespace sluice {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
/// Of a number: all digits and the sign.
constexpr std::size_t kDigits = std::numeric_limits<std::int64_t>::digits10 + 2;
/// Each means that another run has just put a file in place, or taken one away.
constexpr int kTriesToLock = 100;

[[noreturn]] void fail(const std::string& path, const std::string& action) {
    throw ConfigError(path, 0, action + ": " + std::strerror(errno));
}

[[noreturn]] void refuse_link(const std::string& path) {
    throw ConfigError(
        path, 0,
        "is a symbolic link, which is neither followed nor replaced; give the name of its target");
}

/// Closes what is not taken out of it.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return number_; }
    int take() { return std::exchange(number_, -1); }

  private:
    int number_;
};

/// No signal comes between the making of a file and the note that it is empty.
class SignalsLater {
  public:
    SignalsLater() {
        sigset_t some;
        sigemptyset(&some);
        for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&some, number);
        pthread_sigmask(SIG_BLOCK, &some, &before_);
    }
    ~SignalsLater() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsLater(const SignalsLater&) = delete;
    SignalsLater& operator=(const SignalsLater&) = delete;

  private:
    sigset_t before_{};
};

bool is_stream(mode_t mode) { return S_ISCHR(mode) || S_ISFIFO(mode); }

/// Whether the file is to be written as it stands: a device or a FIFO.
bool written_directly(const std::string& path) {
    if (path.empty()) throw ConfigError("an output file has no name");
    if (path.back() == '/') throw ConfigError(path, 0, "is the name of a folder, not of a file");
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) {
        if (errno == ENOENT) return false;
        fail(path, "cannot be written");
    }
    if (S_ISLNK(facts.st_mode)) refuse_link(path);
    if (S_ISDIR(facts.st_mode)) throw ConfigError(path, 0, "is a folder; give a file's name");
    if (S_ISREG(facts.st_mode)) return false;
    if (!is_stream(facts.st_mode)) {
        throw ConfigError(path, 0, "is neither a file, nor a character device or a FIFO");
    }
    return true;
}

/// Never waits for a FIFO's reader, never follows a link.
int open_to_write(const std::string& path, int flags) {
    const int descriptor = ::open(
        path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flags, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno == ELOOP) refuse_link(path);
    if (errno == ENXIO) throw ConfigError(path, 0, "is a FIFO or a socket that nobody reads");
    fail(path, "cannot be written");
}

int open_direct(const std::string& path) {
    Descriptor descriptor(open_to_write(path, 0));
    struct stat facts {};
    if (::fstat(descriptor.get(), &facts) != 0 || !is_stream(facts.st_mode)) {
        throw ConfigError(path, 0, "was replaced by another file during the run");
    }
    ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) & ~O_NONBLOCK);
    return descriptor.take();
}

int open_partial(const std::string& partial) {
    for (int tries = 0; tries < kTriesToLock; ++tries) {
        Descriptor descriptor(open_to_write(partial, O_CREAT));
        struct stat facts {};
        if (::fstat(descriptor.get(), &facts) != 0) fail(partial, "cannot be written");
        // With a second name its content would be somebody else's, too.
        if (!S_ISREG(facts.st_mode) || facts.st_nlink > 1) {
            throw ConfigError(partial, 0, "is not a file of a run; remove it");
        }
        // Emptied only once it is ours: another run may be writing it.
        if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            throw ConfigError(partial, 0,
                              "another run is writing into this folder; give another one");
        }
        // What was opened may since have become that run's complete file, or have been removed.
        struct stat named {};
        const bool there = ::lstat(partial.c_str(), &named) == 0;
        if (!there || named.st_ino != facts.st_ino || named.st_dev != facts.st_dev) continue;
        if (::ftruncate(descriptor.get(), 0) != 0) fail(partial, "cannot be emptied");
        return descriptor.take();
    }
    throw ConfigError(partial, 0, "other runs write into this folder; give another one");
}

}  // namespace

std::string partial_name(const std::string& path) { return path + ".partial"; }

void check_output_name(const std::string& path) { written_directly(path); }

void write_output(const std::string& path, std::string_view bytes) {
    OutputFile file(path);
    file << bytes;
    file.commit();
}

OutputFile::OutputFile(const std::string& path)
    : path_(path), written_(path), direct_(written_directly(path)) {
    if (direct_) {
        descriptor_ = open_direct(path_);
    } else {
        written_ = partial_name(path_);
        const SignalsLater later;
        descriptor_ = open_partial(written_);
        leftover_.watch(written_, Leftover::Kind::file);
    }
    buffer_.resize(kBufferBytes);
}

OutputFile::~OutputFile() {
    if (descriptor_ < 0) {
        return;
    }
    try {
        write_out();
    } catch (const ConfigError&) {
        // Nothing better to do here than to leave what the system took.
    }
    // While it is still locked: afterwards it may be another run's.
    if (!direct_ && !worth_keeping_) {
        std::remove(written_.c_str());
    }
    ::close(descriptor_);
}

OutputFile& OutputFile::operator<<(std::string_view text) {
    worth_keeping_ = true;
    while (!text.empty()) {
        const std::string_view piece = text.substr(0, kBufferBytes);
        std::memcpy(room_for(piece.size()), piece.data(), piece.size());
        filled_ += piece.size();
        text.remove_prefix(piece.size());
    }
    return *this;
}

OutputFile& OutputFile::operator<<(std::int64_t number) {
    char* const at = room_for(kDigits);
    filled_ += static_cast<std::size_t>(std::to_chars(at, at + kDigits, number).ptr - at);
    return *this;
}

void OutputFile::preamble_done() {
    worth_keeping_ = false;
    if (!direct_) leftover_.watch(written_, Leftover::Kind::file);
}

void OutputFile::write_out() {
    std::size_t done = 0;
    while (done < filled_) {
        const ssize_t written = ::write(descriptor_, buffer_.data() + done, filled_ - done);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            std::memmove(buffer_.data(), buffer_.data() + done, filled_ - done);
            filled_ -= done;
            fail(written_, "cannot be written");
        }
        done += static_cast<std::size_t>(written);
    }
    // Not earlier: a file that has nothing but what is in memory is empty.
    if (worth_keeping_ && done > 0) leftover_.release();
    filled_ = 0;
}

void OutputFile::flush() { write_out(); }

void OutputFile::commit() {
    write_out();
    leftover_.release();
    if (!direct_ && std::rename(written_.c_str(), path_.c_str()) != 0) {
        fail(path_, "cannot be put in place");
    }
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) {
        fail(path_, "cannot be written");
    }
}

}  // namespace sluice
