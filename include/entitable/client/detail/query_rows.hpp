// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows of a query, for code that works on rows.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/row_walk.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Finds the rows of a query in stored form, for code that works on rows.
struct query_rows {
    /// `keys_only`: the caller uses only keys, so that a service sends the keys, the properties of the predicate, and the property that
    /// marks a row with parts: `system_row::wide_parts`.
    template <class Query>
    [[nodiscard]] static result<shared<row_walk>> of(Query const& asked, bool keys_only) {
        return keys_only && asked.limits_.read == nullptr ? asked.start(keys_and_parts) : asked.start(Query::names);
    }
    /// Returns the same query with a filter that makes a service skip rows written at this time or later. The query may still return
    /// some of them.
    template <class Query>
    [[nodiscard]] static Query written_before(Query asked, date_time limit) {
        if (asked.source_ && asked.limits_.read == nullptr) { asked.source_ = only_older(*asked.source_, limit); }
        return asked;
    }
    /// Returns the same query on another transport, with the same profile.
    template <class Query>
    [[nodiscard]] static Query on(Query asked, any_store through) {
        if (asked.source_) { asked.source_ = with_transport(*asked.source_, std::move(through)); }
        return asked;
    }
    /// Source of the query; null for an empty query.
    template <class Query>
    [[nodiscard]] static query_source const* source_of(Query const& asked) noexcept {
        return asked.source_ ? &*asked.source_ : nullptr;
    }
    /// Options of its runs.
    template <class Query>
    [[nodiscard]] static query_limits const& limits_of(Query const& asked) noexcept {
        return asked.limits_;
    }
    /// The same query with elements of this type, which has more members.
    template <class Query, class Asked>
    [[nodiscard]] static Query reading(Asked const& asked) {
        return Query{asked.source_, asked.limits_};
    }
    /// Name of its table; empty for an empty query.
    template <class Query>
    [[nodiscard]] static std::string_view table_of(Query const& asked) noexcept {
        return asked.source_ ? std::string_view{asked.source_->table} : std::string_view{};
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
