// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `row_transaction`: one attempt of a partition transaction as plain data. It holds the rows read and the changes, makes the one request
/// that applies them, and evaluates the response. Does not depend on a transport or a clock.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/row_pointers.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/profile.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/row/system_rows.hpp>

#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A row before and after the changes of a body.
struct changed_row_views {
    std::optional<row_view> before; ///< as read; nullopt if it does not exist
    std::optional<row_view> after;  ///< nullopt if it was removed
    bool unread{};                  ///< must be read first, so that the replaced version is known
    bool archived{};                ///< removed without a change of its sums
};

/// The reads and changes in one partition. Used by one thread at a time.
class row_transaction {
public:
    /// Both must outlive it.
    row_transaction(std::string const& table, std::string const& partition_key);
    row_transaction(row_transaction const&) = delete;
    row_transaction& operator=(row_transaction const&) = delete;
    ~row_transaction();

    [[nodiscard]] std::string const& table() const noexcept { return table_; }
    [[nodiscard]] std::string const& partition_key() const noexcept { return partition_key_; }

    // ---- reading ----

    /// Whether the row must be read before `now_at` can return its state.
    ENTITABLE_LAZY [[nodiscard]] bool has_to_read(std::string_view row_key) const;
    /// Takes the response to a read, and returns the row as `now_at` does; an error other than a missing row ends the attempt.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<row_view>> take(
        std::string_view row_key, result<get_entity::response>&& found);
    /// Takes a row that a query found. False if it differs from the row found before; the attempt has then failed.
    ENTITABLE_LAZY [[nodiscard]] bool take(row_view found);
    /// Returns the row with the changes made so far, valid until the next change; nullopt if it does not exist. The row must have been
    /// read, unless `has_to_read` is false.
    ENTITABLE_LAZY [[nodiscard]] std::optional<row_view> now_at(std::string_view row_key);
    /// Version of a row that was read; empty if it was not read, or does not exist.
    ENTITABLE_LAZY [[nodiscard]] etag version_of(std::string_view row_key) const;
    /// A counter that increases whenever a view of `now_at` may have become invalid.
    [[nodiscard]] std::size_t looks() const noexcept { return looks_; }
    /// Counts a read request.
    void count_read() noexcept { ++reads_; }
    [[nodiscard]] std::size_t reads() const noexcept { return reads_; }
    /// Whether the rows read never existed at the same time.
    [[nodiscard]] bool in_vain() const noexcept { return in_vain_; }
    /// Marks the rows read as inconsistent: the body starts over.
    void begin_again() noexcept { in_vain_ = true; }
    /// Whether the row was read, did not exist, and has no changes.
    ENTITABLE_LAZY [[nodiscard]] bool remembers_absence(std::string_view row_key) const;

    // ---- changing ----

    /// Adds a change to the pending changes of its row. Without `forced`, a row that must exist must have been read. A
    /// version in its condition refers to the stored row, even if the body has changed the row before; if it differs, the attempt ends with
    /// UpdateConditionNotSatisfied.
    ENTITABLE_LAZY void add(
        mutation_kind kind, row&& entity, etag_condition const& expected, entitable::removal sums, bool forced);
    /// Whether the caller has passed the version of the row. A mismatch is then returned, and the body does not start over.
    ENTITABLE_LAZY [[nodiscard]] bool expects_version(std::string_view row_key) const;
    /// Requires the row to exist at the end.
    ENTITABLE_LAZY void require_row(std::string row_key);
    /// At the end of the body: ends the attempt with an error if a required row is known not to exist.
    ENTITABLE_LAZY void check_required();
    /// Serializes the bodies that call this function: each reads and writes the row of exclusive transactions.
    ENTITABLE_LAZY void exclude_others();
    /// Ends the attempt with an error, whatever the body does next. The first error counts.
    ENTITABLE_LAZY void refuse(failure problem);
    [[nodiscard]] result<void> const& problem() const noexcept { return problem_; }
    /// Whether any row is changed.
    ENTITABLE_LAZY [[nodiscard]] bool changes() const noexcept;
    /// Whether there is something to send: changes, or rows that must exist.
    ENTITABLE_LAZY [[nodiscard]] bool writes() const noexcept;

    // ---- for code that adds its own changes to the changes of a body ----

    /// Row keys of the changed entities, in order.
    ENTITABLE_LAZY [[nodiscard]] std::vector<std::string> changed_entities() const;
    /// Returns a row as read and as changed. Valid until the next change of this row.
    ENTITABLE_LAZY [[nodiscard]] changed_row_views look_at(std::string_view row_key);
    /// Visits the rows of the request; rows without a change are only guarded or required.
    ENTITABLE_LAZY void for_each_written(
        function_ref<void(std::string const& row_key, mutation const* change)> visit) const;
    /// Returns the row as read; nullopt if it was not read, or does not exist.
    ENTITABLE_LAZY [[nodiscard]] std::optional<row_view> stored_at(std::string_view row_key) const;

    // ---- the requests ----

    /// Makes the transaction: exact versions first, then rows that must exist, then changes under any version, then inserts.
    /// So if a later change is refused, no version had changed. Errors: InvalidInput if it would be too large. Called once.
    ENTITABLE_LAZY [[nodiscard]] result<transact> request(bool announces, profile const& limits);
    /// Whether a refusal shows that another writer came first.
    ENTITABLE_LAZY [[nodiscard]] bool was_beaten(error const& refused, transact const& request) const;
    /// Whether the rows read must be confirmed before a result is based on them: this is not needed if they came in one
    /// response, or if there are no such rows.
    ENTITABLE_LAZY [[nodiscard]] bool has_to_confirm() const noexcept;
    /// Returns one query for all rows read.
    ENTITABLE_LAZY [[nodiscard]] query_entities confirmation(profile const& limits) const;
    /// Whether all rows read are still unchanged. Errors: QueryTooComplex if the response does not fit on one page.
    ENTITABLE_LAZY [[nodiscard]] result<bool> confirmed(query_entities::response const& found) const;

private:
    /// Position of the first row whose key is not less.
    ENTITABLE_LAZY [[nodiscard]] std::size_t lower_bound(std::string_view row_key) const noexcept;
    /// State of a row that was read or changed; null if there is none.
    ENTITABLE_LAZY [[nodiscard]] held_row* known(std::string_view row_key) const noexcept;
    ENTITABLE_LAZY [[nodiscard]] std::optional<row_view> now_at(held_row& one);
    /// State of a row, which is empty at first.
    ENTITABLE_LAZY [[nodiscard]] held_row& held(std::string_view row_key);
    ENTITABLE_LAZY void add_to(held_row& one, mutation&& change);
    /// Records the version that the caller expects; false if the row is known not to have it.
    ENTITABLE_LAZY [[nodiscard]] bool expect(held_row& one, etag_condition const& expected);
    ENTITABLE_LAZY void refuse_row(error_code code, std::string_view why, std::string_view row_key);

    std::string const& table_;
    std::string const& partition_key_;
    row_pointers rows_; ///< in the order of their keys, owned; most rows come in that order
    result<void> problem_;
    std::size_t reads_{};
    std::size_t looks_{};
    bool in_vain_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/row_confirmation.ipp>
#include <entitable/client/impl/row_transaction.ipp>
#endif

#endif
