// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/model_file.h"

#include <optional>

#include "core/error.h"
#include "workloads/model/data_file.h"

namespace sluice {

namespace {

constexpr std::int64_t kMany = 1'000'000'000;

/// Reads integers whose default is the base model's, or, without one, the key's own.
class ShapeReader {
  public:
    ShapeReader(ConfigSection& section, const ModelShape* base) : section_(section), base_(base) {}

    std::int64_t integer(const char* key, std::int64_t ModelShape::*field,
                         std::optional<std::int64_t> fallback) {
        if (base_ != nullptr) fallback = base_->*field;
        return section_.integer(key, fallback, 0, kMany);
    }

    std::int64_t latent(const char* key, std::int64_t LatentAttention::*field) {
        const std::int64_t fallback = base_ != nullptr ? base_->latent.*field : 0;
        return section_.integer(key, fallback, 0, kMany);
    }

    bool flag(const char* key, bool ModelShape::*field) {
        return section_.flag(key, base_ != nullptr && base_->*field);
    }

  private:
    ConfigSection& section_;
    const ModelShape* base_;
};

void read_heads(ConfigSection& section, ShapeReader& reader, const ModelShape* base,
                ModelShape& model) {
    model.heads = reader.integer("heads", &ModelShape::heads, std::nullopt);
    // A base with as many key and value heads as heads stays so when the heads change.
    const bool own = base != nullptr && base->kv_heads != base->heads;
    model.kv_heads = section.integer("kv_heads", own ? base->kv_heads : model.heads, 0, kMany);
    model.head_dim = reader.integer("head_dim", &ModelShape::head_dim, 0);
    model.latent.query_rank = reader.latent("q_lora_rank", &LatentAttention::query_rank);
    model.latent.kv_rank = reader.latent("kv_lora_rank", &LatentAttention::kv_rank);
    model.latent.nope_width = reader.latent("qk_nope_head_dim", &LatentAttention::nope_width);
    model.latent.rope_width = reader.latent("qk_rope_head_dim", &LatentAttention::rope_width);
    model.latent.value_width = reader.latent("v_head_dim", &LatentAttention::value_width);
}

void read_experts(ConfigSection& section, ShapeReader& reader, const ModelShape* base,
                  ModelShape& model) {
    model.experts = reader.integer("experts", &ModelShape::experts, 0);
    // A base's experts may be taken away, or given to a dense one, by this one key.
    const ModelShape* mixture =
        base != nullptr && base->experts > 0 && model.experts > 0 ? base : nullptr;
    ShapeReader own(section, mixture);
    model.top_k = own.integer("top_k", &ModelShape::top_k, model.experts > 0 ? 2 : 0);
    model.expert_ffn = own.integer("expert_ffn", &ModelShape::expert_ffn, 0);
    model.shared_experts = own.integer("shared_experts", &ModelShape::shared_experts, 0);
    model.dense_layers = own.integer("dense_layers", &ModelShape::dense_layers, 0);
    model.expert_groups = own.integer("expert_groups", &ModelShape::expert_groups, 0);
    model.top_groups = own.integer("top_groups", &ModelShape::top_groups, model.expert_groups);
}

/// All keys of a model; finishes the table.
ModelShape read_shape(ConfigSection& section, const std::string& name, const ModelShape* base) {
    ShapeReader reader(section, base);
    ModelShape model;
    model.name = section.text("name", name);
    model.layers = reader.integer("layers", &ModelShape::layers, std::nullopt);
    model.hidden = reader.integer("hidden", &ModelShape::hidden, std::nullopt);
    read_heads(section, reader, base, model);
    model.ffn = reader.integer("ffn", &ModelShape::ffn, 4 * model.hidden);
    model.gated = reader.flag("gated", &ModelShape::gated);
    read_experts(section, reader, base, model);
    model.vocabulary = reader.integer("vocabulary", &ModelShape::vocabulary, 50257);
    model.positions = reader.integer("positions", &ModelShape::positions, 0);
    model.untied_head = reader.flag("untied_head", &ModelShape::untied_head);
    model.qkv_bias = reader.flag("qkv_bias", &ModelShape::qkv_bias);
    model.biases = reader.flag("biases", &ModelShape::biases);
    model.norm_biases = reader.flag("norm_biases", &ModelShape::norm_biases);
    model.sequence = reader.integer("sequence", &ModelShape::sequence, 2048);
    section.finish();
    try {
        check_model(model);
    } catch (const ConfigError& error) {
        throw ConfigError(section.where("layers") + ": " + error.what());
    }
    return model;
}

ModelShape read_model_root(const ConfigValue& root, const std::string& source) {
    EffectiveConfig unused;
    ConfigSection section(root, unused);
    return read_shape(section, data_name(source), nullptr);
}

/// `name` as a path or a name, with the place of the key in the message if it is neither.
ModelShape read_named(ConfigSection& section, const std::string& key, const std::string& name,
                      const std::vector<std::string>& folders,
                      const std::function<std::string(const std::string&)>& resolve) {
    return load_model(find_data_file(section, key, "model", name, folders, resolve));
}

}  // namespace

ModelShape parse_model(const std::string& text, const std::string& source) {
    return read_model_root(parse_config(text, source), source);
}

ModelShape load_model(const std::string& path) { return read_model_root(load_config(path), path); }

ModelShape find_model(const std::string& name, const std::vector<std::string>& folders) {
    return load_model(find_data_file("model", name, folders));
}

std::vector<std::string> model_names(const std::vector<std::string>& folders) {
    return data_names(folders);
}

ModelShape read_model(ConfigSection& section, const std::string& key,
                      const std::vector<std::string>& folders,
                      const std::function<std::string(const std::string&)>& resolve) {
    const ConfigValue* value = section.raw(key);
    if (value == nullptr || value->kind != ConfigValue::Kind::table) {
        return read_named(section, key, section.text(key, std::nullopt), folders, resolve);
    }
    ConfigSection table = section.table(key);
    if (!table.has("base")) return read_shape(table, "custom", nullptr);
    const std::string base = table.text("base", std::nullopt);
    const ModelShape shape = read_named(table, "base", base, folders, resolve);
    return read_shape(table, shape.name + ", changed", &shape);
}

}  // namespace sluice
