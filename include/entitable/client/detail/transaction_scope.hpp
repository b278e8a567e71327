// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of a partition transaction that does not depend on its entities: what a body reads with, and the loop around it.

#include <entitable/client/contention.hpp>
#include <entitable/client/detail/row_transaction.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/query/plan.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a partition transaction.
struct transaction_options {
    std::uint32_t max_attempts{50};     ///< when other writers are faster, the first one included; 0 counts as 1
    backoff delays{contention_backoff}; ///< the waits between attempts
    clock* time{&system_clock()};       ///< for the waits; must outlive the transaction
    std::uint64_t seed{};               ///< of the waits; 0 for one from the clock
    /// Whether a body that writes and is not exclusive conflicts with exclusive ones: one operation more. See `transaction::exclusive`.
    bool announces{};
};

/// A partition transaction that was applied.
struct transacted {
    std::uint32_t
        attempts{};     ///< how often the body ran; 0 where an earlier call under the same operation id has applied it
    bool changed{};     ///< whether something was written
    bool after_retry{}; ///< see `written`
};

namespace detail {

/// One attempt, and the way to the store. One thread at a time.
class transaction_scope {
public:
    transaction_scope(table_core const& core, std::string const& partition_key, call& context)
        : rows(core.name(), partition_key),
          through_(core.transport()),
          reading_(core.options().reading),
          call_(context) {}

    row_transaction rows; ///< what was read and is to be changed

    /// The row as the body has left it, read where that is needed, until the next change; nothing where there is none.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<row_view>> find(result<std::string> const& row_key);
    /// The same, and an absence that this body has found before is read again: for a decision of the library that rests on an absence, behind
    /// the row whose ETag fences it. Absent rows are no part of what a transaction guards. A row that came in between begins the body again.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<row_view>> find_now(std::string const& row_key);
    /// Shows the rows that satisfy a predicate: of one page, or of several where the body is exclusive.
    ENTITABLE_LAZY [[nodiscard]] result<void> for_each(predicate_nodes const& predicate, key_layout partition,
        key_layout row, function_ref<result<void>(row_view)> visit);
    /// See `transaction::exclusive`.
    ENTITABLE_LAZY [[nodiscard]] result<void> exclusive();
    /// Adds a change of a row that may not have been made.
    ENTITABLE_LAZY void change(mutation_kind kind, result<row> entity, bool forced);
    /// Whether all that was read stood so at one time.
    ENTITABLE_LAZY [[nodiscard]] result<bool> confirm();
    /// Whether the operation with the id of the call was applied by an earlier call. OperationVoid where it was given up.
    ENTITABLE_LAZY [[nodiscard]] result<bool> was_applied();
    [[nodiscard]] entitable::reading reading() const noexcept { return reading_; }
    /// Reads a row that is changed, where what it was has to be known.
    ENTITABLE_LAZY void look_at(std::string_view row_key);
    /// Sends the request of the attempt.
    ENTITABLE_LAZY [[nodiscard]] result<transact::response> send(transact const& request);
    /// The version of a row that was found.
    [[nodiscard]] etag version_of(std::string_view row_key) const { return rows.version_of(row_key); }
    [[nodiscard]] any_transport& transport() noexcept { return through_; }
    [[nodiscard]] call& context() noexcept { return call_; }

private:
    any_transport through_;
    entitable::reading reading_;
    call& call_;
    bool exclusive_{};
};

/// What became of the request of an attempt.
struct sent_transaction {
    result<transact::response> made;
    bool beaten{}; ///< another writer was faster: the body begins again
};

/// Makes the request of an attempt and sends it.
using transaction_sender = function_ref<sent_transaction(transaction_scope&, bool announces)>;
/// The one that adds nothing of its own.
ENTITABLE_LAZY [[nodiscard]] sent_transaction send_transaction(transaction_scope& all, bool announces);
/// How a refusal is reported to the caller, who did not write the request; and whether the body begins again.
ENTITABLE_LAZY [[nodiscard]] sent_transaction told_refusal(
    transaction_scope& all, transact const& request, error refused);

/// Runs a body until its transaction is made, or cannot be.
ENTITABLE_LAZY [[nodiscard]] result<transacted> run_transaction(table_core const& core,
    result<std::string> partition_key, transaction_options const& options,
    function_ref<result<void>(transaction_scope&)> body, transaction_sender send);
/// The same with the sender that adds nothing of its own.
ENTITABLE_LAZY [[nodiscard]] result<transacted> run_transaction(table_core const& core,
    result<std::string> partition_key, transaction_options const& options,
    function_ref<result<void>(transaction_scope&)> body);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/transaction_scope.ipp>
#endif
