// SPDX-License-Identifier: Apache-2.0
#include "restore/model_file.h"

#include <cstddef>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "core/checksum.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "restore/bytes.h"
#include "restore/encoder.h"
#include "restore/features.h"

namespace sluice::restore {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kMagic = "SLUICEQM";
constexpr std::uint32_t kVersion = 1;
constexpr const char* kKind = "model of queues (sluice train writes them)";
constexpr std::size_t kMostHeader = std::size_t{1} << 20;
/// The largest shape within limits has 6.6 million weights.
constexpr std::size_t kLargestModel = std::size_t{64} << 20;
constexpr std::size_t kMostLaws = 64;

/// Values of a header, each with its range.
class HeaderReader {
  public:
    HeaderReader(const ordered_json& json, const std::string& path) : json_(json), path_(path) {}

    const ordered_json& at(const std::string& key) const {
        const auto found = json_.is_object() ? json_.find(key) : json_.end();
        if (found == json_.end()) throw ConfigError(path_, 0, "its header has no " + key);
        return *found;
    }
    int integer(const std::string& key, int least, int most) const {
        const ordered_json& value = at(key);
        const bool whole = value.is_number_integer();
        const auto number = whole ? value.get<std::int64_t>() : 0;
        if (!whole || number < least || number > most) {
            throw ConfigError(path_, 0,
                              "its header's " + key + " must be " + std::to_string(least) + " to " +
                                  std::to_string(most));
        }
        return static_cast<int>(number);
    }

  private:
    const ordered_json& json_;
    const std::string& path_;
};

ModelShape read_shape(const ordered_json& json, const std::string& path) {
    const HeaderReader header(json, path);
    ModelShape shape;
    shape.steps = header.integer("steps", 8, 512);
    shape.width = header.integer("width", 4, 256);
    shape.layers = header.integer("layers", 1, 8);
    shape.heads = header.integer("heads", 1, 16);
    shape.hidden = header.integer("hidden", 4, 1024);
    if (shape.steps % 8 != 0) {
        throw ConfigError(path, 0, "its header's steps must be a multiple of 8");
    }
    if (shape.width % shape.heads != 0) {
        throw ConfigError(path, 0, "its header's width must be a multiple of heads");
    }
    return shape;
}

std::vector<std::string> read_laws(const ordered_json& json, const std::string& path) {
    std::vector<std::string> laws;
    for (const ordered_json& name : json) {
        if (!name.is_string()) break;
        laws.push_back(name.get<std::string>());
    }
    if (!json.is_array() || laws.size() != json.size() || laws.empty() || laws.size() > kMostLaws) {
        throw ConfigError(path, 0, "its header's laws must be a list of 1 to 64 names");
    }
    return laws;
}

/// What a file may say and this build may not have.
void check_inputs(const HeaderReader& header, const std::string& path) {
    header.integer("samples_per_base_rtt", kSamplesPerBaseRtt, kSamplesPerBaseRtt);
    header.integer("context_facts", kContextFacts, kContextFacts);
    if (header.at("quantiles") != ordered_json(kQuantiles)) {
        throw ConfigError(path, 0, "its quantiles are not " + ordered_json(kQuantiles).dump());
    }
}

}  // namespace

QueueModel parse_model(std::string_view bytes, const std::string& path) {
    Framed frame = open_frame(bytes, path, kMagic, kVersion, kKind, kMostHeader);
    const ordered_json json = ordered_json::parse(frame.header, nullptr, false);
    if (!json.is_object()) throw ConfigError(path, 0, "its header is not a JSON object");
    const HeaderReader header(json, path);
    QueueModel model;
    model.shape = read_shape(header.at("shape"), path);
    model.laws = read_laws(header.at("laws"), path);
    check_inputs(header, path);
    const int context = context_size(model);
    const std::size_t count = weight_count(model.shape, context);
    frame.body.require(header.integer("weights", 0, 1 << 30) == static_cast<std::int64_t>(count),
                       "its number of weights is not that of its shape");
    model.weights = frame.body.floats(count);
    const ordered_json& fitted = header.at("linear");
    frame.body.require(fitted.is_array() && fitted.size() == model.laws.size(),
                       "its header's linear must say of each law whether there is a model");
    for (const ordered_json& there : fitted) {
        frame.body.require(there.is_boolean(), "its header's linear must hold true and false");
        const std::size_t inputs = static_cast<std::size_t>(model.shape.steps + context + 1);
        const std::vector<float> row = frame.body.floats(there.get<bool>() ? inputs : 0);
        model.linear.weights.emplace_back(row.begin(), row.end());
    }
    frame.body.require(frame.body.left() == 0, "has bytes left over behind its weights");
    model.provenance = header.at("training").dump();
    return model;
}

QueueModel load_model(const std::string& path) {
    return parse_model(read_file(path, kLargestModel), path);
}

std::string model_bytes(const QueueModel& model) {
    ordered_json json;
    json["format"] = "sluice queue model";
    json["shape"] = {{"steps", model.shape.steps},
                     {"width", model.shape.width},
                     {"layers", model.shape.layers},
                     {"heads", model.shape.heads},
                     {"hidden", model.shape.hidden}};
    json["laws"] = model.laws;
    json["quantiles"] = kQuantiles;
    json["samples_per_base_rtt"] = kSamplesPerBaseRtt;
    json["context_facts"] = kContextFacts;
    json["weights"] = model.weights.size();
    json["linear"] = ordered_json::array();
    for (std::size_t law = 0; law < model.laws.size(); ++law) {
        const auto& rows = model.linear.weights;
        json["linear"].push_back(law < rows.size() && !rows[law].empty());
    }
    json["training"] = ordered_json::parse(model.provenance);
    const std::string header = json.dump(1, ' ', true, ordered_json::error_handler_t::replace);
    std::string bytes(kMagic);
    append_word(bytes, kVersion);
    append_word(bytes, static_cast<std::uint32_t>(header.size()));
    bytes += header;
    for (const float weight : model.weights) append_float(bytes, weight);
    for (const std::vector<double>& row : model.linear.weights) {
        for (const double weight : row) append_float(bytes, static_cast<float>(weight));
    }
    append_word(bytes, checksum(bytes));
    return bytes;
}

void save_model(const QueueModel& model, const std::string& path) {
    write_output(path, model_bytes(model));
}

}  // namespace sluice::restore
