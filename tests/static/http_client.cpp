// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// An application brings its own client: the minimal client, and types that each lack exactly one requirement.

#include <entitable/cloud/http/http_channel.hpp>

#include <string>

using namespace entitable;

namespace {

/// Everything except the declaration that it is a client.
struct untagged {
    result<http_response> send(http_request const&, http_call const&) { return http_response{}; }
};

/// The minimal client.
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

struct with_channels : minimal {
    shared<http_channel> open(io_driver&) { return {}; }
};

// ---- not clients |--------------------------------------------------------------------------------------------

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

// ---- not clients with channels -------------------------------------------------------------------------------

struct with_bare_channels : minimal {
    http_channel* open(io_driver&) { return nullptr; }
};

struct with_channels_of_nothing : minimal {
    shared<http_channel> open() { return {}; }
};

struct with_channels_but_not_one {
    using is_http_client = void;
    shared<http_channel> open(io_driver&) { return {}; }
};

} // namespace

static_assert(http_client<minimal>);
static_assert(http_client<constant>);
static_assert(http_client<constant const>);
static_assert(http_client<not_assignable>);
static_assert(http_client<by_value>);
static_assert(http_client<with_channels>);

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

static_assert(opens_http_channels<with_channels>);
static_assert(!opens_http_channels<minimal>);
static_assert(!opens_http_channels<with_bare_channels>);
static_assert(!opens_http_channels<with_channels_of_nothing>);
static_assert(!opens_http_channels<with_channels_but_not_one>);

// Every client has a channel; one without its own sends one by one.
template <class Client>
concept can_open = requires(Client& client, io_driver& io) { open_http_channel(client, io); };

static_assert(can_open<minimal>);
static_assert(can_open<with_channels>);
static_assert(!can_open<untagged>);
