// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `index_writer`: adds the changes of index rows and sums to a transaction of entities: in the same transaction, and by the protocol of
/// intents for index rows in other partitions.

#include <entitable/client/companions/index/detail/index_rows_elsewhere.hpp>
#include <entitable/client/detail/transaction_scope.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct request_parts;

/// Adds to an error the name of the companion whose row cannot be written, and the entity if its content is the cause.
[[nodiscard]] failure of_companion(failure why, std::string_view described, row_keys const& entity);

/// Sends the requests of one call, attempt after attempt. Used by one thread at a time.
///
/// The protocol, for an entity whose rows in other partitions are added or removed:
/// 1. Insert its intent, pending. 2. Put each new row, even if it is already stored. 3. One transaction: the entity under its version, and
///   the intent marked applied under its own. 4. Settle each old row. 5. Remove the intent. If step 3 fails, the intent is marked undone
///   first, which no late request can pass, and then the new rows are settled. A removal inserts an intent that is already applied together
///   with the entity's removal. So each entity has its index rows at every instant; a program that ends in between leaves surplus rows,
///   never missing ones.
class index_writer {
public:
    index_writer(index_family const& family, shared<index_states> states, call const& context, std::uint64_t seed)
        : family_(family), states_(std::move(states)), elsewhere_(family, context, seed) {
        if (family.log) { log_.emplace(family.main, *family.log, family.seed_of_ids(), *family.options.time); }
    }

    [[nodiscard]] sent_transaction send(transaction_scope& all, bool announces);

    [[nodiscard]] std::uint32_t healed() const noexcept { return healed_; }
    [[nodiscard]] std::uint32_t unsettled() const noexcept { return unsettled_; }
    /// Versions of `entities`; none if the response was lost.
    [[nodiscard]] std::vector<etag> take_versions() noexcept { return std::move(versions_); }
    [[nodiscard]] std::vector<std::string> take_entities() noexcept { return std::move(entities_); }
    /// The states that the last attempt relied on.
    [[nodiscard]] index_states const& states() const noexcept { return *states_; }
    /// Row keys of the entities that the last attempt wrote, in order.
    [[nodiscard]] std::vector<std::string> const& entities() const noexcept { return entities_; }

private:
    /// A row in another partition that is added, removed, or both.
    struct move {
        std::size_t index;
        std::optional<row_keys> from;
        std::optional<row> to;
    };
    /// The changes of one entity's rows in other partitions.
    struct moved_entity {
        intent told;
        std::vector<move> moves;
        bool removal{};
    };

    /// A changed entity.
    struct changed_entity {
        std::string_view row_key; ///< one of `entities_`
        index_rows before;        ///< empty without an entity
        index_rows after;
    };

    /// A changed entity that is counted in sums. Its rows stay valid: after `prepare`, only other rows are changed.
    struct counted_entity {
        entity_type const* of;
        changed_row_views rows;
        decoded_entity before;
        decoded_entity after;

        /// The row of either; both have the same key.
        [[nodiscard]] row_view const& any_row() const noexcept { return rows.after ? *rows.after : *rows.before; }
    };

    /// The row keys of the sums in which an entity is counted; empty if they do not change.
    struct changed_places {
        std::optional<std::string> from;
        std::optional<std::string> to;
    };

    /// Called before each request that writes: no row is written under an expired lease. Returns an error if the
    /// declaration has changed since (`changed_`: the body starts over), cannot be read, or contains an index that this
    /// table does not declare.
    [[nodiscard]] result<void> check_lease();
    /// Reads the required rows, and adds the changes of index rows in the same partition.
    [[nodiscard]] result<void> prepare(transaction_scope& all);
    /// Adds the changes of sums. This is the last step before the request.
    [[nodiscard]] result<void> add_sums(transaction_scope& all);
    [[nodiscard]] result<void> change_sums(
        transaction_scope& all, counted_entity const& one, counted_type const& how) const;
    [[nodiscard]] result<void> find_places(
        counted_entity const& one, counted_type const& how, changed_places& at) const;
    /// Decodes a changed entity before and after its change, and makes its index rows.
    [[nodiscard]] result<void> derive(entity_type const& of, changed_row_views const& rows, changed_entity& made);
    /// Does the same for an entity without a row before, and adds its index rows to the transaction.
    [[nodiscard]] result<void> derive_inserted(
        transaction_scope& all, entity_type const& of, changed_row_views const& rows);
    /// Adds the entry of the change log.
    [[nodiscard]] result<void> add_log(transaction_scope& all, transact& request);
    /// Whether changes of entities are logged.
    [[nodiscard]] bool logs() const noexcept { return log_ && states_->keeps(family_.log->companion); }
    /// Adds a row of an index in the partition of the entities.
    [[nodiscard]] result<void> add_index_row(transaction_scope& all, std::size_t index, row&& made);
    [[nodiscard]] result<void> put_index_rows(transaction_scope& all, std::vector<changed_entity>& changed);
    /// Refuses a transaction that would be too large, before anything is written in other partitions.
    [[nodiscard]] result<void> check_limits(transaction_scope& all, bool announces) const;
    [[nodiscard]] request_parts parts_of(transaction_scope const& all, bool exact) const;
    [[nodiscard]] failure too_many(transaction_scope& all) const;
    /// Refuses rows in other partitions, and intents, that cannot be stored: a later step could neither put nor settle them.
    [[nodiscard]] result<void> check_moves(profile const& limits) const;
    /// Adds to an error the companion whose row was refused, and its entity.
    [[nodiscard]] error named(error refused, transact const& request) const;
    [[nodiscard]] result<void> take_unique(transaction_scope& all, std::size_t index, row made);
    [[nodiscard]] result<void> drop_found(transaction_scope& all, std::size_t index, row const& old, row_keys owner);
    /// Repeats the transaction while it fails because an index row to be removed no longer exists.
    [[nodiscard]] result<transact::response> send_healing(transaction_scope& all, transact& request);
    [[nodiscard]] bool heal(transaction_scope& all, transact& request, error const& refused);

    [[nodiscard]] sent_transaction send_with_intents(transaction_scope& all, bool announces);
    [[nodiscard]] result<void> insert_intents(std::vector<moved_entity*> const& pending);
    [[nodiscard]] result<bool> put_rows(std::vector<moved_entity*> const& pending, error& taken);
    /// Outcome of a transaction whose response was lost: true if it was applied.
    struct judgement {
        bool made{};
        bool never{}; ///< set if it was not applied, and no late request can apply it
    };
    [[nodiscard]] judgement give_up(std::vector<moved_entity*> const& pending, bool maybe);
    [[nodiscard]] std::optional<intent_state> state_of(moved_entity const& one, bool& known);
    /// Removes the leftovers of the applied transaction.
    void finish();
    void note_versions(transact const& request, transact::response& made);

    index_family const& family_;
    shared<index_states> states_;
    rows_elsewhere elsewhere_;
    std::optional<log_writer> log_;
    bool asked_log_{}; ///< whether the declaration was read again because of another log
    bool changed_{};   ///< the declaration differs from the declaration that this attempt relied on
    std::vector<std::string> entities_;
    std::vector<std::string> removals_; // row keys of index rows that may no longer exist
    std::vector<moved_entity> moved_;
    std::vector<counted_entity> counted_;
    std::uint32_t healed_{};
    std::uint32_t unsettled_{};
    std::vector<etag> versions_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/index_writer.ipp>
#include <entitable/client/companions/index/impl/index_writer_elsewhere.ipp>
#include <entitable/client/companions/index/impl/index_writer_limits.ipp>
#include <entitable/client/companions/index/impl/index_writer_sums.ipp>
#endif
