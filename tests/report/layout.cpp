// SPDX-License-Identifier: Apache-2.0
/// Where nodes are drawn.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/topology/builders.h"
#include "report/layout.h"

using namespace sluice;
using report::Json;
using report::Layout;
using report::RunFiles;

namespace {

Layout drawn(Topology topology, const Json& config) {
    RunFiles run;
    run.topology = std::move(topology);
    run.summary = {{"config", {{"topology", config}}}};
    return layout_of(run);
}

void check_inside(const Layout& layout) {
    for (const report::Point& point : layout.points) {
        CHECK(point.x >= 0);
        CHECK(point.x <= 1);
        CHECK(point.y >= 0);
        CHECK(point.y <= 1);
    }
}

}  // namespace

TEST_CASE("unit.report.tiers_lie_above_each_other") {
    const Topology topology = build_fat_tree({});
    const Layout layout = drawn(topology, {{"type", "fat-tree"}});
    CHECK(layout.kind == "tiers");
    check_inside(layout);
    // Hosts 0 to 15, edge 16 to 23, aggregation 24 to 31, cores 32 to 35.
    CHECK(layout.points[0].y == layout.points[15].y);
    CHECK(layout.points[0].y > layout.points[16].y);
    CHECK(layout.points[16].y > layout.points[24].y);
    CHECK(layout.points[24].y > layout.points[32].y);
    // A gap between the hosts of one edge switch and those of the next.
    CHECK(layout.points[2].x - layout.points[1].x > layout.points[1].x - layout.points[0].x + 1e-9);
}

TEST_CASE("unit.report.a_torus_is_a_grid") {
    TorusParams params;
    params.dimensions = {3, 4};
    const Topology topology = build_torus(params);
    const Layout layout =
        drawn(topology, {{"type", "torus"}, {"dimensions", Json::array({3U, 4U})}});
    CHECK(layout.kind == "torus");
    check_inside(layout);
    // Switches 12 to 23, the first dimension fastest.
    CHECK(layout.points[12].y == layout.points[14].y);
    CHECK(layout.points[13].x - layout.points[12].x ==
          doctest::Approx(layout.points[14].x - layout.points[13].x));
    CHECK(layout.points[15].x == doctest::Approx(layout.points[12].x));
    CHECK(layout.points[15].y > layout.points[12].y);
}

TEST_CASE("unit.report.a_torus_of_another_size_than_it_says_is_drawn_by_tiers") {
    const Layout layout =
        drawn(build_torus({}), {{"type", "torus"}, {"dimensions", Json::array({5U, 5U})}});
    CHECK(layout.kind == "tiers");
    check_inside(layout);
}

TEST_CASE("unit.report.a_full_mesh_is_a_circle") {
    FullMeshParams params;
    params.switches = 5;
    const Topology topology = build_full_mesh(params);
    const Layout layout = drawn(topology, {{"type", "full-mesh"}});
    CHECK(layout.kind == "circle");
    check_inside(layout);
    for (NodeId node = 20; node < 25; ++node) {
        const report::Point at = layout.points[node];
        CHECK(std::hypot(at.x - 0.5, at.y - 0.48) == doctest::Approx(0.36));
    }
}

TEST_CASE("unit.report.groups_of_a_dragonfly_are_apart") {
    const Topology topology = build_dragonfly({});
    const Layout layout = drawn(topology, {{"type", "dragonfly"}, {"routers_per_group", 4U}});
    CHECK(layout.kind == "circle");
    check_inside(layout);
    // Routers 72 to 107, four a group: each is nearer to its group's centre than to any other's.
    std::vector<report::Point> centres(9);
    for (NodeId node = 72; node < 108; ++node) {
        report::Point& centre = centres[(node - 72) / 4];
        centre.x += layout.points[node].x / 4;
        centre.y += layout.points[node].y / 4;
    }
    for (NodeId node = 72; node < 108; ++node) {
        const auto away = [&](const report::Point& centre) {
            return std::hypot(layout.points[node].x - centre.x, layout.points[node].y - centre.y);
        };
        for (std::size_t group = 0; group < 9; ++group) {
            if (group != (node - 72) / 4)
                CHECK(away(centres[(node - 72) / 4]) < away(centres[group]));
        }
    }
}
