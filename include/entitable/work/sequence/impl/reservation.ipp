// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
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
    if (counter.declared) {
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
    }
    return *counted;
}

ENTITABLE_DECL void add_declaration(row_builder& made, number_rule const& declared) {
    made.add(counter_start, value_view{declared.start});
    made.add(counter_step, value_view{declared.step});
}

ENTITABLE_DECL void reservation::answer(result<get_entity::response> found, steady_time) {
    if (!found) {
        failure problem = std::move(found).as_failure();
        switch (problem.error().code) {
            case error_code::resource_not_found: insert_row(); break;
            case error_code::table_not_found: phase_ = phase::create; break;
            default: end(std::move(problem)); break;
        }
        return;
    }
    auto const counted = counted_value(found->entity, counter_);
    if (!counted) {
        end(failure{counted.error()});
        return;
    }
    if (counter_.declared && (!found->entity.view().find(counter_start) || !found->entity.view().find(counter_step))) {
        declare(std::move(found->etag));
    } else {
        add(*counted, std::move(found->etag));
    }
}

ENTITABLE_DECL void reservation::declare(etag version) {
    row_builder builder{counter_.partition_key, counter_.row_key};
    add_declaration(builder, *counter_.declared);
    writing_.change = mutation::merge(builder.build(), std::move(version));
    phase_ = phase::declare;
}

ENTITABLE_DECL void reservation::add(value_view counted, etag version) {
    if (count_ == 0) {
        outcome_.emplace(reserved{});
        return;
    }
    std::int64_t const last = counted.bits();
    bool const narrow = counted.type() == edm_type::int32;
    std::int64_t const most =
        narrow ? (std::numeric_limits<std::int32_t>::max)() : (std::numeric_limits<std::int64_t>::max)();
    // last + step * count <= most, without overflow.
    std::int64_t const room = last < 0 ? most : most - last;
    if (count_ > room / counter_.step) {
        end(failure{error_code::out_of_range_input,
            text::joined({"the sequence is exhausted: its row holds ", std::to_string(last), " as ",
                narrow ? "Int32" : "Int64", ", and it does not wrap"})});
        return;
    }
    first_ = last + counter_.step;
    std::int64_t const next = last + counter_.step * std::int64_t{count_};
    row_builder builder{counter_.partition_key, counter_.row_key};
    builder.add(counter_value, narrow ? value_view{static_cast<std::int32_t>(next)} : value_view{next});
    writing_.change = mutation::merge(builder.build(), std::move(version));
    phase_ = phase::add;
}

ENTITABLE_DECL void reservation::insert_row() {
    row_builder builder{counter_.partition_key, counter_.row_key};
    builder.add(counter_value, value_view{counter_.start - counter_.step});
    if (counter_.shards > 0) { builder.add(counter_shards, value_view{counter_.shards}); }
    if (counter_.declared) { add_declaration(builder, *counter_.declared); }
    writing_.change = mutation::insert(builder.build());
    phase_ = phase::insert;
}

ENTITABLE_DECL void reservation::answer(result<written> done, steady_time now) {
    bool const added = phase_ == phase::add;
    bool const declared = phase_ == phase::declare; // read again: the ETag and the count may have changed
    phase_ = phase::read;
    attempts_ += added ? 1U : 0U;
    if (done) {
        if (added) {
            outcome_.emplace(reserved{first_, attempts_});
        } else if (!declared && !done->etag.empty()) {
            add(value_view{counter_.start - counter_.step}, std::move(done->etag));
        }
        return;
    }
    failure problem = std::move(done).as_failure();
    if (problem.error().effect == effect::unknown) {
        repeat(std::move(problem), now);
        return;
    }
    switch (problem.error().code) {
        case error_code::entity_already_exists:
        case error_code::update_condition_not_satisfied: repeat(std::move(problem), now); break;
        case error_code::resource_not_found: // the row was removed; some services return this for a missing table
            if (!added && !declared && !created_) {
                phase_ = phase::create;
            } else {
                repeat(std::move(problem), now);
            }
            break;
        default: end(std::move(problem)); break;
    }
}

ENTITABLE_DECL void reservation::answer(result<create_table::response> created, steady_time now) {
    phase_ = phase::read;
    created_ = true;
    if (!created && created.error().code != error_code::table_already_exists) {
        failure problem = std::move(created).as_failure();
        if (problem.error().effect == effect::unknown) {
            repeat(std::move(problem), now);
        } else {
            end(std::move(problem));
        }
    }
}

ENTITABLE_DECL void reservation::repeat(failure beaten, steady_time now) {
    if (++beaten_ >= max_attempts_) {
        beaten.error().message += text::joined(
            {"; the sequence gave up after ", std::to_string(max_attempts_), " attempts to reserve numbers"});
        end(std::move(beaten));
        return;
    }
    because_ = beaten.error().effect == effect::unknown ? wait_cause::back_off : wait_cause::contention;
    auto const wait = delays_.delay(beaten_, random_.unit());
    not_before_ = now + std::chrono::duration_cast<steady_time::duration>(wait);
}

ENTITABLE_DECL void reservation::end(failure problem) {
    problem.error().attempts = attempts_ > 0 ? attempts_ : 1;
    outcome_.emplace(std::move(problem));
}

} // namespace detail
ENTITABLE_END_NAMESPACE
