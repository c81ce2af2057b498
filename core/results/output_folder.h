// SPDX-License-Identifier: Apache-2.0
/// A folder that outputs go to: made with its parents, and taken away again if nothing came of it.
#pragma once

#include <filesystem>
#include <list>
#include <set>
#include <string>
#include <vector>

#include "core/results/leftovers.h"

namespace sluice {

class OutputFolder {
  public:
    /// Who else writes there: who writes each of his files once, locks the files (output_file.h); who writes one more than
    /// once wants the folder alone.
    enum class Use { shared, alone };

    /// Makes the folder if it is not there. ConfigError naming it and the system's reason; also if two want it alone.
    explicit OutputFolder(const std::string& directory, Use use = Use::shared);

    OutputFolder(const OutputFolder&) = delete;
    OutputFolder& operator=(const OutputFolder&) = delete;
    ~OutputFolder();

    std::string file(const std::string& name) const;
    /// Takes away what an earlier run left under these names, complete or partial, in this order, but
    /// for the files that are `being_written`. ConfigError, and nothing is taken away, if one of them
    /// is not a regular file.
    void remove_old(const std::vector<std::string>& names,
                    const std::set<std::string>& being_written) const;
    /// Removes the folders that this object made, the innermost first, as far as they are empty.
    void remove_if_empty() const;

  private:
    void lock();

    std::string directory_;
    std::filesystem::path created_;  ///< the topmost folder that was not there, or empty
    std::list<Leftover> leftovers_;  ///< the folders from there on
    int lock_ = -1;
};

}  // namespace sluice
