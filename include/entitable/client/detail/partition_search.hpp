// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `partition_search`: the partition keys of a table as an operation.

#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/requests.hpp>

#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Finds the partition keys with an entity, in order, by reading one row of each partition. Each request is a separate call.
class partition_search {
public:
    using has_call_for_each_request = void; ///< marks it for drivers

    /// If `allowed` is an error, it sends nothing. `any_row`: partitions with only system rows also count.
    ENTITABLE_LAZY partition_search(std::string table, result<void> allowed, bool any_row = false);

    [[nodiscard]] operation_step next() const noexcept { return ended_ ? operation_step{} : operation_step{asked_}; }
    ENTITABLE_LAZY void answer(result<query_entities::response> page, steady_time now);
    ENTITABLE_LAZY void abandon(error const& reason);
    ENTITABLE_LAZY [[nodiscard]] result<std::vector<std::string>> finish();

private:
    ENTITABLE_LAZY void end(failure problem);
    ENTITABLE_LAZY void go_behind(std::string partition);

    query_entities asked_;
    std::optional<std::string> within_; ///< a partition that begins with system rows: continue after them
    result<std::vector<std::string>> keys_{std::in_place};
    bool any_row_;
    bool ended_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/partition_search.ipp>
#endif
