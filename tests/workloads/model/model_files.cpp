// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/error_of.h"
#include "tests/support/model_support.h"

using namespace sluice;

namespace {

const std::string kSmall = "layers = 2\nhidden = 64\nheads = 4\n";

ModelShape read_table(const std::string& text) {
    const ConfigValue root = parse_config(text, "s.toml");
    EffectiveConfig effective;
    ConfigSection section(root, effective);
    return read_model(section, "model", model_folders(),
                      [](const std::string& file) { return file; });
}

}  // namespace

TEST_CASE("unit.model_file.defaults") {
    const ModelShape model = parse_model(kSmall, "/some/where/small.toml");
    CHECK(model.name == "small");
    CHECK(model.kv_heads == 4);
    CHECK(model.ffn == 256);
    CHECK(model.vocabulary == 50257);
    CHECK(model.sequence == 2048);
    CHECK(model.experts == 0);
    CHECK_FALSE(model.gated);
    const ModelShape mixture = parse_model(kSmall + "experts = 4\nexpert_groups = 2\n", "m");
    CHECK(mixture.top_k == 2);
    CHECK(mixture.top_groups == 2);
    CHECK(parse_model(kSmall + "name = \"mine\"\r\n", "m").name == "mine");
}

TEST_CASE("unit.model_file.mistakes_are_placed_and_answered") {
    struct Case {
        std::string text;
        std::vector<const char*> says;
    };
    const std::vector<Case> cases = {
        {"layers = 2\nhidden = 64\n", {"bad.toml", "'heads'", "missing"}},
        {kSmall + "hiden = 3\n", {"bad.toml:4:1", "hiden", "hidden"}},
        {kSmall + "expert = 3\n", {"bad.toml:4:1", "did you mean \"experts\""}},
        {"layers = 2\nhidden = \"64\"\nheads = 4\n", {"bad.toml:2:10", "hidden", "integer"}},
        {"layers = -1\nhidden = 64\nheads = 4\n", {"bad.toml:1:10", "layers"}},
        {"layers = 99999999999999999999\n", {"bad.toml:1"}},
        {"layers = 2\nhidden = 64\nheads = 5\n", {"bad.toml:1", "not divisible by heads 5"}},
        {kSmall + "top_k = 2\n", {"top_k", "0 to 0"}},
        {kSmall + "experts = 4\ntop_k = 5\n", {"top_k is 5", "1 to 4"}},
        {kSmall + "experts = 4\nexpert_groups = 3\n", {"experts 4", "expert_groups 3"}},
        {kSmall + "experts = 8\nexpert_groups = 4\ntop_groups = 1\ntop_k = 3\n", {"top_k is 3"}},
        {kSmall + "experts = 4\ndense_layers = 3\n", {"dense_layers is 3", "0 to 2"}},
        {kSmall + "shared_experts = 1\n", {"shared_experts is 1", "0 to 0"}},
        {kSmall + "kv_lora_rank = 8\n", {"qk_nope_head_dim is 0", "1 to"}},
        {kSmall + "q_lora_rank = 8\n", {"q_lora_rank is 8", "0 to 0"}},
        {kSmall + "head_dim = 1000000000\n", {"head_dim"}},
        {kSmall + "gated = 1\n", {"bad.toml:4:9", "gated", "true or false"}},
        {kSmall + "[gated]\n", {"bad.toml:4", "gated"}},
        {kSmall + "base = \"gpt-13b\"\n", {"bad.toml:4:1", "base"}},
        {"layers = \n", {"bad.toml:1", "not valid TOML"}},
        {"", {"bad.toml", "layers", "missing"}},
    };
    for (const Case& bad : cases) {
        CAPTURE(bad.text);
        const std::string message = error_of([&] { parse_model(bad.text, "bad.toml"); });
        CAPTURE(message);
        CHECK(message.find('\n') == std::string::npos);
        for (const char* part : bad.says) CHECK(message.find(part) != std::string::npos);
    }
    CHECK_THROWS_WITH_AS(load_model("/no/such/file.toml"), doctest::Contains("file.toml"),
                         ConfigError);
    CHECK_THROWS_WITH_AS(load_model("/"), doctest::Contains("cannot be read"), ConfigError);
}

TEST_CASE("unit.model_file.names") {
    const std::string message = error_of([] { preset("gpt-14b"); });
    CHECK(message.find("nearest: gpt-13b") != std::string::npos);
    CHECK(message.find("deepseek-v3") != std::string::npos);
    CHECK_THROWS_AS(preset(""), ConfigError);
    CHECK_THROWS_AS(preset(".."), ConfigError);
    CHECK_THROWS_AS(find_model("gpt-13b", {}), ConfigError);
    CHECK_THROWS_AS(find_model("gpt-13b", {"/no/such/folder"}), ConfigError);
    const std::string path = model_folders()[0] + "/gpt-13b.toml";
    CHECK(find_model(path, {}).name == "gpt-13b");
    CHECK(model_names({"/no/such/folder", model_folders()[0], model_folders()[0]}).size() ==
          model_names(model_folders()).size());
}

TEST_CASE("unit.model_file.tables_of_a_scenario") {
    CHECK(read_table("model = \"gpt-13b\"\n").layers == 40);
    CHECK(read_table("[model]\nlayers = 2\nhidden = 64\nheads = 4\n").name == "custom");
    const ModelShape shallow = read_table("[model]\nbase = \"mixtral-8x7b\"\nlayers = 4\n");
    CHECK(shallow.layers == 4);
    CHECK(shallow.experts == 8);
    CHECK(shallow.gated);
    CHECK(shallow.kv_heads == 8);
    CHECK(shallow.untied_head);
    // A dense model with fewer heads keeps one key and value head per head.
    CHECK(read_table("[model]\nbase = \"gpt-13b\"\nheads = 20\n").kv_heads == 20);
    // Experts may be added to a dense one, and taken away.
    CHECK(read_table("[model]\nbase = \"gpt-13b\"\nexperts = 4\n").top_k == 2);
    CHECK(read_table("[model]\nbase = \"deepseek-v3\"\nexperts = 0\n").top_k == 0);
    CHECK(read_table("[model]\nbase = \"deepseek-v3\"\n").latent.kv_rank == 512);
    for (const char* text :
         {"model = \"gpt-14b\"\n", "[model]\nbase = \"gpt-14b\"\n", "model = 3\n", "x = 1\n",
          "model = [\"gpt-13b\"]\n", "[model]\nbase = \"gpt-13b\"\nlayer = 3\n"}) {
        CAPTURE(text);
        const std::string message = error_of([&] { read_table(text); });
        CHECK(message.rfind("s.toml", 0) == 0);
    }
}

TEST_CASE("unit.model_file.a_copy_beside_a_scenario") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / "sluice_model_file_test";
    fs::create_directories(folder);
    const fs::path copy = folder / "mine.toml";
    fs::copy_file(model_folders()[0] + "/gpt-13b.toml", copy, fs::copy_options::overwrite_existing);
    std::ofstream(copy, std::ios::app) << "gated = true\n";
    const ModelShape model = find_model(copy.string(), {});
    CHECK(model.name == "mine");
    CHECK(model.gated);
    // A folder of data answers to the file's name.
    CHECK(find_model("mine", {folder.string()}).gated);
    fs::remove_all(folder);
}
