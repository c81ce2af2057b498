// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <csignal>

namespace sluice {

namespace {

volatile std::sig_atomic_t interrupt_requested = 0;

void on_signal(int) { interrupt_requested = 1; }

void install(int signal, void (*handler)(int), int flags) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
    interrupt_requested = 0;
    // RESETHAND: the second signal finds the system's own action and ends the process.
    install(SIGINT, on_signal, static_cast<int>(SA_RESETHAND) | SA_RESTART);
    install(SIGTERM, on_signal, static_cast<int>(SA_RESETHAND) | SA_RESTART);
}

InterruptGuard::~InterruptGuard() {
    install(SIGINT, SIG_DFL, 0);
    install(SIGTERM, SIG_DFL, 0);
}

bool InterruptGuard::requested() { return interrupt_requested != 0; }

}  // namespace sluice
