// SPDX-License-Identifier: Apache-2.0
/// Memory of an executor on a GPU, all of it allocated before its kernel is launched: CUDA's allocator waits for
/// kernels to end, and this one ends last.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <string>
#include <vector>

#include "gpu/lane/block_pool.h"
#include "gpu/lane/device_error.h"

namespace sluice::gpu {

inline void check_cuda(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        throw DeviceError(std::string("the GPU: ") + what + ": " + cudaGetErrorString(error));
    }
}

/// Of the GPU's memory that is free at first.
inline constexpr double kShareOfMemory = 0.9;

/// Bytes of the current GPU's memory for lanes.
inline std::size_t free_for_lanes() {
    std::size_t free = 0;
    std::size_t all = 0;
    check_cuda(cudaMemGetInfo(&free, &all), "memory");
    return static_cast<std::size_t>(static_cast<double>(free) * kShareOfMemory);
}

/// Seen by host and device at one address, also while a kernel runs.
class ManagedMemory {
  public:
    ManagedMemory(int device, std::size_t bytes) : bytes_(bytes) {
        int concurrent = 0;
        check_cuda(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device),
                   "managed memory");
        if (concurrent == 0) {
            throw DeviceError("the GPU shares no memory with the host while a kernel runs");
        }
        check_cuda(cudaMallocManaged(&base_, bytes_), "memory of the lanes");
    }
    ~ManagedMemory() { cudaFree(base_); }
    ManagedMemory(const ManagedMemory&) = delete;
    ManagedMemory& operator=(const ManagedMemory&) = delete;
    void* base() const { return base_; }
    std::size_t bytes() const { return bytes_; }

  private:
    void* base_ = nullptr;
    std::size_t bytes_;
};

/// On which kernels of one executor run, or copies.
class Stream {
  public:
    Stream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream"); }
    ~Stream() { cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    cudaStream_t get() const { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

/// Blocks of managed memory, which the driver moves between host and GPU: on demand by pages, which takes longer
/// than a lane's windows, or as a whole.
class ManagedPool : public BlockPool {
  public:
    ManagedPool(int device, const ManagedMemory& memory)
        : BlockPool(memory.base(), memory.bytes(), kGrain), device_(device), streams_(kStreams) {}

    void bring(void* block, Side to) override {
        cudaSetDevice(device_);
        const cudaStream_t stream = streams_[next_++ % kStreams].get();
#if CUDART_VERSION >= 13000
        const cudaMemLocation place = to == Side::device
                                          ? cudaMemLocation{cudaMemLocationTypeDevice, device_}
                                          : cudaMemLocation{cudaMemLocationTypeHost, 0};
        const cudaError_t error = cudaMemPrefetchAsync(block, bytes_of(block), place, 0, stream);
#else
        const cudaError_t error = cudaMemPrefetchAsync(
            block, bytes_of(block), to == Side::device ? device_ : cudaCpuDeviceId, stream);
#endif
        // What could not be brought comes by pages.
        if (error == cudaSuccess && to == Side::host) {
            cudaStreamSynchronize(stream);
        }
    }

  private:
    /// The driver's larger pages: no two lanes share one.
    static constexpr std::size_t kGrain = std::size_t{64} << 10U;
    static constexpr std::size_t kStreams = 16;

    int device_;
    std::vector<Stream> streams_;
    std::atomic<std::size_t> next_{0};
};

/// An array that host and device both see while a kernel runs.
template <class T>
class SharedArray {
  public:
    explicit SharedArray(std::size_t count) {
        void* block = nullptr;
        check_cuda(cudaHostAlloc(&block, count * sizeof(T), cudaHostAllocMapped),
                   "memory of the queue");
        data_ = static_cast<T*>(block);
        for (std::size_t i = 0; i < count; ++i) {
            new (&data_[i]) T;
        }
    }
    ~SharedArray() { cudaFreeHost(data_); }
    SharedArray(const SharedArray&) = delete;
    SharedArray& operator=(const SharedArray&) = delete;
    T* data() const { return data_; }

  private:
    T* data_ = nullptr;
};

/// An array of the device's own.
template <class T>
class DeviceArray {
  public:
    explicit DeviceArray(std::size_t count) : count_(count) {
        void* block = nullptr;
        check_cuda(cudaMalloc(&block, count * sizeof(T)), "memory of the threads");
        data_ = static_cast<T*>(block);
    }
    /// As a new T each, once the stream has come to it.
    void renew(cudaStream_t stream) {
        const std::vector<T> fresh(count_);
        check_cuda(cudaMemcpyAsync(data_, fresh.data(), count_ * sizeof(T), cudaMemcpyHostToDevice,
                                   stream),
                   "memory of the threads");
        check_cuda(cudaStreamSynchronize(stream), "memory of the threads");
    }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    T* data() const { return data_; }

  private:
    std::size_t count_;
    T* data_ = nullptr;
};

}  // namespace sluice::gpu
