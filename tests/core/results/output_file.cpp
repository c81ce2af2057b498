// SPDX-License-Identifier: Apache-2.0
/// What is written through a buffer is what was given, wherever the buffer ends.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "core/error.h"
#include "core/random.h"
#include "core/results/output_file.h"

using namespace sluice;

namespace {

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("unit.results.output_file.pieces_of_all_kinds_across_the_buffer_s_end") {
    const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                       ("sluice-output-file-" + std::to_string(::getpid()));
    std::string expected;
    {
        OutputFile file(path.string());
        const auto add = [&](const auto& piece, const std::string& text) {
            file << piece;
            expected += text;
        };
        for (std::uint64_t i = 0; i < 60'000; ++i) {
            const std::int64_t number =
                i % 5 == 0   ? std::numeric_limits<std::int64_t>::min()
                : i % 5 == 1 ? std::numeric_limits<std::int64_t>::max()
                             : static_cast<std::int64_t>(uniform(1, 2, i) * 1e6) - 500'000;
            add(number, std::to_string(number));
            add(',', ",");
            add(std::string_view("label"), "label");
            add(std::string_view(), "");
        }
        const std::string longer(200'001, 'x');  // than the buffer
        add(std::string_view(longer), longer);
        add('\n', "\n");
        file.commit();
    }
    CHECK(content(path) == expected);
    std::filesystem::remove(path);
}

TEST_CASE("unit.results.output_file.a_full_disk_is_told_once") {
    OutputFile file("/dev/full");
    file << std::string_view(std::string(1000, 'x'));
    CHECK_THROWS_AS(file.flush(), ConfigError);
}
