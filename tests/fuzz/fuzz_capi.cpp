// SPDX-License-Identifier: Apache-2.0
/// Any bytes are calls of the C interface, right ones and wrong ones, to a small network. A call that fails says why in one
/// line and changes nothing; transfers complete once, with what was posted; time does not go back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "capi/include/sluice.h"
#include "tests/fuzz/random_network.h"

namespace sluice::fuzz {
namespace {

constexpr std::int64_t kMicrosecondPs = 1'000'000;

class Calls {
  public:
    Calls(sluice_network* network, Choices& choices, const RandomNetwork& about)
        : network_(network), choices_(choices), about_(about) {}

    void run() {
        for (int calls = 0; calls < 60 && choices_.left() && !ended_; ++calls) one();
        while (!ended_ && take(SLUICE_FOREVER)) {
        }
        const auto complete = std::count(completed_.begin(), completed_.end(), true);
        require(about_.cut_off || failed_ || complete == std::ptrdiff_t(posts_.size()));
    }

  private:
    void one() {
        const std::int64_t before = sluice_now(network_);
        const std::uint32_t call = choices_.below(8);
        if (call < 3) {
            post();
        } else if (call < 5) {
            take(some_end(before));
        } else if (call == 5) {
            const std::int64_t end = some_end(before);
            if (end == SLUICE_FOREVER || sluice_advance(network_, end) != 0) {
                refused(sluice_now(network_) == before);
            } else {
                require(sluice_now(network_) == end);
            }
        } else if (call == 6) {
            require(sluice_watch_arrivals(network_) == 0);
            watched_ = true;
        } else {
            const std::int64_t latency = choices_.pick({0, 1, 700'000, -1});
            if (sluice_set_doorbell_latency(network_, latency) != 0) refused(latency < 0);
        }
        require(ended_ || sluice_now(network_) >= before);
    }

    std::int64_t some_end(std::int64_t now) {
        switch (choices_.below(5)) {
            case 0: return SLUICE_FOREVER;
            case 1: return now - 1;
            case 2: return now;
            default: return now + 1 + choices_.below(1000) * kMicrosecondPs;
        }
    }

    void post() {
        sluice_transfer transfer{};
        transfer.source = choices_.below(about_.hosts + 1);
        transfer.destination = choices_.below(about_.hosts + 1);
        transfer.bytes = choices_.pick<std::uint64_t>(
            {1, 999, 4097, 100'000, 700'000, 0, std::uint64_t{1} << 62, UINT64_MAX});
        const auto most = static_cast<std::uint64_t>(most_bytes(about_));
        const bool possible = transfer.bytes <= 1'000'000;
        if (possible && bytes_ + transfer.bytes > most) transfer.bytes = 999;
        transfer.queue_pair = choices_.pick<std::uint32_t>({0, 1, 50'000, SLUICE_OWN_QUEUE_PAIR});
        transfer.priority = choices_.below(9);
        transfer.tag = choices_.bits(8);
        transfer.not_before_ps = choices_.pick<std::int64_t>(
            {0, -5, 40 * kMicrosecondPs, sluice_now(network_) + 3, INT64_MAX});
        const std::int64_t id = sluice_post(network_, &transfer);
        const bool wrong =
            transfer.source >= about_.hosts || transfer.destination >= about_.hosts ||
            transfer.source == transfer.destination || transfer.bytes == 0 || transfer.priority > 7;
        if (id < 0) {
            refused(true);
            return;
        }
        require(!wrong && id == std::int64_t(posts_.size()));
        bytes_ += possible ? transfer.bytes : 0;
        posts_.push_back(transfer);
        completed_.push_back(false);
    }

    /// False: there is none.
    bool take(std::int64_t end) {
        sluice_event event{};
        const bool all = choices_.chance(50);
        const int found = all ? sluice_next_event(network_, end, &event)
                              : sluice_next_completion(network_, end, &event.completion);
        if (found < 0) {
            refused(true);
            // Nothing progresses any more, or time was to go back.
            failed_ = ended_ = end == SLUICE_FOREVER;
            return false;
        }
        if (found == 0) return false;
        const sluice_completion& one = event.completion;
        require(one.id >= 0 && one.id < std::int64_t(posts_.size()));
        const sluice_transfer& posted = posts_[one.id];
        require(one.tag == posted.tag && one.bytes == posted.bytes && one.source == posted.source &&
                one.destination == posted.destination);
        require(one.finished_ps > one.posted_ps && one.finished_ps <= sluice_now(network_));
        if (all && event.kind == SLUICE_ARRIVED) {
            require(watched_ && one.started_ps == -1);
            return true;
        }
        require(!completed_[one.id] && one.started_ps < one.finished_ps);
        completed_[one.id] = true;
        return true;
    }

    void refused(bool expected) {
        require(expected);
        require_line(sluice_last_error());
    }

    sluice_network* network_;
    Choices& choices_;
    const RandomNetwork& about_;
    std::vector<sluice_transfer> posts_;
    std::vector<bool> completed_;
    std::uint64_t bytes_ = 0;  ///< posted
    bool watched_ = false;
    bool failed_ = false;
    bool ended_ = false;
};

}  // namespace
}  // namespace sluice::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::fuzz;
    Choices choices(data, size);
    const RandomNetwork about = random_network(choices, false);
    std::string text = about.head + about.tables;
    if (choices.chance(20) && !about.cut_off) text += random_flows(choices, about.hosts);
    const char* const overrides[] = {choices.pick({"name=x", "congestion.law=\"none\"", "a.b=1"}),
                                     nullptr};
    sluice_network* const network = sluice_open_text(text.c_str(), "input", overrides);
    if (network == nullptr) {
        require_line(sluice_last_error());
        return 0;
    }
    require(sluice_hosts(network) == about.hosts);
    Calls(network, choices, about).run();
    sluice_close(network);
    require(sluice_now(network) == -1);
    return 0;
}
