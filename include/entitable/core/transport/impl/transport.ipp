// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/transport/transport.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY result<read_entities::response> show_page(
    result<query_entities::response> found, page_visitor const& visit) {
    if (!found) { return std::move(found).as_failure(); }
    for (row_view const each : found->rows) { visit({&each, 1}); }
    return read_entities::response{std::move(found->continuation), found->rows.size(), found->examined, found->stale,
        found->request_charge, std::move(found->kept)};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
