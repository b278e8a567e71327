// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Splits a range of a map at a key, by one change of the map, as a resumable operation of one place.

#include <entitable/shards/map/detail/shard_map_change.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Both halves use the range's existing tables, so an older copy of the map stays correct: it gives the same place for every key before and
/// after the split.
class shard_splitting {
public:
    /// Receives the number of the upper half, and may add changes to other rows in the map's table; may be called any number of times.
    using also_type = std::function<result<void>(std::int32_t upper, shard_map_draft&)>;
    /// The nonce must be unique among changes.
    shard_splitting(std::string const& table, std::int32_t shard, std::string key, std::string nonce, also_type also,
        steady_time now);
    shard_splitting(shard_splitting const&) = delete;
    shard_splitting& operator=(shard_splitting const&) = delete;
    ~shard_splitting() = default;

    [[nodiscard]] operation_step next() const noexcept { return change_.next(); }
    template <class Response>
        requires requires(shard_map_change& change, result<Response> answered, steady_time now) {
            change.answer(std::move(answered), now);
        }
    void answer(result<Response> answered, steady_time now) {
        change_.answer(std::move(answered), now);
    }
    void abandon(error const& reason) { change_.abandon(reason); }
    /// Returns the number of the upper half.
    [[nodiscard]] result<std::int32_t> finish();

private:
    [[nodiscard]] result<bool> edit(shard_map_copy const& map, shard_map_draft& draft);

    std::int32_t shard_;
    std::string key_;
    also_type also_;
    std::int32_t upper_{-1}; ///< number of the upper half in the last draft
    shard_map_change change_;
};

/// Splits a range, as `split_shard` does: the same change adds the upper half to every rule that names the range.
[[nodiscard]] result<std::int32_t> split_range(lookup_map const& map, std::int32_t shard, std::string key);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/move/impl/shard_splitting.ipp>
#endif
