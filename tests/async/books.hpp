// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities for the tests of loops, and a transport that does not answer at once.

#include <entitable/async.hpp>

#include <string>

namespace entitable_test {

struct book {
    std::string shelf;
    std::string isbn;
    std::int32_t price{};

    friend bool operator==(book const&, book const&) = default;
};

ENTITABLE(book,
    partition_key(shelf),
    row_key(isbn),
    properties(price))

/// GCC 12 copies an aggregate byte by byte in an expression with co_await. The result of a function is copied correctly.
inline book book_of(std::string shelf, std::int32_t number, std::int32_t price = 0) {
    return {std::move(shelf), std::to_string(number), price};
}

/// Uses a channel, as all transports do that do not opt in to immediate execution.
template <class T>
struct in_channel {
    using is_transport = void;
    T below;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <entitable::table_request Request>
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        return below.execute(request, context);
    }
};
template <class T>
in_channel(T) -> in_channel<T>;

} // namespace entitable_test
