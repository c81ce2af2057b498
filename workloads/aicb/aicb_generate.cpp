// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_generate.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/error.h"
#include "workloads/model/messages.h"

namespace sluice {

namespace {

constexpr std::int64_t kUpdate = 100;  ///< ns, as AICB writes
constexpr std::int64_t kNoTime = 1;    ///< ns, of a layer whose compute time is not known
constexpr std::int64_t kMostLines = 10'000'000;

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit * unit;
}

std::int64_t replicas(const AicbJob& job) { return job.world / (job.tp * job.pp); }

std::int64_t micro_batches(const AicbJob& job) {
    return job.global_batch / (job.micro_batch * replicas(job));
}

void check(const AicbJob& job) {
    check_model(job.model);
    const auto refuse = [&](const std::string& message) {
        throw ConfigError("AICB workload of " + job.model.name + ": " + message);
    };
    for (const std::int64_t degree :
         {job.world, job.tp, job.pp, job.ep, job.micro_batch, job.global_batch, job.sequence}) {
        if (degree < 1 || degree > 1'000'000'000) {
            refuse("degrees, batches and the sequence must be 1 to 10^9");
        }
    }
    if (job.world % (job.tp * job.pp) != 0) {
        refuse(fmt::format("tp {} x pp {} does not divide {} GPUs", job.tp, job.pp, job.world));
    }
    if (replicas(job) % job.ep != 0) {
        refuse(fmt::format("ep {} does not divide dp {}", job.ep, replicas(job)));
    }
    if (job.model.layers % job.pp != 0) {
        refuse(fmt::format("pp {} does not divide {} layers: the file describes one stage for all",
                           job.pp, job.model.layers));
    }
    if (job.global_batch % (job.micro_batch * replicas(job)) != 0) {
        refuse(fmt::format("micro-batch {} x dp {} does not divide the global batch {}",
                           job.micro_batch, replicas(job), job.global_batch));
    }
    if (job.model.experts > 0 && job.model.experts % job.ep != 0) {
        refuse(fmt::format("ep {} does not divide {} experts", job.ep, job.model.experts));
    }
    if (micro_batches(job) > kMostLines / (10 * (job.model.layers / job.pp + 2))) {
        refuse(
            fmt::format("{} micro-batches are more than {} lines", micro_batches(job), kMostLines));
    }
}

/// Bytes of an activation of a micro-batch: what tensor parallelism exchanges.
std::int64_t activation(const AicbJob& job) {
    return 2 * job.micro_batch * job.sequence * job.model.hidden;
}

struct Line {
    AicbComm comm = AicbComm::none;
    std::int64_t bytes = 0;
    AicbSuffix suffix = AicbSuffix::plain;
};

class Writer {
  public:
    explicit Writer(const AicbJob& job) {
        work_.file = "generated";
        AicbHeader& header = work_.header;
        header.tp = job.tp;
        header.ep = job.ep;
        header.pp = job.pp;
        header.vpp = job.model.layers / job.pp;
        header.ga = micro_batches(job);
        header.all_gpus = job.world;
        if (job.pp > 1) {
            header.pp_comm = activation(job) / (job.sequence_parallel ? job.tp : 1);
        }
    }

    AicbHeader& header() { return work_.header; }

    void add(const std::string& name, std::int64_t forward_time, const Line& forward,
             std::int64_t input_time, const Line& input, std::int64_t weight_time,
             const Line& weight) {
        AicbLayer layer;
        layer.work[kForward] = {forward_time, forward.bytes, forward.comm, forward.suffix};
        layer.work[kInputGradient] = {input_time, input.bytes, input.comm, input.suffix};
        layer.work[kWeightGradient] = {weight_time, weight.bytes, weight.comm, weight.suffix};
        layer.update = kUpdate;
        const auto known = std::find(work_.names.begin(), work_.names.end(), name);
        layer.name = static_cast<std::uint32_t>(known - work_.names.begin());
        if (known == work_.names.end()) work_.names.push_back(name);
        layer.line = static_cast<std::int32_t>(work_.layers.size() + 3);
        work_.layers.push_back(layer);
    }

    /// All of a layer's parts as long.
    void add(const std::string& name, std::int64_t time, const Line& forward, const Line& input,
             const Line& weight = {}) {
        add(name, time, forward, time, input, time, weight);
    }

    /// The loss and the optimizer's checks: `time` each.
    void add_loss(const AicbJob& job, std::int64_t time) {
        for (int i = 1; i <= 3; ++i) {
            add(fmt::format("cross_entropy{}", i), time,
                {AicbComm::all_reduce, 4 * job.sequence * job.micro_batch}, {});
        }
    }
    void add_optimizer(std::int64_t time) {
        for (int i = 1; i <= 4; ++i) {
            add(fmt::format("optimizer{}", i), time, {AicbComm::all_reduce, 4}, {});
        }
    }

    AicbWorkload finish() {
        work_.header_tokens = aicb_header_tokens(work_.header);
        return std::move(work_);
    }

  private:
    AicbWorkload work_;
};

/// AICB's file with and without a profile of compute times.
class Compatible {
  public:
    Compatible(const AicbJob& job, const std::optional<AiobProfile>& profile)
        : job_(job),
          profile_(profile),
          parameters_(aicb_parameters(job)),
          writer_(job),
          tp_comm_(activation(job)) {}

    AicbWorkload run() {
        if (profile_) {
            gradients_with_profile();
        } else {
            gradients();
        }
        for (std::int64_t k = 0; k < micro_batches(job_); ++k) micro_batch();
        writer_.add_loss(job_, 0);
        writer_.add_optimizer(0);
        AicbWorkload work = writer_.finish();
        // Python's division makes it a float.
        if (job_.pp > 1 && job_.sequence_parallel) work.header_tokens.back() += ".0";
        return work;
    }

  private:
    static std::int64_t nanoseconds(Tick ticks) { return ticks / kNanosecond; }

    void layer_norm() {
        if (job_.sequence_parallel) return;
        writer_.add("layernorm", kNoTime, {},
                    {AicbComm::all_reduce, 2 * (parameters_.dense + parameters_.experts)});
    }

    void expert_gradients() {
        if (job_.ep == replicas(job_)) return;
        writer_.add("moe_grad_norm1", kNoTime, {}, {},
                    {AicbComm::all_gather, 2 * parameters_.experts, AicbSuffix::dp_ep});
        writer_.add("moe_grad_norm2", kNoTime, {}, {},
                    {AicbComm::reduce_scatter, 4 * parameters_.experts, AicbSuffix::dp_ep});
    }

    void gradients() {
        const std::int64_t all = parameters_.dense + parameters_.experts;
        writer_.add("grad_norm", kNoTime, {AicbComm::all_gather, 2 * all}, {},
                    {AicbComm::reduce_scatter, 4 * all});
        layer_norm();
        expert_gradients();
    }

    void gradients_with_profile() {
        const std::int64_t compute = nanoseconds(profile_->optimizer());
        writer_.add("grad_gather", kNoTime, {}, {}, {AicbComm::all_gather, 2 * parameters_.dense});
        writer_.add("grad_param_comm", kNoTime, {}, {},
                    {AicbComm::reduce_scatter, 4 * parameters_.dense});
        writer_.add("grad_param_compute", kNoTime, {}, compute, {}, kNoTime, {});
        layer_norm();
        writer_.add("embedding_grads", kNoTime, {},
                    {job_.tp > 1 ? AicbComm::all_reduce : AicbComm::none, tp_comm_});
        expert_gradients();
        last_backward_ = nanoseconds(profile_->embedding_gradient());
    }

    void micro_batch() {
        embedding();
        for (std::int64_t layer = 0; layer < job_.model.layers / job_.pp; ++layer) {
            if (!job_.sequence_parallel) {
                whole("attention");
                whole("mlp");
                continue;
            }
            column_and_row("attention");
            if (job_.model.experts > 0) {
                mixture();
            } else {
                column_and_row("mlp");
            }
        }
        if (job_.sequence_parallel) column("final", half_time("attention"));
        if (!profile_) {
            writer_.add("embedding_norm", kNoTime,
                        {AicbComm::all_reduce, 2 * job_.model.vocabulary * job_.model.hidden}, {});
        }
    }

    /// Without TP a profile's file has no communication in it; the other always has.
    AicbComm tensor(AicbComm comm) const {
        return profile_ && job_.tp == 1 ? AicbComm::none : comm;
    }

    void embedding() {
        if (!profile_) {
            const AicbComm comm = job_.sequence_parallel ? AicbComm::none : AicbComm::all_reduce;
            writer_.add("embedding_layer", kNoTime, {comm, tp_comm_}, {comm, tp_comm_});
            return;
        }
        writer_.add("embedding_layer", nanoseconds(profile_->embedding()),
                    {tensor(AicbComm::all_reduce), tp_comm_}, kNoTime, {}, last_backward_, {});
    }

    std::int64_t part_time(const std::string& part, bool recompute) const {
        return nanoseconds(part == "mlp" ? profile_->mlp() : profile_->attention(recompute));
    }

    struct HalfTime {
        std::int64_t forward = kNoTime;
        std::int64_t backward = kNoTime;
    };

    HalfTime half_time(const std::string& part) const {
        if (!profile_) return {};
        const std::int64_t once = part_time(part, false);
        const bool twice = job_.recompute && part == "attention";
        return {(twice ? 2 * once : once) / 2, once / 2};
    }

    void whole(const std::string& part) {
        const bool twice = job_.recompute && part == "attention";
        if (!profile_) {
            writer_.add(part + "_layer", kNoTime,
                        {AicbComm::all_reduce, twice ? 2 * tp_comm_ : tp_comm_},
                        {AicbComm::all_reduce, tp_comm_});
            return;
        }
        const std::int64_t once = part_time(part, false);
        last_backward_ = once;
        writer_.add(part + "_layer", once, {tensor(AicbComm::all_reduce), tp_comm_}, once, {}, once,
                    {});
    }

    void column(const std::string& part, const HalfTime& time) {
        if (!profile_) {
            const bool twice = job_.recompute && part == "attention";
            writer_.add(part + "_column", kNoTime,
                        {AicbComm::all_gather, twice ? 2 * tp_comm_ : tp_comm_}, {});
            return;
        }
        last_backward_ = time.backward;
        writer_.add(part + "_column", time.forward, {tensor(AicbComm::all_gather), tp_comm_},
                    time.backward, {tensor(AicbComm::reduce_scatter), 0}, time.backward, {});
    }

    void row(const std::string& part, const HalfTime& time) {
        if (!profile_) {
            const bool twice = job_.recompute && part == "attention";
            writer_.add(part + "_row", kNoTime,
                        {AicbComm::reduce_scatter, twice ? 2 * tp_comm_ : tp_comm_},
                        {AicbComm::none, tp_comm_});
            return;
        }
        last_backward_ = time.backward;
        writer_.add(part + "_row", time.forward, {tensor(AicbComm::reduce_scatter), tp_comm_},
                    time.backward, {tensor(AicbComm::all_gather), tp_comm_}, time.backward, {});
    }

    void column_and_row(const std::string& part) {
        column(part, half_time(part));
        row(part, half_time(part));
    }

    void mixture() {
        const std::int64_t copies = tp_comm_ * job_.model.top_k;
        const std::int64_t counts = 2 * job_.ep * job_.model.experts * job_.tp;
        const bool spread = !profile_ || job_.ep > 1;
        const AicbComm exchange = spread ? AicbComm::all_to_all : AicbComm::none;
        const AicbSuffix suffix = spread ? AicbSuffix::ep : AicbSuffix::plain;
        const bool counted = !profile_ || job_.ep > 1 || job_.tp > 1;
        const AicbComm gather = tensor(AicbComm::all_gather);
        const AicbComm scatter = tensor(AicbComm::reduce_scatter);
        const std::int64_t time = profile_ ? part_time("mlp", false) : kNoTime;
        if (profile_) last_backward_ = time;
        writer_.add("mlp_moelayer", time,
                    {counted ? AicbComm::all_gather : AicbComm::none, counts,
                     counted ? AicbSuffix::ep : AicbSuffix::plain},
                    time, {}, kNoTime, {});
        const Line exchanged{exchange, copies / job_.tp, suffix};
        writer_.add("mlp_moelayer", kNoTime, exchanged, exchanged);
        writer_.add("mlp_moelayer", kNoTime, {gather, copies}, {scatter, copies});
        writer_.add("mlp_moelayer", kNoTime, {scatter, copies}, {gather, copies});
        writer_.add("mlp_moelayer", kNoTime, exchanged, exchanged);
    }

    const AicbJob& job_;
    const std::optional<AiobProfile>& profile_;
    AicbParameters parameters_;
    Writer writer_;
    std::int64_t tp_comm_;
    std::int64_t last_backward_ = kNoTime;  ///< AICB's variable, which outlives its layer
};

/// The same job by the formulas.
class Formula {
  public:
    Formula(const AicbJob& job, const std::optional<Roofline>& roofline)
        : job_(job), roofline_(roofline), writer_(job) {
        message_.sequences = job.micro_batch;
        message_.tokens = job.sequence;
        message_.tp = job.tp;
        message_.ep = job.ep;
        message_.sequence_parallel = job.sequence_parallel;
        pass_.sequences = job.micro_batch;
        pass_.tokens = job.sequence;
        pass_.tp = job.tp;
        pass_.ep = job.ep;
        pass_.sequence_parallel = job.sequence_parallel;
        tp_comm_ = tensor_parallel_bytes(job.model, message_);
        if (job.pp > 1) writer_.header().pp_comm = pipeline_bytes(job.model, message_);
    }

    AicbWorkload run() {
        gradients();
        const std::int64_t layers = job_.model.layers / job_.pp;
        for (std::int64_t k = 0; k < micro_batches(job_); ++k) {
            embedding();
            for (std::int64_t layer = 0; layer < layers; ++layer) {
                // Layers of a stage in the middle: the first ones of a mixture may be dense.
                transformer_layer(job_.model.layers - layers + layer);
            }
            head();
        }
        writer_.add_optimizer(0);
        return writer_.finish();
    }

  private:
    std::int64_t time(const Work& work) const {
        if (!roofline_) return kNoTime;
        return std::max<std::int64_t>(kNoTime, roofline_time(*roofline_, work) / kNanosecond);
    }

    static Work part(Work work, double share) {
        work.flops *= share;
        work.bytes *= share;
        return work;
    }

    Line tensor(AicbComm comm) const { return job_.tp > 1 ? Line{comm, tp_comm_} : Line{}; }

    void gradients() {
        RankParameters largest;
        for (const LayerRange& range : split_layers(job_.model, job_.pp)) {
            const RankParameters of = rank_parameters(job_.model, range, job_.tp, job_.ep);
            largest.dense = std::max(largest.dense, of.dense);
            largest.experts = std::max(largest.experts, of.experts);
        }
        const GradientBytes bytes = gradient_bytes(largest, message_);
        writer_.add("grad_gather", kNoTime, {}, {}, {AicbComm::all_gather, bytes.dense_all_gather});
        writer_.add("grad_param_comm", kNoTime, {}, {},
                    {AicbComm::reduce_scatter, bytes.dense_reduce_scatter});
        if (roofline_) {
            writer_.add("grad_param_compute", kNoTime, {}, time(optimizer_work(shard(largest))), {},
                        kNoTime, {});
        }
        if (job_.sequence_parallel && job_.tp > 1) {
            std::int64_t norms = final_norm_parameters(job_.model);
            for (std::int64_t layer = 0; layer < job_.model.layers / job_.pp; ++layer) {
                norms += layer_parameters(job_.model, layer).norms;
            }
            writer_.add("layernorm", kNoTime, {}, {AicbComm::all_reduce, 2 * norms});
        }
        if (largest.experts > 0 && job_.ep != replicas(job_)) {
            writer_.add("moe_grad_norm1", kNoTime, {}, {},
                        {AicbComm::all_gather, bytes.expert_all_gather, AicbSuffix::dp_ep});
            writer_.add("moe_grad_norm2", kNoTime, {}, {},
                        {AicbComm::reduce_scatter, bytes.expert_reduce_scatter, AicbSuffix::dp_ep});
        }
    }

    /// What the distributed optimizer updates on one rank.
    std::int64_t shard(const RankParameters& parameters) const {
        const std::int64_t dp = replicas(job_);
        return parameters.dense / dp + parameters.experts / std::max<std::int64_t>(1, dp / job_.ep);
    }

    void embedding() {
        const std::int64_t compute = time(embedding_work(job_.model, pass_));
        if (job_.sequence_parallel) {
            writer_.add("embedding_layer", compute, tensor(AicbComm::reduce_scatter),
                        tensor(AicbComm::all_gather));
        } else {
            writer_.add("embedding_layer", compute, tensor(AicbComm::all_reduce), {});
        }
    }

    void transformer_layer(std::int64_t layer) {
        const LayerWork work = forward_work(job_.model, layer, pass_);
        Work attention = work.attention_total();
        attention += part(work.norms, 0.5);
        Work mlp = work.mlp_total();
        mlp += part(work.norms, 0.5);
        block("attention", attention);
        if (is_mixture_layer(job_.model, layer)) {
            mixture(mlp);
        } else {
            block("mlp", mlp);
        }
    }

    void block(const std::string& name, const Work& work) {
        // Recomputation repeats attention's forward pass, communication included, before backward;
        // the format has one forward pass, so it is there twice.
        const bool twice = job_.recompute && name == "attention";
        const std::int64_t scale = twice ? 2 : 1;
        const auto forward = [&](AicbComm comm) {
            Line line = tensor(comm);
            line.bytes *= scale;
            return line;
        };
        if (!job_.sequence_parallel) {
            const std::int64_t compute = time(work);
            writer_.add(name + "_layer", scale * compute, forward(AicbComm::all_reduce), compute,
                        tensor(AicbComm::all_reduce), compute, {});
            return;
        }
        const std::int64_t half = time(part(work, 0.5));
        writer_.add(name + "_column", scale * half, forward(AicbComm::all_gather), half,
                    tensor(AicbComm::reduce_scatter), half, {});
        writer_.add(name + "_row", scale * half, forward(AicbComm::reduce_scatter), half,
                    tensor(AicbComm::all_gather), half, {});
    }

    void mixture(const Work& work) {
        const bool spread = job_.ep > 1;
        const auto exchange = [&](std::int64_t bytes) {
            return spread ? Line{AicbComm::all_to_all, bytes, AicbSuffix::ep} : Line{};
        };
        const auto gathered = [&](AicbComm comm) {
            Line line = tensor(comm);
            line.bytes *= job_.model.top_k;
            return line;
        };
        const char* name = "mlp_moelayer";
        const std::int64_t compute = time(work);
        const Line counts = spread ? Line{AicbComm::all_gather,
                                          router_count_bytes(job_.model, message_), AicbSuffix::ep}
                                   : Line{};
        writer_.add(name, compute, counts, compute, {}, compute, {});
        const std::int64_t combined = combine_bytes(job_.model, message_);
        writer_.add(name, kNoTime, exchange(dispatch_bytes(job_.model, message_)),
                    exchange(combined));
        writer_.add(name, kNoTime, gathered(AicbComm::all_gather),
                    gathered(AicbComm::reduce_scatter));
        writer_.add(name, kNoTime, gathered(AicbComm::reduce_scatter),
                    gathered(AicbComm::all_gather));
        writer_.add(name, kNoTime, exchange(combined), exchange(combined));
    }

    void head() {
        const std::int64_t compute = time(head_work(job_.model, pass_));
        if (job_.sequence_parallel) {
            writer_.add("final_column", compute, tensor(AicbComm::all_gather),
                        tensor(AicbComm::reduce_scatter));
        } else {
            writer_.add("final_layer", compute, {}, tensor(AicbComm::all_reduce));
        }
        if (job_.tp > 1) writer_.add_loss(job_, 0);
    }

    const AicbJob& job_;
    const std::optional<Roofline>& roofline_;
    Writer writer_;
    MessageShape message_;
    Pass pass_;
    std::int64_t tp_comm_ = 0;
};

}  // namespace

AicbParameters aicb_parameters(const AicbJob& job) {
    const ModelShape& model = job.model;
    const std::int64_t h = model.hidden;
    const std::int64_t layers = model.layers / job.pp;
    const std::int64_t ffn = job.swiglu || model.gated ? 8 * h / 3 / 64 * 64 : model.ffn;
    const std::int64_t vocabulary = round_up(model.vocabulary, 128 * job.tp);
    const std::int64_t attention = 4 * h * h / job.tp;
    const std::int64_t mlp = 2 * h * (ffn / job.tp);
    AicbParameters parameters;
    parameters.dense = 4 * (vocabulary / job.tp) * h + job.sequence * h + layers * attention;
    if (job.sequence_parallel && model.experts > 0) {
        parameters.experts = layers * 2 * h * (ffn * (model.experts / job.ep) / job.tp);
    } else {
        parameters.dense += layers * mlp;
    }
    // One fused norm of each layer, and the head.
    if (job.sequence_parallel) parameters.dense += layers * 2 * h + h * (vocabulary / job.tp);
    return parameters;
}

AicbWorkload generate_aicb(const AicbJob& job, const std::optional<Roofline>& roofline) {
    check(job);
    return Formula(job, roofline).run();
}

AicbWorkload generate_aicb_compatible(const AicbJob& job,
                                      const std::optional<AiobProfile>& profile) {
    check(job);
    if (job.model.experts > 0 && !job.sequence_parallel) {
        throw ConfigError("AICB workload of " + job.model.name +
                          ": AICB writes experts with sequence parallelism only");
    }
    return Compatible(job, profile).run();
}

}  // namespace sluice
