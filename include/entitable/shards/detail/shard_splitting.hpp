// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A range of a map is split at a key: one change of the map, as a resumable operation of one place.

#include <entitable/shards/detail/shard_map_change.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Both halves have the tables that the range had, so nobody who holds a copy of the map from before is disturbed: what a copy says of a key is
/// the same before and after.
class shard_splitting {
public:
    /// Is told the number of the upper half, and may add changes of other rows of the map's table; any number of times.
    using also_type = std::function<result<void>(std::int32_t upper, shard_map_draft&)>;
    /// No other change has the nonce.
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
    /// The number of the upper half.
    [[nodiscard]] result<std::int32_t> finish();

private:
    [[nodiscard]] result<bool> edit(shard_map_copy const& map, shard_map_draft& draft);

    std::int32_t shard_;
    std::string key_;
    also_type also_;
    std::int32_t upper_{-1}; ///< that was drawn up last
    shard_map_change change_;
};

/// Splits a range, as `split_shard` does: rules that name it name the upper half as well, by the same change.
[[nodiscard]] result<std::int32_t> split_range(lookup_map const& map, std::int32_t shard, std::string key);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/shard_splitting.ipp>
#endif
