// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "core/results/leftovers.h"
#include "experiment/exit_codes.h"

namespace sluice {

namespace {

// Asked by lanes' threads, too (`sluice batch`).
std::atomic<bool> listening{false};
std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may take no lock");

void on_signal(int) {
    if (listening && !interrupt_requested) {
        interrupt_requested = true;
        return;
    }
    Leftover::remove_all();
    _exit(kExitInterrupted);
}

void install(int signal, void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    // One at a time: they end in the same place.
    for (const int other : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&action.sa_mask, other);
    sigaction(signal, &action, nullptr);
}

bool ignored(int signal) {
    struct sigaction action = {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void handle_signals() {
    install(SIGINT, on_signal);
    install(SIGTERM, on_signal);
    if (!ignored(SIGHUP)) install(SIGHUP, on_signal);  // else as nohup wants it
    // What cannot be written is told as such.
    install(SIGPIPE, SIG_IGN);
}

InterruptGuard::InterruptGuard() {
    listening = false;
    interrupt_requested = false;
}

InterruptGuard::~InterruptGuard() { listening = false; }

bool InterruptGuard::requested() {
    listening = true;
    return interrupt_requested;
}

}  // namespace sluice
