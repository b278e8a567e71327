// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A small application: a library that lends books. Works with any transport.

#include <entitable/entitable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

struct loan {
    std::string shelf;
    std::int32_t book{};
    std::optional<std::string> reader;
};

ENTITABLE(loan,
    partition_key(shelf),
    row_key(book),
    properties(reader))

class lending {
public:
    explicit lending(entitable::any_store where) : loans_(std::move(where), "Loans") {}

    entitable::result<bool> open() { return loans_.create_if_absent(); }

    entitable::result<entitable::written> add(std::string shelf, std::int32_t book) {
        return loans_.insert({std::move(shelf), book, {}});
    }

    /// False if the book is lent. Tries again if another reader was faster or the service is busy.
    entitable::result<bool> lend(std::string const& shelf, std::int32_t book, std::string const& reader) {
        for (int attempts = 0;; ++attempts) {
            auto found = loans_.get_stored(shelf, book);
            if (!found) { return std::move(found).as_failure(); }
            if (found->entity.reader) { return false; }
            found->entity.reader = reader;
            auto done = loans_.replace(found->entity, found->etag);
            if (done) { return true; }
            auto const code = done.error().code;
            bool const again = code == entitable::error_code::update_condition_not_satisfied ||
                code == entitable::error_code::server_busy;
            if (!again || attempts == 3) { return std::move(done).as_failure(); }
        }
    }

    /// The number of available books of a shelf.
    entitable::result<std::size_t> at_home(std::string const& shelf) {
        using l = entitable::fields<loan>;
        std::size_t count = 0;
        auto all = loans_.where(l::shelf == shelf);
        auto walked = all.for_each([&](loan const& each) { count += each.reader ? 0U : 1U; });
        if (!walked) { return std::move(walked).as_failure(); }
        return count;
    }

private:
    entitable::table<loan> loans_;
};
