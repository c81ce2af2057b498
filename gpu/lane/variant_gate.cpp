// SPDX-License-Identifier: Apache-2.0
#include "gpu/lane/variant_gate.h"

#include <utility>

namespace sluice::gpu {

VariantGate::VariantGate(std::function<void(int)> launch) : launch_(std::move(launch)) {}

VariantGate::Pass VariantGate::enter(int kind) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !switching_; });
    if (!serves(kind)) {
        switching_ = true;
        changed_.wait(lock, [&] { return inside_ == 0; });
        try {
            const int variant = running_ ? kGeneral : kind;
            launch_(variant);
            variant_ = variant;
            running_ = true;
        } catch (...) {
            switching_ = false;
            changed_.notify_all();
            throw;
        }
        switching_ = false;
        changed_.notify_all();
    }
    ++inside_;
    return Pass(*this);
}

void VariantGate::leave() {
    const std::lock_guard lock(mutex_);
    --inside_;
    changed_.notify_all();
}

}  // namespace sluice::gpu
