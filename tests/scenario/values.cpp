// SPDX-License-Identifier: Apache-2.0
/// The tree of a scenario file, overrides, and typed reading with positions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>

#include "core/error.h"
#include "core/text/config_section.h"
#include "core/text/config_value.h"
#include "scenario/effective_keys.h"
#include "scenario/scenario.h"
#include "tests/support/error_of.h"

using namespace sluice;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A section over `text`, kept alive together.
struct Fixture {
    explicit Fixture(const std::string& text)
        : values(parse_config(text, "test.toml")), root(values, effective) {}
    ConfigValue values;
    EffectiveConfig effective;
    ConfigSection root;
};

}  // namespace

TEST_CASE("unit.scenario.values_remember_their_position") {
    const ConfigValue root = parse_config("a = 1\n\n[b]\n  c = \"x\"\n", "test.toml");
    CHECK(root.find("a")->value.at.text() == "test.toml:1:5");
    CHECK(root.find("b")->value.find("c")->at.text() == "test.toml:4:3");
    CHECK(root.find("b")->value.find("c")->value.at.text() == "test.toml:4:7");
}

TEST_CASE("unit.scenario.malformed_toml_names_line_and_column") {
    const std::string error = error_of([] { parse_config("a = 1\nb = = 2\n", "test.toml"); });
    CHECK(contains(error, "test.toml:2:5: not valid TOML: "));
    CHECK(!contains(error, "\n"));
}

TEST_CASE("unit.scenario.header_without_key_names_the_line") {
    for (const char* header : {"[[[", "[=]", "[[ # ]]", "[\x01]"}) {
        const std::string text =
            "a = 1\nb = \"\"\"\n[x]\n\"\"\"\n" + std::string(header) + "\nc = 1\n";
        CHECK(contains(error_of([&] { parse_config(text, "test.toml"); }), "test.toml:5"));
    }
}

TEST_CASE("unit.scenario.letters_outside_strings_are_malformed") {
    // U+03D3 is a letter; toml++ 3.3 would ask whether it is a blank.
    CHECK(contains(error_of([] { parse_config("a = 1 \xcf\x93\n", "test.toml"); }), "not valid"));
    const ConfigValue root = parse_config("a = \"\xcf\x93\"  # \xcf\x93\n", "test.toml");
    CHECK(root.find("a")->value.text == "\xcf\x93");
}

TEST_CASE("unit.scenario.getters_read_units") {
    Fixture f("delay = \"1.5us\"\nrate = \"400Gbps\"\nsize = \"32MiB\"\nzero = 0\n");
    CHECK(f.root.time("delay", std::nullopt) == 1'500'000);
    CHECK(f.root.rate("rate", std::nullopt) == gigabits_per_second(400));
    CHECK(f.root.bytes("size", std::nullopt, {0}, mebibytes(64)) == mebibytes(32));
    CHECK(f.root.time("zero", std::nullopt) == 0);
    CHECK(f.root.time("missing", 7 * kNanosecond) == 7 * kNanosecond);
    f.root.finish();
}

TEST_CASE("unit.scenario.missing_unit_is_refused") {
    Fixture f("delay = 1\nrate = \"100\"\nsize = 2.5\n");
    CHECK(contains(error_of([&] { f.root.time("delay", std::nullopt); }),
                   "test.toml:1:9: 'delay' \"1\": unit missing"));
    CHECK(contains(error_of([&] { f.root.rate("rate", std::nullopt); }),
                   "test.toml:2:8: 'rate' \"100\": unit missing"));
    CHECK(contains(error_of([&] { f.root.bytes("size", std::nullopt, {0}, {9}); }),
                   "test.toml:3:8: 'size' 2.5: must be a text with its unit"));
}

TEST_CASE("unit.scenario.wrong_type_and_range_are_refused") {
    Fixture f("i = \"x\"\nn = nan\nb = 1\nt = 2\nbig = 11\n");
    CHECK(error_of([&] { f.root.integer("i", 0, 0, 10); }) ==
          "test.toml:1:5: 'i' is \"x\"; must be an integer from 0 to 10");
    CHECK(contains(error_of([&] { f.root.number("n", 0, 0, 1); }), "must be a number from 0 to 1"));
    CHECK(error_of([&] { f.root.flag("b", false); }) ==
          "test.toml:3:5: 'b' is 1; must be true or false");
    CHECK(error_of([&] { f.root.text("t", "x"); }) == "test.toml:4:5: 't' is 2; must be a text");
    CHECK(contains(error_of([&] { f.root.integer("big", 0, 0, 10); }), "from 0 to 10"));
    CHECK(contains(error_of([&] { f.root.integer("none", std::nullopt, 0, 1); }),
                   "test.toml:1:1: 'none' is missing"));
}

TEST_CASE("unit.scenario.unknown_key_names_the_nearest") {
    Fixture f("[net]\npaylaod = 1\n");
    ConfigSection net = f.root.table("net");
    net.packet_bytes("payload", 1000, 1, 9000);
    net.flag("pfc", true);
    CHECK(error_of([&] { net.finish(); }) ==
          "test.toml:2:1: unknown key \"paylaod\" in [net]; did you mean \"payload\"?");
}

TEST_CASE("unit.scenario.far_unknown_key_lists_what_is_known") {
    Fixture f("zzzzzzzzzz = 1\n");
    f.root.flag("pfc", true);
    f.root.flag("ecn", true);
    CHECK(error_of([&] { f.root.finish(); }) ==
          "test.toml:1:1: unknown key \"zzzzzzzzzz\"; known keys: ecn, pfc");
}

TEST_CASE("unit.scenario.hostile_key_stays_on_one_line") {
    Fixture f("\"a\\nb\" = 1\n");
    CHECK(!contains(error_of([&] { f.root.finish(); }), "\n"));
}

TEST_CASE("unit.scenario.overrides_replace_add_and_index") {
    ConfigValue root = parse_config("a = 1\n[[e]]\nx = 1\n[[e]]\nx = 2\n", "test.toml");
    override_config(root, "a=2");
    override_config(root, "b.c=100Gbps");
    override_config(root, "b.d=\"q\"");
    override_config(root, "e.1.x=[1, 2]");
    CHECK(root.find("a")->value.integer == 2);
    CHECK(root.find("b")->value.find("c")->value.text == "100Gbps");
    CHECK(root.find("b")->value.find("d")->value.text == "q");
    CHECK(root.find("e")->value.array[1].find("x")->value.array.size() == 2);
}

TEST_CASE("unit.scenario.bad_overrides_are_refused") {
    ConfigValue root = parse_config("a = 1\nl = [1]\n", "test.toml");
    CHECK(contains(error_of([&] { override_config(root, "a"); }), "must read key=value"));
    CHECK(contains(error_of([&] { override_config(root, "=1"); }), "must read key=value"));
    CHECK(contains(error_of([&] { override_config(root, "a.b=1"); }), "not a table"));
    CHECK(contains(error_of([&] { override_config(root, "l.7=1"); }), "no index"));
    CHECK(contains(error_of([&] { override_config(root, "x..y=1"); }), "empty part"));
}

TEST_CASE("unit.scenario.override_errors_name_the_option") {
    Fixture f("");
    override_config(f.values, "delay=5");
    CHECK(contains(error_of([&] { f.root.time("delay", std::nullopt); }),
                   "--set \"delay=5\": 'delay' \"5\": unit missing"));
}

TEST_CASE("unit.scenario.override_cannot_smuggle_keys") {
    ConfigValue root = parse_config("", "test.toml");
    override_config(root, "a=1\nb = 2");
    CHECK(root.table.size() == 1);
    CHECK(root.find("a")->value.kind == ConfigValue::Kind::text);
}

TEST_CASE("unit.scenario.effective_configuration_holds_defaults_and_values") {
    Fixture f("rate = \"0.1Tbps\"\n[[p]]\nk = 1\n[[p]]\nk = 2\n");
    f.root.rate("rate", std::nullopt);
    f.root.table("t").time("delay", kMicrosecond);
    for (ConfigSection& p : f.root.tables("p")) p.integer("k", 0, 0, 9);
    std::string compact = f.effective.json();
    compact.erase(std::remove_if(compact.begin(), compact.end(),
                                 [](char c) { return c == ' ' || c == '\n'; }),
                  compact.end());
    CHECK(compact == R"({"rate":"100Gbps","t":{"delay":"1us"},"p":[{"k":1},{"k":2}]})");
}

TEST_CASE("unit.scenario.choice_names_what_is_allowed") {
    Fixture f("law = \"hpc\"\n");
    CHECK(error_of([&] {
              f.root.choice_index("law", "hpcc", {"hpcc", "dcqcn"});
          }) == "test.toml:1:7: 'law' is \"hpc\"; must be one of hpcc, dcqcn (nearest: hpcc)");
}

TEST_CASE("unit.scenario.nearest_word_counts_swaps_once") {
    CHECK(nearest_word("delya", {"rate", "delay"}) == "delay");
    CHECK(nearest_word("xyz", {"rate", "delay"}).empty());
    // Half of its letters in common is no likeness.
    CHECK(nearest_word("strategy", {"start", "schedule"}).empty());
}

TEST_CASE("unit.scenario.effective_keys_are_named_as_overrides_name_them") {
    const Scenario scenario = parse_scenario(
        "[topology]\ntype = \"star\"\nhosts = 4\nrate = \"100Gbps\"\n"
        "[[workload]]\ntype = \"incast\"\nsenders = 3\nsize = \"1MB\"\n",
        "test.toml");
    std::map<std::string, std::variant<bool, std::int64_t, double, std::string>> keys;
    for (const EffectiveKey& key : effective_keys(*scenario.effective)) {
        keys[key.name] = key.value;
    }
    CHECK(keys.at("topology.hosts") == decltype(keys)::mapped_type(std::int64_t{4}));
    CHECK(keys.at("topology.rate") == decltype(keys)::mapped_type(std::string("100Gbps")));
    CHECK(keys.at("network.pfc") == decltype(keys)::mapped_type(true));
    CHECK(std::get<double>(keys.at("network.ecn.pmax")) > 0);
}
