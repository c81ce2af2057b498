// SPDX-License-Identifier: Apache-2.0
/// Fuzzes the readers of GOAL text and binary (told apart by the first eight bytes). Whatever the
/// bytes, the only way out besides success is ConfigError. A schedule that reads also writes in
/// both formats and reads back the same; a small one runs under LogGOPS and becomes a job graph.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "core/error.h"
#include "workloads/goal/goal_binary.h"
#include "workloads/goal/goal_graph.h"
#include "workloads/goal/goal_text.h"

namespace {

using namespace sluice;

void check(bool condition) {
    if (!condition) std::abort();
}

std::string binary_of(const GoalSchedule& schedule) {
    std::string bytes;
    write_goal_binary(schedule, [&](std::string_view piece) { bytes += piece; });
    return bytes;
}

GoalSchedule read(const std::string& bytes, bool binary) {
    std::istringstream input(bytes);
    ImportReport report;
    return binary ? read_goal_binary(input, "input", report)
                  : read_goal_text(input, "input", report);
}

void exercise(const GoalSchedule& schedule) {
    const std::string bytes = binary_of(schedule);
    check(binary_of(read(bytes, true)) == bytes);
    std::string text;
    write_goal_text(schedule, [&](std::string_view piece) { text += piece; });
    check(binary_of(read(text, false)) == bytes);
    if (schedule.op_count() > 300 || schedule.rank_count() > 300) return;
    try {
        const LogGopsResult result = simulate_loggops(schedule, {}, true);
        check(result.completed <= schedule.op_count());
        check(result.blocked_count > 0 || result.completed == schedule.op_count());
        check(build_goal_graph(schedule, {}).finished());
    } catch (const ConfigError&) {
        return;
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    try {
        exercise(read(bytes, is_goal_binary(bytes)));
    } catch (const ConfigError&) {
        return 0;
    }
    return 0;
}
