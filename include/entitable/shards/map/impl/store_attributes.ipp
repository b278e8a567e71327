// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/lookup_map_state.hpp>
#include <entitable/shards/map/store_attributes.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view window_days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun", "daily"};

inline std::string two_digits(std::int64_t value) {
    return text::joined({value < 10 ? "0" : "", std::to_string(value)});
}

/// Reads up to `most` digits; negative if there are none, or more.
inline std::int64_t number_at(std::string_view digits, std::size_t most) noexcept {
    if (digits.empty() || digits.size() > most) { return -1; }
    std::int64_t value = 0;
    for (char const each : digits) {
        if (!is_decimal(each)) { return -1; }
        value = value * 10 + (each - '0');
    }
    return value;
}

/// Parses "sun 01:00 240".
ENTITABLE_DECL std::optional<maintenance_window> window_in(std::string_view text) {
    std::string_view const day = text.substr(0, text.find(' '));
    auto const found = std::find(std::begin(window_days), std::end(window_days), day);
    std::string_view const rest = text.substr((std::min)(text.size(), day.size() + 1));
    if (found == std::end(window_days) || rest.size() < 7 || rest[2] != ':' || rest[5] != ' ') { return std::nullopt; }
    std::int64_t const hours = number_at(rest.substr(0, 2), 2);
    std::int64_t const minutes = number_at(rest.substr(3, 2), 2);
    std::int64_t const length = number_at(rest.substr(6), 5);
    if (hours < 0 || minutes < 0 || minutes > 59 || length < 0) { return std::nullopt; }
    maintenance_window const made{static_cast<window_day>(found - std::begin(window_days)),
        std::chrono::minutes{hours * 60 + minutes}, std::chrono::minutes{length}};
    return made.good() ? std::optional{made} : std::nullopt;
}

} // namespace detail

ENTITABLE_DECL bool maintenance_window::good() const noexcept {
    constexpr std::chrono::minutes a_day{24 * 60};
    return day <= window_day::daily && begin.count() >= 0 && begin < a_day && length.count() >= 1 &&
        length <= (day == window_day::daily ? a_day : 7 * a_day);
}

ENTITABLE_DECL bool maintenance_window::contains(date_time now) const noexcept {
    constexpr std::int64_t a_day = 24 * 60;
    constexpr std::int64_t a_week = 7 * a_day;
    std::int64_t const minute = now.ticks / (date_time::ticks_per_second * 60); // 1601-01-01 was a Monday
    bool const every_day = day == window_day::daily;
    std::int64_t const period = every_day ? a_day : a_week;
    std::int64_t const starts = begin.count() + (every_day ? 0 : static_cast<std::int64_t>(day) * a_day);
    std::int64_t const since = ((minute - starts) % period + period) % period;
    return since < length.count();
}

ENTITABLE_DECL store_attributes store_attributes::of(
    std::string store, std::string region, std::vector<maintenance_window> const& windows) {
    store_attributes made;
    made.store = std::move(store);
    made.region = std::move(region);
    for (maintenance_window const& each : windows) {
        std::size_t const day = (std::min)(static_cast<std::size_t>(each.day), std::size_t{7});
        made.windows += text::joined({made.windows.empty() ? "" : ";", detail::window_days[day], " ",
            detail::two_digits(each.begin.count() / 60), ":", detail::two_digits(each.begin.count() % 60), " ",
            std::to_string(each.length.count())});
    }
    return made;
}

ENTITABLE_DECL result<std::vector<maintenance_window>> store_attributes::maintenance() const {
    result<std::vector<maintenance_window>> made{std::in_place};
    for (std::string_view left = windows; !left.empty();) {
        std::size_t const end = left.find(';');
        auto const one = detail::window_in(left.substr(0, end));
        if (!one) {
            return failure{error_code::invalid_input,
                text::joined({"a maintenance window of the store ", store,
                    " is malformed: ", text::shortened(text::printable(left.substr(0, end)), 40)})};
        }
        made->push_back(*one);
        left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    }
    return made;
}

ENTITABLE_DECL std::string_view store_attribute_list::region_of(std::string_view store) const noexcept {
    for (store_attributes const& each : all_) {
        if (each.store == store) { return each.region; }
    }
    return {};
}

ENTITABLE_DECL std::vector<std::string> store_attribute_list::stores_in(std::string_view region) const {
    std::vector<std::string> found;
    for (store_attributes const& each : all_) {
        if (each.region == region) { found.push_back(each.store); }
    }
    return found;
}

ENTITABLE_DECL bool store_attribute_list::in_maintenance(std::string_view store, date_time now) const {
    for (store_attributes const& each : all_) {
        if (each.store != store) { continue; }
        auto const windows = each.maintenance();
        return windows && std::any_of(windows->begin(), windows->end(), [&](maintenance_window const& one) {
            return one.contains(now);
        });
    }
    return false;
}

ENTITABLE_DECL std::vector<std::string> store_attribute_list::nearest_first(
    std::vector<std::string> stores, std::vector<std::string> const& regions, date_time now) const {
    struct ranked {
        std::size_t region;
        bool maintained;
        std::string name;
    };
    std::vector<ranked> all;
    for (std::string& each : stores) {
        std::string_view const region = region_of(each);
        auto const at = region.empty() ? regions.end() : std::find(regions.begin(), regions.end(), region);
        bool const maintained = in_maintenance(each, now);
        all.push_back({static_cast<std::size_t>(at - regions.begin()), maintained, std::move(each)});
    }
    std::sort(all.begin(), all.end(), [](ranked const& left, ranked const& right) {
        if (left.region != right.region) { return left.region < right.region; }
        return left.maintained != right.maintained ? right.maintained : left.name < right.name;
    });
    std::vector<std::string> sorted;
    for (ranked& each : all) { sorted.push_back(std::move(each.name)); }
    return sorted;
}

ENTITABLE_DECL result<store_attribute_list> attributes_of(lookup_map const& map) {
    using a = fields<store_attributes>;
    if (map.state().absent) { return detail::moved_from("shard map"); }
    auto found =
        table<store_attributes>{map.state().catalogue, map.state().table}.where(a::map == "map" && a::store >= "").to();
    if (!found) {
        failure away{error_code::map_unavailable,
            text::joined({"cannot read the attributes of the map's stores: ", found.error().to_string()})};
        return away;
    }
    return store_attribute_list{*std::move(found)};
}

ENTITABLE_DECL result<void> put_attributes(lookup_map const& map, store_attributes const& attributes) {
    if (map.state().absent) { return detail::moved_from("shard map"); }
    if (!detail::is_store_name(attributes.store)) {
        return failure{error_code::invalid_input, "attributes need the name of a store"};
    }
    if (!attributes.region.empty() && !detail::is_store_name(attributes.region)) {
        return failure{error_code::invalid_input,
            text::joined({"the region of the store ", attributes.store,
                " must have at most 63 letters, digits, \"-\", \"_\" or \".\""})};
    }
    ENTITABLE_CHECK(attributes.maintenance());
    // Sending it twice changes nothing.
    ENTITABLE_CHECK(table<store_attributes>{map.state().catalogue, map.state().table}.insert_or_replace(attributes));
    return {};
}

ENTITABLE_DECL result<void> remove_attributes(lookup_map const& map, std::string_view store) {
    if (map.state().absent) { return detail::moved_from("shard map"); }
    ENTITABLE_CHECK(table<store_attributes>{map.state().catalogue, map.state().table}.remove("map", store, any_etag));
    return {};
}

ENTITABLE_END_NAMESPACE
