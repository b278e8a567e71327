// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sequence/detail/reservation.hpp>

#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view counter_value = "Value";
inline constexpr std::string_view counter_shards = "Shards";
inline constexpr std::string_view counter_start = "Start";
inline constexpr std::string_view counter_step = "Step";

ENTITABLE_DECL failure counter_differs(counter_row const& counter, std::string_view name, std::string_view stored) {
    std::int64_t const own = name == counter_start ? counter.declared->start : counter.declared->step;
    return failure{error_code::row_mismatch,
        text::joined({"the row of the sequence ", counter.row_key, " has ", name, " ", stored,
            ", but this program has ", std::to_string(own), ": every program must use the same start and step"})};
}

/// Checks that the start and the step of the row are those of this program.
inline result<void> check_declaration(row_view stored, counter_row const& counter) {
    for (std::string_view const name : {counter_start, counter_step}) {
        auto const found = stored.find(name);
        std::int64_t const own = name == counter_start ? counter.declared->start : counter.declared->step;
        if (found && found->type() != edm_type::int64) {
            return counter_differs(counter, name, "of a type other than Int64");
        }
        if (found && found->as_int64() != own) {
            return counter_differs(counter, name, std::to_string(found->as_int64()));
        }
    }
    return {};
}

ENTITABLE_DECL result<value_view> counted_value(row_view stored, counter_row const& counter) {
    auto const counted = stored.find(counter_value);
    if (!counted || (counted->type() != edm_type::int64 && counted->type() != edm_type::int32)) {
        return failure{error_code::row_mismatch, "the property Value of the sequence's row must be an Int64 or Int32"};
    }
    auto const shards = stored.find(counter_shards);
    std::int32_t const sharded = shards && shards->type() == edm_type::int32 ? shards->as_int32() : 0;
    if (sharded != counter.shards) {
        return failure{error_code::row_mismatch,
            text::joined({"the row of the sequence has ", std::to_string(sharded), " shards, but ",
                std::to_string(counter.shards), " were requested"})};
    }
    if (counter.declared) { ENTITABLE_CHECK(check_declaration(stored, counter)); }
    return *counted;
}

ENTITABLE_DECL void add_declaration(row_builder& made, number_rule const& declared) {
    made.add(counter_start, value_view{declared.start});
    made.add(counter_step, value_view{declared.step});
}

/// Makes the insert of a new counter's row.
ENTITABLE_DECL mutation first_row(counter_row const& counter) {
    row_builder builder{counter.partition_key, counter.row_key};
    std::int64_t const before = counter.start - counter.step;
    bool const narrow = counter.type == edm_type::int32;
    builder.add(counter_value, narrow ? value_view{static_cast<std::int32_t>(before)} : value_view{before});
    if (counter.shards > 0) { builder.add(counter_shards, value_view{counter.shards}); }
    if (counter.declared) { add_declaration(builder, *counter.declared); }
    return mutation::insert(builder.build());
}

/// Completes a row written by a program that stored neither start nor step.
ENTITABLE_DECL mutation declaration_of(counter_row const& counter, etag version) {
    row_builder builder{counter.partition_key, counter.row_key};
    add_declaration(builder, *counter.declared);
    return mutation::merge(builder.build(), std::move(version));
}

/// Makes the write that takes `count` numbers; stores the first of them in `first`.
ENTITABLE_DECL result<mutation> addition_to(
    counter_row const& counter, value_view counted, std::uint32_t count, etag version, std::int64_t& first) {
    std::int64_t const last = counted.bits();
    bool const narrow = counted.type() == edm_type::int32;
    std::int64_t const most =
        narrow ? (std::numeric_limits<std::int32_t>::max)() : (std::numeric_limits<std::int64_t>::max)();
    // last + step * count <= most, without overflow.
    std::int64_t const room = last < 0 ? most : most - last;
    if (count > room / counter.step) {
        return failure{error_code::out_of_range_input,
            text::joined({"the sequence is exhausted: its row holds ", std::to_string(last), " as ",
                narrow ? "Int32" : "Int64", ", and it does not wrap"})};
    }
    first = last + counter.step;
    std::int64_t const next = last + counter.step * std::int64_t{count};
    row_builder builder{counter.partition_key, counter.row_key};
    builder.add(counter_value, narrow ? value_view{static_cast<std::int32_t>(next)} : value_view{next});
    return mutation::merge(builder.build(), std::move(version));
}

/// The attempts of a reservation, and their errors.
class reservation_attempts {
public:
    reservation_attempts(std::uint32_t max_attempts, entitable::backoff const& delays, random_source& random) noexcept
        : max_attempts_(max_attempts), rivals_(max_attempts, delays), random_(random) {}

    /// Returns the options of the next request.
    [[nodiscard]] ask_options due() noexcept { return std::exchange(due_, ask_options{}); }
    /// Counts a write that takes numbers.
    void count() noexcept { ++writes_; }
    [[nodiscard]] std::uint32_t writes() const noexcept { return writes_; }
    /// The error of the reservation.
    [[nodiscard]] failure ended(error problem) const {
        problem.attempts = writes_ > 0 ? writes_ : 1;
        return failure{std::move(problem)};
    }
    /// Starts over after a wait, unless the attempts are used up.
    [[nodiscard]] result<void> repeat(error beaten) {
        if (rivals_.is_last()) {
            beaten.message += text::joined(
                {"; the sequence gave up after ", std::to_string(max_attempts_), " attempts to reserve numbers"});
            return ended(std::move(beaten));
        }
        due_.because = beaten.effect == effect::unknown ? wait_cause::back_off : wait_cause::contention;
        due_.after = rivals_.delay(random_.unit());
        return {};
    }
    /// Starts over after a write that another program has beaten, or whose response was lost.
    [[nodiscard]] result<void> repeat_write(error refused) {
        bool const again = refused.effect == effect::unknown || was_beaten(refused);
        return again ? repeat(std::move(refused)) : ended(std::move(refused));
    }

private:
    std::uint32_t max_attempts_;
    contention rivals_;
    random_source& random_;
    std::uint32_t writes_{};
    ask_options due_;
};

ENTITABLE_DECL reservation reserve_numbers(counter_row const& counter, std::uint32_t count, std::uint32_t max_attempts,
    entitable::backoff delays, random_source& random) {
    get_entity const reading{counter.table, counter.partition_key, counter.row_key, {}};
    create_table const creating{counter.table};
    write_entity writing{counter.table, {}};
    reservation_attempts attempts{max_attempts, delays, random};
    bool lacks_table = false;
    bool created = false;
    for (;;) {
        if (std::exchange(lacks_table, false)) {
            auto const made = co_await ask(creating, attempts.due());
            created = true;
            if (!made && made.error().code != error_code::table_already_exists) {
                if (made.error().effect == effect::none) { co_return attempts.ended(made.error()); }
                ENTITABLE_CO_CHECK(attempts.repeat(made.error()));
            }
        }
        auto found = co_await ask(reading, attempts.due());
        lacks_table = !found && found.error().code == error_code::table_not_found;
        if (lacks_table) { continue; }
        if (!found && found.error().code != error_code::resource_not_found) { co_return attempts.ended(found.error()); }

        std::int64_t const before = counter.start - counter.step;
        value_view counted{before};
        if (counter.type == edm_type::int32) { counted = value_view{static_cast<std::int32_t>(before)}; }
        etag version;
        if (!found) {
            writing.change = first_row(counter);
            auto made = co_await ask(writing, attempts.due());
            if (!made) { // the row was removed; some services return this for a missing table
                lacks_table = made.error().effect == effect::none &&
                    made.error().code == error_code::resource_not_found && !created;
                if (!lacks_table) { ENTITABLE_CO_CHECK(attempts.repeat_write(made.error())); }
                continue;
            }
            if (made->etag.empty()) { continue; }
            version = std::move(made->etag);
        } else {
            auto const stored = counted_value(found->entity, counter);
            if (!stored) { co_return attempts.ended(stored.error()); }
            row_view const entity = found->entity;
            if (counter.declared && (!entity.find(counter_start) || !entity.find(counter_step))) {
                writing.change = declaration_of(counter, std::move(found->etag));
                auto const declared = co_await ask(writing, attempts.due());
                if (!declared) { ENTITABLE_CO_CHECK(attempts.repeat_write(declared.error())); }
                continue; // the ETag and the count may have changed
            }
            counted = *stored;
            version = std::move(found->etag);
        }

        if (count == 0) { co_return reserved{}; }
        std::int64_t first = 0;
        auto addition = addition_to(counter, counted, count, std::move(version), first);
        if (!addition) { co_return attempts.ended(addition.error()); }
        writing.change = *std::move(addition);
        auto const added = co_await ask(writing, attempts.due());
        attempts.count();
        if (added) { co_return reserved{first, attempts.writes()}; }
        ENTITABLE_CO_CHECK(attempts.repeat_write(added.error()));
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
