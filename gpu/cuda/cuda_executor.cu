// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "gpu/cuda/cuda_executor.h"
#include "gpu/cuda/cuda_memory.cuh"
#include "gpu/cuda/kernel.cuh"
#include "gpu/cuda/kernels.h"
#include "gpu/lane/variant_gate.h"
#include "gpu/lane/work_desk.h"

namespace sluice::gpu {

namespace {

/// The calling thread's CUDA calls are for this GPU from here on.
int chosen(int device) {
    check_cuda(cudaSetDevice(device), "no such GPU");
    return device;
}

/// CUDA loads a kernel when it is first asked for, and may wait for kernels that run: not for one of another shard,
/// which ends last.
void load_kernels() {
    cudaFuncAttributes attributes;
    for (const void* const kernel : law_kernels()) {
        check_cuda(cudaFuncGetAttributes(&attributes, kernel), "the kernels");
    }
}

/// Blocks of an executor's kernel that are on the GPU at once, whatever the law: the general one has the registers
/// that its launch bounds allow.
std::uint32_t resident_blocks(const CudaOptions& options) {
    int processors = 0;
    int blocks = 0;
    check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, options.device),
               "processors");
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_lanes,
                                                             static_cast<int>(options.threads), 0),
               "occupancy");
    return static_cast<std::uint32_t>(processors * blocks) / options.shards;
}

class CudaExecutor : public LaneExecutor {
  public:
    explicit CudaExecutor(const CudaOptions& options)
        : options_(options),
          device_(chosen(options.device)),
          gangs_(gangs_that_fit(resident_blocks(options), options.blocks_of_gang, options.lanes)),
          grid_(gangs_ * options.blocks_of_gang),
          managed_(device_,
                   (options.memory > 0 ? options.memory : free_for_lanes()) / options.shards),
          pool_(device_, managed_),
          queue_(1),
          items_(options.lanes),
          claimed_(options.lanes),
          meetings_(gangs_),
          taken_(gangs_) {
        queue_.data()->count = options.lanes;
        queue_.data()->item = items_.data();
        queue_.data()->claimed = claimed_.data();
        claimed_.renew(stream_.get());
        if (options.shards > 1) {
            load_kernels();
        }
    }
    ~CudaExecutor() override { close(); }

    DeviceMemory& memory() override { return pool_; }

    LaneReport run(Lane& lane, const LaneOrder& order) override {
        chosen(device_);
        const VariantGate::Pass pass = gate_.enter(static_cast<int>(order.law));
        return desk_->run(lane, order);
    }

    void close() override {
        cudaSetDevice(device_);
        end_kernel();
    }

  private:
    /// First when the first lane comes: by then every executor of the GPU has its memory.
    void launch(int variant) {
        check_cuda(end_kernel(), "its kernel has ended");
        meetings_.renew(stream_.get());
        __atomic_store_n(&queue_.data()->closed, 0U, __ATOMIC_SEQ_CST);
        Launch launch;
        launch.queue = queue_.data();
        launch.meetings = meetings_.data();
        launch.taken = taken_.data();
        launch.blocks_of_gang = options_.blocks_of_gang;
        const void* const kernel = variant == VariantGate::kGeneral
                                       ? reinterpret_cast<const void*>(run_lanes)
                                       : kernel_of(static_cast<congestion::Law>(variant));
        void* arguments[] = {&launch};
        check_cuda(cudaLaunchKernel(kernel, dim3(grid_), dim3(options_.threads), arguments, 0,
                                    stream_.get()),
                   "the kernel");
        desk_ = std::make_unique<WorkDesk>(*queue_.data(), [this] { return death(); });
    }
    cudaError_t end_kernel() {
        desk_.reset();
        __atomic_store_n(&queue_.data()->closed, 1U, __ATOMIC_SEQ_CST);
        return cudaStreamSynchronize(stream_.get());
    }
    /// The kernel ends only when it is told to, or fails.
    std::string death() const {
        cudaSetDevice(device_);
        const cudaError_t state = cudaStreamQuery(stream_.get());
        return state == cudaErrorNotReady
                   ? ""
                   : std::string("the GPU: its kernel has ended: ") + cudaGetErrorString(state);
    }

    CudaOptions options_;
    int device_;
    std::uint32_t gangs_;
    std::uint32_t grid_;
    ManagedMemory managed_;
    ManagedPool pool_;
    SharedArray<WorkQueue> queue_;
    SharedArray<WorkItem> items_;
    DeviceArray<std::uint32_t> claimed_;
    DeviceArray<GangMeeting> meetings_;
    DeviceArray<Taken> taken_;
    Stream stream_;
    std::unique_ptr<WorkDesk> desk_;
    VariantGate gate_{[this](int variant) { launch(variant); }};
};

}  // namespace

namespace {

/// What `make()` gives with the GPU; its errors are refusals, as nothing runs yet.
template <class Make>
auto before_launch(int device, Make&& make) {
    std::string why;
    const int count = cuda_device_count(why);
    if (count > 0 && device >= count) {
        why = "GPU " + std::to_string(device) + ": there are " + std::to_string(count) +
              ", from 0 on";
    }
    if (!why.empty()) {
        throw ConfigError("--device cuda: " + why);
    }
    try {
        return make();
    } catch (const DeviceError& error) {
        throw ConfigError(std::string("--device cuda: ") + error.what());
    }
}

}  // namespace

std::unique_ptr<LaneExecutor> make_cuda_executor(const CudaOptions& options) {
    return before_launch(options.device, [&]() -> std::unique_ptr<LaneExecutor> {
        return std::make_unique<CudaExecutor>(options);
    });
}

CudaFigures cuda_figures(const CudaOptions& options) {
    return before_launch(options.device, [&] {
        cudaDeviceProp properties;
        cudaFuncAttributes kernel;
        check_cuda(cudaGetDeviceProperties(&properties, options.device), "its properties");
        chosen(options.device);
        check_cuda(cudaFuncGetAttributes(&kernel, run_lanes), "the kernel");
        CudaFigures figures;
        figures.name = properties.name;
        figures.processors = static_cast<std::uint32_t>(properties.multiProcessorCount);
        figures.blocks = resident_blocks(options);
        figures.occupancy =
            static_cast<double>(figures.blocks) * options.threads /
            (static_cast<double>(figures.processors) * properties.maxThreadsPerMultiProcessor);
        figures.registers = static_cast<std::uint32_t>(kernel.numRegs);
        return figures;
    });
}

std::size_t cuda_lane_memory(int device) {
    return before_launch(device, [&] {
        chosen(device);
        return free_for_lanes();
    });
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
