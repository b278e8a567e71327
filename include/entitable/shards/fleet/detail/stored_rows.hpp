// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows of a table as they are stored, including the system rows, which contain queues and operations: reads them, counts them, and
/// fills a table with them.

#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/rows_content.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads a table page by page, in key order, without the rows of moves. Used by one thread at a time.
class stored_rows {
public:
    stored_rows(any_store from, std::string table, key_interval partitions = {})
        : from_(std::move(from)), pages_({std::move(table), {std::move(partitions), {}}, {}, {}, 1000, {}}) {}

    /// Returns the next row, valid until the next call; nullopt at the end.
    [[nodiscard]] result<std::optional<row_view>> next() {
        while (at_ == page_.size() || page_[at_].row_key == system_row::copy) {
            if (at_ < page_.size()) {
                ++at_;
                continue;
            }
            if (!pages_.more()) { return std::optional<row_view>{}; }
            call context;
            ENTITABLE_TRY(auto found, pages_.take(from_.execute(pages_.request(), context)));
            page_ = std::move(found.rows);
            at_ = 0;
        }
        return std::optional<row_view>{page_[at_++]};
    }

private:
    any_store from_;
    page_cursor<query_entities> pages_;
    page page_;
    std::size_t at_{};
};

/// Inserts all rows, with retries, and returns the content read. An existing row with the same properties counts as written by an earlier
/// run; EntityAlreadyExists if its properties differ.
[[nodiscard]] result<rows_content> fill_with_rows(
    stored_rows& from, any_store const& to, std::string table, clock& time, std::uint64_t* written = nullptr);
/// Reads a whole table.
[[nodiscard]] result<rows_content> content_in(any_store const& from, std::string table);
/// Drops a table; succeeds if it does not exist.
[[nodiscard]] result<void> drop_if_there(any_store const& from, std::string table);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/stored_rows.ipp>
#endif
