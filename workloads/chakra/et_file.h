// SPDX-License-Identifier: Apache-2.0
/// One rank's Chakra trace as a file: reading node by node, and writing.
/// Read: .et (protobuf messages, each after its length; gzip too) and, where the name ends in .json
/// or .json.gz, the JSON forms: {"workload_graph": [...]} of Chakra's older feeder, and protobuf's
/// JSON of an array of Nodes (camelCase or as in the proto), as Multiverse has it.
/// Memory: one message at a time from .et; JSON is read whole.
/// Errors: ConfigError "FILE:node ID: ..." or, where the node is not known, "FILE:message N: ...";
/// of JSON "FILE:LINE: ...". No claimed length is believed before the bytes are there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/chakra/et_node.h"
#include "workloads/chakra/text_source.h"

namespace sluice {
class OutputFile;
}

namespace sluice::chakra {

/// The length of a message, which stands before it: moves `at` in `buffer` from the length to the message.
/// WireError if it cannot be read, or is more than 256 MiB.
std::uint64_t take_length(std::string_view buffer, std::size_t& at);

class EtReader {
  public:
    explicit EtReader(const std::string& path);

    /// Views are valid until the next call.
    const MetadataView& metadata() const { return metadata_; }
    /// The next node; false at the end of the file.
    bool next(NodeView& node);
    /// Messages taken so far, the metadata included.
    std::uint64_t messages() const { return messages_; }
    const std::string& path() const { return path_; }

  private:
    bool next_message(std::string_view& message);
    bool next_frame(std::string_view& message);
    bool fill(std::size_t wanted);
    [[noreturn]] void fail(const std::string& what) const;

    std::string path_;
    std::unique_ptr<ByteSource> source_;
    std::string buffer_;
    std::size_t at_ = 0;  ///< first byte of buffer_ not taken
    std::uint64_t messages_ = 0;
    bool json_ = false;
    std::vector<std::string> json_messages_;
    std::string first_;  ///< the metadata's message, which metadata_ shows
    MetadataView metadata_;
};

/// JSON text as messages: the metadata's, then one per node. `file` is for messages to users.
std::vector<std::string> parse_json_trace(const std::string& text, const std::string& file);

/// Writes a trace. The kinds of the attributes are the caller's; see standard_kinds().
class EtWriter {
  public:
    /// ConfigError if the file cannot be written.
    EtWriter(const std::string& path, const Metadata& metadata);
    ~EtWriter();
    EtWriter(const EtWriter&) = delete;
    EtWriter& operator=(const EtWriter&) = delete;

    void write(const Node& node);
    /// Must be called; ConfigError if not everything could be written.
    void close();

  private:
    void write_message(const std::string& message);

    std::unique_ptr<OutputFile> file_;
};

/// One trace as protobuf-JSON: an array of Nodes (the metadata has no place in it).
std::string to_json(const std::vector<Node>& nodes);

/// Gives the attributes that Chakra's feeders look for the kinds that the older ones insist on:
/// bool is_cpu_op, int64 comm_type, comm_size and num_ops, uint64 tensor_size, int32 comm_src,
/// comm_dst, comm_tag and comm_priority, string pg_name. A value that does not fit stays as it is.
void standard_kinds(Node& node);

}  // namespace sluice::chakra
