// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `rows_elsewhere`: single steps with index rows in other partitions than their entities. Each may be taken again by anybody at any time,
/// and none takes away a row that an entity, or a writer that has not ended, has a right to.

#include <entitable/core/random.hpp>
#include <entitable/index/detail/index_family.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What became of a row that was to be put.
enum class put_end : std::uint8_t {
    done,
    taken, ///< its key in a unique index belongs to another entity
};

/// One call's way to rows of indexes. One thread at a time.
class rows_elsewhere {
public:
    /// Its requests are under a call like this one, without its operation id.
    rows_elsewhere(index_family const& of, call const& context, std::uint64_t seed)
        : family_(of), call_(context), random_(seed) {
        call_.operation_id.clear();
    }

    [[nodiscard]] call& context() noexcept { return call_; }
    /// While it lives the requests ignore the cancellation of the call, and keep its deadline: for what takes away an intent. A call that was
    /// cancelled must not keep the keys that it was about to take.
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

    /// A row with its version; nothing where there is none. Asks again where an answer is lost.
    [[nodiscard]] result<std::optional<get_entity::response>> read(table_core const& in, row_keys const& keys);
    [[nodiscard]] result<written> write(table_core const& in, mutation change);
    /// The intents of an entity.
    [[nodiscard]] result<std::vector<intent>> intents_of(row_keys const& entity);

    /// Puts a row of an index, whatever stood there; always writes, so that nobody who has looked before removes it. Asks `may_write` before
    /// each request that writes.
    [[nodiscard]] result<put_end> put(
        std::size_t index, row const& made, row_keys const& entity, function_ref<result<void>()> may_write);
    /// Takes away the row of an index that names an entity, unless that has a right to it. Says whether it was removed.
    [[nodiscard]] result<bool> settle(std::size_t index, row_keys const& keys, row_keys const& entity);
    /// Makes an intent undone, unless it is applied. What it is then; nothing where it is gone.
    [[nodiscard]] result<std::optional<intent_state>> undo(intent const& one);
    /// Brings an intent that nobody works at any more to its end.
    [[nodiscard]] result<void> apply(intent const& one);
    /// Waits a little, longer each time. An error where that was too often.
    [[nodiscard]] result<void> pause(std::uint32_t attempts, error const& because);
    /// Whether an error of a step is no reason to give up: others were faster, or an answer was lost.
    [[nodiscard]] static bool may_go_on(error const& problem) noexcept;

private:
    /// Whether an entity has the row of an index by now; then how it ought to be.
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
#include <entitable/index/impl/index_rows_elsewhere.ipp>
#endif
