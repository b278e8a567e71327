// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `row_transaction`: one attempt of a partition transaction as plain data. It keeps what was read and what is to be changed, makes
/// the one request that does it all, and judges the answer. Knows no transport and no clock.

#include <entitable/core/shared.hpp>
#include <entitable/request/profile.hpp>
#include <entitable/request/requests.hpp>
#include <entitable/row/system_rows.hpp>

#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct held_row;
class held_rows;

/// What is read and changed in one partition. One thread at a time.
class row_transaction {
public:
    row_transaction(std::string table, std::string partition_key);
    row_transaction(row_transaction const&) = delete;
    row_transaction& operator=(row_transaction const&) = delete;
    ~row_transaction();

    [[nodiscard]] std::string const& table() const noexcept { return table_; }
    [[nodiscard]] std::string const& partition_key() const noexcept { return partition_key_; }

    // ---- reading ----

    /// Whether the row has to be read before `now_at` can say how it stands.
    ENTITABLE_LAZY [[nodiscard]] bool has_to_read(std::string_view row_key) const;
    /// Takes the answer to a read; an error that says more than that there is none ends the attempt.
    ENTITABLE_LAZY [[nodiscard]] result<void> take(std::string_view row_key, result<get_entity::response> found);
    /// Takes a row that a query found. False where it is another one than before: then the attempt is in vain.
    ENTITABLE_LAZY [[nodiscard]] bool take(row_view found);
    /// How the row stands with the changes that were made, until the next change; nothing where it is not there. It was read, or needs not
    /// be.
    ENTITABLE_LAZY [[nodiscard]] std::optional<row_view> now_at(std::string_view row_key);
    /// The version of a row that was read; an empty one where it was not, or is not there.
    ENTITABLE_LAZY [[nodiscard]] etag version_of(std::string_view row_key) const;
    /// Rises whenever a view of `now_at` may have ended.
    [[nodiscard]] std::size_t looks() const noexcept { return looks_; }
    /// Counts a request that reads.
    void count_read() noexcept { ++reads_; }
    [[nodiscard]] std::size_t reads() const noexcept { return reads_; }
    /// Whether rows were read that never stood so together.
    [[nodiscard]] bool in_vain() const noexcept { return in_vain_; }
    /// What was read stood so at no one time: the body begins again.
    void begin_again() noexcept { in_vain_ = true; }
    /// Whether the row was read and was not there, and is not changed.
    ENTITABLE_LAZY [[nodiscard]] bool remembers_absence(std::string_view row_key) const;

    // ---- changing ----

    /// Adds a change to those of its row. Without `forced` a row that must exist is one that was read.
    ENTITABLE_LAZY void add(mutation change, bool forced);
    /// The row must be there at the end.
    ENTITABLE_LAZY void require_row(std::string row_key);
    /// At the end of the body: refuses where a row that is required is known not to be there.
    ENTITABLE_LAZY void check_required();
    /// Bodies that do this are serial: the row of exclusive transactions was read, and is written.
    ENTITABLE_LAZY void exclude_others();
    /// Ends the attempt, whatever the body does next. The first one counts.
    ENTITABLE_LAZY void refuse(failure problem);
    [[nodiscard]] result<void> const& problem() const noexcept { return problem_; }
    /// Whether a row is changed.
    ENTITABLE_LAZY [[nodiscard]] bool changes() const noexcept;
    /// Whether there is something to send: changes, or rows that must be there.
    ENTITABLE_LAZY [[nodiscard]] bool writes() const noexcept;

    // ---- for what adds changes of its own to those of a body ----

    /// The row keys of the entities that are changed, in order.
    ENTITABLE_LAZY [[nodiscard]] std::vector<std::string> changed_entities() const;
    /// Whether a change is of a row that has to be read for the row that it replaces to be known.
    ENTITABLE_LAZY [[nodiscard]] bool is_changed_unread(std::string_view row_key) const;
    /// The row as it was read; nothing where it was not, or is not there.
    ENTITABLE_LAZY [[nodiscard]] std::optional<row_view> stored_at(std::string_view row_key) const;

    // ---- the requests ----

    /// The transaction: exact versions first, then what must be there, then what goes under any version, then inserts. So a refusal at
    /// a later change says that each version was still the one that was read. InvalidInput where it would be too large.
    /// Asked once.
    ENTITABLE_LAZY [[nodiscard]] result<transact> request(bool announces, profile const& limits);
    /// Whether a refusal says that another writer was faster.
    ENTITABLE_LAZY [[nodiscard]] bool was_beaten(error const& refused, transact const& request) const;
    /// Whether what was read has to be read again before it is reported: not what came in one answer, and not nothing.
    ENTITABLE_LAZY [[nodiscard]] bool has_to_confirm() const noexcept;
    /// One query for all that was read.
    ENTITABLE_LAZY [[nodiscard]] query_entities confirmation(profile const& limits) const;
    /// Whether all of it still stands as it was read. QueryTooComplex where one page does not hold the answer.
    ENTITABLE_LAZY [[nodiscard]] result<bool> confirmed(query_entities::response const& found) const;

private:
    /// What is known of a row.
    ENTITABLE_LAZY [[nodiscard]] held_row& held(std::string_view row_key);
    ENTITABLE_LAZY void add_to(held_row& one, mutation change);
    ENTITABLE_LAZY void refuse_row(error_code code, std::string_view why, std::string_view row_key);

    std::string table_;
    std::string partition_key_;
    shared<held_rows> rows_; ///< by row key
    result<void> problem_;
    std::size_t reads_{};
    std::size_t looks_{};
    bool in_vain_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/row_transaction.ipp>
#endif
