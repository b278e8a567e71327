// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Makes a map.

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/lookup_map_state.hpp>
#include <entitable/shards/map/detail/store_rows.hpp>

#include <algorithm>
#include <map>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the row of a shard of a new map, without its store.
inline shard_map_row first_map_row(
    virtual_shards const& shards, std::uint32_t number, lookup_map_options const& options) {
    auto const& bounds = shards.bounds();
    shard_map_row row;
    row.shard = static_cast<std::int32_t>(number);
    row.low = shards.by_ranges() && number > 0 ? bounds[number - 1] : std::string{};
    row.high = shards.by_ranges() && number < bounds.size() ? bounds[number] : std::string{};
    row.state = "open";
    row.epoch = 1;
    row.lease_ms = options.lease.count();
    row.open_lease_ms = row.lease_ms;
    return row;
}

/// Makes a map. Its header contains "making" from the start; each group of rows is one transaction with the header, under
/// its ETag, and the last transaction completes the map. A late request, of this program or of another program that
/// makes the same map, therefore fails because the ETag differs.
class shard_map_making {
public:
    shard_map_making(any_store const& catalogue, std::string const& table, virtual_shards const& shards,
        std::vector<std::string> const& stores, store_opener const& open_store, lookup_map_options const& options)
        : catalogue_(catalogue), table_(table), open_store_(open_store), nonce_(guid::random().to_string()) {
        header_.strategy = shards.by_ranges() ? "ranges" : "function";
        header_.hash_version = shard_hash_version;
        header_.fingerprint = static_cast<std::int64_t>(shards.fingerprint());
        header_.number = static_cast<std::int32_t>(shards.number());
        header_.version = 1;
        header_.next_epoch = 2;
        for (std::uint32_t number = 0; number < shards.number(); ++number) {
            rows_.push_back(first_map_row(shards, number, options));
            rows_.back().store = stores[number % stores.size()];
            stores_.insert(rows_.back().store);
        }
    }

    result<void> run() {
        if (open_store_ == nullptr) { return open_with(open_store_, {}).as_failure(); } // before anything is written
        call context;
        auto made = catalogue_.execute(create_table{table_, true}, context);
        if (!made && made.error().code != error_code::table_already_exists) { return std::move(made).as_failure(); }
        ENTITABLE_CHECK(begin());
        for (std::string const& store : stores_) {
            ENTITABLE_TRY(auto const through, open_with(open_store_, store));
            ENTITABLE_CHECK(write_identity(through, identity_, store));
        }
        return write();
    }

private:
    static constexpr int most_attempts = 200; ///< two programs that make the same map concurrently conflict

    /// The stored state of the map.
    struct seen {
        shard_map_header header;
        etag version; ///< empty if there is no header
        std::string identity;
        std::map<std::int32_t, shard_map_row> rows;
        std::set<std::string> stores;
    };
    result<seen> read() {
        seen found;
        page_cursor pages{query_entities{table_, {key_interval::only(header_.map), {}}, {}, {}, 1000, {}}};
        while (pages.more()) {
            call context;
            ENTITABLE_TRY(auto const some, pages.take(catalogue_.execute(pages.request(), context)));
            for (row_view const each : some.rows) {
                if (each.row_key == header_.part) {
                    ENTITABLE_CHECK(from_row(each, found.header));
                    found.version = each.etag();
                } else if (each.row_key == shard_map_identity{}.part) {
                    shard_map_identity own;
                    ENTITABLE_CHECK(from_row(each, own));
                    found.identity = std::move(own.identity);
                } else if (each.row_key.starts_with("shard")) {
                    shard_map_row row;
                    ENTITABLE_CHECK(from_row(each, row));
                    found.rows.emplace(row.shard, std::move(row));
                } else if (each.row_key.starts_with("store")) {
                    shard_map_store store;
                    ENTITABLE_CHECK(from_row(each, store));
                    found.stores.insert(std::move(store.store));
                }
            }
        }
        return found;
    }

    static failure made_before() {
        return failure{error_code::already_made, "the table already has a shard map: open it"};
    }
    /// Sends a transaction; false if it was refused or its outcome must be read.
    result<bool> send(std::vector<mutation> changes) {
        call context;
        auto const done = catalogue_.execute(transact{table_, std::move(changes)}, context);
        if (done) { return true; }
        last_.emplace(done.error());
        if (!was_beaten(done.error()) && done.error().effect != effect::unknown) { return failure{done.error()}; }
        return false;
    }
    failure given_up() {
        return last_
            ? *std::move(last_)
            : failure{error_code::map_unavailable, "too many conflicts with other programs that are creating the map"};
    }

    /// Writes the header with an identity, or adopts the header and identity of an earlier attempt.
    result<void> begin() {
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            ENTITABLE_TRY(auto const found, read());
            if (!found.version.empty()) {
                identity_ = found.identity;
                return found.header.state == "making" ? result<void>{} : result<void>{made_before()};
            }
            shard_map_identity own;
            own.identity = guid::random().to_string();
            shard_map_header header = header_;
            header.state = "making";
            header.nonce = nonce_;
            ENTITABLE_TRY(auto header_row, to_row(header));
            ENTITABLE_TRY(auto own_row, to_row(own));
            ENTITABLE_CHECK(
                send({mutation::insert(std::move(header_row)), mutation::insert_or_replace(std::move(own_row))}));
        }
        return given_up();
    }

    static bool same(shard_map_row const& left, shard_map_row const& right) noexcept {
        return left.low == right.low && left.high == right.high && left.store == right.store &&
            left.epoch == right.epoch && left.state == right.state && left.lease_ms == right.lease_ms &&
            left.open_lease_ms == right.open_lease_ms;
    }

    result<void> write() {
        constexpr std::size_t most_rows = 98; // limit of a transaction, including the header
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            ENTITABLE_TRY(auto const found, read());
            if (found.version.empty() || found.header.state != "making") {
                bool const own = !found.version.empty() && found.header.nonce == nonce_;
                return own ? result<void>{} : result<void>{made_before()};
            }
            if (found.identity != identity_) {
                return failure{
                    error_code::shard_map_invalid, "the map was removed during its creation: create it again"};
            }
            std::vector<mutation> changes;
            for (shard_map_row const& row : rows_) {
                auto const there = found.rows.find(row.shard);
                if (there == found.rows.end() || !same(there->second, row)) {
                    ENTITABLE_TRY(auto made, to_row(row));
                    changes.push_back(mutation::insert_or_replace(std::move(made)));
                }
            }
            for (auto const& [number, row] : found.rows) {
                if (number >= header_.number) {
                    ENTITABLE_TRY(auto made, to_row(row));
                    changes.push_back(mutation::remove(std::move(made), any_etag));
                }
            }
            for (std::string const& store : stores_) {
                if (found.stores.find(store) == found.stores.end()) {
                    ENTITABLE_TRY(auto made, to_row(shard_map_store{"map", store, system_clock().now()}));
                    changes.push_back(mutation::insert_or_replace(std::move(made)));
                }
            }
            for (std::string const& store : found.stores) {
                if (stores_.find(store) == stores_.end()) {
                    ENTITABLE_TRY(auto made, to_row(shard_map_store{"map", store, {}}));
                    changes.push_back(mutation::remove(std::move(made), any_etag));
                }
            }
            shard_map_header header = header_;
            header.nonce = nonce_;
            if (changes.size() > most_rows) {
                changes.erase(changes.begin() + most_rows, changes.end());
                header.state = "making";
            }
            bool const last = !header.state;
            ENTITABLE_TRY(auto row, to_row(header));
            changes.push_back(mutation::replace(std::move(row), found.version));
            ENTITABLE_TRY(bool const done, send(std::move(changes)));
            if (done && last) { return {}; }
        }
        return given_up();
    }

    any_store const& catalogue_;
    std::string const& table_;
    store_opener const& open_store_;
    std::string nonce_; ///< identifies this program's attempt
    shard_map_header header_;
    std::vector<shard_map_row> rows_;
    std::set<std::string> stores_;
    std::string identity_;
    std::optional<failure> last_;
};

} // namespace detail

ENTITABLE_DECL result<lookup_map> lookup_map::make(any_store catalogue, std::string table, virtual_shards shards,
    std::vector<std::string> const& stores, store_opener const& open_store, lookup_map_options const& options) {
    if (stores.empty() || !std::all_of(stores.begin(), stores.end(), detail::is_store_name)) {
        return failure{error_code::invalid_input,
            "a map needs at least one store, and each name must have 1 to 63 letters, digits, \"-\", \"_\" or \".\""};
    }
    auto const& bounds = shards.bounds();
    bool const ascending = std::adjacent_find(bounds.begin(), bounds.end(), [](auto const& left, auto const& right) {
        return text::compare_utf16(left, right) >= 0;
    }) == bounds.end();
    if (shards.number() < 1 || shards.number() > virtual_shards::most || !ascending ||
        (!bounds.empty() && bounds.front().empty()) || (shards.by_ranges() && shards.has_own()) ||
        options.lease < std::chrono::milliseconds{} || options.lease > std::chrono::hours{24}) {
        return failure{error_code::invalid_input,
            "a map must have 1 to 900 virtual shards and a lease of at most a day; the bounds of ranges must be "
            "ascending and not empty, and cannot be combined with tenants that have their own shards"};
    }
    ENTITABLE_CHECK(detail::shard_map_making{catalogue, table, shards, stores, open_store, options}.run());
    return open(std::move(catalogue), std::move(table), std::move(shards), options);
}

ENTITABLE_END_NAMESPACE
