// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `log_writer`: adds the entry of a transaction to the change log, in the same transaction, and decides what a refused or lost request has
/// done.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/log/detail/feed_rows.hpp>
#include <entitable/client/companions/log/detail/log_rows.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/shared.hpp>

#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The heads of the lanes that this program has written last, so that its next write does not read them. Thread safety: safe to use from
/// several threads.
class log_heads {
public:
    /// Returns the head; nullopt if it is not known. A head that was not read is never known to be absent.
    [[nodiscard]] std::optional<log_head> find(std::string_view partition_key, std::uint32_t lane) const;
    void put(std::string_view partition_key, std::uint32_t lane, log_head head);
    void forget(std::string_view partition_key, std::uint32_t lane);

private:
    struct slot {
        std::string partition_key;
        std::uint32_t lane{};
        std::optional<log_head> head;
    };
    static constexpr std::size_t most = 1024;
    [[nodiscard]] static std::size_t place_of(std::string_view partition_key, std::uint32_t lane) noexcept;

    mutable std::mutex guard_;
    std::vector<slot> slots_; ///< by a hash; a later lane takes the slot of an earlier one
};

/// The change log of a table.
struct log_of_table : counted {
    log_of_table(std::size_t of_lanes, std::size_t position, std::size_t announcements)
        : lanes(of_lanes), companion(position), feed_lanes(announcements) {}

    std::size_t const lanes;
    std::size_t const companion;  ///< position among the companions of the table
    std::size_t const feed_lanes; ///< lanes of the announcements; 0 without announcements
    log_heads mutable heads;
};

/// What a failed request with log rows has done, and what follows.
enum class log_verdict : std::uint8_t {
    not_concerned, ///< the failure does not concern the log
    begin_again,   ///< nothing was applied or will be: another writer was faster, or the request was stopped
    applied,       ///< the request was applied
    unknown,       ///< cannot be decided
};

/// Adds log rows to the requests of one call, attempt after attempt. Used by one thread at a time.
///
/// The protocol: 1. Know the head of each lane, or read it. 2. One transaction: each head replaced under its version (or inserted), the
/// entry with the next number inserted, and the changes. 3. Refused at a head: begin again. 4. No response, or a refusal of a request that
/// was repeated: read the entry. With the id of this request, it was applied. With another id it was not and never will be, because a
/// version never comes back. Without an entry, a void entry takes the number, which stops the request if it is late.
///
/// If changes are announced: before step 2, a number beyond `log_head::announced` is announced, and the response is awaited. This is done
/// in each attempt, because a consumer removes an announcement when it has seen a head with that number.
class log_writer {
public:
    /// `seed`: of the ids of entries, for tests; 0 draws random ids.
    log_writer(table_core const& main, log_of_table const& log, std::uint64_t seed, clock& time)
        : main_(main), log_(log), time_(time), seeded_(seed != 0), random_(seed) {}

    /// Adds the rows of the log in front of the changes of a request, after those of the last attempt were removed. `entities`: the sorted
    /// row keys of the changes to log; null for all that are not system rows. `id`: the declared log. Errors: InvalidInput if the
    /// transaction would have too many operations.
    [[nodiscard]] result<void> add(
        transact& request, std::vector<std::string> const* entities, guid const& id, call const& context);
    /// Returns how many rows `add` adds for these entities.
    [[nodiscard]] std::size_t rows_for(std::vector<std::string> const& entities) const;
    /// Begins an attempt that adds nothing.
    void skip() noexcept { entries_.clear(); }
    /// Whether a head that `add` has read belongs to another log: the declaration may have been made again since it was read.
    [[nodiscard]] bool met_other_log() const noexcept { return met_other_log_; }
    /// Removes the rows that were added.
    void remove(transact& request);
    /// How many rows were added.
    [[nodiscard]] std::size_t added() const noexcept { return 2 * entries_.size(); }
    /// Remembers the heads that the response shows.
    void note(transact::response const& made) const;
    /// Decides what a failed request has done.
    [[nodiscard]] log_verdict judge(error const& failed, call const& context) const;
    /// Whether a request was definitely refused because another writer of the log was faster. Forgets the heads.
    [[nodiscard]] bool lost_to_others(error const& failed, call const& context) const;
    /// Inserts a head that does not exist, in a request of its own. Under an operation id a head cannot be inserted together with the
    /// changes: a refusal that is not about a version abandons the id. Returns whether one was inserted, so that the attempt starts over.
    [[nodiscard]] result<bool> insert_missing_heads(std::string const& partition_key,
        std::vector<std::string> const& entities, guid const& id, call const& context);

private:
    [[nodiscard]] guid draw_id() noexcept;
    [[nodiscard]] result<log_head> head_of(
        std::string_view partition_key, std::uint32_t lane, call const& context) const;
    [[nodiscard]] result<std::optional<log_head>> read_head(
        std::string_view partition_key, std::uint32_t lane, call const& context) const;
    [[nodiscard]] log_verdict settle(call const& context) const;
    /// Announces the number of an entry, unless it is announced.
    [[nodiscard]] result<void> announce(log_entry& entry, log_head const& head, call const& context) const;
    /// Whether a number can no longer be given, because a later entry has an earlier predecessor.
    [[nodiscard]] result<bool> was_skipped(log_entry const& entry, call const& context) const;
    [[nodiscard]] bool lost_a_head(call const& context) const;
    void forget_heads() const;

    table_core const& main_;
    log_of_table const& log_;
    clock& time_;
    bool seeded_;
    bool met_other_log_{};
    random_source random_;
    std::string partition_key_;
    std::vector<log_entry> entries_; ///< of the last attempt, one for each lane
    guid id_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/log/impl/log_writer.ipp>
#endif

#endif
