// SPDX-License-Identifier: Apache-2.0
/// Whether flows have what max-min fairness gives them of the ports that they share.
#include "core/steady/fair_shares.h"

#include <doctest/doctest.h>

using sluice::steady::are_fair;
using sluice::steady::PortUse;

TEST_CASE("unit.fair_shares.each_flow_has_a_full_port_of_which_nobody_has_more") {
    // Two flows on one port of 10, one of them on another port besides.
    const std::vector<PortUse> ports = {{10, {0, 1}}, {4, {1}}};
    CHECK(are_fair({{10, {0, 1}}}, {4.8, 4.7}));
    CHECK(!are_fair({{10, {0, 1}}}, {5.4, 4.2}));
    CHECK(are_fair(ports, {5.7, 3.8}));        // the second one's own port is full
    CHECK(!are_fair(ports, {6.5, 3.0}));       // and here it is not
    CHECK(!are_fair({{10, {0, 1}}}, {3, 3}));  // nobody knows what holds them
}
