// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// SQL on a file backend, whose pages have checksums that SQLite alone does not write.

#include <entitable/file.hpp>
#include <entitable/local/file/detail/connection.hpp>
#include <entitable/local/file/detail/file_place.hpp>
#include <entitable/local/file/detail/wait_budget.hpp>

#include <support/catch.hpp>

namespace entitable_test {

inline void run_sql_with_checksums(std::string const& path, char const* text) {
    using namespace entitable;
    file_options const options;
    auto const place = detail::file_place::find(path, options).value();
    call const unhurried;
    detail::wait_budget waits{options, unhurried};
    auto on = detail::connection::open_known(place, options, waits).value();
    REQUIRE(on.run_text(text) == detail::stepped::done);
    on.end_log_at_close();
}

} // namespace entitable_test
