// SPDX-License-Identifier: Apache-2.0
/// What goes with what: one table of rules, which everyone asks that decides by more than one setting. Readers ask what is
/// refused, summaries which keys have no effect, whoever fills in a default what is chosen, and builders what a run can't
/// do. docs/combinations.md is the table as people read it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/text/config_section.h"
#include "scenario/combinations/configuration.h"

namespace sluice {

/// What follows where a rule applies.
enum class Effect : std::uint8_t {
    refused,         ///< the run: ConfigError
    no_effect,       ///< a key that is given
    automatic,       ///< what is left open gets a value
    not_folded,      ///< symmetric copies are executed, too
    not_local,       ///< phases.wake is "partition": ACKs must be packets
    not_calibrated,  ///< no rates from groups that were simulated long
    not_memoized,    ///< nothing is remembered
    not_predicted,   ///< no episodes
    not_audited,
    one_thread,
    not_in_a_lane,  ///< of a batch or an evaluation
    not_on_a_device,
    not_importance_sampled,  ///< [importance] of an evaluation
};

struct CombinationRule {
    std::string name;
    Effect effect;
    /// Keys by their paths, or options, by spaces. "*" stands for any letters, and "!KEY" excepts one. Empty: the run.
    std::string subject;
    const char* when;  ///< `applies` in words
    std::function<bool(const Configuration&)> applies;
    /// What the user reads, after the key or option. {mode} is the mode, {why} why ACKs must be packets.
    const char* text;
    const char* value = "";  ///< what is chosen

    bool is_of(const std::string& key) const;
};

/// In the order in which they are asked: of several that apply the first one speaks.
const std::vector<CombinationRule>& combination_rules();

/// What a rule that applies says.
std::string text_of(const CombinationRule& rule, const Configuration& configuration);

/// ConfigError at the place of the first key of `root`, the whole scenario, that is refused.
void refuse_keys(const Configuration& configuration, ConfigSection& root);

/// ConfigError "WHERE: SUBJECT ..." if this key, option (which is given) or run ("") is refused.
void refuse(const Configuration& configuration, const std::string& subject,
            const std::string& where = "");

/// ConfigError "WHERE: ..." if something is not done (Effect::not_... and later ones) that is to be done.
void refuse(const Configuration& configuration, Effect effect, const std::string& where = "");

/// Why something is not done; empty: it may be.
std::string why_not(Effect effect, const Configuration& configuration);

/// The choice for a key or option that is left open; null: the usual one.
const CombinationRule* automatic_choice(const std::string& subject,
                                        const Configuration& configuration);

/// Keys that the scenario gives and that its mode, law and switches never look at: "key: why".
std::vector<std::string> keys_without_effect(const Scenario& scenario);

}  // namespace sluice
