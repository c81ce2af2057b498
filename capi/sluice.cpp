// SPDX-License-Identifier: Apache-2.0
#include "capi/include/sluice.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capi/transfer_network.h"
#include "core/error.h"
#include "experiment/version.h"

/// What stays when a network is closed, so that nobody takes another one for it.
struct sluice_network {
    std::unique_ptr<sluice::capi::TransferNetwork> network;  ///< null: closed
    mutable bool failed = false;                             ///< in the middle of a run
};

namespace {

using sluice::capi::TransferNetwork;

thread_local char last_error[1024] = "";

/// One line, however many the message has.
void note_error(const char* message) noexcept {
    std::snprintf(last_error, sizeof last_error, "%s", message);
    for (char* at = last_error; *at != '\0'; ++at) {
        *at = *at == '\n' ? ' ' : *at;
    }
}

/// The handles of closed networks.
void keep(std::unique_ptr<sluice_network> closed) {
    static std::mutex mutex;
    static std::vector<std::unique_ptr<sluice_network>> all;
    const std::lock_guard<std::mutex> lock(mutex);
    all.push_back(std::move(closed));
}

/// What `action` returns of the network; `failure` if it fails, or if there is no network to be asked.
template <typename Result, typename Action>
Result guarded(const sluice_network* handle, Result failure, Action&& action) noexcept {
    if (handle == nullptr || handle->network == nullptr || handle->failed) {
        note_error(handle == nullptr            ? "the network is NULL"
                   : handle->network == nullptr ? "the network is closed"
                                                : "the network has failed before; close it");
        return failure;
    }
    try {
        return action(*handle->network);
    } catch (const sluice::ConfigError& error) {
        note_error(error.what());
    } catch (const std::exception& error) {
        handle->failed = true;
        note_error(error.what());
    }
    return failure;
}

/// The network of what `read` gives; `name` names it.
template <typename Read>
sluice_network* opened(const char* name, const char* const* overrides, Read&& read) noexcept {
    try {
        sluice::ConfigValue values = read();
        for (; overrides != nullptr && *overrides != nullptr; ++overrides) {
            sluice::override_config(values, *overrides, "overrides");
        }
        auto handle = std::make_unique<sluice_network>();
        handle->network = std::make_unique<TransferNetwork>(std::move(values), name);
        return handle.release();
    } catch (const std::exception& error) {
        note_error(error.what());
    }
    return nullptr;
}

int next_of(sluice_network* network, std::int64_t until, bool arrivals, sluice_event* event) {
    return guarded(network, -1, [&](TransferNetwork& of) {
        return of.next_event(until, arrivals, *event) ? 1 : 0;
    });
}

}  // namespace

sluice_network* sluice_open(const char* scenario_path, const char* const* overrides) {
    if (scenario_path == nullptr) {
        note_error("sluice_open(): the path is NULL");
        return nullptr;
    }
    return opened(scenario_path, overrides, [&] { return sluice::load_config(scenario_path); });
}

sluice_network* sluice_open_text(const char* toml, const char* name, const char* const* overrides) {
    if (toml == nullptr || name == nullptr) {
        note_error("sluice_open_text(): the text or its name is NULL");
        return nullptr;
    }
    return opened(name, overrides, [&] { return sluice::parse_config(toml, name); });
}

void sluice_close(sluice_network* network) {
    if (network == nullptr || network->network == nullptr) {
        return;
    }
    network->network.reset();
    try {
        keep(std::unique_ptr<sluice_network>(network));
    } catch (const std::exception& error) {
        note_error(error.what());
    }
}

const char* sluice_last_error(void) { return last_error; }

const char* sluice_version(void) { return sluice::program_version(); }

uint32_t sluice_hosts(const sluice_network* network) {
    return guarded(network, 0U, [](const TransferNetwork& of) { return of.hosts(); });
}

int64_t sluice_now(const sluice_network* network) {
    return guarded(network, std::int64_t{-1}, [](const TransferNetwork& of) { return of.now(); });
}

int sluice_set_doorbell_latency(sluice_network* network, int64_t latency_ps) {
    return guarded(network, -1, [&](TransferNetwork& of) {
        of.set_doorbell_latency(latency_ps);
        return 0;
    });
}

int64_t sluice_post(sluice_network* network, const sluice_transfer* transfer) {
    if (transfer == nullptr) {
        note_error("sluice_post(): the transfer is NULL");
        return -1;
    }
    return guarded(network, std::int64_t{-1},
                   [&](TransferNetwork& of) { return of.post(*transfer); });
}

int sluice_advance(sluice_network* network, int64_t until_ps) {
    return guarded(network, -1, [&](TransferNetwork& of) {
        of.advance(until_ps);
        return 0;
    });
}

int sluice_next_completion(sluice_network* network, int64_t until_ps, sluice_completion* out) {
    if (out == nullptr) {
        note_error("sluice_next_completion(): there is nowhere to put it, out is NULL");
        return -1;
    }
    sluice_event event{};
    const int found = next_of(network, until_ps, false, &event);
    if (found == 1) {
        *out = event.completion;
    }
    return found;
}

int sluice_watch_arrivals(sluice_network* network) {
    return guarded(network, -1, [](TransferNetwork& of) {
        of.watch_arrivals();
        return 0;
    });
}

int sluice_next_event(sluice_network* network, int64_t until_ps, sluice_event* out) {
    if (out == nullptr) {
        note_error("sluice_next_event(): there is nowhere to put it, out is NULL");
        return -1;
    }
    return next_of(network, until_ps, true, out);
}
