// SPDX-License-Identifier: Apache-2.0
/// What a run comes to, as the program's exit code (docs/outputs.md).
#pragma once

namespace sluice {

inline constexpr int kExitDone = 0;
inline constexpr int kExitMissed = 1;  ///< `--check`: a comparison found a bias
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitWorkLeft = 3;       ///< at rest with flows or operations unfinished
inline constexpr int kExitInternal = 70;      ///< a defect of the program
inline constexpr int kExitUnwritable = 74;    ///< standard output cannot be written
inline constexpr int kExitInterrupted = 130;  ///< Ctrl-C; what finished is on disk

}  // namespace sluice
