// SPDX-License-Identifier: Apache-2.0
#include "bench/steady/series.h"

#include <fstream>
#include <stdexcept>
#include <type_traits>

namespace sluice::steady_bench {

namespace {

constexpr std::uint64_t kMagic = 0x534c5541'53455201ULL;

template <class T>
void put(std::ostream& out, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void put(std::ostream& out, const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(out, static_cast<std::uint64_t>(values.size()));
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(T)));
}

template <class T>
void get(std::istream& in, T& value) {
    in.read(reinterpret_cast<char*>(&value), sizeof value);
}

template <class T>
void get(std::istream& in, std::vector<T>& values) {
    std::uint64_t count = 0;
    get(in, count);
    if (!in) {
        return;
    }
    values.resize(count);
    in.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(count * sizeof(T)));
}

}  // namespace

void write_series(const Series& series, const std::string& path) {
    std::ofstream out(path, std::ios::binary);
    put(out, kMagic);
    put(out, static_cast<std::uint64_t>(sizeof(congestion::Parameters) + sizeof(FlowSample)));
    put(out, series.congestion);
    put(out, series.payload);
    put(out, series.line_rate);
    put(out, series.period);
    put(out, static_cast<std::uint64_t>(series.flows.size()));
    for (const FlowRecord& flow : series.flows) {
        put(out, flow.size);
        put(out, flow.start);
        put(out, flow.finish);
        put(out, flow.base_rtt);
        put(out, flow.src);
        put(out, flow.dst);
        put(out, flow.ports);
    }
    put(out, series.ports);
    put(out, series.times);
    put(out, series.first);
    put(out, series.samples);
    put(out, series.queues);
    out.close();
    if (!out) {
        throw std::runtime_error(path + ": cannot be written");
    }
}

Series read_series(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw std::runtime_error(path + ": cannot be opened");
    }
    std::uint64_t magic = 0;
    std::uint64_t sizes = 0;
    get(in, magic);
    get(in, sizes);
    if (magic != kMagic || sizes != sizeof(congestion::Parameters) + sizeof(FlowSample)) {
        throw std::runtime_error(path + ": not a series of this build");
    }
    Series series;
    get(in, series.congestion);
    get(in, series.payload);
    get(in, series.line_rate);
    get(in, series.period);
    std::uint64_t flows = 0;
    get(in, flows);
    for (std::uint64_t f = 0; f < flows && in; ++f) {
        FlowRecord flow;
        get(in, flow.size);
        get(in, flow.start);
        get(in, flow.finish);
        get(in, flow.base_rtt);
        get(in, flow.src);
        get(in, flow.dst);
        get(in, flow.ports);
        series.flows.push_back(flow);
    }
    get(in, series.ports);
    get(in, series.times);
    get(in, series.first);
    get(in, series.samples);
    get(in, series.queues);
    if (!in) {
        throw std::runtime_error(path + ": ends too early");
    }
    return series;
}

}  // namespace sluice::steady_bench
