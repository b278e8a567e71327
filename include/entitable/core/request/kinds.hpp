// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The one list of the kinds of requests, and functions for requests of any kind. Code with one line per kind (virtual functions, records)
/// is generated from this list.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/requests.hpp>

#include <concepts>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE

/// A list of kinds of requests.
template <class... Requests>
struct request_list {
    /// Whether `T` is one of the kinds.
    template <class T>
    static constexpr bool has = (std::same_as<T, Requests> || ...);

    /// The number of a kind, from 0.
    template <class T>
    static constexpr std::uint8_t number = [] {
        std::uint8_t at = 0;
        static_cast<void>(((std::same_as<T, Requests> || (++at, false)) || ...));
        return at;
    }();

    /// Calls `f(std::type_identity<Kind>{})` for the kind with this number.
    template <class F>
    static constexpr void select(std::uint8_t wanted, F&& f) {
        static_cast<void>(((number<Requests> == wanted && (f(std::type_identity<Requests>{}), true)) || ...));
    }

    /// `Template<Requests...>`.
    template <template <class...> class Template>
    using apply = Template<Requests...>;
};

/// All kinds. A new kind is a struct in requests.hpp, a name in this list, and code in the backends that support it; all other backends
/// return NotSupported.
using all_requests = request_list<create_table, delete_table, list_tables, get_entity, read_entity, query_entities,
    read_entities, write_entity, transact>;

/// One of the kinds of requests.
template <class T>
concept table_request = all_requests::has<T>;

/// The response to a request; `void` for requests that only succeed or fail.
template <table_request Request>
using response_of = typename Request::response;

/// Returns the table of a request; empty for requests without a table.
template <table_request Request>
[[nodiscard]] constexpr std::string_view table_of(Request const& request) noexcept {
    if constexpr (requires { request.table; }) {
        return request.table;
    } else {
        return {};
    }
}

/// Returns the partition of a request, if there is exactly one.
template <table_request Request, class Partition = std::optional<std::string_view>>
[[nodiscard]] Partition partition_of(Request const& request) {
    if constexpr (requires { request.partition_key; }) {
        return std::string_view{request.partition_key};
    } else if constexpr (requires { request.change; }) {
        return request.change.entity.partition_key();
    } else if constexpr (requires { request.changes; }) {
        return request.changes.empty() ? Partition{} : Partition{request.changes.front().entity.partition_key()};
    } else if constexpr (requires { request.asked->range; }) {
        return partition_of(*request.asked);
    } else if constexpr (requires { request.range; }) {
        return request.range.partition.is_point() ? Partition{request.range.partition.lower.key} : Partition{};
    } else {
        return std::nullopt;
    }
}

ENTITABLE_END_NAMESPACE

#endif
