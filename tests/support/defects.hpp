// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Defects of a program, planted between the program and its store: requests or answers change in transit.

#include <entitable/core/transport/any_store.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace entitable_test {

/// Puts a defect in front of a store.
using through_defect = std::function<entitable::any_store(entitable::any_store)>;

/// A store whose answer to each request is that of `change(below, request, context)`.
template <class Change>
struct defective {
    using is_transport = void;
    entitable::any_store below;
    Change change;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity> && !std::same_as<Request, entitable::read_entities>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        return change(below, request, context);
    }
};
template <class Change>
through_defect with_defect(Change change) {
    return [change](entitable::any_store below) {
        return entitable::any_store{defective<Change>{std::move(below), change}};
    };
}
/// Replaces each write by another; if empty, it is reported as done and not sent.
inline through_defect with_writes(
    std::function<std::optional<entitable::mutation>(std::string const& table, entitable::mutation)> other) {
    return with_defect([other]<class Request>(entitable::any_store const& below, Request const& request,
                           entitable::call& context) -> entitable::result<entitable::response_of<Request>> {
        if constexpr (std::same_as<Request, entitable::write_entity>) {
            auto changed = other(request.table, request.change);
            if (!changed) { return entitable::written{}; }
            return below.execute(entitable::write_entity{request.table, *std::move(changed)}, context);
        } else {
            return below.execute(request, context);
        }
    });
}
/// Changes each transaction.
inline through_defect with_transactions(std::function<void(entitable::transact&)> change) {
    return with_defect(
        [change]<class Request>(entitable::any_store const& below, Request const& request, entitable::call& context) {
            Request sent = request;
            if constexpr (std::same_as<Request, entitable::transact>) { change(sent); }
            return below.execute(sent, context);
        });
}

} // namespace entitable_test
