// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_workload.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "core/error.h"
#include "core/text/quantity.h"
#include "workloads/aicb/aicb_words.h"

namespace sluice {

namespace {

constexpr const char* kFields[] = {
    "layer id",
    "dependency",
    "forward compute time",
    "forward communication",
    "forward communication size",
    "input-gradient compute time",
    "input-gradient communication",
    "input-gradient communication size",
    "weight-gradient compute time",
    "weight-gradient communication",
    "weight-gradient communication size",
    "update time",
    "policy",
};
constexpr std::size_t kFieldsOfLayer = 12;
constexpr std::size_t kFieldsOfCustomLayer = 13;
constexpr std::string_view kBlanks = " \t\r\v\f";

void split_blanks(std::string_view line, std::vector<std::string_view>& tokens) {
    tokens.clear();
    std::size_t at = line.find_first_not_of(kBlanks);
    while (at != std::string_view::npos) {
        const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
        tokens.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(kBlanks, end);
    }
}

/// A whole number that may be written as a float, as Python's division writes it.
std::int64_t whole_number(std::string_view text, const Place& place, std::int64_t lowest,
                          std::int64_t highest) {
    if (text.find_first_of(".eE") == std::string_view::npos) {
        return parse_integer(text, place, lowest, highest);
    }
    const double value =
        parse_real(text, place, static_cast<double>(lowest), static_cast<double>(highest));
    if (value != std::floor(value)) {
        fail_at(place, fmt::format("\"{}\": not a whole number (allowed: {} to {})", text, lowest,
                                   highest));
    }
    return static_cast<std::int64_t>(value);
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return result;
}

std::string policy_names() {
    std::string names;
    for (const AicbPolicyName& policy : kAicbPolicies) {
        names += (names.empty() ? "" : ", ") + std::string(policy.name);
    }
    return names;
}

const AicbPolicyName* find_policy(std::string_view name) {
    for (const AicbPolicyName& policy : kAicbPolicies) {
        if (name == policy.name) return &policy;
    }
    return nullptr;
}

class WorkloadParser {
  public:
    WorkloadParser(TokenReader& reader, ImportReport& report, std::size_t rows)
        : reader_(reader), report_(report), rows_(rows) {}

    AicbWorkload run() {
        work_.file = reader_.file();
        read_header();
        const std::size_t said = read_count();
        const bool cut = rows_ > 0 && rows_ < said;
        const std::size_t count = cut ? rows_ : said;
        for (std::size_t i = 0; i < count; ++i) read_layer(i, count);
        if (cut) {
            work_.count_token = std::to_string(count);
            report_.skipped(
                here(), fmt::format("the layers after the first {} of {}, as asked", count, said));
        } else {
            refuse_more_layers(count);
        }
        check_header();
        describe();
        return std::move(work_);
    }

  private:
    /// The tokens of the next line that has any; false at the end of the file.
    bool next_tokens() {
        std::string_view line;
        while (reader_.next_line(line)) {
            split_blanks(line, tokens_);
            if (!tokens_.empty()) return true;
        }
        return false;
    }

    std::string here() const { return fmt::format("{}:{}", reader_.file(), reader_.line()); }

    AicbPolicy read_policy(std::string_view token) const {
        const AicbPolicyName* found = find_policy(token);
        if (found == nullptr) {
            reader_.fail(
                fmt::format("unknown policy \"{}\"; allowed are {}", token, policy_names()));
        }
        return found->policy;
    }

    void read_header() {
        if (!next_tokens()) {
            reader_.fail("is empty; an AICB workload begins with a policy, e.g. " +
                         std::string(kAicbPolicies[0].name));
        }
        work_.header_line = reader_.line();
        // "key:value" is "key: value".
        std::vector<std::string> words;
        for (const std::string_view token : tokens_) {
            work_.header_tokens.emplace_back(token);
            const std::size_t colon = token.find(':');
            if (colon != 0) words.emplace_back(token.substr(0, colon));
            if (colon != std::string_view::npos && colon + 1 < token.size()) {
                words.emplace_back(token.substr(colon + 1));
            }
        }
        work_.header.policy = read_policy(words.empty() ? ":" : words.front());
        std::size_t at = 1;
        // "HYBRID_DLRM 4" is the form that Chakra's converter reads: the last layer of the bottom.
        const AicbPolicy policy = work_.header.policy;
        if ((policy == AicbPolicy::dlrm || policy == AicbPolicy::dlrm_enhanced) &&
            words.size() > 1 && words[1].find_first_not_of("0123456789") == std::string::npos) {
            work_.header.dlrm_last_bottom_layer =
                header_number(words, at, "DLRM_LAST_BOTTOM_LAYER", AicbWorkload::kMostBytes);
        }
        while (at < words.size()) read_key(words, at);
    }

    std::int64_t header_number(const std::vector<std::string>& words, std::size_t& at,
                               const std::string& key, std::int64_t highest) {
        if (at >= words.size()) reader_.fail(key + " lacks its value");
        return whole_number(words[at++], reader_.place(key), 0, highest);
    }

    std::vector<std::int64_t> header_list(const std::vector<std::string>& words, std::size_t& at,
                                          const std::string& key) {
        const std::int64_t count = header_number(words, at, key, AicbWorkload::kMostBytes);
        if (static_cast<std::uint64_t>(count) > words.size() - at) {
            reader_.fail(
                fmt::format("{} announces {} layers and lists {}", key, count, words.size() - at));
        }
        std::vector<std::int64_t> list;
        for (std::int64_t i = 0; i < count; ++i) {
            list.push_back(header_number(words, at, key, AicbWorkload::kMostBytes));
        }
        std::sort(list.begin(), list.end());
        return list;
    }

    void read_key(const std::vector<std::string>& words, std::size_t& at) {
        struct Key {
            const char* name;
            std::int64_t* value;
            std::int64_t highest;
        };
        AicbHeader& header = work_.header;
        const Key keys[] = {
            {"model_parallel_npu_group", &header.tp, AicbWorkload::kMostGpus},
            {"ep", &header.ep, AicbWorkload::kMostGpus},
            {"expert_parallel_npu_group", &header.ep, AicbWorkload::kMostGpus},
            {"pp", &header.pp, AicbWorkload::kMostGpus},
            {"vpp", &header.vpp, AicbWorkload::kMostBytes},
            {"ga", &header.ga, AicbWorkload::kMostBytes},
            {"all_gpus", &header.all_gpus, AicbWorkload::kMostGpus},
            {"pp_comm", &header.pp_comm, AicbWorkload::kMostBytes},
            {"dlrm_last_bottom_layer", &header.dlrm_last_bottom_layer, AicbWorkload::kMostBytes},
        };
        const std::string word = words[at];
        const std::string key = lower(word);
        ++at;
        for (const Key& known : keys) {
            if (key != known.name) continue;
            *known.value = header_number(words, at, word, known.highest);
            if (*known.value == 0 && key != "pp_comm" && key != "dlrm_last_bottom_layer") {
                report_.skipped(here(), word + " is 0, taken as not given");
            }
            return;
        }
        if (key == "checkpoints") {
            header.checkpoints = header_list(words, at, word);
        } else if (key == "checkpoint_initiates") {
            header.checkpoint_initiates = header_list(words, at, word);
        } else {
            report_.skipped(here(), "\"" + word + "\" is no key of a workload");
        }
    }

    std::size_t read_count() {
        if (!next_tokens()) reader_.fail("ends before the number of layers");
        const std::int64_t count = whole_number(tokens_.front(), reader_.place("number of layers"),
                                                1, std::int64_t{1} << 31);
        work_.count_token = tokens_.front();
        if (tokens_.size() > 1) {
            report_.skipped(here(), "text after the number of layers");
        }
        // A layer takes two characters a field at least, so an absurd number costs nothing.
        work_.layers.reserve(std::min<std::size_t>(
            static_cast<std::size_t>(count), reader_.tokens_left_at_most() / kFieldsOfLayer + 1));
        return static_cast<std::size_t>(count);
    }

    std::uint32_t intern(std::string_view name) {
        const auto [entry, added] = name_ids_.try_emplace(
            std::string(name), static_cast<std::uint32_t>(work_.names.size()));
        if (added) work_.names.emplace_back(name);
        return entry->second;
    }

    std::int64_t number(std::size_t field, std::int64_t lowest, std::int64_t highest) {
        const std::string_view token = tokens_[field];
        const std::int64_t value =
            whole_number(token, reader_.place(kFields[field]), lowest, highest);
        if (token != std::to_string(value)) keep_token(field);
        return value;
    }

    void keep_token(std::size_t field) {
        work_.odd_tokens.emplace(kAicbFieldSlots * work_.layers.size() + field, tokens_[field]);
    }

    void read_comm(std::size_t field, AicbWork& work) {
        const std::string_view token = tokens_[field];
        const auto* found = std::find_if(std::begin(kAicbComms), std::end(kAicbComms),
                                         [&](const AicbCommName& comm) {
                                             return token.substr(0, comm.name.size()) == comm.name;
                                         });
        if (found == std::end(kAicbComms)) {
            reader_.fail(fmt::format(
                "{} \"{}\" is unknown; allowed are NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, "
                "ALLTOALL, ALLREDUCEALLTOALL and BROADCAST, with the suffix _EP, _DP_EP or none",
                kFields[field], token));
        }
        work.comm = found->comm;
        const std::string_view suffix = token.substr(found->name.size());
        if (suffix.empty()) {
            work.suffix = AicbSuffix::plain;
        } else if (suffix == "_EP") {
            work.suffix = AicbSuffix::ep;
        } else if (suffix == "_DP_EP") {
            work.suffix = AicbSuffix::dp_ep;
        } else {
            work.suffix = AicbSuffix::unknown;
            keep_token(field);
            report_.doubtful(here(),
                             fmt::format("{} \"{}\": unknown suffix \"{}\" (allowed are _EP "
                                         "and _DP_EP), so it has no group and carries nothing",
                                         kFields[field], token, suffix));
        }
        if (work.comm == AicbComm::broadcast) {
            report_.skipped(
                here(), fmt::format("{} BROADCAST carries nothing, as in SimAI", kFields[field]));
        } else if (work.comm == AicbComm::all_reduce_all_to_all) {
            report_.skipped(here(), fmt::format("{} ALLREDUCEALLTOALL is carried as ALLREDUCE, as "
                                                "SimAI reads it",
                                                kFields[field]));
        }
    }

    void read_layer(std::size_t index, std::size_t count) {
        if (!next_tokens()) {
            reader_.fail(fmt::format("the file ends after {} of {} layers{}", index, count,
                                     index > 0
                                         ? fmt::format("; rows = {0} (simai: --rows {0}) runs "
                                                       "those that are there",
                                                       index)
                                         : ""));
        }
        const bool customized = work_.header.policy == AicbPolicy::customized;
        const std::size_t wanted = customized ? kFieldsOfCustomLayer : kFieldsOfLayer;
        if (tokens_.size() != wanted) {
            reader_.fail(fmt::format("layer {} of {} has {} fields instead of {}{}", index + 1,
                                     count, tokens_.size(), wanted,
                                     tokens_.size() < wanted
                                         ? fmt::format("; {} is missing", kFields[tokens_.size()])
                                         : ""));
        }
        AicbLayer layer;
        layer.name = intern(tokens_[0]);
        layer.line = reader_.line();
        layer.dependency = number(1, -1, AicbWorkload::kMostBytes);
        for (std::size_t phase = 0; phase < kAicbPhases; ++phase) {
            AicbWork& work = layer.work[phase];
            work.compute = number(2 + 3 * phase, 0, AicbWorkload::kLongestCompute);
            read_comm(3 + 3 * phase, work);
            work.bytes = number(4 + 3 * phase, 0, AicbWorkload::kMostBytes);
        }
        layer.update = number(11, 0, AicbWorkload::kLongestCompute);
        layer.policy = customized ? read_policy(tokens_[12]) : work_.header.policy;
        if (customized && layer.policy == AicbPolicy::customized) {
            reader_.fail("a layer of HYBRID_CUSTOMIZED names a policy other than that");
        }
        work_.layers.push_back(layer);
    }

    /// The original reads no further, and loses layers that were not counted.
    void refuse_more_layers(std::size_t count) {
        bool told = false;
        while (next_tokens()) {
            if (tokens_.size() >= kFieldsOfLayer) {
                reader_.fail(fmt::format("a layer beyond the {} that line {} announces", count,
                                         work_.header_line + 1));
            }
            if (!told) report_.skipped(here(), "text after the last layer");
            told = true;
        }
    }

    void check_layer_list(const std::vector<std::int64_t>& list, const char* key) const {
        const auto layers = static_cast<std::int64_t>(work_.layers.size());
        if (!list.empty() && list.back() >= layers) {
            throw ConfigError(work_.file, work_.header_line,
                              fmt::format("{} names layer {}; there are layers 0 to {}", key,
                                          list.back(), layers - 1));
        }
    }

    void check_header() {
        const AicbHeader& header = work_.header;
        check_layer_list(header.checkpoints, "checkpoints");
        check_layer_list(header.checkpoint_initiates, "checkpoint_initiates");
        check_layer_list({header.dlrm_last_bottom_layer}, "DLRM_LAST_BOTTOM_LAYER");
        for (const std::int64_t layer : header.checkpoint_initiates) {
            if (header.checkpoints.empty() || header.checkpoints.front() > layer) {
                throw ConfigError(work_.file, work_.header_line,
                                  fmt::format("checkpoint_initiates names layer {}, above which "
                                              "checkpoints names none",
                                              layer));
            }
        }
        if (header.pp > 1 && header.pp_comm == 0) {
            report_.doubtful(work_.where(), fmt::format("pp is {} and pp_comm is missing or 0: the "
                                                        "stages' boundary carries single bytes",
                                                        header.pp));
        } else if (header.pp <= 1 && header.pp_comm > 0) {
            report_.skipped(work_.where(), "pp_comm has no effect without pp above 1");
        }
    }

    void describe() {
        std::array<std::size_t, std::size(kAicbComms)> counts{};
        for (const AicbLayer& layer : work_.layers) {
            for (const AicbWork& work : layer.work) ++counts[static_cast<std::size_t>(work.comm)];
        }
        std::string comms;
        for (const AicbCommName& comm : kAicbComms) {
            const std::size_t n = counts[static_cast<std::size_t>(comm.comm)];
            if (n == 0 || comm.comm == AicbComm::none) continue;
            comms += fmt::format("{}{} {}", comms.empty() ? "" : ", ", n, comm.name);
        }
        report_.read(work_.file,
                     fmt::format("{}, {} layers, {}", to_string(work_.header.policy),
                                 work_.layers.size(), comms.empty() ? "no communication" : comms));
    }

    TokenReader& reader_;
    ImportReport& report_;
    const std::size_t rows_;
    AicbWorkload work_;
    std::vector<std::string_view> tokens_;
    std::unordered_map<std::string, std::uint32_t> name_ids_;
};

}  // namespace

bool carries(AicbComm comm) { return comm != AicbComm::none && comm != AicbComm::broadcast; }

CollectiveKind collective_kind(AicbComm comm) {
    switch (comm) {
        case AicbComm::all_reduce:
        case AicbComm::all_reduce_all_to_all: return CollectiveKind::all_reduce;
        case AicbComm::all_gather: return CollectiveKind::all_gather;
        case AicbComm::reduce_scatter: return CollectiveKind::reduce_scatter;
        case AicbComm::all_to_all: return CollectiveKind::all_to_all;
        case AicbComm::none:
        case AicbComm::broadcast: break;
    }
    throw InternalError("an AICB communication without traffic has no kind");
}

std::string AicbWorkload::where(const AicbLayer& layer) const {
    return file + ":" + std::to_string(layer.line);
}

std::string AicbWorkload::where() const { return file + ":" + std::to_string(header_line); }

AicbWorkload parse_aicb(TokenReader& reader, ImportReport& report, std::size_t rows) {
    return WorkloadParser(reader, report, rows).run();
}

AicbWorkload read_aicb(const std::string& path, ImportReport& report, std::size_t rows) {
    TokenReader reader = TokenReader::open(path);
    return parse_aicb(reader, report, rows);
}

}  // namespace sluice
