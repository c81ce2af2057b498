// SPDX-License-Identifier: Apache-2.0
/// Runs with an audit.
#pragma once

#include <functional>
#include <memory>

#include "core/audit/audit.h"
#include "tests/support/fold_support.h"
#include "tests/support/hybrid_support.h"

namespace sluice::test {

/// So many hops are due that everything is audited, whole.
inline constexpr double kEvery = 1e9;

struct AuditOptions {
    double share = 0;  ///< of packet-hops; 0: without an audit
    std::uint64_t seed = 1;
    bool fold = false;
    double tolerance = 1;
    double advance = 32'768;
    /// Of episodes; null: none are remembered.
    hybrid::EpisodeMemory* memory = nullptr;
    memo::Memo* memo = nullptr;
    /// Looks on in place of an audit.
    std::function<std::unique_ptr<hybrid::PhaseWatcher>(step::WorldStore&)> watcher = {};
};

struct Audited {
    std::vector<FlowResult> flows;
    std::vector<PortStatistics> ports;
    std::uint64_t checksum = 0;
    AuditCounters audit;
    hybrid::PhaseStatistics phases;
    FoldCounters fold;
};

inline Audited run_audited(const Case& given, const PhaseConfig& config,
                           const AuditOptions& options) {
    Routing routing(given.topology);
    step::WorldStore store(given.topology, routing, given.config, given.flows, given.paths,
                           given.application);
    store.world().digest_hops = !options.fold;
    step::FlowPartitions partitions(
        store, config.local() ? step::SharedBy::data_ports : step::SharedBy::cables);
    hybrid::NetworkView view(store, partitions);
    hybrid::PhaseEngine engine(store, partitions, view);
    hybrid::PhaseController controller(engine, partitions, nullptr, nullptr, config, given.stop);
    const bool audits = options.share > 0;
    audit::AuditSettings settings;
    settings.share = audits ? options.share : 1;
    settings.advance = options.advance;
    settings.tolerance = options.tolerance;
    settings.flows = static_cast<double>(given.flows.size());
    settings.seed = options.seed;
    audit::Audit audit(store, settings, options.memo);
    const auto watcher = options.watcher ? options.watcher(store) : nullptr;
    if (watcher != nullptr) {
        controller.stages().watchers().watch(*watcher);
    } else if (audits) {
        controller.stages().watchers().watch(audit);
    }
    const auto episodes =
        remember_episodes(controller, store, options.memory, audits ? &audit : nullptr);
    store.begin();
    step::CellStep step_cell(store.world());
    engine::Driver driver(store, given.events, {}, engine::Clocks::one, partitions, &controller);
    step::Folds folds(store, controller.copy_notes());
    if (options.fold) {
        driver.fold(folds);
    }
    driver.advance(given.stop, step_cell);
    if (options.fold) {
        driver.unfold();
    }
    controller.finish(given.stop == kNever ? 0 : given.stop);
    return {store.results(),  store.port_statistics(end_of(given)), store.world().checksum,
            audit.counters(), controller.report().counters(),       folds.counters()};
}

/// Mean over flows of the relative error of a run's completion times.
inline double mean_error(const std::vector<FlowResult>& run, const std::vector<FlowResult>& truth) {
    double sum = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
        const auto time = [](const FlowResult& flow) {
            return static_cast<double>(flow.finish - flow.start);
        };
        sum += (time(run[i]) - time(truth[i])) / time(truth[i]);
    }
    return sum / static_cast<double>(run.size());
}

}  // namespace sluice::test
