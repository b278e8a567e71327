// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/platform.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/lookup_map_state.hpp>

#include <algorithm>
#include <cstring>

#if defined(_WIN32)
extern "C" __declspec(dllimport) unsigned long long __stdcall GetTickCount64(void);
#elif defined(__APPLE__)
#include <mach/mach_time.h>
#else
#include <time.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// This clock also runs while the machine sleeps, unlike some implementations of std::chrono::steady_clock.
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
        for (steady_time at = steady(); at < time; at = steady()) { platform::sleep_for(time - at); }
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
    shard_table const* dropping = nullptr;
    for (shard_table const& each : tables) { // runs for each request: allocates nothing
        if (each.name == table ||
            std::equal(each.name.begin(), each.name.end(), table.begin(), table.end(),
                [&](char one, char other) { return lower(one) == lower(other); })) {
            if (!each.dropping) { return &each; }
            dropping = &each;
        }
    }
    return dropping;
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

/// Longest name of a table that stands whole in the names of its parts; it is followed by 4 digits, "x" and 12 digits.
inline constexpr std::size_t most_of_shard_base = 46;

/// Writes the name of a part in one piece, because each request makes such a name. The table's is at most `most_of_shard_base` long.
[[nodiscard]] inline std::string short_shard_table_name(
    std::string_view table, std::int32_t shard, std::int64_t epoch) {
    constexpr std::size_t most_digits = 20;
    char text[most_of_shard_base + 2 * most_digits + 1];
    char* const end = text + sizeof text;
    char* at = end;
    auto const put_decimal = [&at](std::uint64_t number, std::size_t width) {
        char* const last = at;
        do {
            *--at = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number != 0);
        while (static_cast<std::size_t>(last - at) < width) { *--at = '0'; }
    };
    put_decimal(static_cast<std::uint64_t>(epoch), 1);
    *--at = 'x';
    put_decimal(static_cast<std::uint64_t>(shard), 4);
    at -= table.size();
    std::memcpy(at, table.data(), table.size());
    return {at, static_cast<std::size_t>(end - at)};
}

ENTITABLE_DECL std::string shard_table_name(std::string_view table, std::int32_t shard, std::int64_t epoch) {
    if (table.size() <= most_of_shard_base) { return short_shard_table_name(table, shard, epoch); }
    constexpr std::size_t rest = 4 + 1 + 12;
    std::string made;
    made.reserve(most_of_shard_base + rest);
    made = table;
    made.resize(most_of_shard_base - 16);
    append_hexadecimal(made, shard_hash(text::ascii_lower(table)));
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
    any_store catalogue, std::string table, virtual_shards shards, lookup_map_options const& options) {
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
                header.strategy, ", but was opened with a different number or function"})};
    }
    return lookup_map{std::move(state)};
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
            shares ? ", in the tables of shard " + std::to_string(each.tables_of()) : std::string{}, ")\n"});
    }
    return out;
}

ENTITABLE_END_NAMESPACE
