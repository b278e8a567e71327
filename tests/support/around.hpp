// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Calls functions between a request and its answer.

#include <entitable/core/transport/any_store.hpp>

#include <functional>
#include <string_view>

namespace entitable_test {

/// Calls a function before a request is forwarded, and one when it was answered, with its name and whether it writes; empty ones are not
/// called.
struct around {
    using is_transport = void;
    using hook = std::function<void(std::string_view request, bool writes)>;

    entitable::any_store below;
    hook before{};
    hook behind{};

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity> && !std::same_as<Request, entitable::read_entities>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        if (before) { before(Request::name, Request::writes); }
        auto answer = below.execute(request, context);
        if (behind) { behind(Request::name, Request::writes); }
        return answer;
    }
};

} // namespace entitable_test
