// SPDX-License-Identifier: Apache-2.0
#include "eval/trials/trial_store.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "core/error.h"
#include "tests/support/test_folder.h"

using namespace sluice;
using namespace sluice::eval;
using sluice::test::TestFolder;

namespace {

StoredTrial trial_of(std::size_t candidate, std::size_t number, double value) {
    StoredTrial trial;
    trial.candidate = candidate;
    trial.trial = number;
    trial.seed = 5;
    trial.observations = {{value, 1, {}}, {0, 2, {value, value + 1}}};
    return trial;
}

}  // namespace

TEST_CASE("unit.trial_store.gives back what it was given, in order") {
    const TestFolder folder;
    const std::string path = folder.file("trials.db");
    const double infinite = std::numeric_limits<double>::infinity();
    {
        TrialStore store(path, "this", {"a", "b"}, false);
        store.add(trial_of(1, 0, 4.25));
        store.add(trial_of(0, 7, infinite));
        store.add(trial_of(0, 2, 0.1));
        StoredTrial failed;
        failed.trial = 3;
        failed.failure = "killed";
        store.add(failed);
        store.set_note("window", "1 2");
    }
    TrialStore store(path, "this", {"a", "b"}, false);
    CHECK(store.size() == 4);
    CHECK(store.note("window") == "1 2");
    CHECK(store.note("absent").empty());
    const std::vector<StoredTrial> trials = store.load();
    REQUIRE(trials.size() == 4);
    CHECK(trials[0].trial == 2);
    CHECK(trials[0].observations[0].value == 0.1);
    CHECK(trials[0].observations[1].values == std::vector<double>{0.1, 1.1});
    CHECK(trials[1].failure == "killed");
    CHECK(std::isinf(trials[2].observations[0].value));
    CHECK(trials[3].candidate == 1);
    // A failed trial that ran after all.
    store.add(trial_of(0, 3, 9));
    CHECK(store.size() == 4);
    CHECK(store.load()[1].failure.empty());
}

TEST_CASE("unit.trial_store.refuses numbers that no trial has") {
    const TestFolder folder;
    const std::string path = folder.file("trials.db");
    for (const std::size_t number : {std::size_t{1'000'000'000}, ~std::size_t{0}}) {
        TrialStore store(path, "this", {"a", "b"}, true);
        store.add(trial_of(0, number, 1));
        CHECK_THROWS_WITH_AS(store.load(), doctest::Contains("damaged; --anew replaces it"),
                             ConfigError);
    }
}

TEST_CASE("unit.trial_store.refuses what is of something else") {
    const TestFolder folder;
    const std::string path = folder.file("trials.db");
    { TrialStore(path, "this", {"a"}, false).add({}); }
    CHECK_THROWS_AS(TrialStore(path, "that", {"a"}, false), ConfigError);
    CHECK(TrialStore(path, "this", {"a"}, false).size() == 1);
    CHECK(TrialStore(path, "that", {"a"}, true).size() == 0);
    {
        Database other(folder.file("other.db"), true);
        other.run("CREATE TABLE kept(x)");
    }
    CHECK_THROWS_AS(TrialStore(folder.file("other.db"), "this", {"a"}, true), ConfigError);
    Database other(folder.file("other.db"), false);
    CHECK(other.number("SELECT count(*) FROM sqlite_master") == 1);
}
