// SPDX-License-Identifier: Apache-2.0
/// Random traffic into a fabric, LT and AT, with checkers between and a shadow of every memory. A queue pair has a region
/// of its own in its peer's memory, so that what a read must bring is known when it is posted.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/models/tlm/fabric_bench.h"
#include "tests/support/step_random.h"

// Takes for granted that <systemc> has been included.
#include <tlm_utils/tlm_quantumkeeper.h>

namespace sluice::test {

constexpr std::uint64_t kRegion = 1U << 15;
constexpr std::uint32_t kPairs = 3;
constexpr std::uint64_t kTrafficWindow = 1U << 26;

/// A window of that size for each host, one behind the other.
inline AddressMap traffic_windows(const Topology& topology) {
    AddressMap map;
    for (const NodeId host : topology.hosts()) {
        map.add(host, host * kTrafficWindow, kTrafficWindow);
    }
    return map;
}

/// What is wrong, counted over all initiators of a test.
struct Tally {
    std::size_t violations = 0;
    std::string first;
    std::size_t wrong_responses = 0;
    std::size_t wrong_reads = 0;
    std::size_t completed = 0;
    std::size_t refused = 0;
};

/// One transaction of a host, its data, and what must come of it.
struct Drawn {
    NodeId peer = kNone;
    bool read = false;
    std::uint64_t address = 0;
    RdmaExtension rdma;
    std::vector<unsigned char> data;
    std::vector<unsigned char> enables;   ///< empty: all
    std::vector<unsigned char> expected;  ///< of a read
    unsigned int width = 0;
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
};

/// Draws a host's transactions, and keeps what its regions must hold.
class Shadow {
  public:
    Shadow(NodeId host, std::vector<NodeId> peers, std::uint64_t seed)
        : host_(host), peers_(std::move(peers)), dice_(seed) {}

    /// The next transaction, on `pair`, in the order in which they are posted on it.
    void draw(Drawn& drawn, NodeId peer, std::uint32_t pair) {
        drawn.peer = peer;
        drawn.rdma.queue_pair = pair;
        drawn.rdma.priority = static_cast<std::uint8_t>(1 + dice_.below(7));
        drawn.read = dice_.chance(40);
        const auto length = static_cast<unsigned int>(
            std::min<std::int64_t>(dice_.size(4.5), static_cast<std::int64_t>(kRegion)));
        const std::uint64_t place = dice_.below(static_cast<std::uint32_t>(kRegion) - length + 1);
        drawn.address = region(peer, pair) + place;
        drawn.width = length + (dice_.chance(20) ? 7 : 0);
        drawn.data.resize(length);
        const auto first = static_cast<unsigned char>(dice_.below(256));
        for (unsigned int i = 0; i < length; ++i) {
            drawn.data[i] = static_cast<unsigned char>(first + i * 7);
        }
        drawn.enables.clear();
        if (dice_.chance(15)) {
            drawn.enables.resize(1 + dice_.below(8));
            for (unsigned char& one : drawn.enables) {
                one = dice_.chance(50) ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
            }
        }
        drawn.status = tlm::TLM_OK_RESPONSE;
        if (dice_.chance(3)) {
            drawn.address = region(peer, pair) + kTrafficWindow * 1000;
            drawn.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
        } else if (length > 1 && dice_.chance(2)) {
            drawn.width = length - 1;
            drawn.status = tlm::TLM_BURST_ERROR_RESPONSE;
        }
        take_effect(drawn, peer, pair, place);
    }
    NodeId any_peer() { return peers_[dice_.below(static_cast<std::uint32_t>(peers_.size()))]; }
    Dice& dice() { return dice_; }
    const std::vector<NodeId>& peers() const { return peers_; }

    std::uint64_t region(NodeId peer, std::uint32_t pair) const {
        return peer * kTrafficWindow + (host_ * kPairs + pair) * kRegion;
    }
    const std::vector<unsigned char>& held(NodeId peer, std::uint32_t pair) {
        std::vector<unsigned char>& bytes = held_[{peer, pair}];
        bytes.resize(kRegion, 0);
        return bytes;
    }

  private:
    void take_effect(Drawn& drawn, NodeId peer, std::uint32_t pair, std::uint64_t place) {
        std::vector<unsigned char>& bytes = held_[{peer, pair}];
        bytes.resize(kRegion, 0);
        drawn.expected = drawn.data;
        if (drawn.status != tlm::TLM_OK_RESPONSE) {
            return;
        }
        for (std::size_t i = 0; i < drawn.data.size(); ++i) {
            if (!drawn.enables.empty() &&
                drawn.enables[i % drawn.enables.size()] == TLM_BYTE_DISABLED) {
                continue;
            }
            (drawn.read ? drawn.expected[i] : bytes[place + i]) =
                drawn.read ? bytes[place + i] : drawn.data[i];
        }
    }

    NodeId host_;
    std::vector<NodeId> peers_;
    Dice dice_;
    std::map<std::pair<NodeId, std::uint32_t>, std::vector<unsigned char>> held_;
};

/// Gives a payload what was drawn; without a memory manager the extension is to be cleared afterwards.
inline void fill(tlm::tlm_generic_payload& payload, Drawn& drawn) {
    set_up(payload, drawn.read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, drawn.address,
           drawn.data.data(), static_cast<unsigned int>(drawn.data.size()));
    payload.set_streaming_width(drawn.width);
    if (!drawn.enables.empty()) {
        payload.set_byte_enable_ptr(drawn.enables.data());
        payload.set_byte_enable_length(static_cast<unsigned int>(drawn.enables.size()));
    }
    payload.set_extension(&drawn.rdma);
}

inline void judge(const tlm::tlm_generic_payload& payload, const Drawn& drawn, Tally& tally) {
    ++tally.completed;
    tally.refused += drawn.status != tlm::TLM_OK_RESPONSE ? 1 : 0;
    tally.wrong_responses += payload.get_response_status() != drawn.status ? 1 : 0;
    tally.wrong_reads += drawn.read && drawn.data != drawn.expected ? 1 : 0;
}

/// What both kinds of initiators share.
class Initiator : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
  public:
    Initiator(const sc_core::sc_module_name& name, NodeId host, std::vector<NodeId> peers,
              std::uint64_t seed, std::size_t count, Tally& given)
        : sc_module(name),
          socket("socket"),
          shadow(host, std::move(peers), seed),
          tally(given),
          left(count) {
        socket.bind(*this);
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 /*begin*/, sc_dt::uint64 /*end*/) override {}

    tlm::tlm_initiator_socket<32> socket;
    Shadow shadow;
    Tally& tally;
    std::size_t left;
};

/// Threads with quantum keepers, one on each queue pair.
class LooseInitiator : public Initiator {
  public:
    LooseInitiator(const sc_core::sc_module_name& name, NodeId host, std::vector<NodeId> peers,
                   std::uint64_t seed, std::size_t count, Tally& given)
        : Initiator(name, host, std::move(peers), seed, count, given) {
        for (const NodeId peer : shadow.peers()) {
            for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
                const std::string number = std::to_string(threads_.size());
                threads_.push_back(
                    std::make_unique<Thread>(("thread" + number).c_str(), *this, peer, pair));
            }
        }
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& /*payload*/,
                                       tlm::tlm_phase& /*phase*/,
                                       sc_core::sc_time& /*delay*/) override {
        return tlm::TLM_ACCEPTED;
    }

  private:
    class Thread : public sc_core::sc_module {
      public:
        SC_HAS_PROCESS(Thread);
        Thread(const sc_core::sc_module_name& name, LooseInitiator& of, NodeId peer,
               std::uint32_t pair)
            : sc_module(name), of_(of), peer_(peer), pair_(pair) {
            SC_THREAD(run);
        }

      private:
        void run() {
            tlm_utils::tlm_quantumkeeper keeper;
            keeper.reset();
            Drawn drawn;
            while (of_.left > 0) {
                --of_.left;
                keeper.inc(to_sc_time(of_.shadow.dice().size(6.3)));
                of_.shadow.draw(drawn, peer_, pair_);
                tlm::tlm_generic_payload payload;
                fill(payload, drawn);
                sc_core::sc_time delay = keeper.get_local_time();
                of_.socket->b_transport(payload, delay);
                keeper.set(delay);
                payload.clear_extension<RdmaExtension>();
                judge(payload, drawn, of_.tally);
                if (keeper.need_sync()) {
                    keeper.sync();
                }
            }
        }
        LooseInitiator& of_;
        NodeId peer_;
        std::uint32_t pair_;
    };
    std::vector<std::unique_ptr<Thread>> threads_;
};

/// One thread that begins requests, as the rules allow it, and answers responses in every way.
class ApproximateInitiator : public Initiator {
  public:
    SC_HAS_PROCESS(ApproximateInitiator);
    ApproximateInitiator(const sc_core::sc_module_name& name, NodeId host,
                         std::vector<NodeId> peers, std::uint64_t seed, std::size_t count,
                         Tally& given)
        : Initiator(name, host, std::move(peers), seed, count, given) {
        SC_THREAD(run);
        SC_METHOD(end_response);
        sensitive << end_response_;
        dont_initialize();
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        if (phase == tlm::END_REQ) {
            requests_end_.notify(delay);
            return tlm::TLM_ACCEPTED;
        }
        Dice& dice = shadow.dice();
        const auto later = [&] { return to_sc_time(dice.chance(50) ? 0 : dice.size(5.5)); };
        switch (dice.below(3)) {
            case 0:
                ending_ = &payload;
                end_response_.notify(delay + later());
                return tlm::TLM_ACCEPTED;
            case 1:
                phase = tlm::END_RESP;
                delay += later();
                finish(payload);
                return tlm::TLM_UPDATED;
            default:
                delay += later();
                finish(payload);
                return tlm::TLM_COMPLETED;
        }
    }
    std::size_t held() const { return pool_.held(); }

  private:
    void run() {
        while (left > 0) {
            --left;
            if (shadow.dice().chance(60)) {
                wait(to_sc_time(shadow.dice().size(6.0)));
            }
            Drawn& drawn = take();
            shadow.draw(drawn, shadow.any_peer(), shadow.dice().below(kPairs));
            tlm::tlm_generic_payload& payload = pool_.take();
            payload.acquire();
            fill(payload, drawn);
            drawn_of_[&payload] = &drawn;
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay =
                to_sc_time(shadow.dice().chance(50) ? 0 : shadow.dice().size(6.0));
            switch (socket->nb_transport_fw(payload, phase, delay)) {
                case tlm::TLM_ACCEPTED: wait(requests_end_); break;
                case tlm::TLM_UPDATED: wait(delay); break;
                case tlm::TLM_COMPLETED:
                    wait(delay);
                    finish(payload);
                    break;
            }
        }
    }
    void end_response() {
        tlm::tlm_generic_payload& payload = *ending_;
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay = to_sc_time(shadow.dice().below(1000));
        socket->nb_transport_fw(payload, phase, delay);
        finish(payload);
    }
    void finish(tlm::tlm_generic_payload& payload) {
        Drawn& drawn = *drawn_of_.at(&payload);
        judge(payload, drawn, tally);
        payload.clear_extension<RdmaExtension>();
        drawn_of_.erase(&payload);
        free_.push_back(&drawn);
        payload.release();
    }
    Drawn& take() {
        if (free_.empty()) {
            free_.push_back(&all_.emplace_back());
        }
        Drawn& drawn = *free_.back();
        free_.pop_back();
        return drawn;
    }

    PayloadPool pool_;
    std::deque<Drawn> all_;
    std::vector<Drawn*> free_;
    std::map<tlm::tlm_generic_payload*, Drawn*> drawn_of_;
    tlm::tlm_generic_payload* ending_ = nullptr;
    sc_core::sc_event requests_end_;
    sc_core::sc_event end_response_;
};

}  // namespace sluice::test
