// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// A program whose requests are counted over all of its stores: at one of them something else happens, or the program ends.

#include <entitable/core/transport/any_store.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace entitable_test {

/// The interference at a request. Shared by all stores of a program.
struct meddling {
    std::size_t seen{};           ///< requests of the program
    std::size_t at{};             ///< the request with the interference; 0 for none
    bool behind{};                ///< it is applied first
    bool dies{};                  ///< neither it nor any later one gets an answer
    std::function<void()> hook{}; ///< called once
    bool dead{};
    bool met{}; ///< the program got this far
};

/// One store of the program.
struct meddled {
    using is_transport = void;

    entitable::any_store below;
    std::shared_ptr<meddling> plan;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity> && !std::same_as<Request, entitable::read_entities>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        auto const lost = [] {
            entitable::failure none{entitable::error_code::transport_failed, "the program has ended"};
            none.error().effect = Request::writes ? entitable::effect::unknown : entitable::effect::none;
            return none;
        };
        if (plan->dead) { return lost(); }
        if (++plan->seen != plan->at) { return below.execute(request, context); }
        plan->met = true;
        auto const hook = std::exchange(plan->hook, nullptr);
        if (!plan->behind && hook) { hook(); }
        if (plan->dies && !plan->behind) {
            plan->dead = true;
            return lost();
        }
        auto answer = below.execute(request, context);
        if (plan->behind && hook) { hook(); }
        if (plan->dies) {
            plan->dead = true;
            return lost();
        }
        return answer;
    }
};

} // namespace entitable_test
