// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Conversion of the row of a point read: to the entity, to nullopt, or to the entity with its version.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/stored.hpp>
#include <entitable/core/request/requests.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Fills `*found`, which has a value, with the entity passed to it; `Found` is `Entity`, `std::optional<Entity>` or `stored<Entity>`.
template <class Entity, class Found>
struct found_entity {
    result<Found>* found;
    entitable::reading reading;

    result<void> operator()(row_view const& row, etag const& version, bool stale) const {
        if constexpr (std::same_as<Found, Entity>) {
            return from_row(row, **found, reading);
        } else if constexpr (std::same_as<Found, stored<Entity>>) {
            (*found)->etag = version;
            (*found)->timestamp = row.timestamp();
            (*found)->stale = stale;
            return from_row(row, (*found)->entity, reading);
        } else {
            return from_row(row, (*found)->emplace(), reading);
        }
    }
    /// Called at the end of the read.
    void conclude(result<void> read) const {
        if (!read && !(may_be_absent && read.error().code == error_code::resource_not_found)) {
            *found = std::move(read).as_failure();
        }
    }

private:
    static constexpr bool may_be_absent = std::same_as<Found, std::optional<Entity>>;
};

/// The outcome of a write, or nullopt if the entity did not exist and nothing was written.
struct if_present {
    template <class Outcome>
    [[nodiscard]] result<std::optional<Outcome>> operator()(result<Outcome> outcome) const {
        if (outcome) { return std::optional<Outcome>{*std::move(outcome)}; }
        if (outcome.error().code == error_code::resource_not_found && outcome.error().effect == effect::none) {
            return std::optional<Outcome>{};
        }
        return std::move(outcome).as_failure();
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
