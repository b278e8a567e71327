// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/lookup_map_state.hpp>
#include <entitable/shards/map/placement_rules.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline bool is_rule_name(std::string_view name) {
    std::string without_spaces{name};
    std::replace(without_spaces.begin(), without_spaces.end(), ' ', '-');
    return is_store_name(without_spaces);
}

inline result<void> check_rule(placement_rule const& rule) {
    bool stores = !rule.stores.empty();
    for (std::string_view left = rule.stores; !left.empty();) {
        stores = is_store_name(text::take_part(left, ';')) && stores;
    }
    bool const kind = rule.kind == "only" || rule.kind == "never" || rule.kind == "alone" || rule.kind == "weighs";
    if (!is_rule_name(rule.name) || !kind || !stores || !(rule.weight >= 0 && rule.weight <= 1e6)) {
        return failure{error_code::invalid_input,
            "a rule must have a name of 1 to 63 letters, digits, spaces, \"-\", \"_\" or \".\", stores, the kind "
            "\"only\", "
            "\"never\", \"alone\" or \"weighs\", and a weight from 0 to 1,000,000"};
    }
    return {};
}

} // namespace detail

ENTITABLE_DECL placement_rule placement_rule::only(
    std::string name, std::vector<std::int32_t> const& shards, std::vector<std::string> const& stores) {
    placement_rule made;
    made.name = std::move(name);
    made.kind = "only";
    made.shards = detail::rule_list(shards);
    made.stores = detail::rule_list(stores);
    return made;
}
ENTITABLE_DECL placement_rule placement_rule::never(
    std::string name, std::vector<std::int32_t> const& shards, std::vector<std::string> const& stores) {
    placement_rule made = only(std::move(name), shards, stores);
    made.kind = "never";
    return made;
}
ENTITABLE_DECL placement_rule placement_rule::alone(std::string name, std::int32_t shard, std::string store) {
    placement_rule made = only(std::move(name), {shard}, {std::move(store)});
    made.kind = "alone";
    return made;
}
ENTITABLE_DECL placement_rule placement_rule::weighs(std::string name, std::string store, double weight) {
    placement_rule made = only(std::move(name), {}, {std::move(store)});
    made.kind = "weighs";
    made.weight = weight;
    return made;
}

ENTITABLE_DECL bool placement_rule::allows(std::int32_t shard, std::string_view store) const {
    bool const about = shards.empty() || detail::list_contains(shards, std::to_string(shard));
    bool const there = detail::list_contains(stores, store);
    if (kind == "only") { return !about || there; }
    if (kind == "never") { return !about || !there; }
    return kind != "alone" || about == there;
}

ENTITABLE_DECL result<void> placement_rules::allows(std::int32_t shard, std::string_view store) const {
    for (placement_rule const& each : rules_) {
        if (!each.allows(shard, store)) {
            return failure{error_code::placement_forbidden,
                text::joined({"the rule \"", each.name, "\" keeps the virtual shard ", std::to_string(shard),
                    " from the store ", store})};
        }
    }
    return {};
}

ENTITABLE_DECL double placement_rules::weight_of(std::string_view store) const {
    double weight = 1;
    for (placement_rule const& each : rules_) {
        if (each.kind == "weighs" && detail::list_contains(each.stores, store)) { weight *= each.weight; }
    }
    return weight;
}

ENTITABLE_DECL result<placement_rules> rules_of(lookup_map const& map) {
    using r = fields<placement_rule>;
    if (map.state().absent) { return detail::moved_from("shard map"); }
    table<placement_rule> const rules{map.state().catalogue, map.state().table};
    auto found = rules.where(r::map == "map" && r::name >= "").to();
    if (!found) {
        failure away{error_code::map_unavailable,
            text::joined({"cannot read the rules of the map: ", found.error().to_string()})};
        return away;
    }
    return placement_rules{*std::move(found)};
}

ENTITABLE_DECL result<void> put_rule(lookup_map const& map, placement_rule const& rule) {
    ENTITABLE_CHECK(detail::check_rule(rule));
    ENTITABLE_CHECK(table<placement_rule>{map.state().catalogue, map.state().table}.insert_or_replace(
        rule)); // sending it twice changes nothing
    return {};
}

ENTITABLE_DECL result<void> remove_rule(lookup_map const& map, std::string_view name) {
    ENTITABLE_CHECK(table<placement_rule>{map.state().catalogue, map.state().table}.remove("map", name, any_etag));
    return {};
}

ENTITABLE_END_NAMESPACE
