// SPDX-License-Identifier: Apache-2.0
/// This program again, in a process of its own: a SystemC context is global to a process, and so is
/// the peak of its memory.
#pragma once

#include <string>
#include <vector>

namespace sluice {

/// Runs this program with `arguments`, its standard output thrown away, and waits; returns its exit
/// code. While an InterruptGuard stands, an interrupt is passed on once, so that the child ends in
/// order; the terminal's Ctrl-C reaches the child that way only. If this process dies the child is
/// ended, too. ConfigError if the system has no room for a process; InternalError if a signal ended
/// the child.
int run_this_program(const std::vector<std::string>& arguments);

}  // namespace sluice
