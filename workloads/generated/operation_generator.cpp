// SPDX-License-Identifier: Apache-2.0
#include "workloads/generated/operation_generator.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/random.h"

namespace sluice {

namespace {

constexpr std::uint64_t kShifts = 0x73686966;  ///< purposes of draws
constexpr std::uint64_t kDurations = 0x64757261;
constexpr std::uint64_t kMostOperations = std::uint64_t{1} << 31;
constexpr StreamOp kStep = 3;

class OperationGenerator final : public OperationSource {
  public:
    explicit OperationGenerator(const GeneratorOptions& options) : options_(options) {
        if (options.ranks < 2) throw ConfigError("a stream needs at least 2 ranks");
        if (options.operations < 1 || options.operations > kMostOperations) {
            throw ConfigError("a rank of a stream has 1 to 2147483648 operations");
        }
        if (options.pattern == StreamPattern::pairs && options.ranks % 2 != 0) {
            throw ConfigError("the pattern \"pairs\" needs an even number of ranks");
        }
        // A send without its recv would wait for ever: whole steps, or nothing but the compute.
        count_ = options.operations - (options.operations % kStep == 2 ? 1 : 0);
    }

    RankId rank_count() const override { return options_.ranks; }
    bool indexed() const override { return true; }
    FlowNumbering numbering() const override { return FlowNumbering::first_end; }
    std::uint16_t resource_count() const override { return 1; }
    std::uint64_t operation_count(RankId /*rank*/) const override { return count_; }
    std::vector<StreamOp> roots(RankId /*rank*/) override { return {0}; }

    void load(RankId rank, std::uint32_t index, OperationBlock& block) override {
        const std::uint64_t first = std::uint64_t{index} * kBlockSize;
        block.count = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(kBlockSize, count_ - std::min(first, count_)));
        block.links.clear();
        for (std::uint32_t i = 0; i < block.count; ++i) {
            make(rank, static_cast<StreamOp>(first + i), block.operation(i), block.links);
        }
    }

    std::string describe(RankId rank, StreamOp op) const override {
        return "rank " + std::to_string(rank) + " operation " + std::to_string(op);
    }

  private:
    void make(RankId rank, StreamOp op, StreamOperation& made, std::vector<StreamOp>& links) {
        made = {};
        made.first_link = static_cast<std::uint32_t>(links.size());
        const StreamOp step = op / kStep;
        const StreamOp base = step * kStep;
        const auto wait_here = [&](StreamOp waiting) {
            if (waiting >= count_) return;
            links.push_back(waiting);
            ++made.ends;
        };
        if (op == base) {
            made.kind = StreamKind::compute;
            made.resource = 0;
            made.amount = duration(rank, step);
            made.dependencies = step == 0 ? 0 : 2;
            wait_here(base + 1);
            wait_here(base + 2);
            wait_here(base + kStep);
            return;
        }
        const RankId shift = shift_of(step);
        const bool sends = op == base + 1;
        made.kind = sends ? StreamKind::send : StreamKind::recv;
        made.amount = options_.bytes;
        made.dependencies = 1;
        if (options_.pattern == StreamPattern::pairs) {
            made.peer = rank ^ 1U;
        } else {
            made.peer = (rank + (sends ? shift : options_.ranks - shift)) % options_.ranks;
        }
        if (!sends) wait_here(base + kStep);
    }

    RankId shift_of(StreamOp step) {
        if (options_.pattern != StreamPattern::shift) return 1;
        return 1 +
               uniform_below(options_.seed, random_stream(kShifts, 0), step, options_.ranks - 1);
    }

    Tick duration(RankId rank, StreamOp step) const {
        if (options_.jitter == 0) return options_.compute;
        const double u = 2 * uniform(options_.seed, random_stream(kDurations, rank), step) - 1;
        return static_cast<Tick>(static_cast<double>(options_.compute) * (1 + options_.jitter * u));
    }

    GeneratorOptions options_;
    std::uint64_t count_ = 0;
};

}  // namespace

std::unique_ptr<OperationSource> make_operation_generator(const GeneratorOptions& options) {
    return std::make_unique<OperationGenerator>(options);
}

}  // namespace sluice
