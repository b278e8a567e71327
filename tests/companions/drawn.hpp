// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Books that are drawn from a seed, and what is wrong with their companions.

#include <entitable/core/random.hpp>

#include <companions/books.hpp>

#include <initializer_list>

namespace companion_tests {

/// Draws values that meet each other often.
struct drawn {
    random_source random;

    [[nodiscard]] std::int32_t below(std::int32_t end) {
        return static_cast<std::int32_t>(random.bits() % static_cast<std::uint64_t>(end));
    }
    [[nodiscard]] std::string one_of(std::initializer_list<char const*> words) {
        return *(words.begin() + below(static_cast<std::int32_t>(words.size())));
    }
    [[nodiscard]] invoice any_invoice() {
        invoice made{"ACME", 1 + below(3), one_of({"ann", "b!b", ""}), {}, one_of({"red", "blue"}),
            one_of({"mon", "tue"}), below(4)};
        if (below(2) == 0) { made.reference = "r"; }
        return made;
    }
    [[nodiscard]] refund any_refund() { return {"ACME", 1 + below(2), one_of({"mon", "tue"}), below(4)}; }
};

/// The keys of a row in another table; its values may be those of a write in progress.
inline std::string keys_of(std::string const& account) { return account.substr(0, account.rfind(' ')); }

/// What is wrong with the companions now. `exactly`: no row in another table is too many, or has other values.
inline std::string wrong_in(any_store const& store, bool exactly) {
    found_rows const found{store};
    auto const wanted = found.entities.companions();
    std::set<std::string> accounts;
    for (std::string const& each : found.companions) {
        if (each.starts_with("account ")) { accounts.insert(keys_of(each)); }
    }
    for (std::string const& each : wanted) {
        bool const is_there = !exactly && each.starts_with("account ") ? accounts.contains(keys_of(each))
                                                                       : found.companions.contains(each);
        if (!is_there) { return "missing: " + each; }
    }
    for (std::string const& each : found.companions) {
        bool const may_be_left = !exactly && each.starts_with("account ");
        if (!may_be_left && !wanted.contains(each)) { return "too many: " + each; }
    }
    return {};
}

} // namespace companion_tests
