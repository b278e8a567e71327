// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows of a query, for code that works on rows.

#include <entitable/client/row_walk.hpp>
#include <entitable/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The rows that a query finds, as they are stored: for what works on rows.
struct query_rows {
    /// `keys_only`: all that the caller looks at, so that a service sends no more than that, what the predicate needs, and what says that a row
    /// has parts: `system_row::wide_parts`.
    template <class Query>
    [[nodiscard]] static result<shared<row_walk>> of(Query const& asked, bool keys_only) {
        return keys_only && asked.limits_.read == nullptr ? asked.start(keys_and_parts) : asked.start(Query::names);
    }
    /// The same query, by which a service leaves out rows that were written at this time or later. It may give them still.
    template <class Query>
    [[nodiscard]] static Query written_before(Query asked, date_time limit) {
        if (asked.source_ && asked.limits_.read == nullptr) {
            asked.source_ = only_older(*asked.source_, limit);
        }
        return asked;
    }
    /// Where it is run; null for a query of nothing.
    template <class Query>
    [[nodiscard]] static query_source const* source_of(Query const& asked) noexcept {
        return asked.source_ ? &*asked.source_ : nullptr;
    }
    /// The name of its table; empty for a query of nothing.
    template <class Query>
    [[nodiscard]] static std::string_view table_of(Query const& asked) noexcept {
        return asked.source_ ? std::string_view{asked.source_->table} : std::string_view{};
    }

private:
    [[nodiscard]] static projection keys_and_parts() {
        projection names = key_names();
        names.emplace_back(system_row::wide_parts);
        return names;
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
