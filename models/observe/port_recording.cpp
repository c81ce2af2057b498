// SPDX-License-Identifier: Apache-2.0
#include "models/observe/port_recording.h"

#include <array>

namespace sluice {

/// Of one port.
class PortRecording::Row final : public PostObserver {
  public:
    Row(TransactionFile& file, const HostPort& port) : file_(file) {
        const std::uint64_t stream = file.add_stream(port.name(), "host port");
        const std::array<const char*, 3> names{"write", "read", "send"};
        for (std::size_t i = 0; i < names.size(); ++i) {
            generator_.at(i) = file.add_generator(names.at(i), stream);
        }
    }

    void on_completed(const Completion& made) override {
        const auto whole = [](const char* name, std::uint64_t value) {
            return TransactionAttribute{AttributeMoment::begin, name, AttributeType::whole,
                                        static_cast<std::int64_t>(value), ""};
        };
        std::vector<TransactionAttribute> attributes{
            whole("peer", made.post.peer),
            whole("bytes", static_cast<std::uint64_t>(made.post.bytes)),
            whole("queue_pair", made.post.queue_pair),
            whole("priority", made.post.priority),
            whole("tag", made.post.tag),
            whole("sequence", made.sequence),
            {AttributeMoment::during, "effective", AttributeType::time, made.effective, ""}};
        if (made.received != kNever) {
            attributes.push_back(
                {AttributeMoment::during, "received", AttributeType::time, made.received, ""});
        }
        file_.add(generator_.at(static_cast<std::size_t>(made.post.operation)), made.posted,
                  made.completed, attributes);
    }

  private:
    TransactionFile& file_;
    std::array<std::uint64_t, 3> generator_{};  ///< by Operation
};

PortRecording::PortRecording(const std::string& path) : file_(make_transaction_file(path)) {}

PortRecording::~PortRecording() = default;

void PortRecording::add(HostPort& port) {
    rows_.push_back(std::make_unique<Row>(*file_, port));
    port.watch(*rows_.back());
}

}  // namespace sluice
