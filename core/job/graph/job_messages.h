// SPDX-License-Identifier: Apache-2.0
/// The messages of a job's graph, and the connections that they go on.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/flow/flow.h"
#include "core/job/graph/connection_table.h"
#include "core/job/operation.h"

namespace sluice {

class JobMessages {
  public:
    CommunicatorId communicator(NameId group, std::uint32_t channel) {
        const auto fresh = static_cast<CommunicatorId>(communicators_.size());
        return communicators_.try_emplace(std::uint64_t{group} << 32 | channel, fresh)
            .first->second;
    }
    /// The next message, from rank `src` to rank `dst`; kNone: on a connection of its own.
    void add(const JobMessage& message, RankId src, RankId dst, CommunicatorId communicator) {
        messages_.push_back(message);
        connection_.push_back(
            communicator == kNone ? kNone : connections_.find_or_add(src, dst, communicator));
    }
    /// A message becomes part 0 of several.
    void make_first_part(std::uint32_t message, const JobMessage& part) {
        messages_[message] = part;
        set_port(message, 0);
    }
    /// The next message is part 1 or above of `whole`, on a connection that goes with the whole one's.
    void add_part(std::uint32_t whole, std::uint32_t part, const JobMessage& message) {
        const ConnectionId connection = connection_[whole];
        add(message, connection, part, connection == kNone ? kNone : kOfParts);
        set_port(static_cast<std::uint32_t>(size() - 1), part);
    }
    /// Gives the memory back that only building needs.
    void forget() {
        communicators_ = {};
        connections_.forget();
    }

    std::size_t size() const { return messages_.size(); }
    bool empty() const { return messages_.empty(); }
    const JobMessage& operator[](std::size_t message) const { return messages_[message]; }
    auto begin() const { return messages_.begin(); }
    auto end() const { return messages_.end(); }
    const JobMessage& front() const { return messages_.front(); }
    const JobMessage* data() const { return messages_.data(); }

    /// The connection of a message, kNone if it has one of its own.
    ConnectionId connection(std::size_t message) const { return connection_[message]; }
    ConnectionId connection_count() const { return connections_.count(); }
    /// FlowSpec::nic_port
    std::uint8_t nic_port(std::size_t message) const {
        return message < nic_port_.size() ? nic_port_[message] : kAnyPort;
    }

  private:
    /// In the table of connections: those of the second and further parts of a connection's messages.
    static constexpr CommunicatorId kOfParts = kNone - 1;

    void set_port(std::uint32_t message, std::uint32_t part) {
        nic_port_.resize(messages_.size(), kAnyPort);
        nic_port_[message] = static_cast<std::uint8_t>(part % kAnyPort);
    }

    std::vector<JobMessage> messages_;
    std::vector<ConnectionId> connection_;  ///< by message
    std::vector<std::uint8_t> nic_port_;    ///< by message, as far as any is split
    ConnectionTable connections_;
    std::unordered_map<std::uint64_t, CommunicatorId> communicators_;  ///< by group and channel
};

}  // namespace sluice
