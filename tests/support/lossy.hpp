// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A transport that now and then loses a request, or its answer.

#include <entitable/core/random.hpp>
#include <entitable/core/transport/any_store.hpp>

namespace entitable_test {

/// Of a hundred requests two are lost, and of two the answer is lost. One thread at a time.
struct lossy {
    using is_transport = void;
    entitable::any_store below;
    entitable::random_source* dice;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity> && !std::same_as<Request, entitable::read_entities>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        double const drawn = dice->unit();
        entitable::error gone{entitable::error_code::transport_failed, "lost"};
        gone.effect = Request::writes ? entitable::effect::unknown : entitable::effect::none;
        if (drawn < 0.02) { return entitable::failure{gone}; }
        auto answer = below.execute(request, context);
        if (drawn < 0.04) { return entitable::failure{gone}; }
        return answer;
    }
};

} // namespace entitable_test
