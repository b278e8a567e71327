// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/shard_load.hpp>

#include <algorithm>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the name of a shard's table without its epoch, in lower case: the same in every store that the shard was in.
[[nodiscard]] ENTITABLE_DECL std::string without_epoch(std::string_view table) {
    std::string made = text::ascii_lower(table);
    made.resize((std::min)(made.rfind('x'), made.size()));
    return made;
}

ENTITABLE_DECL void add_load(counted_load& to, traffic const& from, double part) {
    to.operations += static_cast<double>(from.operations) * part;
    to.errors += static_cast<double>(from.errors) * part;
    to.total += std::chrono::nanoseconds{static_cast<std::int64_t>(static_cast<double>(from.total.count()) * part)};
}

} // namespace detail

ENTITABLE_DECL double fleet_load::operator()(std::int32_t shard) const noexcept {
    for (counted_load const& each : shards) {
        if (each.shard == shard) { return each.operations; }
    }
    return 0;
}

ENTITABLE_DECL result<fleet_load> load_of(fleet const& of, std::vector<store_traffic> const& counters) {
    auto& map = of.cloud().map().state();
    ENTITABLE_TRY(auto const copy, map.current({}, map.now()));
    result<fleet_load> made{std::in_place};
    std::map<std::string, std::vector<std::size_t>, std::less<>> tables;
    for (std::size_t at = 0; at < copy->places.size(); ++at) {
        detail::shard_place const& place = copy->places[at];
        made->shards.push_back({place.row.shard, place.row.store, 0, 0, {}});
        for (detail::shard_table const& table : copy->tables) {
            tables[detail::without_epoch(place.table_name(table))].push_back(at);
        }
    }
    for (store_traffic const& store : counters) {
        counted_load whole{-1, store.store, 0, 0, {}};
        for (counted_load const& other : made->stores) {
            if (other.store == store.store) {
                return failure{error_code::invalid_input,
                    text::joined({"the counters of the store ", store.store, " are given twice"})};
            }
        }
        for (traffic const& line : store.lines) {
            detail::add_load(whole, line, 1);
            auto const found = tables.find(detail::without_epoch(line.table));
            if (found == tables.end()) {
                made->unassigned += static_cast<double>(line.operations);
                continue;
            }
            std::vector<std::size_t> places = found->second;
            // Ranges of an earlier split share a table: the partition tells which.
            if (places.size() > 1 && line.partition) {
                std::erase_if(places, [&](std::size_t at) {
                    shard_map_row const& row = copy->places[at].row;
                    return text::compare_utf16(*line.partition, row.low) < 0 ||
                        (!row.high.empty() && text::compare_utf16(*line.partition, row.high) >= 0);
                });
            }
            if (places.empty()) { made->unassigned += static_cast<double>(line.operations); }
            for (std::size_t const at : places) {
                detail::add_load(made->shards[at], line, 1.0 / static_cast<double>(places.size()));
            }
        }
        made->stores.push_back(std::move(whole));
    }
    std::sort(made->stores.begin(), made->stores.end(),
        [](counted_load const& left, counted_load const& right) { return left.store < right.store; });
    std::sort(made->shards.begin(), made->shards.end(),
        [](counted_load const& left, counted_load const& right) { return left.shard < right.shard; });
    return made;
}

ENTITABLE_DECL std::string fleet_load::to_string() const {
    auto const whole = [](double number) { return std::to_string(std::llround(number)); };
    auto const line = [&](std::string name, counted_load const& each) {
        double const mean =
            each.operations > 0 ? std::chrono::duration<double, std::milli>(each.total).count() / each.operations : 0;
        return text::joined({name, ": ", whole(each.operations), " requests, ", whole(each.errors), " errors, mean ",
            whole(mean * 1'000), " us\n"});
    };
    std::string out;
    for (counted_load const& each : stores) { out += line("store " + each.store, each); }
    std::vector<counted_load> busiest = shards;
    std::stable_sort(busiest.begin(), busiest.end(),
        [](counted_load const& left, counted_load const& right) { return left.operations > right.operations; });
    busiest.resize((std::min)(busiest.size(), std::size_t{10}));
    for (counted_load const& each : busiest) {
        out += line(text::joined({"shard ", std::to_string(each.shard), " in ", each.store}), each);
    }
    return out + text::joined({"other tables: ", whole(unassigned), " requests\n"});
}

ENTITABLE_END_NAMESPACE
