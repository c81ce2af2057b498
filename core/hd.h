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

/// Kept a function of its own on a device, where what is inlined adds up in registers.
#if defined(__CUDACC__)
#define SLUICE_APART __noinline__
#else
#define SLUICE_APART
#endif

/// Asks the cache for a line that is about to be read or written. No effect on results.
#if defined(__CUDA_ARCH__)
#define SLUICE_PREFETCH(address) static_cast<void>(address)
#else
#define SLUICE_PREFETCH(address) __builtin_prefetch(address, 1)
#endif
