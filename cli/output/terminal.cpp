// SPDX-License-Identifier: Apache-2.0
#include "cli/output/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "core/text/printable.h"

namespace sluice {

namespace {

[[noreturn]] void fail() { throw PrintError(errno == 0 ? EIO : errno); }

void write(std::FILE* stream, std::string_view text) {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() && stream == stdout) fail();
}

}  // namespace

PrintError::PrintError(int reason)
    : std::runtime_error(std::string("standard output cannot be written: ") +
                         std::strerror(reason)),
      unread_(reason == EPIPE) {}

void open_standard_streams() {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) < 0) {
            // The lowest that is free is the one that was missing.
            static_cast<void>(::open("/dev/null", O_RDWR));
        }
    }
}

void print_text(std::string_view text) { write(stdout, printable(text)); }

void print_message(const std::string& text) { write(stdout, shortened_lines(printable(text))); }

void print_error_message(const std::string& text) noexcept {
    try {
        write(stderr, shortened_lines(printable(text)));
    } catch (const std::exception&) {
        // A message that finds no memory is lost.
    }
}

void print_controls(std::string_view text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

void flush_output() {
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail();
}

}  // namespace sluice
