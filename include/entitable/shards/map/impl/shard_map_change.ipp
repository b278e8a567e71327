// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/shard_map_rows.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Takes the rows of one page.
inline result<void> take_map_rows(page const& rows, shard_map_copy& map, bool& has_header) {
    for (row_view const each : rows) {
        if (each.row_key == "header") {
            has_header = true;
            map.version = each.etag();
            ENTITABLE_CHECK(from_row(each, map.header));
        } else if (each.row_key.starts_with("shard")) {
            shard_place& place = map.places.emplace_back();
            place.version = each.etag();
            ENTITABLE_CHECK(from_row(each, place.row));
            place.retired = shard_retired_in(place.row.retired, place.row.shard);
        } else if (each.row_key == shard_map_identity{}.part) {
            shard_map_identity own;
            ENTITABLE_CHECK(from_row(each, own));
            map.identity = own.state ? std::string{} : std::move(own.identity);
        } else if (each.row_key.starts_with("store")) {
            shard_map_store store;
            ENTITABLE_CHECK(from_row(each, store));
            map.stores.push_back(std::move(store.store));
        }
    }
    return {};
}

/// The error of a map whose page could not be read.
inline failure unread_map(error const& why) {
    // These errors are permanent: hashed stores have no map, or the catalogue was moved from, or its address is invalid.
    if (why.code == error_code::wrong_store || why.code == error_code::invalid_input) { return failure{why}; }
    failure away{error_code::map_unavailable, text::joined({"cannot read the shard map: ", why.to_string()})};
    away.error().detail = why.detail;
    return away;
}

/// Derives the members of a map from its rows, and checks them.
inline result<void> complete_map(shard_map_copy& map) {
    if (map.header.state) {
        return map_fault(text::joined({"is in the state \"", text::printable(*map.header.state),
            "\": its creation was interrupted; create it again"}));
    }
    map.tables = shard_tables_in(map.header.tables);
    map.by_ranges = map.header.strategy == "ranges";
    if (map.by_ranges) {
        std::sort(map.places.begin(), map.places.end(), [](shard_place const& left, shard_place const& right) {
            return text::compare_utf16(left.row.low, right.row.low) < 0;
        });
    }
    return check_coverage(map);
}

ENTITABLE_DECL resumable<shard_map_ref> read_shard_map(std::string table) {
    constexpr std::size_t most_attempts = 20;
    page_cursor pages{query_entities{table, {key_interval::only("map"), {}}, {}, {}, 1000, {}}};
    get_entity const header{std::move(table), "map", "header", {}};
    for (std::size_t attempt = 0; attempt < most_attempts; ++attempt) {
        auto map = shard_map_ref::make();
        map->asked_at = co_await answer_time{};
        bool has_header = false;
        std::size_t number_of_pages = 0;
        for (pages.restart(); pages.more(); ++number_of_pages) {
            auto const found = pages.take(co_await ask(pages.request()));
            if (!found) { co_return unread_map(found.error()); }
            ENTITABLE_CO_CHECK(take_map_rows(found->rows, *map, has_header));
        }
        if (!has_header) { co_return map_fault("has no header: it was not created, or its creation was interrupted"); }
        if (number_of_pages > 1) { // a change between two pages replaced the header: the pages do not fit together
            auto const again = co_await ask(header);
            if (!again || again->etag != map->version) { continue; }
        }
        ENTITABLE_CO_CHECK(complete_map(*map));
        co_return map;
    }
    co_return failure{error_code::map_unavailable, "the shard map changes faster than it can be read"};
}

ENTITABLE_DECL shard_row_draft* shard_map_draft::edit(shard_map_copy const& map, std::int32_t shard) {
    for (shard_row_draft& each : rows) {
        if (each.row.shard == shard) { return &each; }
    }
    shard_place const* const place = map.find_shard(shard);
    return place == nullptr ? nullptr
                            : &rows.emplace_back(shard_row_draft{place->row, place->retired, place->version, false});
}

/// A change of a map as it is sent.
struct drawn_map_change {
    transact request;
    std::string nonce;
    std::vector<std::int32_t> rows; ///< the shards whose rows have the nonce

    [[nodiscard]] bool is_in(shard_map_copy const& map) const {
        return map.header.nonce == nonce || std::any_of(rows.begin(), rows.end(), [&](std::int32_t shard) {
            shard_place const* const place = map.find_shard(shard);
            return place != nullptr && place->row.nonce == nonce;
        });
    }
};

/// Adds the write of a row.
inline result<void> add_map_row(shard_row_draft& drafted, drawn_map_change& to) {
    drafted.row.retired = text_of(drafted.retired, drafted.row.shard);
    drafted.row.nonce = to.nonce;
    ENTITABLE_TRY(auto row, to_row(drafted.row));
    to.request.changes.push_back(drafted.erased ? mutation::remove(std::move(row), drafted.version)
            : drafted.version.empty()           ? mutation::insert(std::move(row))
                                                : mutation::replace(std::move(row), drafted.version));
    if (!drafted.erased) { to.rows.push_back(drafted.row.shard); }
    return {};
}

/// Draws up a change of this map; none if there is nothing to change.
inline result<std::optional<drawn_map_change>> draw_map_change(
    std::string const& table, std::string nonce, shard_map_copy const& map, shard_map_edit const& edit) {
    shard_map_draft draft{map.header, map.tables, {}, {}};
    ENTITABLE_TRY(bool const wanted, edit(map, draft));
    if (!wanted) { return std::optional<drawn_map_change>{}; }
    drawn_map_change made{{table, {}}, std::move(nonce), {}};
    draft.header.tables = text_of(draft.tables);
    draft.header.nonce = made.nonce;
    ++draft.header.version;
    ENTITABLE_TRY(auto header, to_row(draft.header));
    made.request.changes.push_back(mutation::replace(std::move(header), map.version));
    for (shard_row_draft& each : draft.rows) { ENTITABLE_CHECK(add_map_row(each, made)); }
    std::move(draft.others.begin(), draft.others.end(), std::back_inserter(made.request.changes));
    return std::optional{std::move(made)};
}

/// An error with the effect of the whole change.
inline failure with_effect(error why, bool unsettled) {
    why.effect = unsettled ? effect::unknown : effect::none;
    return failure{std::move(why)};
}

/// Sends a change until its outcome is known. Returns the map that the next draft is based on, because others have changed the map; none
/// if the change is applied.
inline resumable<shard_map_ref> send_map_change(drawn_map_change change, shard_map_ref base) {
    bool unsettled = false; // an earlier send of the request may have been applied
    for (contention sends{most_resends, resend_backoff};;) {
        auto const sent = co_await ask(change.request);
        if (sent) { co_return shard_map_ref{}; }
        bool const lost = sent.error().effect == effect::unknown;
        bool const refused = was_beaten(sent.error(), rival_change::changed_or_removed); // a rule may have been removed
        // A refusal may be due to an earlier send whose response was lost. Only a read tells.
        if ((!lost && !refused && !unsettled) || sends.is_last()) {
            co_return with_effect(sent.error(), unsettled || lost);
        }
        unsettled = unsettled || lost;
        co_await if_abandoned{unsettled ? effect::unknown : effect::none};
        auto const pause = sends.delay(0);
        if (!refused) { co_await delay_next{pause}; }
        auto read = co_await read_shard_map(change.request.table);
        if (!read) { co_return with_effect(read.error(), unsettled); }
        if (unsettled && change.is_in(**read)) { co_return shard_map_ref{}; }
        if (unsettled && (*read)->version == base->version) { continue; } // nothing was applied so far
        co_return read; // the ETag differs, so the change was not applied and never will be
    }
}

ENTITABLE_DECL resumable<void> change_shard_map(std::string table, std::string nonce, shard_map_edit edit) {
    constexpr std::size_t most_drafts = 50;
    auto read = co_await read_shard_map(table);
    if (!read) { co_return with_effect(read.error(), false); }
    shard_map_ref base = *std::move(read);
    for (std::size_t number = 1; number <= most_drafts; ++number) {
        ENTITABLE_CO_TRY(
            auto change, draw_map_change(table, text::joined({nonce, "-", std::to_string(number)}), *base, edit));
        if (!change) { co_return {}; }
        auto others = co_await send_map_change(*std::move(change), base);
        co_await if_abandoned{effect::none}; // the outcome of this draft is known
        if (!others) { co_return std::move(others).as_failure(); }
        if (!*others) { co_return {}; }
        base = *std::move(others);
    }
    co_return failure{error_code::map_unavailable, "too many conflicts with other changes of the shard map"};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
