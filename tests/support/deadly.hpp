// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A transport that ends its process, as `kill -9` does.

#include <entitable/core/transport/any_store.hpp>

#include <unistd.h>

#include <csignal>

namespace entitable_test {

/// Ends the process before or after the request with this number, from 1.
struct deadly {
    using is_transport = void;
    entitable::any_store below;
    std::size_t* seen;
    std::size_t number{};
    bool behind{};
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity> && !std::same_as<Request, entitable::read_entities>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        bool const last = ++*seen == number;
        if (last && !behind) { ::kill(::getpid(), SIGKILL); }
        auto answer = below.execute(request, context);
        if (last) { ::kill(::getpid(), SIGKILL); }
        return answer;
    }
};

} // namespace entitable_test
