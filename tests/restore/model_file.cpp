// SPDX-License-Identifier: Apache-2.0
/// Models as files: what is written is what is read, and what is not whole is one line.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "core/checksum.h"
#include "core/error.h"
#include "restore/predictors.h"
#include "restore/shipped_model.h"
#include "tests/support/error_of.h"
#include "tests/support/restore_support.h"
#include "tests/support/sealed.h"

using namespace sluice;
using namespace sluice::restore;

namespace {

QueueModel model_with_linear() {
    QueueModel model = random_model(small_shape(), 3);
    const auto inputs = static_cast<std::size_t>(model.shape.steps + context_size(model) + 1);
    model.linear.weights[1].assign(inputs, 0.25);
    model.provenance = R"({"seed":7})";
    return model;
}

std::string refusal(const std::string& bytes) {
    return error_of([&] { parse_model(bytes, "m.model"); });
}

std::string with(const std::string& from, const std::string& to) {
    std::string bytes = model_bytes(model_with_linear());
    const std::size_t at = bytes.find(from);
    REQUIRE(at != std::string::npos);
    REQUIRE(from.size() == to.size());
    return sealed(bytes.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("unit.restore.model_file.holds_what_was_saved") {
    const QueueModel model = model_with_linear();
    const QueueModel read = parse_model(model_bytes(model), "m.model");
    CHECK(read.weights == model.weights);
    CHECK(read.laws == model.laws);
    CHECK(read.shape.steps == 16);
    CHECK(read.shape.heads == 2);
    CHECK(read.linear.weights == model.linear.weights);
    CHECK(read.provenance == model.provenance);
    CHECK(model_bytes(read) == model_bytes(model));
}

TEST_CASE("unit.restore.model_file.every_cut_and_every_flipped_byte_is_refused") {
    const std::string bytes = model_bytes(model_with_linear());
    for (std::size_t length = 0; length < bytes.size(); length += length < 64 ? 1 : 37) {
        const std::string line = refusal(bytes.substr(0, length));
        CHECK(line.rfind("m.model: ", 0) == 0);
        CHECK(line.find('\n') == std::string::npos);
    }
    for (std::size_t at = 0; at < bytes.size(); at += at < 1500 ? 1 : 29) {
        std::string flipped = bytes;
        flipped[at] = static_cast<char>(flipped[at] ^ 0x20);
        CHECK(refusal(flipped).rfind("m.model: ", 0) == 0);
    }
    CHECK(refusal(bytes + "x").find("checksum") != std::string::npos);
    CHECK(refusal("PK\x03\x04 a pickle").find("is no model of queues") != std::string::npos);
}

TEST_CASE("unit.restore.model_file.a_header_that_lies_is_refused") {
    CHECK(refusal(with("\"steps\": 16", "\"steps\": 24")).find("weights") != std::string::npos);
    CHECK(refusal(with("\"steps\": 16", "\"steps\": 17")).find("of 8") != std::string::npos);
    CHECK(refusal(with("\"steps\": 16", "\"steps\": -6")).find("8 to 512") != std::string::npos);
    CHECK(refusal(with("\"heads\": 2", "\"heads\": 3")).find("multiple") != std::string::npos);
    CHECK(refusal(with("\"layers\"", "\"lawyer\"")).find("no layers") != std::string::npos);
    CHECK(refusal(with("\"hpcc\"", "      ")).find("JSON") != std::string::npos);
    CHECK(refusal(with("0.25", "0.35")).find("quantiles") != std::string::npos);
    CHECK(refusal(with("rtt\": 4", "rtt\": 8")).find("samples_per") != std::string::npos);
}

TEST_CASE("unit.restore.model_file.weights_must_be_numbers_and_all_there") {
    QueueModel model = model_with_linear();
    model.weights[9] = std::numeric_limits<float>::quiet_NaN();
    CHECK(refusal(model_bytes(model)).find("not a finite number") != std::string::npos);
    std::string more = model_bytes(model_with_linear());
    more.insert(more.size() - 8, 4, '\0');
    CHECK(refusal(sealed(more)).find("left over") != std::string::npos);
    std::string huge = model_bytes(model_with_linear());
    const std::uint32_t length = 0xfffffff0;
    std::memcpy(huge.data() + 12, &length, sizeof length);
    CHECK(refusal(sealed(huge)).find("header of 4294967280 bytes") != std::string::npos);
    std::string version = model_bytes(model_with_linear());
    version[8] = 9;
    CHECK(refusal(sealed(version)).find("version 9; this build reads version 1") !=
          std::string::npos);
    CHECK(error_of([] { load_model("/dev/null"); }) == "/dev/null: is not a file");
    CHECK(error_of([] { load_model("no/such.model"); }) == "no/such.model: does not exist");
}

TEST_CASE("unit.restore.model_file.whatever_has_its_checksum_is_a_model_or_one_line") {
    const std::string bytes = model_bytes(model_with_linear());
    int models = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        try {
            const QueueModel model =
                parse_model(mutated(bytes, seed % 2 == 0 ? 700 : bytes.size(), seed), "m.model");
            ++models;
            const std::string written = model_bytes(model);
            CHECK(model_bytes(parse_model(written, "again")) == written);
            const auto predictor = make_predictor(PredictorKind::transformer, &model);
            const DepthQuantiles said = predictor->predict({random_query(seed)})[0];
            CHECK(said.front() >= 0);
            CHECK(std::is_sorted(said.begin(), said.end()));
        } catch (const ConfigError& error) {
            CHECK(std::string(error.what()).find('\n') == std::string::npos);
        }
    }
    CHECK(models > 300);
    CHECK(models < 1700);
}

TEST_CASE("unit.restore.model_file.the_shipped_model_loads_and_answers") {
    const QueueModel model = load_model(shipped_model_path());
    for (const char* law : {"hpcc", "dcqcn", "timely", "dctcp"}) {
        CHECK(std::find(model.laws.begin(), model.laws.end(), law) != model.laws.end());
    }
    CHECK(model_bytes(model).size() < 300'000);
    // A queue that stands still is left as it is, to a twentieth of the marking threshold.
    PortQuery still = random_query(1);
    still.depths.assign(64, 300'000);
    still.context.skip = still.context.base_rtt;
    const DepthQuantiles said =
        make_predictor(PredictorKind::transformer, &model)->predict({still})[0];
    CHECK(std::abs(said[kMedian] - 300'000) < 20'000);
    CHECK(said.front() < said.back());
}
