// SPDX-License-Identifier: Apache-2.0
/// An entry as bytes: numbers as differences to what they resemble, in as few bytes each as they
/// need; deflated where that makes it shorter, as where many flows fare alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/memo/memo.h"

namespace sluice::memo {

std::string entry_to_bytes(const Entry& entry);
/// Nothing for what no entry is written as.
std::optional<Entry> entry_from_bytes(std::string_view bytes);

}  // namespace sluice::memo
