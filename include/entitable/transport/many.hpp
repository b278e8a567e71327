// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Many requests of one kind, of which a transport may have several under way at once.

#include <entitable/transport/transport.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Where a transport takes requests from and brings the answers to. All calls come from one thread.
template <table_request Request>
class request_feed {
public:
    virtual ~request_feed() = default;

    /// The next request to send and, in `slot`, the name under which its answer is due; null when there is none at the
    /// moment. The request stays valid until it is answered.
    [[nodiscard]] virtual Request const* next(std::size_t& slot) = 0;
    /// The answer to the request named `slot`. After it `next` may have more.
    virtual void answer(std::size_t slot, result<response_of<Request>> response) = 0;
};

/// A transport that keeps up to `in_flight` requests under way from one thread.
template <class T, class Request>
concept answers_many = requires(T& transport, request_feed<Request>& feed, std::size_t in_flight, call& context) {
    transport.execute_many(feed, in_flight, context);
};

/// Sends what the feed has until it has no more, up to `in_flight` at once where the transport can, else one by one.
template <transport T, table_request Request>
void execute_many(T& transport, request_feed<Request>& feed, std::size_t in_flight, call& context) {
    if constexpr (answers_many<T, Request>) {
        transport.execute_many(feed, in_flight, context);
    } else {
        std::size_t slot = 0;
        while (Request const* request = feed.next(slot)) {
            feed.answer(slot, execute(transport, *request, context));
        }
    }
}

namespace detail {

/// Answers what the feed has for a transport that was moved from.
template <table_request Request>
void refuse_moved_from(request_feed<Request>& feed, std::string_view handle) {
    std::size_t slot = 0;
    while (feed.next(slot) != nullptr) {
        feed.answer(slot, moved_from(handle));
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
