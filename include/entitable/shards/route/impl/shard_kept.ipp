// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Rows that a merged page has read for the next one, and the writes after which they are not shown.

#include <entitable/core/atomic.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/shards/route/detail/shard_part.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What a page over several shards has read and not returned: pages of shards, and the place in each.
class kept_parts final : public kept_rows {
public:
    [[nodiscard]] static void const* own_kind() noexcept {
        static constexpr char mark{};
        return &mark;
    }
    [[nodiscard]] void const* kind() const noexcept override { return own_kind(); }
    /// Whether the caller is the first to take the parts.
    [[nodiscard]] bool take() noexcept { return !taken_.exchange(true, memory_order::acq_rel); }

    std::vector<shard_part> parts;
    std::vector<queued_part> queue; ///< those of them that have rows, as a heap
    shard_map_ref map;              ///< the parts were read under this copy
    read_location location{};       ///< which location was allowed to serve them
    std::uint64_t query{};          ///< fingerprint of the query
    std::string token;              ///< of the next page
    steady_time read_at;            ///< when the first of the rows was read, at the earliest
    std::uint64_t writes{};         ///< `lookup_map_state::writes` before that

private:
    atomic<bool> taken_{};
};

/// Notes that a write through this map begins and ends, so that rows read before are not shown after it.
class noted_write {
public:
    explicit noted_write(sharded_state& state) noexcept : count_(state.map.state().writes) { note(); }
    noted_write(noted_write const&) = delete;
    noted_write& operator=(noted_write const&) = delete;
    ~noted_write() { note(); }

private:
    void note() noexcept { static_cast<void>(count_.fetch_add(1, memory_order::acq_rel)); }

    atomic<std::uint64_t>& count_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
