// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A connection that many calls of a channel use at once: their statements are sent one after another without waiting for results (the
/// pipeline mode of libpq).

#include <entitable/local/postgres/detail/pg_fiber.hpp>
#include <entitable/local/postgres/detail/pg_pool.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class pg_lane;
struct pg_call_group;

/// What one call sends in a lane, and the results.
struct pg_lane_call {
    pg_lane_call(pg_lane& in, pg_fiber* on) noexcept : lane(in), fiber(on) {}
    pg_lane_call(pg_lane_call const&) = delete;
    pg_lane_call& operator=(pg_lane_call const&) = delete;
    ~pg_lane_call();

    pg_lane& lane;
    pg_fiber* fiber;            ///< the stack that waits; null: those of the group
    pg_call_group* group{};     ///< the group that the results are for
    std::uint64_t generation{}; ///< of the lane's connection
    call const* context{};
    std::vector<pg_rows> answers;
    result<void> outcome;
    std::string state;
    std::string constraint;
    unsigned unanswered{}; ///< messages whose results are missing
    bool done{};
    bool not_run{}; ///< the server skipped a statement because another call's statement failed
    bool lost{};    ///< the connection broke before all results arrived
    bool unreplicated{};
};

/// What several calls ask of one table in one statement: inserts, of all rows or of none, or reads of rows. If the statement fails, each call
/// sends its own.
struct pg_call_group {
    /// The part of one call. Lives on the stack of the call.
    struct member {
        std::string_view partition;
        std::string_view row;
        std::string_view bytes; ///< of an insert, as are the locks
        std::int64_t partition_lock{};
        std::int64_t row_lock{};
        pg_fiber* on{};
        int at{}; ///< position in the results
    };
    explicit pg_call_group(pg_lane& in) noexcept : call(in, nullptr) { call.group = this; }
    pg_lane_call call;
    std::string table;
    std::vector<member*> members; ///< null: it does not wait any longer
    entitable::call unlimited;
    bool sent{};
};

/// The connection of a lane is borrowed from the pool while it has calls. Reads of a turn are one transaction of the server. Each write is a
/// transaction of its own. A read whose transaction was ended by another read is sent again, alone.
class pg_lane final : public io_handler {
public:
    enum class use : std::uint8_t { reads, writes };
    static constexpr std::size_t most_grouped = 100; ///< inserts or reads of one statement

    pg_lane(pg_pool& pool, pg_fibers& fibers, use what) noexcept : pool_(pool), fibers_(fibers), use_(what) {}
    pg_lane(pg_lane const&) = delete;
    pg_lane& operator=(pg_lane const&) = delete;
    ~pg_lane();

    // For the code on a stack.
    /// Waits for a place in the lane; first come, first served.
    [[nodiscard]] result<pg_pool::borrowed> enter(pg_wait const& until);
    void send(pg_lane_call& of, pg_statement statement, std::initializer_list<pg_value> values);
    /// Waits for the results of what the call has sent. Sets `abandoned` if the call ended before.
    [[nodiscard]] result<std::vector<pg_rows>> run(pg_lane_call& of, pg_wait const& until, bool& abandoned);
    void leave(pg_lane_call& of) noexcept;
    /// Inserts or reads together with the other calls of this turn. `done`: the row of the answer of `in` with the number of `one` is
    /// the response; `ended`: the call ended before the response; `lost`: the connection broke; `alone`: nothing was done.
    enum class grouped : std::uint8_t { done, alone, lost, ended };
    [[nodiscard]] grouped join(pg_lane_call& of, std::string_view table, pg_call_group::member& one,
        pg_wait const& until, std::shared_ptr<pg_call_group>& in);

    // For the channel.
    /// Takes the results that have arrived.
    void receive();
    /// Hands over what the calls of this turn have sent, and returns the connection if no call uses it or others wait for it.
    void flush();
    void ready(io_descriptor descriptor, io_interest what) noexcept override;

private:
    enum class admission : std::uint8_t { waits, admitted, opens, refused };
    struct entrant {
        pg_fiber& on;
        admission state;
        std::optional<failure> why;
    };
    struct message {
        pg_lane_call* from; ///< null if nothing waits for its results
        std::uint8_t meaning;
    };
    static constexpr std::size_t most_calls = 256; ///< of reads; further ones wait outside
    static constexpr std::size_t most_writes = 128;
    static constexpr std::size_t most_reads_at_once = 64; ///< of one transaction

    [[nodiscard]] bool has_room() const noexcept {
        return on_ && !draining_ && calls_ < (use_ == use::reads ? most_calls : most_writes);
    }
    [[nodiscard]] result<void> open(pg_wait const& until);
    void refuse(failure& why, pg_wait const& until);
    void start(pg_pool::borrowed opened);
    void admit() noexcept;
    void forget(pg_lane_call const& of) noexcept;
    void lose();
    void give_back();
    void sync(pg_lane_call* of);
    void send_group();
    void send_inserts(pg_call_group& group);
    void send_reads(pg_call_group& group);
    void lose_if_silent();
    void deliver(pg_rows rows);
    void finish(pg_lane_call* of) noexcept;
    void complete(pg_lane_call& of) noexcept;

    pg_pool& pool_;
    pg_fibers& fibers_;
    use use_;
    std::optional<pg_pool::borrowed> on_;
    io_descriptor socket_{};
    std::uint64_t generation_{};
    std::deque<message> sent_;
    std::shared_ptr<pg_call_group> group_; ///< not sent yet
    std::deque<entrant*> entrants_;
    std::size_t calls_{};      ///< calls that were admitted and have not left
    std::size_t open_reads_{}; ///< reads of the transaction that is not complete
    std::size_t unprepared_{}; ///< how many of the sent statements may lack their preparation
    std::size_t alone_{};      ///< how many of the next reads get a transaction of their own
    std::chrono::steady_clock::time_point heard_{};
    std::string lost_text_;
    unsigned silent_losses_{}; ///< new connections that broke before their first response, one after another
    bool opening_{};
    bool draining_{};
    bool readable_{};
    bool fresh_{};
    bool started_{}; ///< the first result of the oldest message has arrived
};

/// The lanes of a channel.
class pg_lanes {
public:
    pg_lanes(pg_pool& pool, pg_fibers& fibers);
    [[nodiscard]] result<pg_pool::borrowed> enter(pg_lane_use what, std::int64_t key, pg_wait const& until);
    void receive();
    void flush();
    /// The number of inserts that all statements of a turn take.
    [[nodiscard]] static std::size_t most_grouped(pg_pool const& pool) noexcept {
        return lanes_for_writes(pool) * pg_lane::most_grouped;
    }
    [[nodiscard]] bool belongs_to(pg_pool const& pool) const noexcept { return &pool == &pool_; }

private:
    [[nodiscard]] static std::size_t lanes_for_writes(pg_pool const& pool) noexcept {
        constexpr std::size_t most = 2; // more would make smaller groups of inserts
        return (std::min)(most, (std::max)(pool.options().connections / 4, std::size_t{1}));
    }

    pg_pool& pool_;
    pg_lane reads_;
    std::vector<std::unique_ptr<pg_lane>>
        writes_; ///< the writes of one partition use the same one, so they keep their order
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/pg_lane.ipp>
#include <entitable/local/postgres/impl/pg_place.ipp>
#endif
