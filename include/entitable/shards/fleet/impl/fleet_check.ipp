// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/detail/shard_visits.hpp>
#include <entitable/shards/fleet/detail/stored_rows.hpp>
#include <entitable/shards/fleet/fleet_check.hpp>
#include <entitable/shards/move/detail/shard_splitting.hpp>

#include <algorithm>
#include <iterator>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::string text_of_ratio(double ratio) {
    auto const thousandths = static_cast<std::uint64_t>(ratio * 1000 + 0.5); // NOLINT: never negative
    if (thousandths % 1000 == 0) { return std::to_string(thousandths / 1000); }
    std::string out = std::to_string(thousandths / 1000) + '.';
    text::append_decimal(out, thousandths % 1000, 3);
    return out;
}

/// The findings of one visit of a shard.
struct shard_findings {
    std::vector<shard_content> contents;
    std::vector<misplaced_row> misplaced;
    std::uint64_t misplaced_rows{};
};

/// Returns the shard of a key, by the function or by the map's copy.
inline std::optional<std::uint32_t> shard_of_key(
    lookup_map_state const& map, shard_map_copy const& copy, std::string_view partition_key) {
    auto const place = map.place_of(copy, partition_key);
    return place ? std::optional{static_cast<std::uint32_t>((*place)->row.shard)} : std::nullopt;
}

/// Counts a row of a shard's table, or reports it as misplaced.
inline void look_at_row(shard_visit const& at, std::string const& table, row_view each,
    std::optional<std::uint32_t> belongs, shard_findings& found) {
    if (belongs == static_cast<std::uint32_t>(at.shard)) {
        found.contents.back().content.add(each);
    } else if (++found.misplaced_rows <= fleet_report::most_named) {
        found.misplaced.push_back(
            {at.shard, at.store, table, std::string{each.partition_key}, std::string{each.row_key}, belongs});
    }
}

/// Reads a shard's own table completely, to find misplaced rows; a shared table only in the shard's range of keys.
inline result<void> look_at_shard(
    lookup_map_state& map, shard_visit const& at, any_store const& through, shard_findings& found) {
    found = {};
    ENTITABLE_TRY(auto const copy, map.current({}, map.now()));
    for (visited_table const& table : at.tables) {
        shard_content& made = found.contents.emplace_back();
        made.shard = at.shard;
        made.store = at.store;
        made.table = table.name;
        stored_rows rows{through, table.stored, table.own ? key_interval{} : at.keys};
        for (;;) {
            ENTITABLE_TRY(auto const each, rows.next());
            if (!each) { break; }
            look_at_row(at, table.name, *each, shard_of_key(map, *copy, each->partition_key), found);
        }
    }
    return {};
}

inline void add_contents(store_size& to, std::vector<shard_content> const& contents) {
    std::optional<std::int32_t> last;
    for (shard_content const& each : contents) {
        if (each.store != to.store) { continue; }
        to.shards += last == each.shard ? 0U : 1U;
        last = each.shard;
        to.rows += each.content.rows;
        to.bytes += each.content.bytes;
    }
}

inline void add_shard_findings(fleet_report& to, shard_findings& here) {
    std::move(here.contents.begin(), here.contents.end(), std::back_inserter(to.contents));
    std::move(here.misplaced.begin(), here.misplaced.end(), std::back_inserter(to.misplaced));
    to.misplaced_rows += here.misplaced_rows;
}

inline std::string line_of(misplaced_row const& each) {
    return text::joined({"misplaced: ", each.table, " \"", text::printable(text::shortened(each.partition_key)),
        "\" / \"", text::printable(text::shortened(each.row_key)), "\" is on shard ", std::to_string(each.shard),
        " in ", each.store, " but belongs ",
        each.belongs_to ? "to shard " + std::to_string(*each.belongs_to) : std::string{"to no shard"}, "\n"});
}

} // namespace detail

ENTITABLE_DECL rows_content fleet_report::of_table(std::string_view table) const noexcept {
    rows_content sum;
    for (shard_content const& each : contents) {
        if (table.empty() || each.table == table) { sum += each.content; }
    }
    return sum;
}

ENTITABLE_DECL std::string fleet_report::to_string() const {
    std::map<std::string, rows_content> tables;
    for (shard_content const& each : contents) { tables[each.table] += each.content; }
    std::string out;
    for (auto const& [name, content] : tables) {
        out += text::joined({name, ": ", std::to_string(content.rows), " rows, ", std::to_string(content.bytes),
            " bytes, digest ", std::to_string(content.digest), "\n"});
    }
    for (misplaced_row const& each : misplaced) { out += detail::line_of(each); }
    if (misplaced_rows > misplaced.size()) {
        out += text::joined({"misplaced: ", std::to_string(misplaced_rows), " rows in total\n"});
    }
    for (unreachable_shard const& each : unread) {
        out += text::joined(
            {"not read: shard ", std::to_string(each.shard), " in ", each.store, ": ", each.error.to_string(), "\n"});
    }
    return out;
}

ENTITABLE_DECL result<fleet_report> fleet_report::whole() const {
    if (healthy()) { return *this; }
    error why{error_code::row_mismatch, "some rows are on a shard that does not own their keys"};
    if (!unread.empty()) {
        why = unread.front().error;
        why.message = text::joined({"the store ", unread.front().store, ": ", why.message});
    } else if (!misplaced.empty()) {
        detail::name_keys(why, misplaced.front().partition_key, misplaced.front().row_key);
    }
    why.message += text::joined({"; ", std::to_string(unread.size()), " shards could not be read, ",
        std::to_string(misplaced_rows), " rows are misplaced"});
    return failure{std::move(why)};
}

ENTITABLE_DECL result<fleet_report> check_fleet(fleet const& of) {
    std::map<std::int32_t, detail::shard_findings> found;
    std::mutex lock;
    auto const findings_of = [&](std::int32_t shard) -> detail::shard_findings& {
        std::lock_guard<std::mutex> const guard{lock};
        return found[shard];
    };
    auto const look = [&](detail::shard_visit const& at, any_store const& through) {
        return detail::look_at_shard(of.cloud().state().map.state(), at, through, findings_of(at.shard));
    };
    auto const all = [](detail::shard_visit const&) { return true; };
    ENTITABLE_TRY(auto const visited, detail::visit_shards(of, all, {}, look));
    fleet_report made;
    for (detail::shard_visited const& each : visited.shards) {
        if (each.outcome) {
            detail::add_shard_findings(made, found.at(each.shard));
        } else {
            made.unread.push_back({each.shard, each.store, each.outcome.error()});
        }
    }
    if (made.misplaced.size() > fleet_report::most_named) { made.misplaced.resize(fleet_report::most_named); }
    return made;
}

ENTITABLE_DECL std::optional<double> store_size::free_share() const noexcept {
    if (!capacity || *capacity == 0) { return std::nullopt; }
    return bytes >= *capacity ? 0.0 : 1.0 - static_cast<double>(bytes) / static_cast<double>(*capacity);
}

ENTITABLE_DECL double fleet_sizes::imbalance(balance_by what) const noexcept {
    double most = 0;
    double sum = 0;
    for (store_size const& each : stores) {
        auto const size = static_cast<double>(what == balance_by::shards ? std::uint64_t{each.shards}
                : what == balance_by::rows                               ? each.rows
                                                                         : each.bytes);
        most = (std::max)(most, size);
        sum += size;
    }
    return sum > 0 ? most * static_cast<double>(stores.size()) / sum : 1;
}

ENTITABLE_DECL std::string fleet_sizes::to_string() const {
    std::string out;
    for (store_size const& each : stores) {
        auto const share = each.free_share();
        out += text::joined({each.store, ": ", std::to_string(each.shards), " shards, ", std::to_string(each.rows),
            " rows, ", std::to_string(each.bytes), " bytes",
            share ? ", free " + detail::text_of_ratio(*share) : std::string{}, "\n"});
    }
    return text::joined({out, "largest / mean: by shards ", detail::text_of_ratio(imbalance(balance_by::shards)),
        ", by rows ", detail::text_of_ratio(imbalance(balance_by::rows)), ", by bytes ",
        detail::text_of_ratio(imbalance(balance_by::bytes)), "\n"});
}

ENTITABLE_DECL result<fleet_sizes> sizes_of(fleet const& of, store_capacity const& capacity) {
    ENTITABLE_TRY(auto const names, of.stores());
    ENTITABLE_TRY(auto const read, check_fleet(of));
    if (!read.unread.empty()) {
        error why = read.unread.front().error;
        why.message = text::joined({"the store ", read.unread.front().store, ": ", why.message});
        return failure{std::move(why)};
    }
    fleet_sizes made;
    made.at = of.options().time->now();
    for (std::string const& name : names) {
        store_size& each = made.stores.emplace_back();
        each.store = name;
        each.capacity = capacity ? capacity(name) : std::nullopt;
        detail::add_contents(each, read.contents);
    }
    return made;
}

ENTITABLE_DECL std::optional<date_time> full_at(
    fleet_sizes const& earlier, fleet_sizes const& later, std::string_view store) noexcept {
    auto const find = [&](fleet_sizes const& in) {
        return std::find_if(
            in.stores.begin(), in.stores.end(), [&](store_size const& each) { return each.store == store; });
    };
    auto const before = find(earlier);
    auto const now = find(later);
    if (before == earlier.stores.end() || now == later.stores.end() || !now->capacity || now->bytes <= before->bytes ||
        later.at.ticks <= earlier.at.ticks) {
        return std::nullopt;
    }
    double const left = now->bytes >= *now->capacity ? 0.0 : static_cast<double>(*now->capacity - now->bytes);
    double const ticks =
        left * static_cast<double>(later.at.ticks - earlier.at.ticks) / static_cast<double>(now->bytes - before->bytes);
    if (ticks >= static_cast<double>(date_time::max_ticks - later.at.ticks)) { return std::nullopt; }
    return date_time{later.at.ticks + static_cast<std::int64_t>(ticks)};
}

namespace detail {

/// Returns the partitions of a page, sorted by keys, that belong to other shards.
inline std::vector<key_interval> misplaced_in(page const& rows, virtual_shards const& function, std::int32_t shard) {
    std::vector<key_interval> misplaced;
    for (std::size_t index = 0; index < rows.size(); ++index) {
        std::string_view const partition = rows[index].partition_key;
        if (index > 0 && rows[index - 1].partition_key == partition) { continue; }
        if (function.shard_of(partition) != static_cast<std::uint32_t>(shard)) {
            misplaced.push_back(key_interval::only(std::string{partition}));
        }
    }
    return misplaced;
}

/// Erases the misplaced rows in one table of a shard. Used by one thread at a time.
///
/// Table, keys and `visited_table::own` come from one copy of the map. Their conclusions stay valid: the range of a shard in a table only
/// shrinks, a move or a merge makes tables with new names, no name is used twice, and a function never changes. So no change of the map
/// during the erasure does harm:
/// - a split leaves two halves of these keys in the table, and keys outside still belong to no shard;
/// - a move or a merge copies only these keys and then drops the table, which ends the erasure;
/// - a table that is dropped and created again has a different name. With hashed stores the name is the same, but so is the
///   function.
/// Tables that a move is copying into are not visited: the map names them only after the move.
class misplaced_erasure {
public:
    misplaced_erasure(fleet const& of, any_store const& through, std::string const& table)
        : of_(&of), through_(&through), table_(&table) {}

    [[nodiscard]] result<void> erase_outside(key_interval const& keys) {
        std::vector<key_interval> outside;
        if (keys.lower.end != key_bound::kind::open) {
            outside.push_back(key_interval::until(key_bound::excluding(keys.lower.key)));
        }
        if (keys.upper.end != key_bound::kind::open) { outside.push_back({key_bound::including(keys.upper.key), {}}); }
        return erase(std::move(outside));
    }
    /// Reads all keys, and after each page erases the misplaced partitions of that page. The token continues after the page's last row, erased or not.
    [[nodiscard]] result<void> erase_all_but(virtual_shards const& function, std::int32_t shard) {
        query_entities keys_of_all{*table_, {}, {}, {}, page_rows, {}};
        keys_of_all.select = {"PartitionKey", "RowKey"};
        page_cursor pages{std::move(keys_of_all)};
        while (pages.more()) {
            call context;
            auto const found = pages.take(through_->execute(pages.request(), context));
            if (!found) {
                bool const gone = found.error().code == error_code::table_not_found;
                return gone ? result<void>{} : result<void>{failure{found.error()}};
            }
            ENTITABLE_CHECK(erase(misplaced_in(found->rows, function, shard)));
        }
        return {};
    }
    [[nodiscard]] std::uint64_t erased() const noexcept { return erased_; }

private:
    static constexpr std::uint32_t page_rows = 1000;

    [[nodiscard]] result<void> erase(std::vector<key_interval> partitions) {
        if (partitions.empty()) { return {}; }
        auto erasing = erase_keys(*table_, std::move(partitions), page_rows, 0, erased_);
        call context;
        return run(erasing, context, *of_->options().time, *through_);
    }

    fleet const* of_;
    any_store const* through_;
    std::string const* table_;
    std::uint64_t erased_{};
};

} // namespace detail

ENTITABLE_DECL result<misplaced_removal> misplaced_removal::whole() const {
    if (unread.empty()) { return *this; }
    error why = unread.front().error;
    why.message = text::joined({"the store ", unread.front().store, ": ", why.message, "; ",
        std::to_string(unread.size()), " shards could not be read"});
    return failure{std::move(why)};
}

ENTITABLE_DECL result<misplaced_removal> remove_misplaced(fleet const& of) {
    detail::lookup_map_state& map = of.cloud().state().map.state();
    ENTITABLE_CHECK(map.fresh({}));
    if (map.shards.by_function()) {
        return failure{error_code::not_supported,
            "misplaced rows cannot be removed if a user-defined function assigns shards: if it was extended, they "
            "must be copied"};
    }
    misplaced_removal made;
    std::mutex lock;
    auto const sweep = [&](detail::shard_visit const& at, any_store const& through) -> result<void> {
        for (detail::visited_table const& table : at.tables) {
            if (!table.own) { continue; }
            detail::misplaced_erasure erasing{of, through, table.stored};
            auto const done =
                map.shards.by_ranges() ? erasing.erase_outside(at.keys) : erasing.erase_all_but(map.shards, at.shard);
            if (erasing.erased() > 0) {
                std::lock_guard<std::mutex> const guard{lock};
                made.rows += erasing.erased();
                made.by_table[table.name] += erasing.erased();
            }
            ENTITABLE_CHECK(done);
        }
        return {};
    };
    auto const all = [](detail::shard_visit const&) { return true; };
    ENTITABLE_TRY(auto const visited, detail::visit_shards(of, all, {}, sweep));
    for (detail::shard_visited const& each : visited.shards) {
        if (!each.outcome) { made.unread.push_back({each.shard, each.store, each.outcome.error()}); }
    }
    return made;
}

ENTITABLE_END_NAMESPACE
