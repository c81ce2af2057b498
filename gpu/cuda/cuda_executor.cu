// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "core/error.h"
#include "gpu/cuda/cuda_executor.h"
#include "gpu/cuda/kernel.cuh"

namespace sluice::gpu {

namespace {

void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        throw ConfigError(std::string("--device cuda: ") + what + ": " + cudaGetErrorString(error));
    }
}

/// Seen by host and device at one address.
class ManagedMemory : public DeviceMemory {
  public:
    void* allocate(std::size_t bytes) override {
        void* block = nullptr;
        if (cudaMallocManaged(&block, bytes) != cudaSuccess) {
            throw std::bad_alloc();
        }
        return block;
    }
    void free(void* block) override { cudaFree(block); }
};

/// An array that host and device both see while a kernel runs.
template <class T>
T* shared_array(std::size_t count) {
    void* block = nullptr;
    check(cudaHostAlloc(&block, count * sizeof(T), cudaHostAllocMapped), "memory of the queue");
    T* const array = static_cast<T*>(block);
    for (std::size_t i = 0; i < count; ++i) {
        new (&array[i]) T;
    }
    return array;
}

template <class T>
T* device_array(std::size_t count) {
    void* block = nullptr;
    check(cudaMalloc(&block, count * sizeof(T)), "memory of the threads");
    const std::vector<T> fresh(count);
    check(cudaMemcpy(block, fresh.data(), count * sizeof(T), cudaMemcpyHostToDevice),
          "memory of the threads");
    return static_cast<T*>(block);
}

class CudaExecutor : public LaneExecutor {
  public:
    explicit CudaExecutor(const CudaOptions& options) : options_(options) {
        check(cudaSetDevice(options.device), "no such GPU");
        int processors = 0;
        int blocks = 0;
        check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, options.device),
              "processors");
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                  &blocks, run_orders, static_cast<int>(options.threads), 0),
              "occupancy");
        // All blocks must be resident: those of a gang wait for each other.
        const std::uint32_t gangs = std::max(
            static_cast<std::uint32_t>(processors * blocks) / options.blocks_of_gang, 1U);
        const std::uint32_t grid = gangs * options.blocks_of_gang;
        orders_ = shared_array<Orders>(1);
        orders_->count = options.orders;
        orders_->order = shared_array<Order>(options.orders);
        busy_.resize(options.orders);
        launch_.orders = orders_;
        launch_.worlds = device_array<step::World>(std::size_t{grid} * options.threads);
        launch_.meetings = device_array<GangMeeting>(gangs);
        launch_.chosen = device_array<std::uint32_t>(gangs);
        launch_.blocks_of_gang = options.blocks_of_gang;
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
        run_orders<<<grid, options.threads, 0, stream_>>>(launch_);
        check(cudaGetLastError(), "the kernel");
    }
    ~CudaExecutor() override {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        static_cast<volatile Orders*>(orders_)->closed = 1;
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
        cudaFree(launch_.worlds);
        cudaFree(launch_.meetings);
        cudaFree(launch_.chosen);
        cudaFreeHost(orders_->order);
        cudaFreeHost(orders_);
    }

    DeviceMemory& memory() override { return memory_; }
    bool routes_by_table() const override { return false; }

    Outcome run(Lane& lane, std::uint64_t windows) override {
        check(cudaSetDevice(options_.device), "no such GPU");
        const std::size_t slot = take_slot();
        Order& order = orders_->order[slot];
        order.lane = &lane;
        order.windows = windows;
        __atomic_store_n(&order.state, static_cast<std::uint32_t>(kPlaced), __ATOMIC_RELEASE);
        while (__atomic_load_n(&order.state, __ATOMIC_ACQUIRE) != kDone) {
            const cudaError_t state = cudaStreamQuery(stream_);
            if (state != cudaErrorNotReady) {  // the kernel ends only when it is told to, or fails
                throw InternalError(std::string("the kernel has ended: ") +
                                    cudaGetErrorString(state));
            }
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        const Outcome outcome = order.outcome;
        give_slot(slot);
        return outcome;
    }

  private:
    std::size_t take_slot() {
        for (;;) {
            {
                const std::lock_guard lock(mutex_);
                const auto free = std::find(busy_.begin(), busy_.end(), false);
                if (free != busy_.end()) {
                    *free = true;
                    return static_cast<std::size_t>(free - busy_.begin());
                }
            }
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }
    void give_slot(std::size_t slot) {
        __atomic_store_n(&orders_->order[slot].state, static_cast<std::uint32_t>(kNoOrder),
                         __ATOMIC_RELEASE);
        const std::lock_guard lock(mutex_);
        busy_[slot] = false;
    }

    CudaOptions options_;
    ManagedMemory memory_;
    Orders* orders_ = nullptr;
    Launch launch_;
    cudaStream_t stream_ = nullptr;
    std::mutex mutex_;
    std::vector<bool> busy_;
};

}  // namespace

std::unique_ptr<LaneExecutor> make_cuda_executor(const CudaOptions& options) {
    std::string why;
    if (cuda_device_count(why) <= options.device) {
        throw ConfigError("--device cuda: " + why);
    }
    return std::make_unique<CudaExecutor>(options);
}

int cuda_device_count(std::string& why) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        why = std::string("no GPU that CUDA can use (") + cudaGetErrorString(error) + ")";
        return 0;
    }
    return count;
}

}  // namespace sluice::gpu
