// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `bulk_part`: writes rows of one partition to a table, as a resumable operation. It sends them as one transaction, and determines which
/// of them are refused, and which need no write.

#include <entitable/core/backoff.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/shared.hpp>

#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Operation of a load on each row.
enum class bulk_mode : std::uint8_t {
    insert,
    insert_or_replace,
    insert_or_merge,
    remove, ///< removes under the ETag that was read
    update, ///< replaces under the ETag that was read
};

/// Outcome of a row.
enum class bulk_end : std::uint8_t {
    written,
    already_there, ///< no write was needed
    refused,
};

/// A settled row.
struct bulk_settled {
    std::uint64_t index;
    mutation change;
    bulk_end end;
    std::optional<error> why; ///< error of a refused row
};

/// Returns the row to write in place of a row that was read; nullopt leaves it unchanged.
using bulk_change = function_ref<result<std::optional<row>>(row_view)>;

/// Whether the service throttled the request: 429, 503.
[[nodiscard]] bool is_pressure(error const& problem) noexcept;
/// Whether no other row can succeed: the table is missing, writes are not permitted, the disk is full.
[[nodiscard]] bool ends_load(error const& problem, bulk_mode mode) noexcept;

/// The reads that check which rows of a part are stored.
struct bulk_questions {
    page_cursor<query_entities> looking{query_entities{}};
    get_entity reading;
    std::size_t at{};                ///< the row in question
    std::size_t pages{};             ///< pages read
    std::vector<std::size_t> order;  ///< the rows by their row keys
    std::vector<std::uint8_t> found; ///< state of each row: 0 not found, 1 equal, 2 different
    std::optional<error> why;        ///< the refusal that caused the reads
};

/// Rows of one partition. Rows are removed once they are settled; the rest is written at the end, or split.
class bulk_part : public counted {
public:
    /// There must be as many indexes as changes. `change` is for `update`, and must outlive the part.
    bulk_part(bulk_mode mode, transact rows, std::vector<std::uint64_t> indexes, bulk_change const* change);

    [[nodiscard]] operation_step next() const noexcept;
    void answer(result<transact::response> done, steady_time now);
    void answer(result<written> done, steady_time now);
    void answer(result<query_entities::response> page, steady_time now);
    void answer(result<get_entity::response> found, steady_time now);
    void abandon(error const& reason) { ended_.emplace(reason); }

    /// Whether all remaining rows were written.
    [[nodiscard]] bool all_written() const noexcept { return all_written_; }
    /// Rows that were settled individually since the last call.
    [[nodiscard]] std::vector<bulk_settled> take_settled() { return std::exchange(settled_, {}); }
    /// Parts that have taken over rows of this part, since the last call.
    [[nodiscard]] std::vector<shared<bulk_part>> take_split() { return std::exchange(split_, {}); }
    /// An error that ends the whole load.
    [[nodiscard]] std::optional<error> const& ended() const noexcept { return ended_; }
    /// Refuses the only remaining row: it has failed often, while other rows succeeded.
    void give_up(error const& why);

    [[nodiscard]] std::string_view partition_key() const noexcept { return first().partition_key(); }
    [[nodiscard]] std::size_t size() const noexcept { return indexes_.size(); }
    [[nodiscard]] std::uint64_t index(std::size_t at) const noexcept { return indexes_[at]; }
    [[nodiscard]] mutation const& change(std::size_t at) const noexcept {
        return single_ ? one_.change : rows_.changes[at];
    }
    /// Number of consecutive failures, not counting throttling, and the time of the first failure.
    [[nodiscard]] std::uint32_t failures() const noexcept { return failures_; }
    [[nodiscard]] steady_time failing_since() const noexcept { return failing_since_; }
    [[nodiscard]] bool writes() const noexcept { return phase_ == phase::write; }

    // used by the sender
    call context;
    steady_time sent_at{};
    double booked{};          ///< request units booked for the request
    void* partition{};        ///< the limits on its partition, if any
    std::size_t running_at{}; ///< its place among the pending parts
    std::size_t weight{};     ///< how many pending single rows the request counts as

private:
    enum class phase : std::uint8_t { write, look, read };

    [[nodiscard]] row const& first() const noexcept { return change(0).entity; }
    void take_failure(error const& why, steady_time now);
    void ask_about(std::size_t at, error const& why);
    void look();
    void end_look(bool complete);
    void read(std::size_t at);
    void settle(std::size_t at, bulk_end end, std::optional<error> why = {});
    void refuse(std::size_t at, error why);
    void end_row(); ///< settles a single row, then continues with the other rows
    void take_out(std::size_t at);
    void split(bool into_rows);
    [[nodiscard]] shared<bulk_part> part_of(std::size_t from, std::size_t to);
    void begin_write();
    void change_again(get_entity::response found);
    [[nodiscard]] error loss(error why) const;

    bulk_mode mode_;
    phase phase_{phase::write};
    bool single_{};
    bool all_written_{};
    bool done_{}; ///< no row is left
    bool lost_{}; ///< a response to a write was lost
    bool looked_{};
    std::uint8_t level_{}; ///< 0: a transaction, 1: a part of a refused transaction, 2: a row
    std::uint8_t refusals_{};
    std::uint32_t failures_{};
    std::uint32_t changes_{}; ///< number of times that a row was changed again
    steady_time failing_since_{};
    steady_time not_before_{(steady_time::min)()};
    transact rows_;    ///< request for several rows
    write_entity one_; ///< request for one row
    std::vector<std::uint64_t> indexes_;
    bulk_change const* change_;
    std::vector<bulk_settled> settled_;
    std::vector<shared<bulk_part>> split_;
    std::optional<error> ended_;

    std::optional<bulk_questions> asking_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/load/impl/bulk_part.ipp>
#endif
