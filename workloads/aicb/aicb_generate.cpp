// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_generate.h"

#include <algorithm>

#include <fmt/core.h>

#include "workloads/aicb/aicb_writer.h"
#include "workloads/model/messages.h"

namespace sluice {

namespace {

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
        for (std::int64_t k = 0; k < aicb_micro_batches(job_); ++k) {
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
        if (!roofline_) return kAicbNoTime;
        return std::max<std::int64_t>(kAicbNoTime, roofline_time(*roofline_, work) / kNanosecond);
    }

    static Work part(Work work, double share) {
        work.flops *= share;
        work.bytes *= share;
        return work;
    }

    AicbLine tensor(AicbComm comm) const {
        return job_.tp > 1 ? AicbLine{comm, tp_comm_} : AicbLine{};
    }

    void gradients() {
        RankParameters largest;
        for (const LayerRange& range : split_layers(job_.model, job_.pp)) {
            const RankParameters of = rank_parameters(job_.model, range, job_.tp, job_.ep);
            largest.dense = std::max(largest.dense, of.dense);
            largest.experts = std::max(largest.experts, of.experts);
        }
        const GradientBytes bytes = gradient_bytes(largest, message_);
        writer_.add("grad_gather", kAicbNoTime, {}, {},
                    {AicbComm::all_gather, bytes.dense_all_gather});
        writer_.add("grad_param_comm", kAicbNoTime, {}, {},
                    {AicbComm::reduce_scatter, bytes.dense_reduce_scatter});
        if (roofline_) {
            writer_.add("grad_param_compute", kAicbNoTime, {}, time(optimizer_work(shard(largest))),
                        {}, kAicbNoTime, {});
        }
        if (job_.sequence_parallel && job_.tp > 1) {
            std::int64_t norms = final_norm_parameters(job_.model);
            for (std::int64_t layer = 0; layer < job_.model.layers / job_.pp; ++layer) {
                norms += layer_parameters(job_.model, layer).norms;
            }
            writer_.add("layernorm", kAicbNoTime, {}, {AicbComm::all_reduce, 2 * norms});
        }
        if (largest.experts > 0 && job_.ep != aicb_replicas(job_)) {
            writer_.add("moe_grad_norm1", kAicbNoTime, {}, {},
                        {AicbComm::all_gather, bytes.expert_all_gather, AicbSuffix::dp_ep});
            writer_.add("moe_grad_norm2", kAicbNoTime, {}, {},
                        {AicbComm::reduce_scatter, bytes.expert_reduce_scatter, AicbSuffix::dp_ep});
        }
    }

    /// What the distributed optimizer updates on one rank.
    std::int64_t shard(const RankParameters& parameters) const {
        const std::int64_t dp = aicb_replicas(job_);
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
            AicbLine line = tensor(comm);
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
            return spread ? AicbLine{AicbComm::all_to_all, bytes, AicbSuffix::ep} : AicbLine{};
        };
        const auto gathered = [&](AicbComm comm) {
            AicbLine line = tensor(comm);
            line.bytes *= job_.model.top_k;
            return line;
        };
        const char* name = "mlp_moelayer";
        const std::int64_t compute = time(work);
        const AicbLine counts =
            spread ? AicbLine{AicbComm::all_gather, router_count_bytes(job_.model, message_),
                              AicbSuffix::ep}
                   : AicbLine{};
        writer_.add(name, compute, counts, compute, {}, compute, {});
        const std::int64_t combined = combine_bytes(job_.model, message_);
        writer_.add(name, kAicbNoTime, exchange(dispatch_bytes(job_.model, message_)),
                    exchange(combined));
        writer_.add(name, kAicbNoTime, gathered(AicbComm::all_gather),
                    gathered(AicbComm::reduce_scatter));
        writer_.add(name, kAicbNoTime, gathered(AicbComm::reduce_scatter),
                    gathered(AicbComm::all_gather));
        writer_.add(name, kAicbNoTime, exchange(combined), exchange(combined));
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
    AicbWriter writer_;
    MessageShape message_;
    Pass pass_;
    std::int64_t tp_comm_ = 0;
};

}  // namespace

AicbWorkload generate_aicb(const AicbJob& job, const std::optional<Roofline>& roofline) {
    check_aicb_job(job);
    return Formula(job, roofline).run();
}

}  // namespace sluice
