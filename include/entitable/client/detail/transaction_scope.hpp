// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of a partition transaction that does not depend on its entities: the reads of a body, and the loop around it.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/contention.hpp>
#include <entitable/client/detail/row_transaction.hpp>
#include <entitable/client/mapping/key_pattern.hpp>
#include <entitable/client/query/plan.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/function_ref.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a partition transaction.
struct transaction_options {
    std::uint32_t max_attempts{50};     ///< maximum number of attempts, including the first; 0 counts as 1
    backoff delays{contention_backoff}; ///< delays between attempts
    clock* time{&system_clock()};       ///< clock for the delays; must outlive the transaction
    std::uint64_t seed{};               ///< seed for the delays; 0 for a seed from the clock
    /// Whether a body that writes and is not exclusive conflicts with exclusive bodies, at the cost of one more operation. See
    /// `transaction::exclusive`.
    bool announces{};
};

/// A partition transaction that was applied.
struct transacted {
    std::uint32_t attempts{};  ///< runs of the body; 0 if an earlier call under the same operation id was applied
    bool changed{};            ///< whether anything was written
    bool after_retry{};        ///< see `written`
    std::uint16_t healed{};    ///< see `written`
    std::uint16_t unsettled{}; ///< see `written`
};

namespace detail {

/// One attempt, with its access to the store. Used by one thread at a time.
class transaction_scope {
public:
    transaction_scope(table_core const& core, std::string const& partition_key, call& context)
        : rows(core.name(), partition_key), through_(core.store()), reading_(core.options().reading), call_(context) {}

    row_transaction rows; ///< the rows read, and the changes

    /// Returns the row as the body has left it, read if needed, valid until the next change; nullopt if it does not exist.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<row_view>> find(result<std::string> const& row_key);
    /// Does the same for a key that was made.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<row_view>> find_row(std::string_view row_key);
    /// Does the same, but reads a row again that this body has found absent: for a decision of the library that relies on the absence,
    /// which the ETag of another row protects. Absent rows are not guarded by a transaction. If the row was inserted in the meantime, the
    /// body starts over.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<row_view>> find_now(std::string const& row_key);
    /// Visits the rows that satisfy a predicate, on one page, or on several if the body is exclusive. Skips rows of
    /// other types, if `type` is set.
    ENTITABLE_LAZY [[nodiscard]] result<void> for_each(predicate_nodes const& predicate, key_layout partition,
        key_layout row, type_pattern const* type, function_ref<result<void>(row_view)> visit);
    /// See `transaction::exclusive`.
    ENTITABLE_LAZY [[nodiscard]] result<void> exclusive();
    /// Adds a change of a row, which may be an error instead. `expected`: see `row_transaction::add`.
    ENTITABLE_LAZY void change(mutation_kind kind, result<row>&& entity, bool forced,
        etag_condition const& expected = any_etag, entitable::removal sums = {});
    /// Whether all rows read existed at the same time.
    ENTITABLE_LAZY [[nodiscard]] result<bool> confirm();
    /// Whether an earlier call applied the operation with the call's id. Errors: OperationVoid if it was abandoned.
    ENTITABLE_LAZY [[nodiscard]] result<bool> was_applied();
    [[nodiscard]] entitable::reading reading() const noexcept { return reading_; }
    /// Returns a changed row as stored and as changed; reads it if its stored version is not known. Check `problem` of the rows.
    ENTITABLE_LAZY [[nodiscard]] changed_row_views look_at(std::string_view row_key);
    /// Sends the request of the attempt.
    ENTITABLE_LAZY [[nodiscard]] result<transact::response> send(transact const& request);
    /// Version of a row that was found.
    ENTITABLE_LAZY [[nodiscard]] etag version_of(std::string_view row_key) const;
    [[nodiscard]] any_store const& store() const noexcept { return through_; }
    [[nodiscard]] call& context() noexcept { return call_; }

private:
    /// Reads a row, which was not read before.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<row_view>> read_row(std::string_view row_key);

    any_store const& through_;
    entitable::reading reading_;
    call& call_;
    bool exclusive_{};
};

/// The outcome of an attempt's request.
struct sent_transaction {
    result<transact::response> made;
    bool beaten{}; ///< set if another writer came first: the body starts over
};

/// Makes and sends the request of an attempt.
using transaction_sender = function_ref<sent_transaction(transaction_scope&, bool announces)>;
/// Sends only the changes of the body: this sender adds no changes.
ENTITABLE_LAZY [[nodiscard]] sent_transaction send_transaction(transaction_scope& all, bool announces);
/// Rewrites the error of a refused request in terms of the caller's own operations, and decides whether the body starts over.
ENTITABLE_LAZY [[nodiscard]] sent_transaction told_refusal(
    transaction_scope& all, transact const& request, error refused);

/// Runs a body until its transaction is applied or fails.
ENTITABLE_LAZY [[nodiscard]] result<transacted> run_transaction(table_core const& core,
    result<std::string> partition_key, transaction_options const& options,
    function_ref<result<void>(transaction_scope&)> body, transaction_sender send);
/// Does the same with the sender that adds no changes.
ENTITABLE_LAZY [[nodiscard]] result<transacted> run_transaction(table_core const& core,
    result<std::string> partition_key, transaction_options const& options,
    function_ref<result<void>(transaction_scope&)> body);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/transaction_scope.ipp>
#endif

#endif
