// SPDX-License-Identifier: Apache-2.0
/// A network's state as a lane: copied out of a WorldStore into memory of a device, and back into that or one
/// like it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <type_traits>
#include <vector>

#include "core/job/job_application.h"
#include "core/world/world_store.h"
#include "gpu/lane/device_memory.h"
#include "gpu/lane/route_image.h"
#include "gpu/program/lane.h"

namespace sluice::gpu {

/// How much memory a lane gets.
struct LaneMemory {
    std::size_t slack = std::size_t{1} << 16;    ///< bytes beyond what it holds at first
    std::size_t segment = std::size_t{1} << 16;  ///< bytes more, at least, when it is full
    std::size_t most = SIZE_MAX;                 ///< bytes in all
    /// While the lane is on its device the host does not keep its columns, too: they are made anew. For devices
    /// with memory of their own; not where link events bring the lane back.
    bool alone = false;
};

class LaneImage {
  public:
    /// Every flow of the store's list must have a slot, and the store have begun (WorldStore::pin_list(),
    /// begin()). `jobs`: the store's application, by number. `routes`: next hops, empty where flows' ways suffice. `memory`
    /// must outlive this. DeviceError if it has no room.
    LaneImage(const step::WorldStore& store, const std::vector<const JobApplication*>& jobs,
              RouteImage routes, MemorySource& memory, const LaneMemory& plan);
    LaneImage(const LaneImage&) = delete;
    LaneImage& operator=(const LaneImage&) = delete;

    Lane& lane() { return *lane_; }
    /// All of it, before the device or the host works on it.
    void bring(Side to) {
        if (to != side_) {
            for (void* const block : segments_.blocks) segments_.memory.bring(block, to);
        }
        side_ = to;
    }
    /// Outcome::full: more memory in place of `full`; without a base: there is none now. DeviceError if that were more
    /// than LaneMemory::most.
    Arena grow(const Arena& full);
    /// The LaneMemory::slack with which the lane would have had that from the beginning.
    std::size_t slack_with_more(const Arena& full) const { return bytes_ + more(full) - needed_; }
    /// Between windows: the state of a store of the same experiment is the lane's, and so is that of its jobs.
    void save(step::WorldStore& store) const;
    /// All that the lane has been given.
    std::size_t bytes() const { return bytes_; }

  private:
    /// Blocks of the device's memory; given back even if the image was never finished.
    struct Segments {
        MemorySource& memory;
        std::vector<void*> blocks;
        explicit Segments(MemorySource& source) : memory(source) {}
        ~Segments() {
            for (void* const block : blocks) memory.free(block);
        }
        Segments(const Segments&) = delete;
        Segments& operator=(const Segments&) = delete;
    };

    void* segment(std::size_t bytes);
    std::size_t more(const Arena& full) const;
    template <class T>
    T* place(std::size_t count) {
        static_assert(std::is_trivially_copyable<T>::value && alignof(T) <= 64, "plain data only");
        return static_cast<T*>(place_bytes(count * sizeof(T)));
    }
    void* place_bytes(std::size_t bytes);
    /// Null for nothing.
    template <class T>
    T* copy(const T* from, std::size_t count) {
        if (from == nullptr) return nullptr;
        return std::copy_n(from, count, place<T>(count)) - count;
    }
    template <class T>
    void copy_vector(PlainVector<T>& to, const PlainVector<T>& from, std::uint32_t room = 0) {
        to.count = from.count;
        to.capacity = std::max(from.count, room);
        to.data = to.capacity > 0 ? place<T>(to.capacity) : nullptr;
        std::copy_n(from.data, from.count, to.data);
    }
    void copy_ring(step::Ring& to, const step::Ring& from);
    void copy_ints(step::IntBlock& to, const step::IntBlock& from);
    std::size_t bytes_needed(const step::WorldStore& store) const;
    void load(const step::WorldStore& store);
    void load_columns(const step::World& from);
    void load_routes();
    void load_ports(const step::WorldStore& store);
    void load_hosts(const step::World& from);
    void load_flows(const step::World& from);
    void load_items();
    void load_lists();
    void load_jobs();
    void load_job(const job::Job& from, job::Job& to);
    void load_ranks(const JobApplication& application, job::RankState* to);
    static void save_ring(Memory& memory, step::Ring& to, const step::Ring& from);
    template <class T>
    static void save_vector(Memory& memory, PlainVector<T>& to, const PlainVector<T>& from) {
        to.count = 0;
        to.reserve(memory, from.count);
        std::copy_n(from.data, from.count, to.data);
        to.count = from.count;
    }
    void save_ports(step::WorldStore& store) const;
    void save_hosts(step::WorldStore& store) const;
    void save_flows(step::WorldStore& store) const;
    void save_wakes(step::WorldStore& store) const;
    void save_jobs() const;

    std::vector<const JobApplication*> jobs_;
    RouteImage routes_;
    LaneMemory plan_;
    Segments segments_;
    Side side_ = Side::host;
    std::size_t bytes_ = 0;
    std::size_t needed_ = 0;  ///< for what it holds at first
    Lane* lane_ = nullptr;
    std::size_t ports_;
    std::size_t slots_;
    std::size_t connections_;
    // Hosts come first as a rule: what only hosts' ports have, or only switches', is not there for others.
    std::size_t host_ports_ = 0;  ///< no port from here on is a host's
    PortId first_plan_;           ///< no port before is a switch's
    std::map<const std::uint32_t*, const std::uint32_t*> tables_;  ///< of serialization times
};

}  // namespace sluice::gpu
