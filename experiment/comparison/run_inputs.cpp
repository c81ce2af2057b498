// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/run_inputs.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "core/random.h"
#include "core/results/output_file.h"

namespace sluice {

namespace {

namespace fs = std::filesystem;

constexpr const char* kStamp = "stamp.json";

/// A number that another content hardly has; 0 of a file that cannot be read.
std::uint64_t digest_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return 0;
    std::uint64_t digest = 1;
    std::vector<char> block(std::size_t{1} << 20U);
    while (in) {
        in.read(block.data(), static_cast<std::streamsize>(block.size()));
        const auto count = static_cast<std::size_t>(in.gcount());
        std::fill(block.begin() + static_cast<std::ptrdiff_t>(count), block.end(), '\0');
        for (std::size_t at = 0; at < count; at += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, block.data() + at, sizeof word);
            digest = mix_bits(digest ^ word);
        }
        digest = mix_bits(digest ^ count);
    }
    return digest;
}

/// This program's, which does not change while it runs.
std::uint64_t program_digest() {
    static const std::uint64_t kDigest = digest_of("/proc/self/exe");
    return kDigest;
}

/// The texts of a scenario that may name files: all but those of what a run writes.
void gather_texts(const ConfigValue& value, std::set<std::string>& texts) {
    if (value.kind == ConfigValue::Kind::text && !value.text.empty()) texts.insert(value.text);
    for (const ConfigValue& entry : value.array) gather_texts(entry, texts);
    for (const ConfigMember& member : value.table) {
        if (member.key != "output" && member.key != "name") gather_texts(member.value, texts);
    }
}

std::string state_of(const fs::path& file) {
    std::error_code failed;
    const auto size = fs::file_size(file, failed);
    const auto changed = fs::last_write_time(file, failed).time_since_epoch().count();
    return file.string() + " " + std::to_string(size) + " " + std::to_string(changed);
}

/// The files that a text may mean: itself, those of a folder, and those that begin like it, which is
/// how a job's traces are named, a file for every rank.
void gather_files(const fs::path& named, const fs::path& results, std::set<std::string>& states) {
    std::error_code failed;
    if (fs::equivalent(named, results, failed)) return;
    const std::string stem = named.filename().string();
    const bool folder = fs::is_directory(named, failed);
    const fs::path where = folder ? named : named.parent_path();
    fs::directory_iterator entries(where.empty() ? fs::path(".") : where, failed);
    for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
        const std::string name = entries->path().filename().string();
        if (!folder && name.compare(0, stem.size(), stem) != 0) continue;
        if (entries->is_regular_file(failed)) states.insert(state_of(entries->path()));
    }
}

}  // namespace

std::string run_inputs(const ConfigValue& values, const std::string& scenario,
                       const std::vector<std::string>& arguments, const std::string& results,
                       const std::string& model) {
    std::set<std::string> texts;
    gather_texts(values, texts);
    std::set<std::string> states;
    for (const std::string& text : texts) {
        gather_files(text, results, states);
        if (fs::path(text).is_relative()) {
            gather_files(fs::path(scenario).parent_path() / text, results, states);
        }
    }
    nlohmann::ordered_json json;
    json["program"] = program_digest();
    json["scenario"] = digest_of(scenario);
    json["arguments"] = arguments;
    json["files"] = states;
    if (!model.empty()) json["model"] = digest_of(model);
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void write_stamp(const std::string& folder, const std::string& inputs, int exit_code) {
    nlohmann::ordered_json json;
    json["inputs"] = inputs;
    json["exit_code"] = exit_code;
    OutputFile file((fs::path(folder) / kStamp).string());
    file << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    file.commit();
}

void remove_stamp(const std::string& folder) {
    std::error_code ignored;
    fs::remove(fs::path(folder) / kStamp, ignored);
}

int stamped_exit_code(const std::string& folder, const std::string& inputs) {
    const fs::path path = fs::path(folder) / kStamp;
    std::error_code failed;
    if (!fs::is_regular_file(path, failed)) return -1;
    std::ifstream in(path);
    const nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
    if (!json.is_object() || json.value("inputs", nlohmann::json()) != inputs) return -1;
    const nlohmann::json code = json.value("exit_code", nlohmann::json());
    return code.is_number_integer() ? code.get<int>() : -1;
}

}  // namespace sluice
