// SPDX-License-Identifier: Apache-2.0
/// Marks plain functions that both the host compiler and nvcc compile (design: one law, one place).
#pragma once

#if defined(__CUDACC__)
#define SLUICE_HD __host__ __device__
#else
#define SLUICE_HD
#endif
