// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `reservation`: takes a run of numbers from a counter row, as a resumable operation.

#include <entitable/core/backoff.hpp>
#include <entitable/core/random.hpp>
#include <entitable/request/call.hpp>
#include <entitable/request/operation.hpp>
#include <entitable/request/requests.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Where a counter stands and how it counts.
struct counter_row {
    std::string table;
    std::string partition_key;
    std::string row_key;
    std::int64_t start{1};
    std::int64_t step{1};
    std::int32_t shards{0}; ///< that the row must agree with; 0 for a counter that is not sharded
};

/// A run of numbers that belongs to the caller alone.
struct reserved {
    std::int64_t first{};
    std::uint32_t tries{}; ///< writes that were sent
};

/// Reads the row, adds to it, writes it under the ETag that was read. The row, the clock and the random source must outlive it.
///
/// A number is given only after a definite success of the conditional write. A write whose answer was lost is followed by a
/// new read, and what it may have taken is left out. A row that is missing is made first, with nothing counted, so that two
/// that make it at once have made the same row and no number.
class reservation {
public:
    reservation(counter_row const& counter, std::uint32_t count, std::uint32_t repeats,
        entitable::backoff const& delays, clock& time, random_source& random)
        : counter_(counter), count_(count), repeats_(repeats), delays_(delays), time_(time), random_(random) {
        reading_ = {counter.table, counter.partition_key, counter.row_key, {}};
        writing_.table = counter.table;
        creating_.table = counter.table;
    }

    [[nodiscard]] next_step next() const noexcept {
        if (outcome_) {
            return next_step::done;
        }
        return time_.steady() < wakes_at_ ? next_step::wait : next_step::send;
    }
    [[nodiscard]] steady_time wakes_at() const noexcept { return wakes_at_; }
    template <class Sender>
    void visit(Sender&& send) const {
        switch (phase_) {
            case phase::read: send(reading_); break;
            case phase::insert:
            case phase::add: send(writing_); break;
            case phase::create: send(creating_); break;
        }
    }
    void answer(result<get_entity::response> found);
    void answer(result<written> done);
    void answer(result<create_table::response> created);
    void abandon(error const& reason) { end(failure{reason}); }
    [[nodiscard]] result<reserved> finish() { return *std::move(outcome_); }

private:
    enum class phase : std::uint8_t { read, insert, add, create };

    void insert_row();
    void add(value_view counted, etag version);
    /// From the start, after a wait, unless it was often enough.
    void repeat(failure beaten);
    void end(failure problem);

    counter_row const& counter_;
    std::uint32_t count_;
    std::uint32_t repeats_;
    entitable::backoff delays_;
    clock& time_;
    random_source& random_;
    get_entity reading_;
    write_entity writing_;
    create_table creating_;
    phase phase_{phase::read};
    bool created_{};
    std::int64_t first_{};
    std::uint32_t tries_{};
    std::uint32_t beaten_{};
    steady_time wakes_at_{};
    std::optional<result<reserved>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/pattern/impl/reservation.ipp>
#endif
