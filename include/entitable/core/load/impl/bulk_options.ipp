// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/load/bulk_options.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The error of a report with refused rows.
[[nodiscard]] inline failure bulk_refusal_of(bulk_report const& of) {
    error why{error_code::other_service_error, "rows were refused"};
    if (!of.refusals.empty()) {
        refused_row const& first = of.refusals.front();
        why = first.error;
        why.operation_index.reset(); // the caller did not make the transaction
        name_keys(why, first.partition_key, first.row_key);
        for (refused_row const& each : of.refusals) {
            why.effect = each.error.effect == effect::unknown ? effect::unknown : why.effect;
        }
    }
    why.message += text::joined({"; ", std::to_string(of.refused), " of ", std::to_string(of.read),
        " rows were refused",
        of.refusals.empty() ? std::string{} : ", the first has index " + std::to_string(of.refusals.front().index)});
    return failure{std::move(why)};
}

} // namespace detail

ENTITABLE_DECL result<bulk_report> bulk_report::all() const& {
    return refused == 0 ? result<bulk_report>{*this} : detail::bulk_refusal_of(*this);
}
ENTITABLE_DECL result<bulk_report> bulk_report::all() && {
    return refused == 0 ? result<bulk_report>{std::move(*this)} : detail::bulk_refusal_of(*this);
}

ENTITABLE_END_NAMESPACE
