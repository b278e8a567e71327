// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/bulk_options.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL result<void> bulk_report::all_written() const {
    if (refused == 0) {
        return {};
    }
    error why{error_code::other_service_error, "rows were refused"};
    if (!refusals.empty()) {
        why = refusals.front().why;
    }
    why.message += text::joined({"; ", std::to_string(refused), " of ", std::to_string(read), " rows were refused"});
    return failure{std::move(why)};
}

ENTITABLE_END_NAMESPACE
