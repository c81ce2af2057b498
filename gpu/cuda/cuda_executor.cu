// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "core/error.h"
#include "gpu/cuda/cuda_executor.h"
#include "gpu/cuda/kernel.cuh"
#include "gpu/lane/block_pool.h"

namespace sluice::gpu {

namespace {

void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        throw ConfigError(std::string("--device cuda: ") + what + ": " + cudaGetErrorString(error));
    }
}

/// Of the GPU's memory that is free at first.
constexpr double kShareOfMemory = 0.9;
/// How long a host's thread sleeps between two looks at its lane, and after how many it looks at the kernel.
constexpr std::chrono::microseconds kNap{100};
constexpr int kLooks = 100;

/// Seen by host and device at one address, also while a kernel runs. Allocated before the kernel is launched:
/// CUDA's allocator waits for kernels to end, and this one ends last.
class ManagedMemory {
  public:
    explicit ManagedMemory(int device) {
        int concurrent = 0;
        check(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device),
              "managed memory");
        if (concurrent == 0) {
            throw ConfigError(
                "--device cuda: this GPU shares no memory with the host while a kernel runs");
        }
        std::size_t free = 0;
        std::size_t all = 0;
        check(cudaMemGetInfo(&free, &all), "memory");
        bytes_ = static_cast<std::size_t>(static_cast<double>(free) * kShareOfMemory);
        check(cudaMallocManaged(&base_, bytes_), "memory of the lanes");
    }
    ~ManagedMemory() { cudaFree(base_); }
    ManagedMemory(const ManagedMemory&) = delete;
    ManagedMemory& operator=(const ManagedMemory&) = delete;
    void* base() const { return base_; }
    std::size_t bytes() const { return bytes_; }

  private:
    void* base_ = nullptr;
    std::size_t bytes_ = 0;
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

/// The calling thread's CUDA calls are for this GPU from here on.
int chosen(int device) {
    check(cudaSetDevice(device), "no such GPU");
    return device;
}

class CudaExecutor : public LaneExecutor {
  public:
    explicit CudaExecutor(const CudaOptions& options)
        : options_(options),
          managed_(chosen(options.device)),
          pool_(managed_.base(), managed_.bytes()),
          busy_(options.lanes) {
        // All blocks must be resident: those of a gang wait for each other. More gangs than lanes have nothing to do.
        const std::uint32_t gangs =
            std::max(std::min(resident_blocks() / options.blocks_of_gang, options.lanes), 1U);
        const std::uint32_t grid = gangs * options.blocks_of_gang;
        queue_ = shared_array<WorkQueue>(1);
        queue_->count = options.lanes;
        queue_->item = shared_array<WorkItem>(options.lanes);
        launch_.queue = queue_;
        launch_.worlds = device_array<step::World>(std::size_t{grid} * options.threads);
        launch_.meetings = device_array<GangMeeting>(gangs);
        launch_.taken = device_array<std::uint32_t>(gangs);
        launch_.blocks_of_gang = options.blocks_of_gang;
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
        run_lanes<<<grid, options.threads, 0, stream_>>>(launch_);
        check(cudaGetLastError(), "the kernel");
    }
    ~CudaExecutor() override {
        __atomic_store_n(&queue_->closed, 1U, __ATOMIC_SEQ_CST);
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
        cudaFree(launch_.worlds);
        cudaFree(launch_.meetings);
        cudaFree(launch_.taken);
        cudaFreeHost(queue_->item);
        cudaFreeHost(queue_);
    }

    DeviceMemory& memory() override { return pool_; }

    Outcome run(Lane& lane, std::uint64_t windows) override {
        chosen(options_.device);
        const std::size_t number = take_item();
        WorkItem& item = queue_->item[number];
        item.lane = &lane;
        item.windows = windows;
        __atomic_store_n(&item.state, static_cast<std::uint32_t>(kPlaced), __ATOMIC_RELEASE);
        for (int look = 1; __atomic_load_n(&item.state, __ATOMIC_ACQUIRE) != kDone; ++look) {
            if (look % kLooks == 0) {
                check_kernel();
            }
            std::this_thread::sleep_for(kNap);
        }
        const Outcome outcome = item.outcome;
        give_item(number);
        return outcome;
    }

  private:
    std::uint32_t resident_blocks() const {
        int processors = 0;
        int blocks = 0;
        check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, options_.device),
              "processors");
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_lanes,
                                                            static_cast<int>(options_.threads), 0),
              "occupancy");
        return static_cast<std::uint32_t>(processors * blocks);
    }
    /// The kernel ends only when it is told to, or fails.
    void check_kernel() const {
        const cudaError_t state = cudaStreamQuery(stream_);
        if (state != cudaErrorNotReady) {
            throw InternalError(std::string("the kernel has ended: ") + cudaGetErrorString(state));
        }
    }
    std::size_t take_item() {
        for (;;) {
            {
                const std::lock_guard lock(mutex_);
                const auto free = std::find(busy_.begin(), busy_.end(), false);
                if (free != busy_.end()) {
                    *free = true;
                    return static_cast<std::size_t>(free - busy_.begin());
                }
            }
            std::this_thread::sleep_for(kNap);
        }
    }
    void give_item(std::size_t number) {
        __atomic_store_n(&queue_->item[number].state, static_cast<std::uint32_t>(kFree),
                         __ATOMIC_RELEASE);
        const std::lock_guard lock(mutex_);
        busy_[number] = false;
    }

    CudaOptions options_;
    ManagedMemory managed_;
    BlockPool pool_;
    WorkQueue* queue_ = nullptr;
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
