// SPDX-License-Identifier: Apache-2.0
/// What Chakra wrote before its schema 0.0.4 of October 2023, and is not read: told from damaged files, so that
/// a message can name it.
#pragma once

#include <string_view>

namespace sluice::chakra {

inline constexpr const char* kOldSchema =
    "it is of a schema before 0.0.4 (October 2023), with other fields and numbers of types; "
    "allowed: 0.0.4 and later, as Chakra's converters and generators write it since";

/// A Node of 0.0.1 to 0.0.3. They always write id, name and type; 0.0.1 has numbers from field 8 on, where today's Node
/// has messages or nothing, and 0.0.2 and 0.0.3 have their attributes in field 11.
bool is_old_node(std::string_view message);

/// GlobalMetadata of 0.0.3 had attributes in field 1, where the version is now.
bool is_old_metadata(std::string_view message);

/// Of any schema; a GlobalMetadata has no number in its first field.
bool begins_as_node(std::string_view message);

}  // namespace sluice::chakra
