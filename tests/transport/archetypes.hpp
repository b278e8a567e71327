// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The minimal transport, and types that each lack exactly one requirement.

#include <entitable/core/transport/transport.hpp>

#include <string>

namespace archetypes {

using entitable::call;
using entitable::get_entity;
using entitable::profile;
using entitable::query_entities;
using entitable::result;
using entitable::write_entity;

/// Everything except the declaration that it is a transport.
struct untagged {
    [[nodiscard]] entitable::profile profile() const { return {}; }
    result<get_entity::response> execute(get_entity const&, call&) { return get_entity::response{}; }
    result<query_entities::response> execute(query_entities const&, call&) { return query_entities::response{}; }
    result<write_entity::response> execute(write_entity const&, call&) { return write_entity::response{}; }
};

/// The minimal transport.
struct minimal : untagged {
    using is_transport = void;
};

// ---- also transports ----------------------------------------------------------------------------------------

/// Answers with const overloads.
struct constant {
    using is_transport = void;
    [[nodiscard]] entitable::profile profile() const { return {}; }
    result<get_entity::response> execute(get_entity const&, call&) const { return get_entity::response{}; }
    result<query_entities::response> execute(query_entities const&, call&) const { return query_entities::response{}; }
    result<write_entity::response> execute(write_entity const&, call&) const { return write_entity::response{}; }
};

/// A decorator: one function template for all requests.
template <class Inner>
struct decorated {
    using is_transport = void;
    Inner inner;
    [[nodiscard]] entitable::profile profile() const { return inner.profile(); }
    template <class Request>
    result<entitable::response_of<Request>> execute(Request const& request, call& context) {
        return entitable::execute(inner, request, context);
    }
};

/// Its profile is a type that converts to one.
struct with_profile_reference : untagged {
    using is_transport = void;
    entitable::profile kept;
    [[nodiscard]] entitable::profile const& profile() const { return kept; }
};

/// Copyable, but not assignable.
struct not_assignable : minimal {
    not_assignable& operator=(not_assignable const&) = delete;
    not_assignable() = default;
    not_assignable(not_assignable const&) = default;
};

// ---- not transports |-----------------------------------------------------------------------------------------

struct not_copyable : minimal {
    not_copyable() = default;
    not_copyable(not_copyable const&) = delete;
    not_copyable(not_copyable&&) = default;
};

struct with_private_tag : untagged {
private:
    using is_transport = void;
};

struct with_tag_as_value : untagged {
    static constexpr bool is_transport = true;
};

struct without_profile : minimal {
    entitable::profile profile() const = delete;
};

struct with_changing_profile : untagged {
    using is_transport = void;
    [[nodiscard]] entitable::profile profile() { return {}; }
};

struct with_other_profile : untagged {
    using is_transport = void;
    [[nodiscard]] std::string profile() const { return "storage"; }
};

struct without_get_entity : minimal {
    using minimal::execute;
    result<get_entity::response> execute(get_entity const&, call&) = delete;
};

struct without_query_entities : minimal {
    using minimal::execute;
    result<query_entities::response> execute(query_entities const&, call&) = delete;
};

struct without_write_entity : minimal {
    using minimal::execute;
    result<write_entity::response> execute(write_entity const&, call&) = delete;
};

struct with_other_response : minimal {
    using minimal::execute;
    result<entitable::row> execute(get_entity const&, call&) { return entitable::row{}; }
};

struct with_bare_response : minimal {
    using minimal::execute;
    get_entity::response execute(get_entity const&, call&) { return {}; }
};

struct that_changes_requests {
    using is_transport = void;
    [[nodiscard]] entitable::profile profile() const { return {}; }
    result<get_entity::response> execute(get_entity&, call&) { return get_entity::response{}; }
    result<query_entities::response> execute(query_entities const&, call&) { return query_entities::response{}; }
    result<write_entity::response> execute(write_entity const&, call&) { return write_entity::response{}; }
};

struct that_needs_no_call {
    using is_transport = void;
    [[nodiscard]] entitable::profile profile() const { return {}; }
    result<get_entity::response> execute(get_entity const&) { return get_entity::response{}; }
    result<query_entities::response> execute(query_entities const&, call&) { return query_entities::response{}; }
    result<write_entity::response> execute(write_entity const&, call&) { return write_entity::response{}; }
};

} // namespace archetypes
