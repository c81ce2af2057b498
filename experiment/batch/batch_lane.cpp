// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_lane.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/memo/digest.h"
#include "experiment/build_experiment.h"
#include "experiment/run_memo.h"
#include "experiment/run_to_folder.h"
#include "scenario/combinations/combinations.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

LanePosition position_of(const RunPosition& at, const Experiment& experiment) {
    LanePosition position;
    position.simulated = at.now;
    const auto share = [](auto part, auto all) {
        return std::min(1.0, static_cast<double>(part) / static_cast<double>(all));
    };
    if (!experiment.flows.empty()) {
        position.share = share(at.flows_finished, experiment.flows.size());
    }
    if (experiment.stop != kNever) {
        position.share = std::max(position.share, share(at.now, experiment.stop));
    }
    return position;
}

/// From its begin to its end.
class Turn {
  public:
    explicit Turn(Turns& turns) : turns_(turns) { turns_.take(); }
    ~Turn() { turns_.give_back(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    Turns& turns_;
};

/// With another memo it is another experiment.
std::string digest_of(const ConfigValue& scenario, const std::string& memo) {
    const std::string digest = digest_of(scenario);
    if (memo.empty()) return digest;
    memo::Digester digester;
    for (const char letter : digest + memo) digester.take(static_cast<unsigned char>(letter));
    return digester.digest().text();
}

class Lane {
  public:
    Lane(const Batch& batch, std::size_t number, const LaneRequest& request)
        : batch_(batch), number_(number), request_(request) {}

    BatchRow run(bool& whole) {
        if (request_.maker) {
            try {
                return run_on(true, whole);
            } catch (const OutOfMemoryError&) {
                throw;
            } catch (const ConfigError& refusal) {
                if (!request_.fall_back) throw;
                declined_ = refusal.what();
            }
        }
        if (declined_.empty() || request_.host_turns == nullptr) return run_on(false, whole);
        const Turn turn(*request_.host_turns);
        whole = request_.go_on({});
        return whole ? run_on(false, whole) : BatchRow();
    }

    /// Of its scenario; "" if its keys do not fit its base.
    std::string digest() const {
        return digest_.empty() ? digest_of(batch_, number_, request_.memo_digest) : digest_;
    }

  private:
    Scenario scenario() {
        std::string path;
        ConfigValue values = batch_.scenario(number_, &path);
        digest_ = digest_of(values, request_.memo_digest);
        if (request_.checking) {
            set_config(values, "mode", text_value(mode_name(Mode::packet)), "--check");
        }
        const bool recorded = !request_.directory.empty() || request_.memo != nullptr;
        return make_scenario(std::move(values), path, Workloads::required, recorded);
    }

    /// Whether it fits its GPUs is asked first: a row says if it does not, and was run.
    BuiltExperiment built(Scenario& scenario) {
        try {
            return build_experiment(scenario, HostPorts::none, request_.routing);
        } catch (const OutOfMemoryError&) {
            if (!request_.allow_oom) throw;
        }
        over_memory_ = true;
        scenario = this->scenario();
        scenario.allow_oom = true;
        return build_experiment(scenario, HostPorts::none, request_.routing);
    }

    BatchRow run_on(bool device, bool& whole) {
        Scenario scenario = this->scenario();
        if (device) refuse(Configuration(scenario), Effect::not_on_a_device);
        const bool folders = !request_.directory.empty();
        RunRequest run;
        if (folders) run.keys_without_effect = keys_without_effect(scenario);
        BuiltExperiment built = this->built(scenario);
        built.experiment.threads = 1;
        run.mode = scenario.mode;
        run.name = scenario.name;
        run.seed = scenario.seed;
        run.caller = Caller::loop;
        if (device) run.maker = request_.maker;
        run.only_summary = !folders;
        if (folders) {
            run.directory = request_.directory;
            run.config_json = scenario.effective->json();
            run.outputs = scenario.output.optional;
            run.series_step = scenario.output.series_step;
        }
        run.go_on = [&](const RunPosition& at) {
            return request_.go_on(position_of(at, built.experiment));
        };
        const std::shared_ptr<memo::Memo> memo = give_memo(scenario, built.experiment);
        const RunReport report = run_to_folder(built, run);
        whole = !report.outcome.interrupted;
        BatchRow row = row_of(number_, report, scenario.mode);
        row.over_memory = over_memory_;
        row.folder = folders;
        row.declined = declined_;
        if (memo != nullptr) {
            row.recalled_skips = report.outcome.counters.phases.recalled_skips;
            row.learned = memo->news();
        }
        return row;
    }

    /// Null: none. Then it remembers what it has seen itself: others run beside it, in no order.
    std::shared_ptr<memo::Memo> give_memo(const Scenario& scenario, Experiment& experiment) const {
        if (request_.memo == nullptr || !has_phases(scenario.mode) || !experiment.phases.memo) {
            return nullptr;
        }
        experiment.memo = std::make_shared<memo::Memo>(request_.memo);
        experiment.memo_fingerprint = memo_fingerprint(scenario.effective->json());
        return experiment.memo;
    }

    const Batch& batch_;
    std::size_t number_;
    const LaneRequest& request_;
    std::string digest_;
    bool over_memory_ = false;
    std::string declined_;
};

}  // namespace

void Turns::take() {
    std::unique_lock lock(mutex_);
    one_is_free_.wait(lock, [&] { return free_ > 0; });
    --free_;
}

void Turns::give_back() {
    const std::lock_guard lock(mutex_);
    ++free_;
    one_is_free_.notify_one();
}

BatchRow run_lane(const Batch& batch, std::size_t experiment, const LaneRequest& request,
                  bool& whole) {
    BatchRow row;
    Lane lane(batch, experiment, request);
    whole = true;
    try {
        row = lane.run(whole);
    } catch (const OutOfMemoryError& error) {
        row = row_of_error(experiment, BatchStatus::oom, error.what());
    } catch (const ConfigError& error) {
        row = row_of_error(experiment, BatchStatus::refused, error.what());
    } catch (const std::bad_alloc&) {
        row = row_of_error(experiment, BatchStatus::failed, "not enough memory on this machine");
    } catch (const std::exception& error) {
        row = row_of_error(experiment, BatchStatus::failed, error.what());
    } catch (...) {
        row = row_of_error(experiment, BatchStatus::failed, "of an unknown cause");
    }
    row.values = batch.values(experiment);
    row.digest = lane.digest();
    return row;
}

std::string digest_of(const Batch& batch, std::size_t experiment, const std::string& memo) {
    try {
        return digest_of(batch.scenario(experiment), memo);
    } catch (const ConfigError&) {
        return "";
    }
}

}  // namespace sluice
