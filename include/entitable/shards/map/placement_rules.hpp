// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `placement_rule`: the stores that virtual shards may be in, as data in the map. Every move reads the rules, no
/// matter which function planned it.

#include <entitable/client/mapping/macro.hpp>
#include <entitable/core/text.hpp>
#include <entitable/shards/map/shard_map.hpp>

#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a list "a;b" contains a part.
inline bool list_contains(std::string_view list, std::string_view part) noexcept {
    while (!list.empty()) {
        if (text::take_part(list, ';') == part) { return true; }
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

/// A rule, as it is stored in the table of the map. Format: docs/stored_formats.md.
///
///     placement_rule::only("germany", {3, 7}, {"frankfurt", "berlin"})  shards 3 and 7 are in one of these stores
///     placement_rule::never("full", {}, {"old"})                        no shard is placed there; shards in it are moved away
///     placement_rule::alone("big tenant", 5, "own")                     shard 5 is in this store, and no other shard is
///     placement_rule::weighs("new disk", "east", 2)                     this store takes twice its share
struct placement_rule {
    std::string map{"map"}; ///< the partition of all rows of a map
    std::string name;       ///< the rule's name: letters, digits, " ", "-", "_" and ".", at most 63
    std::string kind;       ///< "only", "never", "alone", "weighs"
    std::string shards;     ///< "3;7"; empty for all shards
    std::string stores;     ///< "frankfurt;berlin"
    double weight{1};       ///< weight of the stores

    /// Keeps these virtual shards (all shards if the list is empty) in one of these stores.
    [[nodiscard]] static placement_rule only(
        std::string name, std::vector<std::int32_t> const& shards, std::vector<std::string> const& stores);
    /// Keeps these virtual shards (all shards if the list is empty) out of these stores.
    [[nodiscard]] static placement_rule never(
        std::string name, std::vector<std::int32_t> const& shards, std::vector<std::string> const& stores);
    /// Keeps this virtual shard in this store, and every other shard out of it.
    [[nodiscard]] static placement_rule alone(std::string name, std::int32_t shard, std::string store);
    /// Gives this store the given number of shares; the default is 1.
    [[nodiscard]] static placement_rule weighs(std::string name, std::string store, double weight);

    /// Whether the rule allows a virtual shard in a store.
    [[nodiscard]] bool allows(std::int32_t shard, std::string_view store) const;
};
ENTITABLE(placement_rule, partition_key(map), row_key(literal("rule"), name), properties(kind, shards, stores, weight))

/// The rules of a map. A plain value.
class placement_rules {
public:
    placement_rules() = default; ///< no rules
    /// Holds the given rules.
    explicit placement_rules(std::vector<placement_rule> all) : rules_(std::move(all)) {}

    [[nodiscard]] std::vector<placement_rule> const& all() const noexcept {
        return rules_;
    } ///< the rules, sorted by name
    /// Checks that a virtual shard may be in a store: PlacementForbidden, which names the rule.
    [[nodiscard]] result<void> allows(std::int32_t shard, std::string_view store) const;
    /// Returns the weight of a store: the number of shares it takes.
    [[nodiscard]] double weight_of(std::string_view store) const;

private:
    std::vector<placement_rule> rules_;
};

/// Reads the rules of a map.
[[nodiscard]] result<placement_rules> rules_of(lookup_map const& map);
/// Stores a rule, replacing any rule with the same name. The rule applies to later plans and moves. A shard in a store that the rule
/// forbids stays there until the next rebalance. InvalidInput for an invalid name, kind, store or weight.
[[nodiscard]] result<void> put_rule(lookup_map const& map, placement_rule const& rule);
/// Removes a rule; ResourceNotFound if there is no rule with that name.
[[nodiscard]] result<void> remove_rule(lookup_map const& map, std::string_view name);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/map/impl/placement_rules.ipp>
#endif
