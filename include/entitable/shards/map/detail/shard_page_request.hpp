// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Requests one page of a store: an operation of one request.

#include <entitable/core/request/operation.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Requests one page of one shard, in a lane.
class shard_page_request {
public:
    shard_page_request(query_entities const& asked, std::size_t place) noexcept : asked_(&asked), place_(place) {}
    [[nodiscard]] operation_step next() const noexcept {
        return answer_ ? operation_step{} : operation_step{*asked_, (steady_time::min)(), place_};
    }
    void answer(result<query_entities::response> answered, steady_time) { answer_.emplace(std::move(answered)); }
    void abandon(error const& reason) { answer_.emplace(failure{reason}); }
    [[nodiscard]] result<query_entities::response> finish() { return *std::move(answer_); }

private:
    query_entities const* asked_;
    std::size_t place_;
    std::optional<result<query_entities::response>> answer_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
