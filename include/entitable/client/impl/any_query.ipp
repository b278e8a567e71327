// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/row_walk.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL any_query::any_query(shared<query_source>&& source) : source_(std::move(source)) {}
ENTITABLE_LAZY_BODY any_query::any_query(
    table_core const& table, predicate_nodes const& condition, access_path path, entity_kind const& of)
    : source_(ask(table, condition, path, of.layout)) {}
ENTITABLE_DECL any_query::any_query(any_query const& other) = default;
ENTITABLE_DECL any_query::any_query(any_query&& other) noexcept = default;
ENTITABLE_DECL any_query& any_query::operator=(any_query const& other) = default;
ENTITABLE_DECL any_query& any_query::operator=(any_query&& other) noexcept = default;
ENTITABLE_DECL any_query::~any_query() = default;

ENTITABLE_LAZY_BODY projection key_names() { return {"PartitionKey", "RowKey"}; }

ENTITABLE_LAZY_BODY void add_name_to(projection& names, std::string_view name) { names.emplace_back(name); }

ENTITABLE_LAZY_BODY projection keys_and_parts() {
    projection names = key_names();
    names.emplace_back(system_row::wide_parts);
    return names;
}

ENTITABLE_LAZY_BODY result<shared<row_walk>> any_query::start(query_limits limits, projection names) const {
    one_thread const here{inside_};
    auto walk = row_walk::begin(source_, std::move(limits), std::move(names));
    if (walk) { last_.walk = *walk; }
    return walk;
}

ENTITABLE_LAZY_BODY result<shared<row_walk>> any_query::start(names_of_row names) const {
    return start(limits_, names == nullptr ? projection{} : names());
}

ENTITABLE_LAZY_BODY result<explanation> any_query::explain_with(names_of_row names) const {
    ENTITABLE_CHECK(check_source(source_.get()));
    return explain(source_->current().plan, names == nullptr ? projection{} : names());
}

ENTITABLE_LAZY_BODY result<std::uint64_t> any_query::count_with(names_of_row names) const {
    one_thread const here{inside_};
    auto walk = limits_.read == nullptr ? start(limits_, key_names()) : start(names);
    if (!walk) { return std::move(walk).as_failure(); }
    return (*walk)->count_rows();
}

ENTITABLE_LAZY_BODY result<bool> any_query::exists_with(names_of_row names) const {
    one_thread const here{inside_};
    query_limits one = limits_;
    one.only_one = true;
    bool const keys_only = limits_.read == nullptr; // a token belongs to a query with these names
    auto walk = start(std::move(one), keys_only ? key_names() : names == nullptr ? projection{} : names());
    return walk ? (*walk)->next_page() : std::move(walk).as_failure();
}

ENTITABLE_LAZY_BODY shared<row_cursor> any_query::start_cursor(names_of_row names, row_kind const& kind) const {
    one_thread const here{inside_};
    auto cursor = shared<row_cursor>::make(start(names).value(), kind);
    cursor->advance();
    return cursor;
}

ENTITABLE_DECL row_iterator::~row_iterator() = default;
ENTITABLE_LAZY_BODY row_iterator::row_iterator(any_query const& asked, projection (*names)(), row_kind const& kind)
    : at_(asked.start_cursor(names, kind)) {}

ENTITABLE_LAZY_BODY result<bool> any_query::read_first(names_of_row names, void* to, row_reader read) const {
    one_thread const here{inside_};
    query_limits one = limits_;
    one.only_one = true;
    auto walk = start(std::move(one), names == nullptr ? projection{} : names());
    return walk ? (*walk)->read_next(to, read) : std::move(walk).as_failure();
}

ENTITABLE_LAZY_BODY result<void> any_query::read_all(
    names_of_row names, void* all, void* (*add)(void*, std::size_t), row_reader read, bool shown) const {
    one_thread const here{inside_};
    auto walk = start(names);
    return walk ? (*walk)->read_rows(all, add, read, shown) : std::move(walk).as_failure();
}

ENTITABLE_LAZY_BODY result<void> any_query::call_all(names_of_row names, row_kind const& kind, bool shown,
    void* function, void (*call)(void* function, void const* row)) const {
    one_thread const here{inside_};
    auto walk = start(names);
    return walk ? (*walk)->call_rows(kind, shown, function, call) : std::move(walk).as_failure();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
