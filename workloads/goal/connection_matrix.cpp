// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/connection_matrix.h"

#include <string_view>
#include <unordered_map>

#include <fmt/core.h>

#include "core/error.h"
#include "core/flow/flow.h"
#include "core/text/human.h"
#include "core/topology/limits.h"

namespace sluice {

namespace {

/// Of start times: 11 days, so that sums stay far from 63 bits.
constexpr double kLatestStart = 1e18;
constexpr std::uint32_t kMostIds = 0x7fffffff;

std::vector<std::string_view> words(std::string_view line) {
    std::vector<std::string_view> found;
    constexpr std::string_view kBlanks = " \t\r";
    for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
        found.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(kBlanks, end);
    }
    return found;
}

class MatrixReader {
  public:
    MatrixReader(TokenReader& reader, ImportReport& report) : reader_(reader), report_(report) {}

    ConnectionMatrix read() {
        std::string_view line;
        while (reader_.next_line(line)) {
            words_ = words(line);
            at_ = 0;
            if (!words_.empty() && words_[0][0] != '#') statement();
        }
        finish();
        return std::move(matrix_);
    }

  private:
    [[noreturn]] void fail(const std::string& message) const { reader_.fail(message); }
    std::string here() const { return fmt::format("{}:{}", reader_.file(), reader_.line()); }

    bool more() const { return at_ < words_.size(); }
    std::string_view next(std::string_view what) {
        if (!more()) fail(fmt::format("the line ends where {} is due", what));
        return words_[at_++];
    }
    std::int64_t integer(std::string_view what, std::int64_t lowest, std::int64_t highest) {
        return parse_integer(next(what), reader_.place(what), lowest, highest);
    }
    std::uint32_t id(std::string_view what) {
        return static_cast<std::uint32_t>(integer(what, 1, kMostIds));
    }

    void statement() {
        const std::string_view first = next("a statement");
        if (first.find("->") != std::string_view::npos) return connection(first);
        if (first == "trigger") return trigger();
        if (first == "failure") return failure();
        std::int64_t* count = first == "Nodes"         ? &nodes_
                              : first == "Connections" ? &connections_
                              : first == "Triggers"    ? &triggers_
                              : first == "Failures"    ? &failures_
                                                       : nullptr;
        if (count == nullptr) {
            refuse_others(first);
            fail(
                fmt::format("\"{}\": expected Nodes, Connections, Triggers, Failures, SRC->DST, "
                            "trigger or failure",
                            first.substr(0, 40)));
        }
        *count = integer(first, 0, kMostIds);
        if (count == &nodes_ && (nodes_ < 1 || nodes_ > kMaxNodes)) {
            fail(fmt::format("Nodes {}: 1 to {} are allowed", nodes_, kMaxNodes));
        }
    }

    /// What stands at the head of files that are none of these.
    void refuse_others(std::string_view first) const {
        if (first == "num_ranks") {
            fail("is a GOAL schedule, no connection matrix: workload type \"goal\" reads it");
        }
        if (first == "Tiers" || first == "Podsize" || first == "Tier") {
            fail("is htsim's topology, no connection matrix: topology type \"file\" reads it");
        }
    }

    std::uint32_t node(std::string_view text, std::string_view what) {
        if (nodes_ <= 0) fail("the Nodes line must come before the first connection");
        return static_cast<std::uint32_t>(parse_integer(text, reader_.place(what), 0, nodes_ - 1));
    }

    void connection(std::string_view pair) {
        const std::size_t arrow = pair.find("->");
        ConnectionMatrix::Connection c;
        c.src = node(pair.substr(0, arrow), "source");
        c.dst = node(pair.substr(arrow + 2), "destination");
        if (c.src == c.dst) fail(fmt::format("node {} sends to itself", c.src));
        const auto index = static_cast<std::uint32_t>(matrix_.connections.size());
        std::uint32_t trigger = kNone;
        std::uint32_t number = 0;
        bool sized = false;
        bool message = false;
        while (more()) {
            const std::string_view key = next("a key");
            if (key == "start") {
                c.start =
                    static_cast<Tick>(parse_real(next(key), reader_.place(key), 0, kLatestStart));
            } else if (key == "size") {
                c.size = integer(key, 0, kLargestMessage.count);
                sized = true;
                if (c.size == 0) {
                    c.size = kLargestMessage.count;
                    c.endless = true;
                    ++matrix_.endless;
                }
            } else if (key == "id") {
                number = id(key);
            } else if (key == "msg") {
                message = true;
                if (more() && words_[at_].find_first_not_of("0123456789") == std::string_view::npos)
                    id(key);
            } else if (key == "trigger") {
                trigger = use(id(key));
            } else if (key == "send_done_trigger") {
                c.send_done = done(key);
            } else if (key == "recv_done_trigger") {
                c.recv_done = done(key);
            } else if (key == "prio") {
                next(key);
                ++prios_;
            } else if (key == "addon") {
                ++addons_;
            } else {
                fail(
                    fmt::format("\"{}\": expected start, trigger, size, id, send_done_trigger, "
                                "recv_done_trigger, msg, prio or addon",
                                key.substr(0, 40)));
            }
        }
        if (!sized) fail("the connection has no size");
        if (message) c.queue = queue_of(number, c);
        if ((c.start == kNever) == (trigger == kNone)) {
            fail("a connection has either a start or a trigger");
        }
        if (trigger != kNone) matrix_.triggers[trigger].targets.push_back(index);
        matrix_.connections.push_back(c);
    }

    /// The connection that a message of UEC's files goes by: of its number and ends.
    std::uint32_t queue_of(std::uint32_t number, const ConnectionMatrix::Connection& c) {
        if (number == 0) fail("msg needs the id of its connection");
        const auto [entry, fresh] = queues_.try_emplace(
            number, Queue{static_cast<std::uint32_t>(queues_.size()), c.src, c.dst});
        if (!fresh && (entry->second.src != c.src || entry->second.dst != c.dst)) {
            fail(fmt::format("connection {} goes from {} to {}, its messages above from {} to {}",
                             number, c.src, c.dst, entry->second.src, entry->second.dst));
        }
        return entry->second.index;
    }

    /// Which trigger a connection's end activates; htsim takes 0 for none.
    std::uint32_t done(std::string_view key) {
        const auto number = static_cast<std::uint32_t>(integer(key, 0, kMostIds));
        if (number == 0) return kNone;
        const std::uint32_t index = use(number);
        ++activators_[index];
        return index;
    }

    /// The trigger's index; its own line may come later.
    std::uint32_t use(std::uint32_t number) {
        const auto [entry, fresh] =
            by_id_.try_emplace(number, static_cast<std::uint32_t>(matrix_.triggers.size()));
        if (fresh) {
            matrix_.triggers.emplace_back();
            matrix_.triggers.back().id = number;
            defined_.push_back(false);
            first_named_.push_back(reader_.line());
            activators_.push_back(0);
        }
        return entry->second;
    }

    void trigger() {
        std::int64_t number = 0;
        std::int64_t count = 0;
        int type = -1;
        constexpr std::string_view kTypes[] = {"oneshot", "multishot", "barrier"};
        while (more()) {
            const std::string_view key = next("a key");
            if (key == "id") {
                number = id("trigger id");
            } else if (key == "count") {
                count = integer(key, 0, kMostIds);
            } else {
                int found = 0;
                while (found < 3 && key != kTypes[found]) ++found;
                if (found == 3) {
                    fail(fmt::format("\"{}\": expected id, oneshot, multishot, barrier or count",
                                     key.substr(0, 40)));
                }
                if (type >= 0) fail("the trigger has two types");
                type = found;
            }
        }
        if (number == 0) fail("the trigger has no id");
        if (type < 0) fail("the trigger has no type: oneshot, multishot or barrier");
        const std::uint32_t index = use(static_cast<std::uint32_t>(number));
        if (defined_[index]) fail(fmt::format("trigger {} is defined twice", number));
        defined_[index] = true;
        ++trigger_lines_;
        ConnectionMatrix::Trigger& t = matrix_.triggers[index];
        t.type = static_cast<ConnectionMatrix::TriggerType>(type);
        t.count = static_cast<std::uint32_t>(count);
        if (t.type == ConnectionMatrix::TriggerType::barrier && count == 0) {
            fail(fmt::format("barrier {} needs a count of at least 1", number));
        }
    }

    void failure() {
        while (more()) {
            const std::string_view key = next("a key");
            if (key == "switch_type") {
                const std::string_view type = next(key);
                if (type != "TOR" && type != "AGG" && type != "CORE") {
                    fail(fmt::format("switch_type {}: TOR, AGG or CORE", type.substr(0, 40)));
                }
            } else if (key == "switch_id" || key == "link_id") {
                integer(key, 0, kMostIds);
            } else {
                fail(fmt::format("\"{}\": expected switch_type, switch_id or link_id",
                                 key.substr(0, 40)));
            }
        }
        ++failure_lines_;
        report_.skipped(here(), "failure; give it as the scenario's [[link_event]]");
    }

    /// A wrong count is told: htsim refuses the file, its own examples have some.
    void agree(const char* what, std::int64_t said, std::int64_t found) {
        if (said == found) return;
        report_.doubtful(
            reader_.file(),
            fmt::format("{} {}, but there are {} such lines, and all of them are taken", what, said,
                        found));
    }

    void finish() {
        if (nodes_ <= 0) throw ConfigError(reader_.file(), 0, "has no Nodes line");
        matrix_.nodes = static_cast<std::uint32_t>(nodes_);
        agree("Connections", connections_, static_cast<std::int64_t>(matrix_.connections.size()));
        agree("Triggers", triggers_, trigger_lines_);
        agree("Failures", failures_, failure_lines_);
        for (std::size_t i = 0; i < matrix_.triggers.size(); ++i) {
            const ConnectionMatrix::Trigger& t = matrix_.triggers[i];
            const std::string where = fmt::format("{}:{}", reader_.file(), first_named_[i]);
            if (!defined_[i]) {
                throw ConfigError(where + fmt::format(": trigger {} has no line of its own", t.id));
            }
            check_activations(t, activators_[i], where);
        }
        report_.read(reader_.file(),
                     fmt::format("{}, {}, {}", counted(matrix_.nodes, "node", "nodes"),
                                 counted(matrix_.connections.size(), "connection", "connections"),
                                 counted(matrix_.triggers.size(), "trigger", "triggers")));
        if (matrix_.endless > 0) {
            report_.read(reader_.file(),
                         fmt::format("{} of size 0: without end, as in htsim; a run needs a stop",
                                     counted(matrix_.endless, "flow", "flows")));
        }
        if (prios_ > 0) {
            report_.skipped(
                reader_.file(),
                fmt::format("prio of {} connections; the workload has one priority", prios_));
        }
        if (addons_ > 0) {
            report_.skipped(reader_.file(), fmt::format("addon of {} connections", addons_));
        }
    }

    /// Told, not refused: what never starts is named at the end of the run, too.
    void check_activations(const ConnectionMatrix::Trigger& t, std::uint32_t activators,
                           const std::string& where) {
        using Type = ConnectionMatrix::TriggerType;
        const std::uint64_t due = t.type == Type::barrier ? t.count
                                  : t.type == Type::multishot
                                      ? t.targets.size()
                                      : std::min<std::size_t>(t.targets.size(), 1);
        if (activators < due) {
            report_.doubtful(where,
                             fmt::format("trigger {} is activated {} times, {} are needed to "
                                         "start all that waits for it",
                                         t.id, activators, due));
        } else if (t.type != Type::multishot && activators > due) {
            report_.doubtful(where, fmt::format("trigger {} is activated {} times; those after the "
                                                "first {} do nothing",
                                                t.id, activators, due));
        }
    }

    TokenReader& reader_;
    ImportReport& report_;
    ConnectionMatrix matrix_;
    std::vector<std::string_view> words_;
    std::size_t at_ = 0;
    std::int64_t nodes_ = 0;
    std::int64_t connections_ = 0;
    std::int64_t triggers_ = 0;
    std::int64_t failures_ = 0;
    std::int64_t trigger_lines_ = 0;
    std::int64_t failure_lines_ = 0;
    std::size_t prios_ = 0;
    std::size_t addons_ = 0;
    std::unordered_map<std::uint32_t, std::uint32_t> by_id_;
    struct Queue {
        std::uint32_t index;
        std::uint32_t src;
        std::uint32_t dst;
    };
    std::unordered_map<std::uint32_t, Queue> queues_;  ///< by id
    std::vector<bool> defined_;
    std::vector<int> first_named_;  ///< line
    std::vector<std::uint32_t> activators_;
};

}  // namespace

ConnectionMatrix read_connection_matrix(TokenReader reader, ImportReport& report) {
    return MatrixReader(reader, report).read();
}

}  // namespace sluice
