// SPDX-License-Identifier: Apache-2.0
/// Compute times that AICB's AIOB measured on a GPU, one file per model and configuration: a line
/// `train_iter:N`, then per part a line `NAME:` and indented lines `time_gpu_max|min|avg: US`,
/// microseconds, whole or decimal. Carriage returns, blanks and blank lines are ignored, an unknown
/// part is kept.
/// AICB's use of it, which the functions follow: a layer's attention takes the averages of
/// layernorm and of all parts named atten*, backward as long as forward, the flash kernel twice
/// with recomputation; its MLP those of layernorm2 and of all parts named mlp*. Each of forward,
/// input-gradient and weight-gradient takes this time; a column- and a row-parallel part have half
/// each. The embedding's weight gradient takes param_time's average, the optimizer's step its
/// minimum and its average together.
/// Errors: ConfigError "file:line: ...".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace sluice {

class AiobProfile {
  public:
    struct Part {
        std::string name;
        int line = 0;
        Tick max = -1;  ///< negative: not in the file
        Tick min = -1;
        Tick avg = -1;
    };

    static AiobProfile parse(std::string_view text, const std::string& source);
    static AiobProfile read(const std::string& path);

    const std::string& source() const { return source_; }
    const std::vector<Part>& parts() const { return parts_; }
    const Part* find(std::string_view name) const;

    /// Averages of a layer; ConfigError if no part of it is in the file.
    Tick attention(bool recompute = false) const;
    Tick mlp() const;
    /// Averages; ConfigError if the part is missing.
    Tick embedding() const;
    Tick head() const;
    Tick embedding_gradient() const;
    Tick optimizer() const;

  private:
    Tick needed(const char* name, Tick Part::*time, const char* time_name) const;
    /// Averages of `norm` and of all parts with `start` in their name.
    Tick sum(std::string_view start, const char* norm, bool recompute) const;

    std::string source_;
    std::vector<Part> parts_;
};

}  // namespace sluice
