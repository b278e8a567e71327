// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows of a table as they are stored, including the system rows, which contain queues and operations.

#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/try.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads a table page by page, in key order, without the rows of moves. Used by one thread at a time.
class stored_rows {
public:
    stored_rows(any_store from, std::string table, key_interval partitions = {}) : from_(std::move(from)) {
        asked_.table = std::move(table);
        asked_.range.partition = std::move(partitions);
    }

    /// Returns the next row, valid until the next call; nullopt at the end.
    [[nodiscard]] result<std::optional<row_view>> next() {
        while (at_ == page_.size() || page_[at_].row_key == system_row::copy) {
            if (at_ < page_.size()) {
                ++at_;
                continue;
            }
            if (ended_) { return std::optional<row_view>{}; }
            call context;
            ENTITABLE_TRY(auto found, from_.execute(asked_, context));
            page_ = std::move(found.rows);
            at_ = 0;
            asked_.continuation = std::move(found.continuation);
            ended_ = !asked_.continuation;
        }
        return std::optional<row_view>{page_[at_++]};
    }

private:
    any_store from_;
    query_entities asked_;
    page page_;
    std::size_t at_{};
    bool ended_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
