// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Lists in placement rules, in their stored form.

#include <entitable/core/text.hpp>

#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a list "a;b" contains a part.
inline bool rule_names(std::string_view list, std::string_view part) noexcept {
    while (!list.empty()) {
        std::size_t const end = list.find(';');
        if (list.substr(0, end) == part) { return true; }
        list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    }
    return false;
}

inline std::string rule_list(std::vector<std::string> const& parts) {
    std::string out;
    for (std::string const& each : parts) { out += text::joined({out.empty() ? "" : ";", each}); }
    return out;
}
inline std::string rule_list(std::vector<std::int32_t> const& shards) {
    std::vector<std::string> parts;
    for (std::int32_t const each : shards) { parts.push_back(std::to_string(each)); }
    return rule_list(parts);
}

/// A shard has at most one placement: its name is derived from the shard.
inline std::string placement_of(std::int32_t shard) { return text::joined({"placed ", std::to_string(shard)}); }

} // namespace detail
ENTITABLE_END_NAMESPACE
