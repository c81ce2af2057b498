// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_generate.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/error.h"
#include "workloads/aicb/aicb_writer.h"

namespace sluice {

namespace {

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit * unit;
}

/// AICB's file with and without a profile of compute times.
class Compatible {
  public:
    Compatible(const AicbJob& job, const std::optional<AiobProfile>& profile)
        : job_(job),
          profile_(profile),
          parameters_(aicb_parameters(job)),
          writer_(job),
          tp_comm_(aicb_activation(job)) {}

    AicbWorkload run() {
        if (profile_) {
            gradients_with_profile();
        } else {
            gradients();
        }
        for (std::int64_t k = 0; k < aicb_micro_batches(job_); ++k) micro_batch();
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
        writer_.add("layernorm", kAicbNoTime, {},
                    {AicbComm::all_reduce, 2 * (parameters_.dense + parameters_.experts)});
    }

    void expert_gradients() {
        if (job_.ep == aicb_replicas(job_)) return;
        writer_.add("moe_grad_norm1", kAicbNoTime, {}, {},
                    {AicbComm::all_gather, 2 * parameters_.experts, AicbSuffix::dp_ep});
        writer_.add("moe_grad_norm2", kAicbNoTime, {}, {},
                    {AicbComm::reduce_scatter, 4 * parameters_.experts, AicbSuffix::dp_ep});
    }

    void gradients() {
        const std::int64_t all = parameters_.dense + parameters_.experts;
        writer_.add("grad_norm", kAicbNoTime, {AicbComm::all_gather, 2 * all}, {},
                    {AicbComm::reduce_scatter, 4 * all});
        layer_norm();
        expert_gradients();
    }

    void gradients_with_profile() {
        const std::int64_t compute = nanoseconds(profile_->optimizer());
        writer_.add("grad_gather", kAicbNoTime, {}, {},
                    {AicbComm::all_gather, 2 * parameters_.dense});
        writer_.add("grad_param_comm", kAicbNoTime, {}, {},
                    {AicbComm::reduce_scatter, 4 * parameters_.dense});
        writer_.add("grad_param_compute", kAicbNoTime, {}, compute, {}, kAicbNoTime, {});
        layer_norm();
        writer_.add("embedding_grads", kAicbNoTime, {},
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
            writer_.add("embedding_norm", kAicbNoTime,
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
            writer_.add("embedding_layer", kAicbNoTime, {comm, tp_comm_}, {comm, tp_comm_});
            return;
        }
        writer_.add("embedding_layer", nanoseconds(profile_->embedding()),
                    {tensor(AicbComm::all_reduce), tp_comm_}, kAicbNoTime, {}, last_backward_, {});
    }

    std::int64_t part_time(const std::string& part, bool recompute) const {
        return nanoseconds(part == "mlp" ? profile_->mlp() : profile_->attention(recompute));
    }

    struct HalfTime {
        std::int64_t forward = kAicbNoTime;
        std::int64_t backward = kAicbNoTime;
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
            writer_.add(part + "_layer", kAicbNoTime,
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
            writer_.add(part + "_column", kAicbNoTime,
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
            writer_.add(part + "_row", kAicbNoTime,
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
        const std::int64_t time = profile_ ? part_time("mlp", false) : kAicbNoTime;
        if (profile_) last_backward_ = time;
        writer_.add("mlp_moelayer", time,
                    {counted ? AicbComm::all_gather : AicbComm::none, counts,
                     counted ? AicbSuffix::ep : AicbSuffix::plain},
                    time, {}, kAicbNoTime, {});
        const AicbLine exchanged{exchange, copies / job_.tp, suffix};
        writer_.add("mlp_moelayer", kAicbNoTime, exchanged, exchanged);
        writer_.add("mlp_moelayer", kAicbNoTime, {gather, copies}, {scatter, copies});
        writer_.add("mlp_moelayer", kAicbNoTime, {scatter, copies}, {gather, copies});
        writer_.add("mlp_moelayer", kAicbNoTime, exchanged, exchanged);
    }

    const AicbJob& job_;
    const std::optional<AiobProfile>& profile_;
    AicbParameters parameters_;
    AicbWriter writer_;
    std::int64_t tp_comm_;
    std::int64_t last_backward_ = kAicbNoTime;  ///< AICB's variable, which outlives its layer
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

AicbWorkload generate_aicb_compatible(const AicbJob& job,
                                      const std::optional<AiobProfile>& profile) {
    check_aicb_job(job);
    if (job.model.experts > 0 && !job.sequence_parallel) {
        throw ConfigError("AICB workload of " + job.model.name +
                          ": AICB writes experts with sequence parallelism only");
    }
    return Compatible(job, profile).run();
}

}  // namespace sluice
