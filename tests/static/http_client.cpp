// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// An application brings its own client: the least that is one, and types that each lack exactly one thing of it.

#include <entitable/http/http_client.hpp>

#include <string>

using namespace entitable;

namespace {

/// Everything but the word that it is a client.
struct untagged {
    result<http_response> send(http_request const&, http_call const&) { return http_response{}; }
};

/// The least that is a client.
struct minimal : untagged {
    using is_http_client = void;
};

// ---- also clients -------------------------------------------------------------------------------------------

struct constant {
    using is_http_client = void;
    result<http_response> send(http_request const&, http_call const&) const { return http_response{}; }
};

struct not_assignable : minimal {
    not_assignable& operator=(not_assignable const&) = delete;
    not_assignable() = default;
    not_assignable(not_assignable const&) = default;
};

/// Takes the request by value, because it wants to change it.
struct by_value {
    using is_http_client = void;
    result<http_response> send(http_request, http_call const&) { return http_response{}; }
};

struct with_many : minimal {
    void send_many(http_feed&, std::size_t, http_call const&) {}
};

// ---- no clients ---------------------------------------------------------------------------------------------

struct not_copyable : minimal {
    not_copyable() = default;
    not_copyable(not_copyable const&) = delete;
    not_copyable(not_copyable&&) = default;
};

struct with_private_tag : untagged {
private:
    using is_http_client = void;
};

struct with_tag_as_value : untagged {
    [[maybe_unused]] static constexpr bool is_http_client = true;
};

struct without_send {
    using is_http_client = void;
};

struct with_bare_response {
    using is_http_client = void;
    http_response send(http_request const&, http_call const&) { return {}; }
};

struct with_other_response {
    using is_http_client = void;
    result<std::string> send(http_request const&, http_call const&) { return std::string{}; }
};

struct that_changes_requests {
    using is_http_client = void;
    result<http_response> send(http_request&, http_call const&) { return http_response{}; }
};

struct that_changes_calls {
    using is_http_client = void;
    result<http_response> send(http_request const&, http_call&) { return http_response{}; }
};

struct that_needs_no_call {
    using is_http_client = void;
    result<http_response> send(http_request const&) { return http_response{}; }
};

// ---- no clients of many -------------------------------------------------------------------------------------

struct with_many_of_a_list : minimal {
    void send_many(std::string const&, std::size_t, http_call const&) {}
};

struct with_many_without_a_bound : minimal {
    void send_many(http_feed&, http_call const&) {}
};

struct with_many_but_not_one {
    using is_http_client = void;
    void send_many(http_feed&, std::size_t, http_call const&) {}
};

} // namespace

static_assert(http_client<minimal>);
static_assert(http_client<constant>);
static_assert(http_client<constant const>);
static_assert(http_client<not_assignable>);
static_assert(http_client<by_value>);
static_assert(http_client<with_many>);

static_assert(!http_client<untagged>);
static_assert(!http_client<not_copyable>);
static_assert(!http_client<with_private_tag>);
static_assert(!http_client<with_tag_as_value>);
static_assert(!http_client<without_send>);
static_assert(!http_client<with_bare_response>);
static_assert(!http_client<with_other_response>);
static_assert(!http_client<that_changes_requests>);
static_assert(!http_client<that_changes_calls>);
static_assert(!http_client<that_needs_no_call>);
static_assert(!http_client<minimal const>);
static_assert(!http_client<int>);

static_assert(sends_many<with_many>);
static_assert(!sends_many<minimal>);
static_assert(!sends_many<with_many_of_a_list>);
static_assert(!sends_many<with_many_without_a_bound>);
static_assert(!sends_many<with_many_but_not_one>);

// Every client sends many, one by one where it has no way of its own.
template <class Client>
concept can_send_many =
    requires(Client& client, http_feed& feed, http_call const& call) { send_many(client, feed, 4, call); };

static_assert(can_send_many<minimal>);
static_assert(can_send_many<with_many>);
static_assert(!can_send_many<untagged>);
