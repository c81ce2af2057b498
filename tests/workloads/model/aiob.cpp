// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/error_of.h"
#include "workloads/model/aiob_profile.h"

using namespace sluice;

namespace {

const std::string kProfile =
    "train_iter:10\r\n"
    "Emb:\r\n"
    "    time_gpu_max: 9\r\n"
    "    time_gpu_min: 7\r\n"
    "    time_gpu_avg: 8.5\r\n"
    "\r\n"
    "layernorm:\n\ttime_gpu_avg: 1\n"
    "atten_qkv:\n time_gpu_avg: 20\n"
    "atten_flash:\n time_gpu_avg: 300\n"
    "layernorm2:\n time_gpu_avg: 2\n"
    "mlp_linear_1:\n time_gpu_avg: 4000\n"
    "mlp_gelu:\n time_gpu_avg: 0.25\n"
    "layernorm_post:\n time_gpu_avg: 3\n"
    "something_new:\n time_gpu_avg: 77\n"
    "logit_time:\n time_gpu_avg: 6\n"
    "param_time:\n time_gpu_max: 90\n time_gpu_min: 50\n time_gpu_avg: 60\n";

}  // namespace

TEST_CASE("unit.aiob.times_as_aicb_uses_them") {
    const AiobProfile profile = AiobProfile::parse(kProfile, "p.txt");
    CHECK(profile.parts().size() == 11);
    CHECK(profile.embedding() == 8'500 * kNanosecond);
    CHECK(profile.attention() == 321 * kMicrosecond);
    CHECK(profile.attention(true) == 621 * kMicrosecond);
    CHECK(profile.mlp() == 4'002'250 * kNanosecond);
    CHECK(profile.head() == 6 * kMicrosecond);
    CHECK(profile.embedding_gradient() == 60 * kMicrosecond);
    CHECK(profile.optimizer() == 110 * kMicrosecond);
    CHECK(profile.find("Emb")->max == 9 * kMicrosecond);
    CHECK(profile.find("layernorm")->max == -1);
    CHECK(profile.find("something_new")->avg == 77 * kMicrosecond);
    CHECK(profile.find("nothing") == nullptr);
}

TEST_CASE("unit.aiob.the_published_example") {
    const char* folder = std::getenv("SLUICE_REFERENCE");
    const std::string path =
        std::string(folder != nullptr ? folder : "") + "/samples/aicb/Example.txt";
    if (!std::ifstream(path)) {
        MESSAGE("skipped: no samples in the folder that SLUICE_REFERENCE names");
        return;
    }
    // What AICB wrote with it, in ns: attention 910000 and MLP 1239000 for each half of a layer,
    // embedding 799000 and 17374000, grad_param_compute 34021000.
    const AiobProfile profile = AiobProfile::read(path);
    CHECK(profile.attention() == 2 * 910'000 * kNanosecond);
    CHECK(profile.mlp() == 2 * 1'239'000 * kNanosecond);
    CHECK(profile.embedding() == 799'000 * kNanosecond);
    CHECK(profile.embedding_gradient() == 17'374'000 * kNanosecond);
    CHECK(profile.optimizer() == 34'021'000 * kNanosecond);
    CHECK(profile.head() == 12'824 * kMicrosecond);
}

TEST_CASE("unit.aiob.mistakes_are_placed_and_answered") {
    struct Case {
        std::string text;
        std::vector<const char*> says;
    };
    const std::vector<Case> cases = {
        {"", {"p.txt:1", "AIOB"}},
        {"train_iter:10\n", {"p.txt:1", "AIOB"}},
        {"train_iter:ten\n", {"p.txt:1", "train_iter"}},
        {"Emb\n", {"p.txt:1", "no line of an AIOB profile"}},
        {": 5\n", {"p.txt:1", "no line"}},
        {"time_gpu_avg: 5\n", {"p.txt:1", "before the name"}},
        {"Emb:\n time_gpu_avg: x\n", {"p.txt:2", "time_gpu_avg"}},
        {"Emb:\n time_gpu_avg: -5\n", {"p.txt:2", "time_gpu_avg"}},
        {"Emb:\n time_gpu_avg: nan\n", {"p.txt:2", "time_gpu_avg"}},
        {"Emb:\n time_gpu_avg: 1e30\n", {"p.txt:2", "time_gpu_avg"}},
        {"Emb:\n time_gpu_avg:\n", {"p.txt:2", "time_gpu_avg"}},
        {"Emb:\n time_gpu_avg: 5\n time_gpu_avg: 5\n", {"p.txt:3", "twice"}},
        {"Emb:\n time_gpu_mean: 5\n", {"p.txt:2", "time_gpu_avg"}},
        {"Emb:\nEmb:\n", {"p.txt:2", "twice"}},
        {"Emb: 5\n", {"p.txt:1", "has a value"}},
    };
    for (const Case& bad : cases) {
        CAPTURE(bad.text);
        const std::string message = error_of([&] { AiobProfile::parse(bad.text, "p.txt"); });
        CAPTURE(message);
        CHECK(message.find('\n') == std::string::npos);
        for (const char* part : bad.says) CHECK(message.find(part) != std::string::npos);
    }
    const AiobProfile bare = AiobProfile::parse("param_time:\n time_gpu_max: 5\n", "p.txt");
    CHECK_THROWS_WITH_AS(bare.attention(), doctest::Contains("atten"), ConfigError);
    CHECK_THROWS_WITH_AS(bare.mlp(), doctest::Contains("mlp"), ConfigError);
    CHECK_THROWS_WITH_AS(bare.embedding(), doctest::Contains("\"Emb\" is missing"), ConfigError);
    CHECK_THROWS_WITH_AS(bare.optimizer(), doctest::Contains("p.txt:1: "), ConfigError);
    std::string many;
    for (int i = 0; i < 1001; ++i) many += "part" + std::to_string(i) + ":\n";
    CHECK_THROWS_WITH_AS(AiobProfile::parse(many, "p.txt"), doctest::Contains("1000 parts"),
                         ConfigError);
    CHECK_THROWS_AS(AiobProfile::read("/no/such/file"), ConfigError);
}
