// SPDX-License-Identifier: Apache-2.0
/// A network of libsluice.so that is closed.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "capi/include/sluice.h"

namespace sluice::test {

class OpenNetwork {
  public:
    explicit OpenNetwork(const std::string& toml)
        : network_(sluice_open_text(toml.c_str(), "test.toml", nullptr)) {
        INFO(sluice_last_error());
        REQUIRE(network_ != nullptr);
    }
    ~OpenNetwork() { sluice_close(network_); }
    OpenNetwork(const OpenNetwork&) = delete;
    OpenNetwork& operator=(const OpenNetwork&) = delete;
    operator sluice_network*() const { return network_; }

  private:
    sluice_network* network_;
};

}  // namespace sluice::test
