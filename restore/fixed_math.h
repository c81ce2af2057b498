// SPDX-License-Identifier: Apache-2.0
/// exp and log2 by fixed polynomials: the same bits with every C library, compiler and vector width,
/// which libm's are not. IEEE 754 arithmetic, no contraction.
#pragma once

#include <cstdint>
#include <cstring>

namespace sluice::restore {

/// e^x for x <= 0, within 3e-7 of it relatively; below -80, or of what is no number, that of -80.
inline float fixed_exp(float x) {
    x = x >= -80.0F ? x : -80.0F;
    const auto n =
        static_cast<std::int32_t>(x * 1.44269504F - 0.5F);  // to nearest: x is not positive
    const auto whole = static_cast<float>(n);
    // ln 2 in two parts, the first exact in products with small integers.
    const float r = (x - whole * 0.693359375F) + whole * 2.12194440e-4F;
    float p = 1.3981999e-3F;
    p = p * r + 8.3334519e-3F;
    p = p * r + 4.1665795e-2F;
    p = p * r + 1.6666665e-1F;
    p = p * r + 5.0000001e-1F;
    p = p * r * r + r + 1.0F;
    const std::int32_t bits = (n + 127) * (1 << 23);
    float scale = 0;
    std::memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

/// The binary logarithm of a normal x > 0, within 1e-9.
inline double fixed_log2(double x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
    double mantissa = 1;
    std::memcpy(&mantissa, &bits, sizeof mantissa);
    if (mantissa > 1.4142135623730951) {
        mantissa *= 0.5;
        ++exponent;
    }
    // ln m = 2 artanh((m - 1) / (m + 1)), |t| < 0.172.
    const double t = (mantissa - 1) / (mantissa + 1);
    const double t2 = t * t;
    double sum = 1.0 / 11;
    sum = sum * t2 + 1.0 / 9;
    sum = sum * t2 + 1.0 / 7;
    sum = sum * t2 + 1.0 / 5;
    sum = sum * t2 + 1.0 / 3;
    sum = sum * t2 + 1.0;
    return static_cast<double>(exponent) + sum * t * 2.8853900817779268;
}

}  // namespace sluice::restore
