// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/core/io_driver.hpp>
#include <entitable/core/transport/run_all.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> read_named(
    index_family const& family, std::size_t index, std::vector<named_entity>& all, std::size_t in_flight) {
    std::vector<get_entity> asked;
    asked.reserve(all.size());
    std::vector<single_request<get_entity>> reads;
    std::vector<call> calls;
    for (named_entity const& each : all) {
        asked.push_back({family.main.name(), each.entity.partition_key, each.entity.row_key, {}});
        reads.emplace_back(asked.back());
        calls.emplace_back(family.main.options(), *family.options.time);
    }
    poll_driver io{*family.options.time};
    shared<channel> const way = open_channel(family.main.store(), io);
    (void)run_all(reads, calls, {way.get()}, io, in_flight);
    for (std::size_t at = 0; at < all.size(); ++at) {
        auto found = reads[at].finish();
        if (!found) {
            if (found.error().code == error_code::resource_not_found) { continue; }
            return std::move(found).as_failure();
        }
        ENTITABLE_TRY(index_rows const rows, family.rows_for(found->entity.view()));
        if (rows[index] && row_keys_of(rows[index]->view()) == all[at].index_row) {
            all[at].stored = std::move(found->entity);
        }
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
