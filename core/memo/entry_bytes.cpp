// SPDX-License-Identifier: Apache-2.0
#include "core/memo/entry_bytes.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace sluice::memo {

namespace {

/// What a list of numbers is written as differences to.
enum class Reference : std::uint8_t { zero, previous, other };
constexpr Reference kReferences[] = {Reference::zero, Reference::previous, Reference::other};

std::uint64_t reference(Reference kind, const Numbers& numbers, const Numbers& other,
                        std::size_t i) {
    if (kind == Reference::previous) return i == 0 ? 0 : static_cast<std::uint64_t>(numbers[i - 1]);
    if (kind == Reference::other) {
        return i < other.size() ? static_cast<std::uint64_t>(other[i]) : 0;
    }
    return 0;
}

/// Seven bits a byte, the lowest first; the top bit says that more follow.
void put(std::string& bytes, std::uint64_t word) {
    for (; word >= 0x80; word >>= 7) bytes.push_back(static_cast<char>(word | 0x80));
    bytes.push_back(static_cast<char>(word));
}

std::string written(const Numbers& numbers, Reference kind, const Numbers& other) {
    std::string bytes;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::uint64_t difference =
            static_cast<std::uint64_t>(numbers[i]) - reference(kind, numbers, other, i);
        // Zigzag: small numbers of either sign become small ones.
        put(bytes, (difference << 1) ^ (0 - (difference >> 63)));
    }
    return bytes;
}

void put_numbers(std::string& bytes, const Numbers& numbers, const Numbers& other) {
    std::string best;
    Reference chosen = Reference::zero;
    for (const Reference kind : kReferences) {
        std::string tried = written(numbers, kind, other);
        if (kind == Reference::zero || tried.size() < best.size()) {
            best = std::move(tried);
            chosen = kind;
        }
    }
    put(bytes, numbers.size());
    bytes.push_back(static_cast<char>(chosen));
    bytes += best;
}

class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    bool good() const { return good_; }
    std::string_view rest() const { return bytes_; }

    std::uint64_t word() {
        std::uint64_t word = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const std::uint8_t byte = this->byte();
            word |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return word;
        }
        good_ = false;
        return 0;
    }

    std::uint8_t byte() {
        if (bytes_.empty()) {
            good_ = false;
            return 0;
        }
        const auto byte = static_cast<std::uint8_t>(bytes_.front());
        bytes_.remove_prefix(1);
        return byte;
    }

    /// A number of things that take at least a byte each.
    std::size_t count() {
        const std::uint64_t count = word();
        if (count > bytes_.size()) good_ = false;
        return good_ ? static_cast<std::size_t>(count) : 0;
    }

    Numbers numbers(const Numbers& other) {
        // The reference's kind stands between the count and the numbers.
        Numbers numbers(count());
        const auto kind = static_cast<Reference>(byte());
        if (kind > Reference::other) good_ = false;
        for (std::size_t i = 0; i < numbers.size() && good_; ++i) {
            const std::uint64_t zigzag = word();
            const std::uint64_t difference = (zigzag >> 1) ^ (0 - (zigzag & 1));
            numbers[i] = static_cast<std::int64_t>(difference + reference(kind, numbers, other, i));
        }
        return numbers;
    }

    double real() {
        std::uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) bits |= std::uint64_t{byte()} << (8 * i);
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

  private:
    std::string_view bytes_;
    bool good_ = true;
};

bool in_order(const Entry& entry) {
    const auto unordered = std::adjacent_find(
        entry.samples.begin(), entry.samples.end(),
        [](const SampleCount& a, const SampleCount& b) { return !(*a.sample < *b.sample); });
    return unordered == entry.samples.end() &&
           std::is_sorted(entry.audits.begin(), entry.audits.end());
}

/// How an entry's bytes are kept, the first of them: as they are, or their number and zlib's form.
enum class Form : std::uint8_t { plain, deflated };
/// Zlib cannot make less of anything (1032 to 1): a size beyond that is damage.
constexpr std::uint64_t kMostDeflation = 1100;

std::string packed(const std::string& plain) {
    std::string bytes(1, static_cast<char>(Form::deflated));
    put(bytes, plain.size());
    const std::size_t begin = bytes.size();
    uLongf size = compressBound(plain.size());
    bytes.resize(begin + size);
    const int code =
        compress(reinterpret_cast<Bytef*>(&bytes[begin]), &size,
                 reinterpret_cast<const Bytef*>(plain.data()), static_cast<uLong>(plain.size()));
    bytes.resize(begin + size);
    if (code == Z_OK && bytes.size() <= plain.size()) return bytes;
    return std::string(1, static_cast<char>(Form::plain)) + plain;
}

std::optional<std::string> unpacked(std::string_view bytes) {
    if (bytes.empty()) return std::nullopt;
    const auto form = static_cast<Form>(bytes.front());
    bytes.remove_prefix(1);
    if (form == Form::plain) return std::string(bytes);
    if (form != Form::deflated) return std::nullopt;
    Reader reader(bytes);
    const std::uint64_t wanted = reader.word();
    bytes = reader.rest();
    if (!reader.good() || wanted > kMostDeflation * bytes.size()) return std::nullopt;
    std::string plain(static_cast<std::size_t>(wanted), '\0');
    uLongf size = wanted;
    uLong read = bytes.size();
    const int code = uncompress2(reinterpret_cast<Bytef*>(plain.data()), &size,
                                 reinterpret_cast<const Bytef*>(bytes.data()), &read);
    if (code != Z_OK || size != wanted || read != bytes.size()) return std::nullopt;
    return plain;
}

}  // namespace

std::string entry_to_bytes(const Entry& entry) {
    std::string bytes;
    bytes.push_back(static_cast<char>(entry.kind));
    put_numbers(bytes, *entry.facts, {});
    put(bytes, entry.samples.size());
    const Numbers none;
    const Numbers* before = &none;
    for (const SampleCount& one : entry.samples) {
        put(bytes, one.count);
        put_numbers(bytes, one.sample->values, *before);
        before = &one.sample->values;
    }
    put(bytes, entry.audits.size());
    for (const Audit& audit : entry.audits) {
        put(bytes, audit.values.size());
        for (const double value : audit.values) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(bits >> (8 * i)));
        }
    }
    return packed(bytes);
}

std::optional<Entry> entry_from_bytes(std::string_view bytes) {
    const std::optional<std::string> plain = unpacked(bytes);
    if (!plain) return std::nullopt;
    Reader reader(*plain);
    Entry entry;
    const std::uint8_t kind = reader.byte();
    entry.kind = static_cast<Kind>(kind);
    entry.facts = std::make_shared<const Numbers>(reader.numbers({}));
    entry.samples.resize(reader.count());
    const Numbers none;
    const Numbers* before = &none;
    std::uint64_t samples = 0;
    for (SampleCount& one : entry.samples) {
        const std::uint64_t count = reader.word();
        samples += std::min<std::uint64_t>(count, kMostSamples + 1);
        if (count == 0) return std::nullopt;
        one.count = static_cast<std::uint32_t>(count);
        one.sample = std::make_shared<const Sample>(Sample{reader.numbers(*before)});
        before = &one.sample->values;
    }
    entry.audits.resize(reader.count());
    for (Audit& audit : entry.audits) {
        audit.values.resize(reader.count());
        for (double& value : audit.values) value = reader.real();
    }
    const bool fits = kind < std::size(kKinds) && samples >= 1 && samples <= kMostSamples &&
                      entry.audits.size() <= kMostAudits;
    if (!reader.good() || !reader.rest().empty() || !fits || !in_order(entry)) return std::nullopt;
    return entry;
}

}  // namespace sluice::memo
