// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/platform.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/mapping/codec.hpp>
#include <entitable/shards/detail/lookup_map_state.hpp>

#include <algorithm>

#if defined(_WIN32)
extern "C" __declspec(dllimport) unsigned long long __stdcall GetTickCount64(void);
#elif defined(__APPLE__)
#include <mach/mach_time.h>
#else
#include <time.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Counts while the machine sleeps, which std::chrono::steady_clock need not.
class sleepless_clock final : public clock {
public:
    [[nodiscard]] date_time now() noexcept override { return system_clock().now(); }
    [[nodiscard]] steady_time steady() noexcept override {
        std::chrono::nanoseconds since{};
#if defined(_WIN32)
        since = std::chrono::milliseconds{static_cast<long long>(GetTickCount64())};
#elif defined(__APPLE__)
        mach_timebase_info_data_t base{};
        mach_timebase_info(&base);
        since = std::chrono::nanoseconds{static_cast<long long>(mach_continuous_time() * base.numer / base.denom)};
#else
        timespec read{};
#if defined(CLOCK_BOOTTIME)
        clock_gettime(CLOCK_BOOTTIME, &read);
#else
        clock_gettime(CLOCK_MONOTONIC, &read);
#endif
        since = std::chrono::seconds{read.tv_sec} + std::chrono::nanoseconds{read.tv_nsec};
#endif
        return steady_time{std::chrono::duration_cast<steady_time::duration>(since)};
    }
    void wait_until(steady_time time) noexcept override {
        for (steady_time at = steady(); at < time; at = steady()) {
            platform::sleep_for(time - at);
        }
    }
};

ENTITABLE_DECL clock& lease_clock() noexcept {
    static sleepless_clock one;
    return one;
}

ENTITABLE_DECL shard_table const* shard_map_copy::find(std::string_view table) const {
    auto const lower = [](char each) {
        return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    };
    for (shard_table const& each : tables) { // for each request: allocates nothing
        if (each.name == table ||
            std::equal(each.name.begin(), each.name.end(), table.begin(), table.end(),
                [&](char one, char other) { return lower(one) == lower(other); })) {
            return &each;
        }
    }
    return nullptr;
}

ENTITABLE_DECL shard_place const* shard_map_copy::find_range(std::int32_t shard) const noexcept {
    auto const found =
        std::find_if(places.begin(), places.end(), [&](shard_place const& each) { return each.row.shard == shard; });
    return found == places.end() ? nullptr : &*found;
}

ENTITABLE_DECL shard_place const& shard_map_copy::range_of(std::string_view partition_key) const noexcept {
    auto const above = std::upper_bound(places.begin() + 1, places.end(), partition_key,
        [](std::string_view key, shard_place const& each) { return text::compare_utf16(key, each.row.low) < 0; });
    return *(above - 1);
}

ENTITABLE_DECL std::string shard_place::table_name(shard_table const& table) const {
    return shard_table_name(table.name, tables_of(), (std::max)(row.epoch, table.epoch));
}

ENTITABLE_DECL bool shard_place::has(
    shard_table const& table, std::string_view store, std::int32_t number, std::int64_t epoch) const noexcept {
    return tables_of() == number && (std::max)(row.epoch, table.epoch) == (std::max)(epoch, table.epoch) &&
        row.store == store;
}

ENTITABLE_DECL key_interval shard_place::keys() const {
    return {row.low.empty() ? key_bound{} : key_bound::including(row.low),
        row.high.empty() ? key_bound{} : key_bound::excluding(row.high)};
}

ENTITABLE_DECL std::string shard_table_name(std::string_view table, std::int32_t shard, std::int64_t epoch) {
    constexpr std::size_t most_of_base = 46; // 4 digits, "x" and 12 digits stand behind it
    std::string made{table};
    if (made.size() > most_of_base) {
        made.resize(most_of_base - 16);
        append_hexadecimal(made, shard_hash(text::ascii_lower(table)));
    }
    text::append_decimal(made, static_cast<std::uint64_t>(shard), 4);
    made += 'x';
    text::append_decimal(made, static_cast<std::uint64_t>(epoch));
    return made;
}

ENTITABLE_DECL bool is_store_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
            each == '-' || each == '_' || each == '.';
    });
}

} // namespace detail

ENTITABLE_DECL result<lookup_map> lookup_map::open(
    any_transport catalogue, std::string table, virtual_shards shards, lookup_map_options const& options) {
    auto state =
        shared<detail::lookup_map_state>::make(std::move(catalogue), std::move(table), std::move(shards), options);
    ENTITABLE_TRY(auto const read, state->current({}, state->now()));
    shard_map_header const& header = read->header;
    bool const same_function = header.number == static_cast<std::int32_t>(state->shards.number()) &&
        header.fingerprint == static_cast<std::int64_t>(state->shards.fingerprint());
    if (header.hash_version != shard_hash_version || read->by_ranges != state->shards.by_ranges() ||
        (!read->by_ranges && !same_function)) {
        return failure{error_code::invalid_input,
            text::joined({"the map was made for ", std::to_string(header.number), " virtual shards by ",
                header.strategy, ": it is opened with another number or another function"})};
    }
    return lookup_map{std::move(state)};
}

ENTITABLE_DECL result<lookup_map> lookup_map::make(any_transport catalogue, std::string table, virtual_shards shards,
    std::vector<std::string> const& stores, lookup_map_options const& options) {
    if (stores.empty() || !std::all_of(stores.begin(), stores.end(), detail::is_store_name)) {
        return failure{error_code::invalid_input,
            "the names of the stores of a map have letters, digits, \"-\", \"_\" and \".\", 1 to 63; one store at "
            "least"};
    }
    auto const& bounds = shards.bounds();
    bool const ascending = std::adjacent_find(bounds.begin(), bounds.end(), [](auto const& left, auto const& right) {
        return text::compare_utf16(left, right) >= 0;
    }) == bounds.end();
    if (shards.number() < 1 || shards.number() > virtual_shards::most || !ascending ||
        (!bounds.empty() && bounds.front().empty()) || (shards.by_ranges() && shards.has_own()) ||
        options.lease < std::chrono::milliseconds{} || options.lease > std::chrono::hours{24}) {
        return failure{error_code::invalid_input,
            "a map has 1 to 900 virtual shards, ascending bounds that are not empty or tenants with shards of their "
            "own, and a lease of a day at most"};
    }
    call context;
    if (auto made = catalogue.execute(create_table{table}, context);
        !made && made.error().code != error_code::table_already_exists) {
        return std::move(made).as_failure();
    }
    auto const insert = [&](auto const& entity) -> result<void> {
        ENTITABLE_TRY(auto made, to_row(entity));
        auto done = catalogue.execute(write_entity{table, mutation::insert(std::move(made))}, context);
        if (!done && done.error().code != error_code::entity_already_exists) {
            return std::move(done).as_failure();
        }
        return {};
    };
    // The header comes last: without it there is no map, and whoever makes the same map meanwhile makes the same rows.
    shard_map_header header;
    auto const seen = catalogue.execute(get_entity{table, header.map, header.part, {}}, context);
    if (!seen) {
        if (seen.error().code != error_code::resource_not_found) {
            return failure{seen.error()};
        }
        for (std::uint32_t number = 0; number < shards.number(); ++number) {
            shard_map_row row;
            row.shard = static_cast<std::int32_t>(number);
            row.low = shards.by_ranges() && number > 0 ? bounds[number - 1] : std::string{};
            row.high = shards.by_ranges() && number < bounds.size() ? bounds[number] : std::string{};
            row.state = "open";
            row.store = stores[number % stores.size()];
            row.epoch = 1;
            row.lease_ms = options.lease.count();
            row.open_lease_ms = row.lease_ms;
            ENTITABLE_CHECK(insert(row));
        }
        header.strategy = shards.by_ranges() ? "ranges" : "function";
        header.hash_version = shard_hash_version;
        header.fingerprint = static_cast<std::int64_t>(shards.fingerprint());
        header.number = static_cast<std::int32_t>(shards.number());
        header.version = 1;
        header.next_epoch = 2;
        ENTITABLE_CHECK(insert(header));
    }
    return open(std::move(catalogue), std::move(table), std::move(shards), options);
}

ENTITABLE_DECL result<std::string> lookup_map::to_string() const {
    ENTITABLE_TRY(auto const map, state().fresh({}));
    std::string out = text::joined({"map version ", std::to_string(map->header.version), ", ",
        std::to_string(map->places.size()), " virtual shards by ", map->header.strategy, "\n"});
    for (detail::shard_place const& each : map->places) {
        bool const shares = each.tables_of() != each.row.shard;
        out += text::joined({"  ", std::to_string(each.row.shard), each.row.low.empty() ? "" : " from \"",
            text::printable(each.row.low), each.row.low.empty() ? "" : "\"", each.row.high.empty() ? "" : " below \"",
            text::printable(each.row.high), each.row.high.empty() ? "" : "\"", " -> ", each.row.store, " (",
            each.row.state, ", epoch ", std::to_string(each.row.epoch),
            shares ? ", in tables of " + std::to_string(each.tables_of()) : std::string{}, ")\n"});
    }
    return out;
}

ENTITABLE_END_NAMESPACE
