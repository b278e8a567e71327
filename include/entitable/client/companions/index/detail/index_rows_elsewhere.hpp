// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `rows_elsewhere`: single steps on index rows that are in partitions other than those of their entities. Any program
/// may repeat a step at any time, and no step removes a row that belongs to an entity, or to a writer that has not
/// ended.

#include <entitable/client/companions/index/detail/index_family.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/transport/contention.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Outcome of putting a row.
enum class put_end : std::uint8_t {
    done,
    taken, ///< another entity owns its key in a unique index
};

/// Reads and writes index rows on behalf of one call. Used by one thread at a time.
class rows_elsewhere {
public:
    /// The requests of this object use a copy of this call without the operation id.
    rows_elsewhere(index_family const& of, call const& context, std::uint64_t seed)
        : family_(of), call_(context), random_(seed) {
        call_.operation_id.clear();
    }

    [[nodiscard]] call& context() noexcept { return call_; }
    /// While an object of this class exists, requests ignore the cancellation of the call, but not its deadline. Used to remove intents: a
    /// cancelled call must release the keys that it was about to take.
    class uncancelled {
    public:
        explicit uncancelled(rows_elsewhere& of) noexcept
            : of_(of), held_(std::exchange(of.call_.cancellation, cancellation_token{})) {}
        uncancelled(uncancelled const&) = delete;
        uncancelled& operator=(uncancelled const&) = delete;
        ~uncancelled() { of_.call_.cancellation = std::move(held_); }

    private:
        rows_elsewhere& of_;
        cancellation_token held_;
    };
    [[nodiscard]] index_family const& family() const noexcept { return family_; }
    [[nodiscard]] std::uint64_t draw() noexcept { return random_.bits(); }

    /// Reads a row with its version; nullopt if it does not exist. Repeats the request if a response is lost.
    [[nodiscard]] result<std::optional<get_entity::response>> read(table_core const& in, row_keys const& keys);
    [[nodiscard]] result<written> write(table_core const& in, mutation change);
    /// Returns the intents of an entity.
    [[nodiscard]] result<std::vector<intent>> intents_of(row_keys const& entity);

    /// Puts a row of an index, whatever is stored there; always writes, so that a program that read the row earlier cannot remove it. Calls
    /// `may_write` before each request that writes.
    [[nodiscard]] result<put_end> put(
        std::size_t index, row const& made, row_keys const& entity, function_ref<result<void>()> may_write);
    /// Removes the row of an index that names an entity, unless the entity owns it. Returns whether it was removed.
    [[nodiscard]] result<bool> settle(std::size_t index, row_keys const& keys, row_keys const& entity);
    /// Marks an intent as undone, unless it is applied. Returns its state afterwards; nullopt if it was removed.
    [[nodiscard]] result<std::optional<intent_state>> undo(intent const& one);
    /// Completes an intent whose writer has ended.
    [[nodiscard]] result<void> apply(intent const& one);
    /// Waits before the next attempt, longer each time. Errors: `because` after too many attempts.
    [[nodiscard]] result<void> pause(contention& rivals, error const& because);
    /// The attempts of one step.
    [[nodiscard]] contention contend() const noexcept { return {family_.options.max_attempts, family_.options.delays}; }
    /// Whether to continue after an error of a step: other writers were faster, or a response was lost.
    [[nodiscard]] static bool may_go_on(error const& problem) noexcept;

private:
    /// Returns the expected row if an entity now has the row of an index.
    [[nodiscard]] result<std::optional<row>> wanted(std::size_t index, row_keys const& keys, row_keys const& entity);
    /// Whether the row of a unique index that names another entity may be taken over.
    [[nodiscard]] result<bool> is_free(
        std::size_t index, row_keys const& keys, row_keys const& owner, std::uint32_t attempts);

    index_family const& family_;
    call call_;
    random_source random_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/index_rows_elsewhere.ipp>
#endif
