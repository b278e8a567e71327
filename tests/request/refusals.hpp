// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Required contents of an error.

#include <entitable/core/result.hpp>
#include <entitable/core/row/row.hpp>

#include <support/catch.hpp>

#include <initializer_list>
#include <string>

namespace entitable_test {

/// Checks that a request was refused with `code`, with a message that contains each of `words`, and before anything
/// happened.
template <class... Words>
void check_refused(entitable::result<void> const& checked, entitable::error_code code, Words const&... words) {
    REQUIRE_FALSE(checked.has_value());
    auto const& problem = checked.error();
    CHECK(to_string(problem.code) == to_string(code));
    CHECK(problem.http_status == entitable::http_status_of(code));
    CHECK(problem.effect == entitable::effect::none);
    CHECK(problem.server_message.empty());
    for (std::string const& word : std::initializer_list<std::string>{words...}) {
        CHECK_THAT(problem.message, ContainsSubstring(word));
    }
    for (char const character : problem.message + problem.detail) {
        CHECK((static_cast<unsigned char>(character) >= 0x20 && character != '\x7F'));
    }
}

/// Checks that `secret` is in the detail of an error, truncated, and not in the parts that may be logged.
inline void check_kept_apart(entitable::result<void> const& checked, std::string const& secret) {
    REQUIRE_FALSE(checked.has_value());
    CHECK_THAT(checked.error().to_string(), !ContainsSubstring(secret));
    CHECK_THAT(checked.error().detail, ContainsSubstring(secret));
    CHECK(checked.error().detail.size() <= 4 * 64 + 3);
}

inline entitable::row entity_with(std::string_view name, entitable::value_view content) {
    entitable::row_builder builder{"p", "r"};
    builder.add(name, content);
    return builder.build();
}

} // namespace entitable_test
