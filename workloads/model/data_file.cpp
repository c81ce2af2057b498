// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/data_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.h"
#include "core/text/config_value.h"

namespace sluice {

namespace {

constexpr const char* kEnding = ".toml";

}  // namespace

bool is_data_path(const std::string& name) {
    return name.find('/') != std::string::npos ||
           std::filesystem::path(name).extension() == kEnding;
}

std::vector<std::string> data_names(const std::vector<std::string>& folders) {
    namespace fs = std::filesystem;
    std::vector<std::string> names;
    for (const std::string& folder : folders) {
        std::error_code error;
        for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
             entry.increment(error)) {
            if (entry->path().extension() == kEnding)
                names.push_back(entry->path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::string find_data_file(const std::string& what, const std::string& name,
                           const std::vector<std::string>& folders) {
    namespace fs = std::filesystem;
    if (is_data_path(name)) return name;
    for (const std::string& folder : folders) {
        std::error_code error;
        const fs::path path = fs::path(folder) / (name + kEnding);
        if (!name.empty() && fs::is_regular_file(path, error)) return path.string();
    }
    const std::vector<std::string> names = data_names(folders);
    const std::string nearest = nearest_word(name, names);
    std::string message = shown_text(name) + " is no known " + what + "; known are ";
    for (const std::string& known : names) message += known + ", ";
    message += "or give the path of a .toml file";
    if (!nearest.empty()) message += " (nearest: " + nearest + ")";
    throw ConfigError(message);
}

std::string find_data_file(ConfigSection& section, const std::string& key, const std::string& what,
                           const std::string& name, const std::vector<std::string>& folders,
                           const std::function<std::string(const std::string&)>& resolve) {
    try {
        return find_data_file(what, is_data_path(name) ? resolve(name) : name, folders);
    } catch (const ConfigError& error) {
        section.fail(key, error.what());
    }
}

std::string data_name(const std::string& path) {
    return std::filesystem::path(path).stem().string();
}

}  // namespace sluice
