// SPDX-License-Identifier: Apache-2.0
/// Files and folders that were made and hold nothing yet, known to a signal's handler: what ends the
/// program at once takes them away first.
#pragma once

#include <string>

namespace sluice {

class Leftover {
  public:
    enum class Kind { file, folder };

    Leftover() = default;
    ~Leftover() { release(); }
    Leftover(const Leftover&) = delete;
    Leftover& operator=(const Leftover&) = delete;

    /// From now on the handler takes `path` away; a folder only if it is empty. Beyond a number that
    /// no run comes near, things are left where they are.
    void watch(const std::string& path, Kind kind);
    /// It is to stay.
    void release();

    /// Takes away all that are watched. May be called by a signal's handler, which then ends the
    /// process.
    static void remove_all() noexcept;

  private:
    std::string path_;
    int slot_ = -1;
};

}  // namespace sluice
