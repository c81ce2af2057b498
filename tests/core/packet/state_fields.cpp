// SPDX-License-Identifier: Apache-2.0
// The roles of the packet path's fields: stated once more, by what must happen to each of them, so that a wrong role is
// found here by its column's name.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/packet/state_fields.h"

using namespace sluice;
using namespace sluice::step;

namespace {

constexpr Tick kSkip = 1000;

/// What the mechanisms do with a column, found out by trying.
struct Treatment {
    std::string column;
    bool compared = false;   ///< copies that differ in it are told apart
    bool shifted = false;    ///< moves with a skip
    bool restored = false;   ///< is put back with a snapshot
    bool followed = false;   ///< a copy gets the representative's
    bool continued = false;  ///< a copy adds what the representative has added
    bool copied = false;     ///< goes back from a lane

    bool operator==(const Treatment& other) const {
        return column == other.column && compared == other.compared && shifted == other.shifted &&
               restored == other.restored && followed == other.followed &&
               continued == other.continued && copied == other.copied;
    }
};

std::string text(const Treatment& of) {
    std::string words = of.column + ":";
    for (const auto& [is, word] : {std::pair{of.compared, " compared"},
                                   {of.shifted, " shifted"},
                                   {of.restored, " restored"},
                                   {of.followed, " followed"},
                                   {of.continued, " continued"},
                                   {of.copied, " copied"}}) {
        words += is ? word : "";
    }
    return words;
}

/// Sets every byte of a field.
template <class T>
void fill(T& field, unsigned char value) {
    std::memset(static_cast<void*>(&field), value, sizeof(T));
}
template <class T>
bool is_filled(const T& field, unsigned char value) {
    T other;
    fill(other, value);
    return std::memcmp(&field, &other, sizeof(T)) == 0;
}

/// Tries what happens to the `number`-th field, which alone differs between two states.
template <class Struct>
class Trial {
  public:
    explicit Trial(int number) : number_(number) {}

    Treatment run() {
        Treatment found;
        Struct one;
        Struct other;
        on_field(one, [](auto, auto& field) { fill(field, 0); });
        on_field(other, [&](auto column, auto& field) {
            found.column = column.name;
            fill(field, 1);
        });
        const char* differs = nullptr;
        found.compared = !same_fields(one, other, differs);
        if (found.compared) {
            CHECK(std::string(differs) == found.column);
        }
        found.restored =
            takes_over(other, [](Struct& to, const Struct& from) { restore_fields(to, from, 0); });
        found.copied =
            takes_over(other, [](Struct& to, const Struct& from) { copy_fields(to, from); });
        found.followed = takes_over(other, [](Struct& to, const Struct& from) {
            // What was counted before is no news.
            follow_fields(to, from, counters_of(from));
        });
        found.shifted = is_shifted();
        found.continued = is_continued();
        return found;
    }

  private:
    template <class Act>
    void on_field(Struct& state, Act&& act) {
        int at = 0;
        each_field(state, state, [&](auto column, auto& field, const auto&) {
            if (at++ == number_) act(column, field);
        });
    }
    template <class Take>
    bool takes_over(const Struct& from, Take&& take) {
        Struct to;
        on_field(to, [](auto, auto& field) { fill(field, 0); });
        take(to, from);
        bool taken = false;
        on_field(to, [&](auto, auto& field) { taken = is_filled(field, 1); });
        return taken;
    }
    bool is_shifted() {
        Struct state;
        bool moved = false;
        on_field(state, [&](auto, auto& field) { fill(field, 0); });
        shift_fields(state, kSkip);
        on_field(state, [&](auto, auto& field) { moved = !is_filled(field, 0); });
        return moved;
    }
    bool is_continued() {
        Struct now;
        Struct copy;
        const Counters<Struct> base = counters_of(now);
        on_field(now, [](auto, auto& field) { fill(field, 1); });
        on_field(copy, [](auto, auto& field) { fill(field, 1); });
        follow_fields(copy, now, base);
        bool doubled = false;
        on_field(copy, [&](auto, auto& field) { doubled = is_filled(field, 2); });
        return doubled;
    }

    int number_;
};

template <class Struct>
std::vector<std::string> treatments() {
    int count = 0;
    Struct state;
    each_field(state, state, [&](auto, auto&, const auto&) { ++count; });
    std::vector<std::string> found;
    for (int number = 0; number < count; ++number) {
        found.push_back(text(Trial<Struct>(number).run()));
    }
    return found;
}

// Words of the treatments that a field can get.
const std::string kWhatItIs = ": compared copied";
const std::string kContent = ": compared restored followed copied";
const std::string kInstant = ": compared shifted restored copied";
const std::string kCounter = ": restored continued copied";
const std::string kPeak = ": restored followed copied";
const std::string kDraw = ": restored copied";
const std::string kName = ": copied";
const std::string kOwn = ":";

void check(const std::vector<std::string>& found, const std::vector<std::string>& expected) {
    for (std::size_t i = 0; i < expected.size() && i < found.size(); ++i) {
        CHECK(found[i] == expected[i]);
    }
    CHECK(found.size() == expected.size());
}

}  // namespace

TEST_CASE("unit.state_fields.egress") {
    check(treatments<Egress>(), {"free_at" + kInstant,
                                 "delay" + kWhatItIs,
                                 "serialization" + kOwn,
                                 "tx_bytes" + kCounter,
                                 "tx_packets" + kCounter,
                                 "queued_bytes" + kContent,
                                 "out" + kOwn,
                                 "peer_cell" + kName,
                                 "nonempty" + kContent,
                                 "paused" + kContent,
                                 "last_class" + kContent,
                                 "rate_index" + kWhatItIs,
                                 "max_queued_bytes" + kPeak,
                                 "ecn_kmin" + kWhatItIs,
                                 "ecn_kmax" + kWhatItIs,
                                 "up" + kWhatItIs,
                                 "ecn_pmax" + kWhatItIs,
                                 "ecn_draws" + kDraw,
                                 "ecn_marks" + kCounter,
                                 "drops_no_room" + kCounter,
                                 "drops_no_way" + kCounter,
                                 "drops_link_down" + kCounter,
                                 "drops_cable" + kCounter,
                                 "drops_outdated" + kCounter,
                                 "trimmed" + kCounter,
                                 "pauses_sent" + kCounter,
                                 "paused_since" + kInstant,
                                 "paused_ticks" + kCounter,
                                 "line_rate" + kWhatItIs,
                                 "train_packets" + kCounter,
                                 "owed_until" + kInstant,
                                 "peer" + kName,
                                 "trim_above" + kWhatItIs,
                                 "class_bytes" + kContent,
                                 "deficit" + kContent,
                                 "queue" + kOwn});
}

TEST_CASE("unit.state_fields.ingress") {
    check(treatments<Ingress>(),
          {"bytes" + kContent, "headroom" + kContent, "headroom_limit" + kWhatItIs,
           "total_bytes" + kContent, "paused" + kContent, "threshold_shift" + kWhatItIs,
           "loss" + kWhatItIs, "loss_draws" + kDraw});
}

TEST_CASE("unit.state_fields.queue_pairs") {
    check(treatments<Sender>(), {"flow" + kName,
                                 "next" + kContent,
                                 "una" + kContent,
                                 "packets" + kContent,
                                 "next_bytes" + kContent,
                                 "una_bytes" + kContent,
                                 "size" + kContent,
                                 "next_avail" + kInstant,
                                 "last_gap" + kContent,
                                 "last_progress" + kInstant,
                                 "armed" + kInstant,
                                 "window" + kContent,
                                 "high" + kContent,
                                 "position" + kContent,
                                 "port" + kName,
                                 "transmissions" + kContent,
                                 "asked" + kContent,
                                 "last_bytes" + kContent,
                                 "traffic_class" + kContent,
                                 "int_shift" + kContent,
                                 "retransmitted" + kContent,
                                 "resent_late" + kContent,
                                 "skipped" + kInstant,
                                 "offset" + kContent,
                                 "behind" + kContent,
                                 "heir" + kName,
                                 "timed_out" + kContent,
                                 "cc" + kOwn});
    check(treatments<Receiver>(),
          {"expected" + kContent, "packets" + kContent, "acked" + kContent, "last_nack" + kContent,
           "nack_timer" + kInstant, "echo" + kContent});
    check(treatments<HostPort>(),
          {"sender" + kOwn, "ready" + kOwn, "last" + kContent, "last_was_ack" + kContent});
    check(treatments<Timer>(), {"time" + kInstant, "kind" + kContent, "slot" + kName, "id" + kOwn});
}

TEST_CASE("unit.state_fields.laws") {
    check(treatments<congestion::FlowControl>(),
          {"rate" + kContent, "line_rate" + kContent, "max_window" + kContent,
           "base_rtt" + kContent, "retime" + kContent, "products" + kContent});
    check(treatments<congestion::hpcc::State>(),
          {"current_rate" + kContent, "last_update" + kContent, "u" + kContent, "stage" + kContent,
           "hop" + kContent, "hop_rate" + kContent, "hop_u" + kContent, "hop_stage" + kContent});
    check(treatments<congestion::dcqcn::State>(),
          {"target_rate" + kContent, "alpha" + kContent, "alpha_due" + kInstant,
           "decrease_due" + kInstant, "increase_due" + kInstant, "echoes" + kContent,
           "stage" + kContent, "alpha_marked" + kContent, "decrease_marked" + kContent,
           "started" + kContent});
    check(treatments<congestion::timely::State>(),
          {"current_rate" + kContent, "last_update" + kContent, "last_rtt_ns" + kContent,
           "rtt_diff" + kContent, "stage" + kContent, "acks" + kContent, "rtt_sum_ns" + kContent});
    check(treatments<congestion::dctcp::State>(),
          {"alpha" + kContent, "last_update" + kContent, "high_seq" + kContent, "marked" + kContent,
           "batch" + kContent, "marked_before" + kContent, "reduced" + kContent});
    check(treatments<congestion::swift::State>(),
          {"cwnd" + kContent, "rtt" + kContent, "last_decrease" + kInstant, "arrived" + kContent,
           "retransmit_cnt" + kContent, "mean_rtt" + kContent});
    check(treatments<congestion::nscc::State>(),
          {"cwnd" + kContent, "inc" + kContent, "avg_delay" + kContent, "base" + kContent,
           "arrived" + kContent, "received" + kContent, "achieved" + kContent, "ignored" + kContent,
           "to_ignore" + kContent, "uncongested" + kContent, "asks" + kInstant,
           "last_decrease" + kInstant, "last_adjust" + kInstant, "increases" + kContent,
           "lost" + kContent});
}

TEST_CASE("unit.state_fields.packets") {
    Packet one;
    one.flow = 7;
    one.ingress = 3;
    Packet other = one;
    const char* column = nullptr;
    CHECK(same_fields(one, other));
    // Names are the caller's to compare.
    other.flow = 8;
    other.ingress = 4;
    CHECK(same_fields(one, other));
    other.ce = 1;
    CHECK_FALSE(same_fields(one, other, column));
    CHECK(std::string(column) == "ce");
    other = one;
    other.int_hops = 5;
    CHECK_FALSE(same_fields(one, other, column));
    CHECK(std::string(column) == "int_hops");
}

TEST_CASE("unit.state_fields.never_stays_never") {
    Sender sender;
    sender.next_avail = 5;
    shift_fields(sender, kSkip);
    CHECK(sender.next_avail == 5 + kSkip);
    CHECK(sender.armed == kNever);
    shift_fields(sender, -kSkip);
    CHECK(sender.next_avail == 5);
}
