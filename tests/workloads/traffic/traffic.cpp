// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/error.h"
#include "tests/support/error_of.h"
#include "tests/support/fake_engine.h"
#include "workloads/traffic/flow_size_cdf.h"
#include "workloads/traffic/traffic.h"

using namespace sluice;

namespace {

const std::string kData = std::string(SLUICE_SOURCE_DIR) + "/workloads/data/cdf";

std::string parse_error(const std::string& text) {
    return error_of([&] { FlowSizeCdf::parse(text, "sizes.csv"); });
}

bool starts_with(const std::string& text, const std::string& start) {
    return text.rfind(start, 0) == 0;
}

bool same(const std::vector<FlowSpec>& a, const std::vector<FlowSpec>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].src != b[i].src || a[i].dst != b[i].dst || a[i].size != b[i].size ||
            a[i].start != b[i].start) {
            return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("unit.flow_size_cdf.both_text_forms_read_alike") {
    const FlowSizeCdf csv =
        FlowSizeCdf::parse("# note\nsize_bytes,cdf_percent\n0,0\n100,50\n300,100\n", "a");
    const FlowSizeCdf plain = FlowSizeCdf::parse("0 0\r\n\r\n100\t50\r\n300 100", "b");
    // Trapezoids: (0 + 100)/2 x 0.5 + (100 + 300)/2 x 0.5 = 125.
    CHECK(csv.mean() == 125);
    CHECK(plain.mean() == 125);
    CHECK(csv.point_count() == 3);
    CHECK(plain.sample(0.75) == 200);
}

TEST_CASE("unit.flow_size_cdf.samples_by_linear_interpolation") {
    const FlowSizeCdf cdf = FlowSizeCdf::parse("10 0\n110 40\n1000 100\n", "a");
    CHECK(cdf.sample(0) == 10);
    CHECK(cdf.sample(0.1) == 35);
    CHECK(cdf.sample(0.4) == 110);
    CHECK(cdf.sample(0.7) == 555);
    CHECK(cdf.sample(1 - std::ldexp(1.0, -53)) <= 1000);
    // Nothing is smaller than a byte.
    CHECK(FlowSizeCdf::parse("0 0\n10 100\n", "a").sample(0) == 1);
}

TEST_CASE("unit.flow_size_cdf.shipped_distributions_have_their_published_means") {
    // Means and medians of the reference's table.
    const FlowSizeCdf web = FlowSizeCdf::find("WebSearch", {kData});
    CHECK(web.mean() == doctest::Approx(1'711'250).epsilon(1e-6));
    CHECK(web.sample(0.5) == 73'076);
    CHECK(web.largest() == 30e6);
    CHECK(FlowSizeCdf::find("FbHadoop", {kData}).mean() == doctest::Approx(120'421).epsilon(1e-4));
    CHECK(FlowSizeCdf::find("FbHadoop", {kData}).sample(0.5) == 700);
    CHECK(FlowSizeCdf::find("AliStorage2019", {kData}).mean() ==
          doctest::Approx(40'870).epsilon(1e-4));
    const FlowSizeCdf rpc = FlowSizeCdf::find("GoogleRPC2008", {kData});
    CHECK(rpc.mean() == doctest::Approx(2892).epsilon(1e-3));
    CHECK(rpc.point_count() == 843);
    CHECK(std::abs(rpc.sample(0.5) - 257) <= 1);
}

TEST_CASE("unit.flow_size_cdf.reads_every_reference_file") {
    const char* folder = std::getenv("SLUICE_REFERENCE");
    const std::string path = std::string(folder != nullptr ? folder : "") + "/cdf";
    if (!std::filesystem::is_directory(path)) {
        MESSAGE("skipped: no cdf folder in the folder that SLUICE_REFERENCE names");
        return;
    }
    std::size_t read = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        CAPTURE(entry.path().string());
        CHECK(FlowSizeCdf::read(entry.path().string()).mean() > 0);
        ++read;
    }
    CHECK(read >= 4);
}

TEST_CASE("unit.flow_size_cdf.refusals_name_the_line") {
    CHECK(starts_with(parse_error("0,0\n10,x\n"), "sizes.csv:2: \"10,x\" is not a point"));
    CHECK(starts_with(parse_error("0,0\n10\n"), "sizes.csv:2: "));
    CHECK(starts_with(parse_error("0,0\n10,50,3\n20,100\n"), "sizes.csv:2: "));
    CHECK(starts_with(parse_error("0,0\n10,50\n10,100\n"), "sizes.csv:3: size and percent"));
    CHECK(starts_with(parse_error("0,0\n10,50\n20,50\n"), "sizes.csv:3: "));
    CHECK(starts_with(parse_error("0,1\n10,100\n"), "sizes.csv:1: the first point"));
    CHECK(starts_with(parse_error("0,0\n10,1\n"), "sizes.csv:2: the last point must have percent"));
    CHECK(starts_with(parse_error("0,0\n10,101\n"), "sizes.csv:2: percent 101"));
    CHECK(starts_with(parse_error("-1,0\n10,100\n"), "sizes.csv:1: size -1"));
    CHECK(starts_with(parse_error("0,0\n1e300,100\n"), "sizes.csv:2: size 1e+300"));
    CHECK(starts_with(parse_error("0,0\nnan,100\n"), "sizes.csv:2: "));
    CHECK(starts_with(parse_error("0,0\ninf,100\n"), "sizes.csv:2: "));
    CHECK(starts_with(parse_error("0,0\n1e999,100\n"), "sizes.csv:2: "));
    CHECK(starts_with(parse_error("0,0\nsize_bytes,cdf_percent\n1,100\n"), "sizes.csv:2: "));
    CHECK(starts_with(parse_error("bytes,percent\n0,0\n1,100\n"), "sizes.csv:1: "));
    CHECK_FALSE(parse_error("").empty());
    CHECK_FALSE(parse_error("0,0\n").empty());
    CHECK_FALSE(parse_error(std::string("0,0\n\0\x01\xff,100\n", 12)).empty());
    // A hostile line stays short and printable.
    const std::string noise = parse_error(std::string(100'000, '\x07'));
    CHECK(noise.size() < 200);
    CHECK(noise.find('\x07') == std::string::npos);
}

TEST_CASE("unit.flow_size_cdf.missing_files_and_unknown_names") {
    CHECK_THROWS_AS(FlowSizeCdf::read("/nonexistent/cdf.csv"), ConfigError);
    CHECK_THROWS_AS(FlowSizeCdf::read("/"), ConfigError);
    CHECK_THROWS_WITH_AS(FlowSizeCdf::find("WebSearhc", {kData}),
                         doctest::Contains("AliStorage2019, FbHadoop, GoogleRPC2008, WebSearch"),
                         ConfigError);
    CHECK_THROWS_AS(FlowSizeCdf::find("WebSearch", {"/nonexistent"}), ConfigError);
}

TEST_CASE("unit.traffic.poisson_offers_the_load") {
    // 32 hosts x 100 Gb/s x 0.5 x 20 ms = 4 GB, in flows of mean m and second moment m2 ~ 2 m^2
    // here (uniform 0 to 200 kB: m = 100 kB, m2 = 4/3 m^2): 40,000 flows. Relative standard
    // error of the bytes of a compound Poisson sum: sqrt(4/3 / 40000) = 0.58%; of the count 0.5%.
    const FlowSizeCdf sizes = FlowSizeCdf::parse("0 0\n200000 100\n", "uniform");
    PoissonTraffic traffic;
    traffic.load = 0.5;
    traffic.duration = 20 * kMillisecond;
    traffic.start = 2 * kSecond;
    const std::vector<FlowSpec> flows = poisson_traffic(fake::hosts(32), sizes, traffic);
    double bytes = 0;
    std::map<NodeId, int> to;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        bytes += static_cast<double>(flows[i].size);
        ++to[flows[i].dst];
        CHECK(flows[i].src != flows[i].dst);
        CHECK(flows[i].start >= 2 * kSecond);
        CHECK(flows[i].start < 2 * kSecond + 20 * kMillisecond);
        if (i > 0) CHECK(flows[i - 1].start <= flows[i].start);
    }
    CHECK(std::abs(static_cast<double>(flows.size()) / 40'000 - 1) < 0.02);
    CHECK(std::abs(bytes / 4e9 - 1) < 0.025);
    // Destinations are uniform: 1250 each, standard deviation 35.
    CHECK(to.size() == 32);
    for (const auto& [host, count] : to) CHECK(std::abs(count - 1250) < 180);
}

TEST_CASE("unit.traffic.poisson_gaps_are_exponential") {
    // A fraction 1 - 1/e = 0.632 of exponential gaps is below the mean; with 20,000 gaps the
    // standard error is 0.0034.
    const FlowSizeCdf sizes = FlowSizeCdf::parse("999 0\n1001 100\n", "narrow");
    PoissonTraffic traffic;
    traffic.load = 0.8;
    traffic.duration = 2 * kMillisecond;
    const std::vector<FlowSpec> flows = poisson_traffic(fake::hosts(2), sizes, traffic);
    std::vector<Tick> starts;
    for (const FlowSpec& flow : flows) {
        if (flow.src == 0) starts.push_back(flow.start);
    }
    REQUIRE(starts.size() > 10'000);
    const Tick mean_gap = 100'000;  // 1000 B x 8 / (100 Gb/s x 0.8)
    std::size_t below = 0;
    for (std::size_t i = 1; i < starts.size(); ++i) {
        if (starts[i] - starts[i - 1] < mean_gap) ++below;
    }
    const double fraction = static_cast<double>(below) / static_cast<double>(starts.size() - 1);
    CHECK(std::abs(fraction - 0.632) < 0.02);
}

TEST_CASE("unit.traffic.lists_depend_only_on_their_arguments") {
    const FlowSizeCdf sizes = FlowSizeCdf::find("WebSearch", {kData});
    PoissonTraffic traffic;
    traffic.duration = 5 * kMillisecond;
    const std::vector<FlowSpec> first = poisson_traffic(fake::hosts(16), sizes, traffic);
    REQUIRE_FALSE(first.empty());
    CHECK(same(first, poisson_traffic(fake::hosts(16), sizes, traffic)));
    traffic.seed = 2;
    CHECK_FALSE(same(first, poisson_traffic(fake::hosts(16), sizes, traffic)));
    // Twice the duration only appends.
    traffic.seed = 1;
    traffic.duration *= 2;
    std::vector<FlowSpec> longer = poisson_traffic(fake::hosts(16), sizes, traffic);
    REQUIRE(longer.size() > first.size());
    longer.resize(first.size());
    CHECK(same(first, longer));
}

TEST_CASE("unit.traffic.incast_has_distinct_senders") {
    IncastTraffic traffic;
    traffic.senders = 10;
    traffic.receiver = 3;
    traffic.jitter = kMicrosecond;
    traffic.start = 7;
    const std::vector<FlowSpec> flows = incast_traffic(fake::hosts(16), traffic);
    CHECK(flows.size() == 10);
    std::set<NodeId> senders;
    for (const FlowSpec& flow : flows) {
        senders.insert(flow.src);
        CHECK(flow.dst == 3);
        CHECK(flow.size == 500'000);
        CHECK(flow.dport == 200);
        CHECK(flow.start >= 7);
        CHECK(flow.start < 7 + kMicrosecond);
    }
    CHECK(senders.size() == 10);
    CHECK(senders.count(3) == 0);
    traffic.senders = 15;
    CHECK(incast_traffic(fake::hosts(16), traffic).size() == 15);
    traffic.senders = 16;
    CHECK_THROWS_AS(incast_traffic(fake::hosts(16), traffic), ConfigError);
    traffic.senders = 1;
    traffic.receiver = 16;
    CHECK_THROWS_AS(incast_traffic(fake::hosts(16), traffic), ConfigError);
}

TEST_CASE("unit.traffic.permutation_is_a_derangement") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        for (const std::size_t count : {2U, 3U, 128U}) {
            PatternTraffic traffic;
            traffic.seed = seed;
            const std::vector<FlowSpec> flows = permutation_traffic(fake::hosts(count), traffic);
            std::set<NodeId> from;
            std::set<NodeId> to;
            for (const FlowSpec& flow : flows) {
                CHECK(flow.src != flow.dst);
                from.insert(flow.src);
                to.insert(flow.dst);
            }
            CHECK(from.size() == count);
            CHECK(to.size() == count);
        }
    }
    // Both derangements of three hosts appear.
    std::set<NodeId> first_target;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        PatternTraffic traffic;
        traffic.seed = seed;
        first_target.insert(permutation_traffic(fake::hosts(3), traffic)[0].dst);
    }
    CHECK(first_target.size() == 2);
}

TEST_CASE("unit.traffic.ring") {
    PatternTraffic traffic;
    const std::vector<FlowSpec> ring = ring_traffic({4, 7, 9}, traffic);
    REQUIRE(ring.size() == 3);
    CHECK(ring[0].src == 4);
    CHECK(ring[0].dst == 7);
    CHECK(ring[2].dst == 4);
}

TEST_CASE("unit.traffic.refuses_absurd_numbers") {
    const FlowSizeCdf sizes = FlowSizeCdf::parse("0 0\n2 100\n", "tiny");
    PoissonTraffic poisson;
    CHECK_THROWS_AS(poisson_traffic(fake::hosts(1), sizes, poisson), ConfigError);
    poisson.load = 0;
    CHECK_THROWS_AS(poisson_traffic(fake::hosts(2), sizes, poisson), ConfigError);
    poisson.load = std::nan("");
    CHECK_THROWS_AS(poisson_traffic(fake::hosts(2), sizes, poisson), ConfigError);
    poisson.load = 1;
    poisson.duration = 1000 * kSecond;
    CHECK_THROWS_WITH_AS(poisson_traffic(fake::hosts(2), sizes, poisson),
                         doctest::Contains("at most 50 million"), ConfigError);
    poisson.duration = -1;
    CHECK_THROWS_AS(poisson_traffic(fake::hosts(2), sizes, poisson), ConfigError);
    PatternTraffic pattern;
    pattern.size = {0};
    CHECK_THROWS_AS(ring_traffic(fake::hosts(2), pattern), ConfigError);
    pattern.size = {1};
    CHECK_THROWS_AS(permutation_traffic(fake::hosts(1), pattern), ConfigError);
    pattern.jitter = -5;
    CHECK_THROWS_AS(ring_traffic(fake::hosts(2), pattern), ConfigError);
}
