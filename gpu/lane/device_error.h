// SPDX-License-Identifier: Apache-2.0
/// A device cannot go on: its kernel has died, its memory does not hold a lane. Nobody's mistake: the
/// experiment has failed, and may be tried again.
#pragma once

#include <stdexcept>

namespace sluice {

class DeviceError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace sluice
