// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Changes that include merges which remove properties. A merge of the service cannot do that, so each becomes a replacement of the entity
/// that was read.

#include <entitable/client/contention.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/requests.hpp>

#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads the rows that lose properties, one after the other, merges their changes into them and submits all changes;
/// these rows are written under the ETags that were read. Starts over if another writer changed a row first.
class removing_batch {
public:
    static constexpr std::uint32_t max_attempts = 50; ///< including the first

    /// The changes, and the indexes of one or more merges that remove properties. `seed`: the seed for the delays. If `allowed` is an
    /// error, it sends nothing.
    ENTITABLE_LAZY removing_batch(
        transact changes, std::vector<std::size_t> removing, std::uint64_t seed, result<void> allowed);

    ENTITABLE_LAZY [[nodiscard]] operation_step next() const noexcept;
    ENTITABLE_LAZY void answer(result<get_entity::response> found, steady_time);
    ENTITABLE_LAZY void answer(result<transact::response> sent, steady_time now);
    ENTITABLE_LAZY void abandon(error const& reason);
    ENTITABLE_LAZY [[nodiscard]] result<transact::response> finish();

private:
    ENTITABLE_LAZY void begin();
    ENTITABLE_LAZY void read_next();
    ENTITABLE_LAZY [[nodiscard]] bool beaten(error const& problem) const noexcept;

    transact given_;
    std::vector<std::size_t> removing_;
    random_source random_;
    get_entity reading_;
    transact sending_;
    std::size_t at_{}; ///< index in `removing_` of the next read
    std::uint32_t attempts_{};
    steady_time not_before_{(steady_time::min)()};
    std::optional<result<transact::response>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
