// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/copy/copy.hpp>
#include <entitable/core/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL result<copy_progress> copy_rows(any_store const& from, std::string from_table, any_store const& to,
    std::string to_table, detail::row_replacement change, copy_progress_callback watch, copy_options const& options) {
    auto copying = detail::copy_table_pages(
        {std::move(from_table), std::move(to_table), change, watch, true}, to.profile(), options);
    return run(copying, options.calls, system_clock(), from, to);
}

ENTITABLE_DECL result<copy_progress> copy_rows(any_store const& from, std::string from_table, any_store const& to,
    std::string to_table, copy_progress_callback watch, copy_options const& options) {
    auto copying = detail::copy_table_pages(
        {std::move(from_table), std::move(to_table), detail::same_row, watch, false}, to.profile(), options);
    return run(copying, options.calls, system_clock(), from, to);
}

ENTITABLE_END_NAMESPACE
