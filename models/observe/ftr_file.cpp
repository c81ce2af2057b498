// SPDX-License-Identifier: Apache-2.0
#include "models/observe/ftr_file.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::uint64_t kIsCbor = 55799;
// Chunks. What is odd is compressed.
constexpr std::uint64_t kInfo = 6;
constexpr std::uint64_t kNames = 8;
constexpr std::uint64_t kDirectory = 10;
constexpr std::uint64_t kTransactions = 12;
// Inside of them.
constexpr std::uint64_t kStream = 16;
constexpr std::uint64_t kGenerator = 17;
constexpr std::uint64_t kTransaction = 6;
constexpr std::uint64_t kAttribute = 7;  // and the moment
constexpr std::uint64_t kSinceEpoch = 1;

constexpr std::int64_t kPicoseconds = -12;
constexpr std::size_t kBlockBytes = 1 << 16;

/// By the format's numbers.
std::uint64_t ftr_type(AttributeType type) {
    switch (type) {
        case AttributeType::integer: return 2;
        case AttributeType::whole: return 3;
        case AttributeType::text: return 10;
        case AttributeType::time: break;
    }
    return 11;
}

}  // namespace

FtrFile::FtrFile(const std::string& path) : file_(path), blocks_(1), stream_of_(1) {
    CborWriter begin;
    begin.tag(kIsCbor);
    begin.endless_array();
    file_ << std::string_view(begin.all());
    CborWriter info;
    info.array(2);
    info.number(kPicoseconds);
    info.tag(kSinceEpoch);
    info.number(0);  // not when it was written: equal runs leave equal files
    write_chunk(kInfo, info);
    file_.preamble_done();
    names_[""] = 0;
    new_names_.emplace_back();
}

std::uint64_t FtrFile::known(const std::string& text) {
    const auto [place, fresh] = names_.try_emplace(text, names_.size());
    if (fresh) {
        new_names_.push_back(text);
    }
    return place->second;
}

std::uint64_t FtrFile::add_stream(const std::string& name, const std::string& kind) {
    const std::uint64_t id = blocks_.size();
    blocks_.emplace_back();
    directory_.tag(kStream);
    directory_.array(3);
    for (const std::uint64_t entry : {id, known(name), known(kind)}) {
        directory_.unsigned_number(entry);
    }
    return id;
}

std::uint64_t FtrFile::add_generator(const std::string& name, std::uint64_t stream) {
    const std::uint64_t id = stream_of_.size();
    stream_of_.push_back(stream);
    directory_.tag(kGenerator);
    directory_.array(3);
    for (const std::uint64_t entry : {id, known(name), stream}) {
        directory_.unsigned_number(entry);
    }
    return id;
}

void FtrFile::add(std::uint64_t generator, Tick begin, Tick end,
                  const std::vector<TransactionAttribute>& attributes) {
    const std::uint64_t stream = stream_of_.at(generator);
    Block& block = blocks_[stream];
    CborWriter& content = block.content;
    content.array(1 + attributes.size());
    content.tag(kTransaction);
    content.array(4);
    content.unsigned_number(++transactions_);
    content.unsigned_number(generator);
    content.number(begin);
    content.number(end);
    for (const TransactionAttribute& attribute : attributes) {
        content.tag(kAttribute + static_cast<std::uint64_t>(attribute.moment));
        content.array(3);
        content.unsigned_number(known(attribute.name));
        content.unsigned_number(ftr_type(attribute.type));
        if (attribute.type == AttributeType::text) {
            content.unsigned_number(known(attribute.text));
        } else if (attribute.type == AttributeType::whole) {
            content.unsigned_number(static_cast<std::uint64_t>(attribute.value));
        } else {
            content.number(attribute.value);
        }
    }
    block.begin = std::min(block.begin, begin);
    block.end = std::max(block.end, end);
    if (content.all().size() >= kBlockBytes) {
        write_block(stream);
    }
}

void FtrFile::write_chunk(std::uint64_t tag, const CborWriter& content) {
    CborWriter chunk;
    chunk.tag(tag);
    chunk.bytes(content.all());
    file_ << std::string_view(chunk.all());
}

/// What later chunks tell by number.
void FtrFile::write_names() {
    if (!new_names_.empty()) {
        CborWriter names;
        names.map(new_names_.size());
        std::uint64_t number = names_.size() - new_names_.size();
        for (const std::string& name : new_names_) {
            names.unsigned_number(number++);
            names.text(name);
        }
        write_chunk(kNames, names);
        new_names_.clear();
    }
    if (!directory_.empty()) {
        CborWriter directory;
        directory.endless_array();
        directory.append(directory_);
        directory.end();
        write_chunk(kDirectory, directory);
        directory_.clear();
    }
}

void FtrFile::write_block(std::uint64_t stream) {
    Block& block = blocks_[stream];
    if (block.content.empty()) {
        return;
    }
    write_names();
    CborWriter content;
    content.endless_array();
    content.append(block.content);
    content.end();
    CborWriter chunk;
    chunk.tag(kTransactions);
    chunk.array(4);
    chunk.unsigned_number(stream);
    chunk.number(block.begin);
    chunk.number(block.end);
    chunk.bytes(content.all());
    file_ << std::string_view(chunk.all());
    block = Block{};
}

void FtrFile::finish() {
    write_names();
    for (std::uint64_t stream = 1; stream < blocks_.size(); ++stream) {
        write_block(stream);
    }
    CborWriter end;
    end.end();
    file_ << std::string_view(end.all());
    file_.commit();
}

}  // namespace sluice
