// SPDX-License-Identifier: Apache-2.0
/// docs/combinations.md is the table of rules, printed.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "scenario/combinations/combinations.h"

using namespace sluice;

namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

/// Those of all laws are one row, so that a new law leaves the page as it is.
bool is_law(const CombinationRule& rule) { return rule.name.rfind("law-is-not-", 0) == 0; }

struct Section {
    Effect effect;
    const char* text;  ///< a heading, and what its rows mean
};

const std::vector<Section>& sections() {
    static const std::vector<Section> kSections{
        {Effect::refused, "## Refused\n\nThe key or option is refused when the condition holds."},
        {Effect::no_effect,
         "## Without effect\n\nThe summary lists the key when the condition holds. The first row "
         "that fits a key "
         "counts."},
        {Effect::automatic,
         "## Chosen\n\nWhat is left open gets this value. The first row whose condition holds "
         "counts."},
        {Effect::not_folded, "## No symmetry reduction"},
        {Effect::not_local, "## No local phases\n\nThen phases.wake must be \"partition\"."},
        {Effect::not_calibrated, "## No calibrated rates"},
        {Effect::not_memoized, "## No memo"},
        {Effect::not_predicted, "## No episodes"},
        {Effect::not_audited, "## No audit"},
        {Effect::one_thread, "## One thread"},
        {Effect::not_in_a_lane, "## Not in a batch or an evaluation"},
        {Effect::not_on_a_device, "## Not on a device"},
        {Effect::not_importance_sampled, "## No importance sampling"},
    };
    return kSections;
}

/// Keys and options in backticks; exceptions after them.
std::string shown(const std::string& subject) {
    std::string names;
    std::string excepted;
    for (const std::string& word : words_of(subject)) {
        const bool except = word.front() == '!';
        std::string& list = except ? excepted : names;
        list += (list.empty() ? "`" : ", `") + word.substr(except ? 1 : 0) + "`";
    }
    return names + (excepted.empty() ? "" : " but " + excepted);
}

std::string row(const CombinationRule& rule) {
    const std::string subject = is_law(rule) ? "congestion.LAW.*" : rule.subject;
    std::string text = "| ";
    if (rule.effect <= Effect::automatic) {
        text += (subject.empty() ? "a workload" : shown(subject)) + " | ";
    }
    text += std::string(rule.when) + " | ";
    if (rule.effect == Effect::automatic) text += std::string(rule.value) + " | ";
    return text + rule.text + " |\n";
}

std::string page_of_rules() {
    std::string page;
    for (const Section& section : sections()) {
        const bool automatic = section.effect == Effect::automatic;
        const bool subject = section.effect <= Effect::automatic;
        page += std::string("\n") + section.text + "\n\n";
        page += std::string(subject ? "| of " : "") + "| when " + (automatic ? "| value " : "") +
                "| reason |\n" + (subject ? "| --- " : "") + (automatic ? "| --- " : "") +
                "| --- | --- |\n";
        bool law_shown = false;
        for (const CombinationRule& rule : combination_rules()) {
            if (rule.effect != section.effect || (is_law(rule) && law_shown)) continue;
            law_shown = law_shown || is_law(rule);
            page += row(rule);
        }
    }
    return page;
}

}  // namespace

TEST_CASE("unit.combinations.the_page_is_the_table") {
    std::ifstream in(std::string(SLUICE_SOURCE_DIR) + "/docs/combinations.md");
    const std::string page{std::istreambuf_iterator<char>(in), {}};
    const std::size_t begin = page.find("\n## ");
    const std::string table = page_of_rules();
    const bool same = begin != std::string::npos && page.substr(begin) == table;
    if (!same) std::ofstream("combinations.md") << page.substr(0, begin) << table;
    CHECK_MESSAGE(same, "copy combinations.md from this test's folder to docs/");
}
