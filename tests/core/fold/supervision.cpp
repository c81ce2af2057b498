// SPDX-License-Identifier: Apache-2.0
/// What a supervisor is asked about copies.
#include "core/fold/supervision.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

TEST_CASE("unit.supervision.without_a_supervisor_nothing_is_in_the_way") {
    FoldParts parts(two_pairs());
    const std::uint32_t id = parts.lead({0});
    const auto image = parts.pair_up(id, {0}, {1});
    CHECK_FALSE(parts.supervision.exists());
    CHECK(parts.supervision.alike(parts.folds[id], *image, true));
    CHECK(parts.supervision.may_fold_inside({0, 1}));
    CHECK(parts.supervision.holds_together(parts.folds[id]));
}
