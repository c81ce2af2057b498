// SPDX-License-Identifier: Apache-2.0
/// Marks plain functions that both the host compiler and nvcc compile (design: one law, one place).
#pragma once

#if defined(__CUDACC__)
#define SLUICE_HD __host__ __device__
#else
#define SLUICE_HD
#endif

/// Kept out of its callers, whose other branch is the one that counts.
#if defined(__CUDACC__)
#define SLUICE_COLD
#else
#define SLUICE_COLD __attribute__((noinline, cold))
#endif

/// Not inlined on a device, where what is inlined adds up in registers and code.
#if defined(__CUDACC__)
#define SLUICE_DEVICE_NOINLINE __noinline__
#else
#define SLUICE_DEVICE_NOINLINE
#endif

/// The same, and on a host inlined by all means: a packet's way, where a call costs 2% of all
/// (docs/history/performance.md).
#if defined(__CUDACC__)
#define SLUICE_HOT __noinline__
#else
#define SLUICE_HOT __attribute__((always_inline))
#endif

/// Asks the cache for a line that is about to be read or written. No effect on results.
#if defined(__CUDA_ARCH__)
#define SLUICE_PREFETCH(address) static_cast<void>(address)
#else
#define SLUICE_PREFETCH(address) __builtin_prefetch(address, 1)
#endif
