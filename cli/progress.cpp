// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include <unistd.h>

#include <fmt/core.h>

#include "cli/output/terminal.h"
#include "core/text/human.h"

namespace sluice {

namespace {

constexpr auto kRedraw = std::chrono::milliseconds(250);
constexpr auto kFirstLine = std::chrono::seconds(2);
constexpr auto kNextLine = std::chrono::seconds(5);
constexpr int kBarWidth = 24;

double done_share(const ProgressSample& sample) {
    if (sample.operations > 0) {
        return static_cast<double>(sample.operations_done) / static_cast<double>(sample.operations);
    }
    const double flows = sample.flows == 0 ? 0.0
                                           : static_cast<double>(sample.flows_finished) /
                                                 static_cast<double>(sample.flows);
    if (sample.packet_hops_expected <= 0 || sample.packet_hops == 0) return flows;
    // The estimate leaves out retransmissions and pauses: never claim to be done before the end.
    const auto hops = static_cast<double>(sample.packet_hops + sample.hops_saved);
    return std::min(0.999, hops / sample.packet_hops_expected);
}

/// Of the packet-hops so far.
double executed_share(const ProgressSample& sample) {
    const auto all = static_cast<double>(sample.packet_hops + sample.hops_saved);
    return all > 0 ? static_cast<double>(sample.packet_hops - sample.hops_folded) / all : 1;
}

}  // namespace

Progress::Progress(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), begin_(Clock::now()), next_(begin_) {
    next_ += terminal_ ? Clock::duration(kRedraw) : Clock::duration(kFirstLine);
}

std::string Progress::line(const ProgressSample& sample, double seconds) {
    const double share = done_share(sample);
    std::string text = fmt::format("{:5.1f}%  simulated {}  ", 100 * share, human_time(sample.now));
    if (sample.operations > 0) {
        text += fmt::format("operations {}/{}  {} operations/s", sample.operations_done,
                            sample.operations,
                            human_count(static_cast<double>(sample.operations_done) / seconds));
    } else {
        text += fmt::format("flows {}/{}", sample.flows_finished, sample.flows);
    }
    if (sample.packet_hops > 0) {
        text += fmt::format("  {} hops/s",
                            human_count(static_cast<double>(sample.packet_hops) / seconds));
    }
    if (sample.steady_share >= 0) {
        text += fmt::format(
            "  steady {:.0f}%  executed {:.3g}%  {} copies  {} predicted  {} partitions",
            100 * sample.steady_share, 100 * executed_share(sample), sample.folds, sample.episodes,
            sample.partitions);
    }
    time_left_.note(seconds, share);
    if (const std::optional<double> left = time_left_.seconds(); left && share > 0.005) {
        text += fmt::format("  left {}", human_seconds(*left));
    }
    return text;
}

bool Progress::due() {
    if (quiet_) return false;
    const Clock::time_point now = Clock::now();
    if (now < next_) return false;
    next_ = now + (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kNextLine));
    return true;
}

double Progress::seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void Progress::show(double share, const std::string& text) {
    if (!terminal_) {
        print_error("{}\n", text);
        return;
    }
    const int filled = static_cast<int>(share * kBarWidth);
    const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                            std::string(static_cast<std::size_t>(kBarWidth - filled), '.');
    print_controls("\r\x1b[K");
    print_error("[{}] {}", bar, text);
    drawn_ = true;
}

void Progress::tick(const std::function<ProgressSample()>& sample) {
    if (!due()) return;
    const ProgressSample state = sample();
    show(done_share(state), line(state, seconds()));
}

void Progress::tick(double share, const std::function<std::string(double seconds)>& text) {
    if (due()) show(share, text(seconds()));
}

void Progress::clear() {
    if (!drawn_) return;
    print_controls("\r\x1b[K");
    drawn_ = false;
}

}  // namespace sluice
