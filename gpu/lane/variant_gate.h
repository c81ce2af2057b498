// SPDX-License-Identifier: Apache-2.0
/// A program that is there in variants, one at a time: each for lanes of one kind, and a general one for all.
/// While all that has come is of one kind, its variant serves; the first one of another kind waits until those who
/// are inside have left, and has the general one launched.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

namespace sluice::gpu {

class VariantGate {
  public:
    static constexpr int kGeneral = -1;

    /// `launch(variant)` ends the program that runs, if one does, and launches another; nobody is inside then.
    explicit VariantGate(std::function<void(int)> launch);

    class Pass {
      public:
        explicit Pass(VariantGate& gate) : gate_(gate) {}
        ~Pass() { gate_.leave(); }
        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;

      private:
        VariantGate& gate_;
    };
    /// The program that runs serves lanes of kind `kind`, until the pass is given back. Throws what `launch` throws.
    Pass enter(int kind);

  private:
    bool serves(int kind) const { return running_ && (variant_ == kind || variant_ == kGeneral); }
    void leave();

    std::function<void(int)> launch_;
    std::mutex mutex_;  ///< of what follows
    std::condition_variable changed_;
    std::size_t inside_ = 0;
    bool running_ = false;
    bool switching_ = false;  ///< nobody may enter
    int variant_ = kGeneral;
};

}  // namespace sluice::gpu
