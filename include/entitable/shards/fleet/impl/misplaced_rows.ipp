// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/detail/shard_visits.hpp>
#include <entitable/shards/fleet/misplaced_rows.hpp>
#include <entitable/shards/move/detail/shard_table_erasure.hpp>

#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

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
            std::vector<key_interval> misplaced;
            for (std::size_t index = 0; index < found->rows.size(); ++index) {
                std::string_view const partition = found->rows[index].partition_key;
                if (index > 0 && found->rows[index - 1].partition_key == partition) { continue; }
                if (function.shard_of(partition) != static_cast<std::uint32_t>(shard)) {
                    misplaced.push_back(key_interval::only(std::string{partition}));
                }
            }
            ENTITABLE_CHECK(erase(std::move(misplaced)));
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
