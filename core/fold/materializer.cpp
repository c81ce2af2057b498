// SPDX-License-Identifier: Apache-2.0
#include "core/fold/materializer.h"

#include <algorithm>

#include "core/fold/quotient_names.h"

namespace sluice::step {

FlowGroups Materializer::take_apart(std::uint32_t id) {
    const Fold& fold = folds_[id];
    FlowGroups members = fold.members();
    // The representative's own part last: the others are written by what it has in its first sheet's names.
    for (std::uint32_t left = static_cast<std::uint32_t>(fold.image.size()); left-- > 0;) {
        if (fold.image[left] != nullptr) {
            let_go(id, left);
        }
    }
    dissolve(id);
    return members;
}

void Materializer::let_go(std::uint32_t id, std::uint32_t number) {
    const std::vector<std::uint32_t> numbers = folds_[id].part_of(number);
    write_part(id, numbers);
    end_part(id, numbers);
}

/// Hosts first: what they know of ports' counters is told by these.
void Materializer::write_part(std::uint32_t id, const std::vector<std::uint32_t>& numbers) {
    const Fold& fold = folds_[id];
    std::vector<CopyWriter> writers;
    for (const std::uint32_t number : numbers) {
        writers.push_back(writer_of(fold, *fold.image[number]));
    }
    for (const CopyWriter& writer : writers) {
        for (const NodeId host : fold.host) {
            if (host != kNone) {
                writer.copy_host(host);
            }
        }
    }
    const bool own = fold.is_own(numbers.front());
    if (own) {
        QuotientNames(store_, folds_.places(), fold).restore_hosts();
    }
    for (const CopyWriter& writer : writers) {
        for (const PortId unit : fold.unit) {
            if (unit != kNone) {
                add_hops(writer.copy_egress(unit));
                writer.copy_link(unit);
            }
        }
    }
    if (own) {
        QuotientNames(store_, folds_.places(), fold).restore_units();
    }
}

void Materializer::end_part(std::uint32_t id, const std::vector<std::uint32_t>& numbers) {
    supervision_.unfolded(folds_[id], *folds_[id].image[numbers.front()]);
    for (const std::uint32_t number : numbers) {
        end_copy(id, number);
    }
}

void Materializer::end_copy(std::uint32_t id, std::uint32_t number) {
    Fold& fold = folds_[id];
    const Image& image = *fold.image[number];
    folds_.displace_copy(fold, image);
    if (fold.turned() && image.part != fold.self->part) {
        fold.parts.erase(std::remove(fold.parts.begin(), fold.parts.end(), image.part),
                         fold.parts.end());
    }
    fold.image[number] = nullptr;
    --fold.images;
}

void Materializer::drop_unused(std::uint32_t id) {
    const Fold& fold = folds_[id];
    if (fold.flows == 0) {
        take_apart(id);
        return;
    }
    for (std::uint32_t i = 0; i < fold.host.size(); ++i) {
        if (fold.host[i] != kNone && fold.host_uses[i] == 0) {
            drop_host(id, i);
        }
    }
    for (std::uint32_t i = 0; i < fold.unit.size(); ++i) {
        if (fold.unit[i] != kNone && fold.unit_uses[i] == 0) {
            drop_port(id, i);
        }
    }
}

void Materializer::drop_port(std::uint32_t id, std::uint32_t index) {
    Fold& fold = folds_[id];
    const PortId leader = fold.unit[index];
    for (const auto& image : fold.image) {
        if (image != nullptr) {
            const CopyWriter writer = writer_of(fold, *image);
            add_hops(writer.copy_egress(leader));
            writer.copy_link(leader);
            folds_.place_port(image->unit[index], FoldPlace{});
        }
    }
    forget_port(fold, index);
}

void Materializer::drop_host(std::uint32_t id, std::uint32_t index) {
    Fold& fold = folds_[id];
    const NodeId leader = fold.host[index];
    for (const auto& image : fold.image) {
        if (image != nullptr) {
            writer_of(fold, *image).copy_host(leader);
            folds_.place_host(image->host[index], FoldPlace{});
        }
    }
    for (PortId p = world_.first_port[leader]; p < world_.first_port[leader + 1]; ++p) {
        --fold.unit_uses[folds_.of_port(p).index];
    }
    forget_host(fold, index);
}

void Materializer::forget_port(Fold& fold, std::uint32_t index) {
    Egress& egress = world_.egress[fold.unit[index]];
    egress.max_queued_bytes = std::max(egress.max_queued_bytes, fold.base[index].max_queued_bytes);
    folds_.place_port(fold.unit[index], FoldPlace{});
    fold.unit[index] = kNone;
}

void Materializer::forget_host(Fold& fold, std::uint32_t index) {
    folds_.place_host(fold.host[index], FoldPlace{});
    folds_.end_due(fold.host[index]);
    fold.host[index] = kNone;
}

void Materializer::dissolve(std::uint32_t id) {
    Fold& fold = folds_[id];
    for (std::uint32_t i = 0; i < fold.turn.size(); ++i) {
        members_.restore_way(fold, i);
    }
    for (std::uint32_t i = 0; i < fold.unit.size(); ++i) {
        if (fold.unit[i] != kNone) {
            forget_port(fold, i);
        }
    }
    for (std::uint32_t i = 0; i < fold.host.size(); ++i) {
        if (fold.host[i] != kNone) {
            forget_host(fold, i);
        }
    }
    for (const FlowSlot flow : fold.flow) {
        if (flow != kNone) {
            folds_.place_flow(flow, FoldPlace{});
        }
    }
    folds_.erase(id);
}

std::uint64_t Materializer::hops() const {
    std::uint64_t hops = hops_;
    for (std::uint32_t id = 0; id < folds_.size(); ++id) {
        for (std::size_t i = 0; folds_.has(id) && i < folds_[id].unit.size(); ++i) {
            const Fold& fold = folds_[id];
            if (fold.unit[i] != kNone) {
                const std::int64_t sent = world_.egress[fold.unit[i]].tx_packets -
                                          fold.base[i].counters[&Egress::tx_packets];
                hops += fold.images * static_cast<std::uint64_t>(sent);
            }
        }
    }
    return hops;
}

}  // namespace sluice::step
