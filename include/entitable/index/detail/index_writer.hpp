// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `index_writer`: what a transaction over an indexed table sends besides the changes of its body: index rows in the same transaction, and
/// the protocol of intents around it for those in other partitions.

#include <entitable/client/detail/transaction_scope.hpp>
#include <entitable/index/detail/index_rows_elsewhere.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Sends the requests of one call, attempt after attempt. One thread at a time.
///
/// The protocol, for an entity with rows elsewhere that come or go:
/// 1. Insert its intent, pending. 2. Put each new row, always written. 3. One transaction: the entity under its version, and the intent
/// applied under its own. 4. Settle each old row. 5. Remove the intent. Where 3 fails the intent is made undone first, which no late
/// request can pass, and then the new rows are settled. A removal inserts an intent that is applied already with the entity's removal.
/// So each entity has its index rows at every instant; a program that ends in between leaves rows too many, never one too few.
class index_writer {
public:
    index_writer(index_family const& family, index_states states, call const& context, std::uint64_t seed)
        : family_(family), states_(std::move(states)), elsewhere_(family, context, seed) {}

    [[nodiscard]] sent_transaction send(transaction_scope& all, bool announces);

    [[nodiscard]] std::uint32_t healed() const noexcept { return healed_; }
    [[nodiscard]] std::uint32_t unsettled() const noexcept { return unsettled_; }
    /// The version of the entity, where exactly one was written.
    [[nodiscard]] etag const& version() const noexcept { return version_; }
    /// What the last attempt went by.
    [[nodiscard]] index_states const& states() const noexcept { return states_; }
    /// The entities that the last attempt has written.
    [[nodiscard]] std::vector<std::string> const& entities() const noexcept { return entities_; }

private:
    /// A row elsewhere that comes, or goes, or both.
    struct move {
        std::size_t index;
        std::optional<row_keys> from;
        std::optional<row> to;
    };
    /// What becomes of one entity's rows elsewhere.
    struct moved_entity {
        intent told;
        std::vector<move> moves;
        bool removal{};
    };

    /// Looked at before each request that writes: no row is written by what was known before the lease ended. An error where the declaration
    /// has changed since (`changed_`: the body begins again), cannot be read, or has an index that this table does not have.
    [[nodiscard]] result<void> check_lease();
    /// Reads what is needed, and adds the changes of index rows in the same partition.
    [[nodiscard]] result<void> prepare(transaction_scope& all);
    [[nodiscard]] result<void> take_unique(transaction_scope& all, std::size_t index, row made);
    [[nodiscard]] result<void> drop_found(transaction_scope& all, std::size_t index, row const& old, row_keys owner);
    /// Sends until no index row that has to go, and is gone, is in the way.
    [[nodiscard]] result<transact::response> send_healing(transaction_scope& all, transact& request);
    [[nodiscard]] bool heal(transaction_scope& all, transact& request, error const& refused);

    [[nodiscard]] sent_transaction send_with_intents(transaction_scope& all, bool announces);
    [[nodiscard]] result<void> insert_intents(std::vector<moved_entity*> const& pending);
    [[nodiscard]] result<bool> put_rows(std::vector<moved_entity*> const& pending, error& taken);
    /// What became of the transaction, where that was not told: true when it was made.
    struct judgement {
        bool made{};
        bool never{}; ///< it was not made, and no late request can make it
    };
    [[nodiscard]] judgement give_up(std::vector<moved_entity*> const& pending, bool maybe);
    [[nodiscard]] std::optional<intent_state> state_of(moved_entity const& one, bool& known);
    /// Takes away what the transaction, which was made, has left behind.
    void finish();
    void note_version(transact const& request, transact::response const& made);

    index_family const& family_;
    index_states states_;
    rows_elsewhere elsewhere_;
    bool changed_{}; ///< the declaration is another one than this attempt went by
    std::vector<std::string> entities_;
    std::vector<std::string> removals_; // row keys of index rows that may be gone already
    std::vector<moved_entity> moved_;
    std::uint32_t healed_{};
    std::uint32_t unsettled_{};
    etag version_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/index/impl/index_writer.ipp>
#include <entitable/index/impl/index_writer_elsewhere.ipp>
#endif
