// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C (SIGINT) and SIGTERM as a flag that a run looks at between windows, so that it stops in
/// order and keeps what finished. A second signal ends the process at once.
#pragma once

namespace sluice {

class InterruptGuard {
  public:
    InterruptGuard();
    /// Puts the signals back as they were.
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    static bool requested();
};

}  // namespace sluice
