// SPDX-License-Identifier: Apache-2.0
/// A folder that outputs go to: made with its parents, and taken away again if nothing came of it.
#pragma once

#include <filesystem>
#include <string>

namespace sluice {

class OutputFolder {
  public:
    /// Makes the folder if it is not there. ConfigError naming it and the system's reason.
    explicit OutputFolder(const std::string& directory);

    std::string file(const std::string& name) const;
    /// Removes the folders that this object made, the innermost first, as far as they are empty.
    void remove_if_empty() const;

  private:
    std::string directory_;
    std::filesystem::path created_;  ///< the topmost folder that was not there, or empty
};

}  // namespace sluice
