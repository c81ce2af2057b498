// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C (SIGINT), SIGTERM and SIGHUP. A run looks at them as a flag between windows, so that it stops in
/// order and keeps what finished. Before it first looks, and at the second signal, the process ends at
/// once: empty files and folders are taken away, and the exit code is the same.
#pragma once

namespace sluice {

/// Once, at the program's start.
void handle_signals();

class InterruptGuard {
  public:
    InterruptGuard();
    /// From now on signals end the process at once, as before.
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Whether to stop. The first call says that from now on somebody asks.
    static bool requested();
};

}  // namespace sluice
