// SPDX-License-Identifier: Apache-2.0
/// Where on a GPU something is, as its compiler is told. It cannot know that of an address that comes out of memory, and
/// would look at every access whether it is in global, shared or local memory. On a host all of this says nothing.
#pragma once

#include <type_traits>

#include "core/hd.h"

namespace sluice {

/// `at` is in global memory: in a lane's arena.
template <class T>
SLUICE_HD inline T* in_global_memory(T* at) {
#if defined(__CUDA_ARCH__)
    __builtin_assume(__isGlobal(at));
#endif
    return at;
}

/// `what` is.
template <class T>
SLUICE_HD inline void is_in_global_memory([[maybe_unused]] const T& what) {
    in_global_memory(&what);
}

/// `what` is in the memory that a block's threads share.
template <class T>
SLUICE_HD inline void is_in_shared_memory([[maybe_unused]] const T& what) {
#if defined(__CUDA_ARCH__)
    __builtin_assume(__isShared(&what));
#endif
}

/// A pointer to plain data in global memory.
#if defined(__CUDACC__)
template <class T>
class Global {
  public:
    Global() = default;
    SLUICE_HD Global(T* first) : first_(first) {}
    SLUICE_HD operator T*() const { return static_cast<T*>(first_); }
    SLUICE_HD T* operator->() const { return static_cast<T*>(in_global_memory(first_)); }
    SLUICE_HD T& operator*() const { return *static_cast<T*>(in_global_memory(first_)); }
    template <class Index>
    SLUICE_HD T& operator[](Index i) const {
        return static_cast<T*>(in_global_memory(first_))[i];
    }

  private:
    /// Without its type: nvcc 13.0 takes what is said of a pointer to some types for an error of its own.
    std::conditional_t<std::is_const_v<T>, const void, void>* first_ = nullptr;
};
static_assert(sizeof(Global<int>) == sizeof(int*), "a host compiler sees a plain pointer");
#else
template <class T>
using Global = T*;
#endif

}  // namespace sluice
