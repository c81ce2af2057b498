// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/et_file.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/results/output_file.h"

namespace sluice::chakra {

namespace {

constexpr std::size_t kFilePiece = std::size_t{256} << 10;
constexpr std::size_t kLargestJson = std::size_t{1} << 30;
constexpr std::uint64_t kLongestMessage = std::uint64_t{256} << 20;

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Protobuf goes by the name of JSON in some collections: its tags and lengths are control characters.
bool begins_as_json(const std::string& path) {
    char first[64] = {};
    const std::size_t size = ByteSource(path).read(first, sizeof(first));
    return std::none_of(first, first + size, [](char c) {
        return c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f';
    });
}

}  // namespace

std::uint64_t take_length(std::string_view buffer, std::size_t& at) {
    std::string_view left = buffer.substr(at);
    std::uint64_t length = 0;
    try {
        length = take_varint(left);
    } catch (const WireError& error) {
        throw WireError(std::string("its length cannot be read: it ") + error.what());
    }
    if (length > kLongestMessage) {
        throw WireError("claims " + std::to_string(length) + " bytes; at most " +
                        std::to_string(kLongestMessage) +
                        " are allowed: is this a Chakra .et file?");
    }
    at = buffer.size() - left.size();
    return length;
}

EtReader::EtReader(const std::string& path) : path_(path) {
    json_ = (ends_with(path, ".json") || ends_with(path, ".json.gz")) && begins_as_json(path);
    if (json_) {
        json_messages_ = parse_json_trace(read_text(path, kLargestJson), path);
    } else {
        source_ = std::make_unique<ByteSource>(path);
    }
    std::string_view message;
    if (!next_message(message)) {
        throw ConfigError(path + ": is empty: a Chakra trace begins with a GlobalMetadata message");
    }
    first_ = message;
    try {
        parse_metadata(first_, metadata_);
    } catch (const WireError& error) {
        fail(std::string("is not Chakra's GlobalMetadata: ") + error.what());
    }
}

void EtReader::fail(const std::string& what) const {
    throw ConfigError(path_ + ":message " + std::to_string(messages_) + ": " + what);
}

/// At least `wanted` bytes at at_; false if the file ends before. Grows with what is really there.
bool EtReader::fill(std::size_t wanted) {
    if (buffer_.size() - at_ >= wanted) return true;
    buffer_.erase(0, at_);
    at_ = 0;
    while (buffer_.size() < wanted) {
        const std::size_t before = buffer_.size();
        buffer_.resize(before + kFilePiece);
        const std::size_t got = source_->read(buffer_.data() + before, kFilePiece);
        buffer_.resize(before + got);
        if (got < kFilePiece) break;
    }
    return buffer_.size() >= wanted;
}

bool EtReader::next_frame(std::string_view& message) {
    fill(10);
    if (buffer_.size() == at_) return false;
    ++messages_;
    std::uint64_t length = 0;
    try {
        length = take_length(buffer_, at_);
    } catch (const WireError& error) {
        fail(error.what());
    }
    if (!fill(length)) {
        fail("claims " + std::to_string(length) + " bytes, the file ends after " +
             std::to_string(buffer_.size() - at_));
    }
    message = std::string_view(buffer_).substr(at_, length);
    at_ += length;
    return true;
}

bool EtReader::next_message(std::string_view& message) {
    if (!json_) return next_frame(message);
    if (messages_ == json_messages_.size()) return false;
    message = json_messages_[messages_++];
    return true;
}

bool EtReader::next(NodeView& node) {
    std::string_view message;
    if (!next_message(message)) return false;
    // A file of zeros is no million nodes.
    if (message.empty()) fail("is empty: a Chakra Node has a type");
    try {
        parse_node(message, node);
    } catch (const WireError& error) {
        fail(std::string("is not a Chakra Node: ") + error.what());
    }
    return true;
}

EtWriter::EtWriter(const std::string& path, const Metadata& metadata)
    : file_(std::make_unique<OutputFile>(path)) {
    write_message(encode(metadata));
}

EtWriter::~EtWriter() = default;

void EtWriter::write_message(const std::string& message) {
    std::string length;
    append_varint(length, message.size());
    *file_ << length << message;
}

void EtWriter::write(const Node& node) { write_message(encode(node)); }

void EtWriter::close() { file_->commit(); }

namespace {

struct Standard {
    const char* name;
    AttributeKind kind;
};

constexpr Standard kStandard[] = {
    {"is_cpu_op", AttributeKind::boolean},   {"comm_type", AttributeKind::int64},
    {"comm_size", AttributeKind::int64},     {"num_ops", AttributeKind::int64},
    {"tensor_size", AttributeKind::uint64},  {"comm_src", AttributeKind::int32},
    {"comm_dst", AttributeKind::int32},      {"comm_tag", AttributeKind::int32},
    {"comm_priority", AttributeKind::int32},
};

bool fits(AttributeKind kind, std::int64_t value) {
    switch (kind) {
        case AttributeKind::boolean: return value == 0 || value == 1;
        case AttributeKind::int32:
            return value >= std::numeric_limits<std::int32_t>::min() &&
                   value <= std::numeric_limits<std::int32_t>::max();
        case AttributeKind::uint64: return value >= 0;
        default: return true;
    }
}

/// The number of a scalar attribute, as a reader would see it.
std::optional<std::int64_t> number_of(const Attribute& attribute) {
    AttributeView view;
    view.kind = attribute.kind;
    view.list = attribute.list;
    if (!attribute.numbers.empty()) view.number = attribute.numbers[0];
    if (!attribute.texts.empty()) view.bytes = attribute.texts[0];
    return view.integer();
}

}  // namespace

void standard_kinds(Node& node) {
    for (Attribute& attribute : node.attributes) {
        if (attribute.list) continue;
        const std::optional<std::int64_t> value = number_of(attribute);
        if (!value) continue;
        if (attribute.name == "pg_name" && attribute.kind != AttributeKind::text) {
            attribute.kind = AttributeKind::text;
            attribute.texts = {std::to_string(*value)};
            attribute.numbers.clear();
            continue;
        }
        for (const Standard& standard : kStandard) {
            if (attribute.name != standard.name || !fits(standard.kind, *value)) continue;
            attribute.kind = standard.kind;
            attribute.numbers = {static_cast<std::uint64_t>(*value)};
            attribute.texts.clear();
        }
    }
}

}  // namespace sluice::chakra
