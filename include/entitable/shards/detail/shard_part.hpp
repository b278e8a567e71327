// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One virtual shard in a fan-out: what is still to be asked of it, and the rows that came and wait to be merged.

#include <entitable/request/operation.hpp>
#include <entitable/shards/detail/shard_token.hpp>
#include <entitable/shards/detail/sharded_state.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What is left of a range behind a row: the rest of its partition, and the partitions above.
inline std::vector<key_range> ranges_behind(
    key_range const& whole, std::optional<last_keys> const& last, bool has_partition) {
    std::vector<key_range> left;
    auto const add = [&](key_range range) {
        if (!range.is_empty()) {
            left.push_back(std::move(range));
        }
    };
    if (!last) {
        add(whole);
        return left;
    }
    if (has_partition && whole.partition.contains(last->partition_key)) {
        add({key_interval::only(last->partition_key),
            intersection(whole.row, {key_bound::excluding(last->row_key), {}})});
    }
    add({intersection(whole.partition, {key_bound::excluding(last->partition_key), {}}), whole.row});
    return left;
}

/// One virtual shard in a fan-out.
struct shard_part {
    std::uint32_t shard{};
    shard_route way;
    std::vector<key_range> ranges; ///< still to be asked, the present one first
    query_entities asked;
    page rows;
    std::string etag_start; ///< of the rows, once one is needed
    std::size_t at{};
    std::optional<last_keys> last; ///< of what came from here
    bool ended{};
    bool failed{};

    [[nodiscard]] bool hungry() const noexcept { return at == rows.size() && !ended; }
    [[nodiscard]] row_view front() const noexcept { return rows[at]; }
};

/// One page of one shard, in a lane.
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
