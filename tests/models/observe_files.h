// SPDX-License-Identifier: Apache-2.0
/// Parsers of pcapng and VCD that know nothing of who writes them, and commands of other programs.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/units.h"

namespace sluice::test {

inline std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// What a command writes, and nothing of its errors; `status` is 0 if it went well.
inline std::string output_of(const std::string& command, int& status) {
    std::string text;
    std::FILE* const pipe = popen((command + " 2>/dev/null").c_str(), "r");
    std::array<char, 4096> part{};
    while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe)) {
        text.append(part.data(), got);
    }
    status = pclose(pipe);
    return text;
}

struct Frame {
    std::uint32_t interface = 0;
    std::uint64_t at = 0;
    std::string bytes;
    std::uint64_t number(std::size_t from, std::size_t count) const {
        std::uint64_t value = 0;
        for (std::size_t i = from; i < from + count; ++i) {
            value = value << 8 | static_cast<unsigned char>(bytes.at(i));
        }
        return value;
    }
};

struct Captured {
    std::uint32_t interfaces = 0;
    std::vector<Frame> frames;
};

inline std::uint32_t word(const std::string& text, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, text.data() + at, 4);
    return value;
}

/// Reads pcapng by the draft's section 3 and 4, and checks the form of its blocks.
inline Captured read_capture(const std::string& text) {
    Captured captured;
    std::size_t at = 0;
    while (at < text.size()) {
        REQUIRE(at + 12 <= text.size());
        const std::uint32_t type = word(text, at);
        const std::uint32_t length = word(text, at + 4);
        REQUIRE(length % 4 == 0);
        REQUIRE(at + length <= text.size());
        CHECK(word(text, at + length - 4) == length);
        if (type == 1) {
            ++captured.interfaces;
            CHECK((word(text, at + 8) & 0xffff) == 1);  // Ethernet
        } else if (type == 6) {
            Frame frame;
            frame.interface = word(text, at + 8);
            frame.at = std::uint64_t{word(text, at + 12)} << 32 | word(text, at + 16);
            CHECK(word(text, at + 20) == word(text, at + 24));  // captured whole
            frame.bytes = text.substr(at + 28, word(text, at + 20));
            captured.frames.push_back(frame);
        } else {
            CHECK(type == 0x0a0d0d0a);
            CHECK(word(text, at + 8) == 0x1a2b3c4d);
        }
        at += length;
    }
    return captured;
}

/// One's complement sum of a header that has its checksum in it.
inline std::uint32_t header_sum(const Frame& frame) {
    std::uint64_t sum = 0;
    for (std::size_t i = 14; i < 34; i += 2) {
        sum += frame.number(i, 2);
    }
    while (sum > 0xffff) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return static_cast<std::uint32_t>(sum);
}

/// Values of a VCD file's variables over time.
struct Vcd {
    std::map<std::string, std::string> id_of;  ///< by scopes and name
    std::map<std::string, std::vector<std::pair<Tick, double>>> changes;
    Tick last = 0;
};

inline Vcd read_vcd(const std::string& text) {
    Vcd vcd;
    std::istringstream words(text);
    std::vector<std::string> scopes;
    std::string token;
    while (words >> token) {
        if (token == "$scope") {
            std::string kind, name, end;
            words >> kind >> name >> end;
            scopes.push_back(name);
        } else if (token == "$upscope") {
            words >> token;
            scopes.pop_back();
        } else if (token == "$var") {
            std::string type, bits, id, name, end;
            words >> type >> bits >> id >> name >> end;
            vcd.id_of[scopes.back() + "." + name] = id;
        } else if (token[0] == '#') {
            const Tick at = std::stoll(token.substr(1));
            CHECK(at >= vcd.last);
            vcd.last = at;
        } else if (token[0] == 'b' || token[0] == 'r') {
            std::string id;
            words >> id;
            const double value = token[0] == 'r'
                                     ? std::stod(token.substr(1))
                                     : static_cast<double>(std::stoll(token.substr(1), nullptr, 2));
            vcd.changes[id].emplace_back(vcd.last, value);
        } else if (token[0] == '0' || token[0] == '1') {
            vcd.changes[token.substr(1)].emplace_back(vcd.last, token[0] - '0');
        } else if (token == "$version" || token == "$timescale") {
            while (words >> token && token != "$end") {
            }
        }
    }
    return vcd;
}

}  // namespace sluice::test
