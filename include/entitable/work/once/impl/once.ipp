// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/once/once.hpp>

#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view once_state = "State";
inline constexpr std::string_view once_claimed = "claimed";
inline constexpr std::string_view once_free = "free";
inline constexpr std::string_view once_done = "done";

// ---- the rows -----------------------------------------------------------------------------------------

/// The row of a claim; the first of a key has its id. With the state done: the row of a key whose row was removed.
inline row row_of_claim(once_row const& at, once_claim const& own, std::string_view state, bool is_first) {
    row_builder made{at.partition_key, at.row_key};
    made.add(once_state, state);
    made.add("Claim", std::string_view{own.claim});
    made.add("Lease", std::int64_t{at.claim.count()});
    if (is_first) { made.add("Id", std::string_view{own.id}); }
    made.add("Runs", own.runs);
    return made.build();
}
inline mutation first_once(once_row const& at, once_claim const& own, std::string_view state) {
    return mutation::insert(row_of_claim(at, own, state, true));
}
inline mutation once_in_state(once_row const& at, std::string_view state, etag_condition condition) {
    row_builder made{at.partition_key, at.row_key};
    made.add(once_state, state);
    return mutation::merge(made.build(), std::move(condition));
}

/// Reads a row. Returns whether the claim has ended: the key is done, or the claim is the caller's, whose answer was lost. If not, the key
/// can be claimed, and `own` has the number of its runs. `now` is the time of the store. Errors: StoreBusy while another call holds the key.
inline result<bool> take_once(
    once_row const& at, row_view stored, etag const& version, date_time now, once_claim& own) {
    auto const text_of = [&](std::string_view name) {
        auto const found = stored.find(name);
        return found && found->type() == edm_type::string ? found->as_string() : std::string_view{};
    };
    auto const lease = stored.find("Lease");
    auto const runs = stored.find("Runs");
    std::string_view const state = text_of(once_state);
    bool const known = state == once_claimed || state == once_free || state == once_done;
    constexpr std::int64_t longest = std::int64_t{7} * 24 * 3600 * 1000;
    bool const good = known && lease && lease->type() == edm_type::int64 && lease->as_int64() >= 0 &&
        lease->as_int64() <= longest && runs && runs->type() == edm_type::int32 && runs->as_int32() >= 0;
    if (!good) {
        return failure{error_code::row_mismatch,
            text::joined({"the row of the key \"", at.partition_key, "\" was not written by once"})};
    }
    bool const recognized = text_of("Claim") == own.claim;
    own.id = text_of("Id");
    own.runs = runs->as_int32();
    if (state == once_done) {
        own.done_at = stored.timestamp();
        return true;
    }
    if (recognized && state == once_claimed) { // the answer to the claim was lost
        own.mine = true;
        own.version = version;
        return true;
    }
    std::chrono::milliseconds const left{lease->as_int64() - (now.ticks - stored.timestamp().ticks) / 10'000};
    if (state == once_claimed && left.count() > 0) {
        failure busy{error_code::store_busy,
            text::joined({"the key \"", at.partition_key, "\" is claimed by another call for at most ",
                std::to_string(left.count()), " ms"})};
        busy.error().retry_after = left;
        return busy;
    }
    own.runs += own.runs < (std::numeric_limits<std::int32_t>::max)() ? 1 : 0;
    return false;
}

// ---- attempts -----------------------------------------------------------------------------------------

/// The attempts of a task, and how its next request is sent.
class once_tries {
public:
    explicit once_tries(once_attempts again) : again_(std::move(again)), rivals_(again_.most, again_.delays) {}
    once_tries(once_tries const&) = delete;
    once_tries& operator=(once_tries const&) = delete;
    ~once_tries() = default;

    /// Begins the next attempt. Returns the error if none is left.
    [[nodiscard]] result<void> next(error beaten, bool at_once = false) {
        if (rivals_.is_last()) {
            beaten.attempts = rivals_.attempt();
            return failure{std::move(beaten)};
        }
        due_.because = beaten.effect == effect::unknown ? wait_cause::back_off : wait_cause::contention;
        if (at_once) {
            rivals_.next_at_once();
        } else {
            due_.after = rivals_.delay(again_.random.unit());
        }
        return {};
    }
    /// How the next request is sent, once.
    [[nodiscard]] ask_options due() noexcept { return std::exchange(due_, {}); }
    [[nodiscard]] bool is_first() const noexcept { return rivals_.attempt() == 1; }

private:
    once_attempts again_;
    contention rivals_;
    ask_options due_;
};

/// Creates the table, because a write was refused for the lack of it.
inline resumable<void> make_once_table(std::string table, error const& lacking, once_tries& tries) {
    ENTITABLE_CO_CHECK(tries.next(lacking, true)); // an ordinary step: there is no wait
    create_table const creating{std::move(table)};
    auto const made = co_await ask(creating, tries.due());
    if (made || made.error().code == error_code::table_already_exists) { co_return {}; }
    if (made.error().effect != effect::unknown) { co_return failure{made.error()}; }
    co_return tries.next(made.error());
}

// ---- the three tasks ----------------------------------------------------------------------------------

ENTITABLE_DECL once_operation claim_once(
    once_row const& at, once_claim own, call const& context, clock& time, once_attempts again) {
    once_tries tries{std::move(again)};
    get_entity const reading{at.table, at.partition_key, at.row_key, {}};
    own.runs = 1;
    write_entity writing{at.table, first_once(at, own, once_claimed)};
    for (;;) {
        auto done = co_await ask(writing, tries.due());
        if (done && !done->etag.empty()) { // without an ETag, the version is in the row
            own.mine = true;
            own.version = std::move(done->etag);
            co_return own;
        }
        bool const known = !done && done.error().effect != effect::unknown;
        if (known && is_absent(done)) {
            // Some services return ResourceNotFound for a missing table. After a merge it means that the row was removed.
            bool const inserted = writing.change.kind == mutation_kind::insert;
            if (inserted || done.error().code == error_code::table_not_found) {
                ENTITABLE_CO_CHECK(co_await make_once_table(at.table, done.error(), tries));
            } else {
                ENTITABLE_CO_CHECK(tries.next(done.error()));
            }
            own.runs = 1;
            writing.change = first_once(at, own, once_claimed);
            continue;
        }
        if (known && !was_beaten(done.error())) { co_return failure{done.error()}; }
        // Another call may have the key, or the answer was lost: the row tells.
        if (!done) { ENTITABLE_CO_CHECK(tries.next(done.error(), tries.is_first())); }
        auto const found = co_await ask(reading, tries.due());
        if (!found && found.error().code != error_code::resource_not_found) { co_return failure{found.error()}; }
        if (!found) {
            own.runs = 1;
            writing.change = first_once(at, own, once_claimed);
            continue;
        }
        date_time const now = context.server_date != date_time{} ? context.server_date : time.now();
        ENTITABLE_CO_TRY(bool const ended, take_once(at, found->entity.view(), found->etag, now, own));
        if (ended) { co_return own; }
        writing.change = mutation::merge(row_of_claim(at, own, once_claimed, false), found->etag);
    }
}

ENTITABLE_DECL once_operation mark_once(once_row const& at, once_claim own, once_attempts again) {
    once_tries tries{std::move(again)};
    write_entity writing{at.table, once_in_state(at, once_done, any_etag)};
    for (;;) {
        auto const done = co_await ask(writing, tries.due());
        if (done) { co_return own; }
        error const& refused = done.error();
        bool const inserted = writing.change.kind == mutation_kind::insert;
        bool lacks_table = false;
        if (refused.effect != effect::unknown) { // after a lost answer the same write is repeated
            if (is_absent(refused)) {
                lacks_table = inserted || refused.code == error_code::table_not_found;
                writing.change = first_once(at, own, once_done);
            } else if (refused.code == error_code::entity_already_exists) { // the row is back: it is changed
                writing.change = once_in_state(at, once_done, any_etag);
            } else {
                co_return failure{refused};
            }
        }
        if (lacks_table) {
            ENTITABLE_CO_CHECK(co_await make_once_table(at.table, refused, tries));
        } else {
            ENTITABLE_CO_CHECK(tries.next(refused));
        }
    }
}

ENTITABLE_DECL once_operation free_once(once_row const& at, once_claim own, once_attempts again) {
    once_tries tries{std::move(again)};
    write_entity const writing{at.table, once_in_state(at, once_free, own.version)};
    for (;;) {
        auto const done = co_await ask(writing, tries.due());
        if (done) { co_return own; }
        if (done.error().effect != effect::unknown) {
            if (is_absent(done) || was_beaten(done.error())) { co_return own; } // the claim is no longer the caller's
            co_return failure{done.error()};
        }
        ENTITABLE_CO_CHECK(tries.next(done.error()));
    }
}

ENTITABLE_DECL result<void> check_once(std::string_view row_key, once_options const& options, profile const& limits) {
    if (options.claim < std::chrono::seconds{2} || options.claim > std::chrono::hours{7 * 24}) {
        return failure{error_code::out_of_range_input, "the claim of once must be between 2 s and 7 days"};
    }
    if (options.max_attempts < 1) {
        return failure{error_code::out_of_range_input, "max_attempts of once must be at least 1"};
    }
    ENTITABLE_CHECK(validate_table_name(options.table));
    ENTITABLE_CHECK(validate_key(row_key, "RowKey", limits));
    return options.delays.validate();
}

} // namespace detail

ENTITABLE_DECL once::state::state(any_store below, std::string name, once_options how)
    : through(std::move(below)),
      row_key(std::move(name)),
      options(std::move(how)),
      ids(options.seed),
      usable(detail::check_once(row_key, options, through.profile())) {}

ENTITABLE_DECL result<detail::once_claim> once::state::send(
    function_ref<detail::once_operation(call const& context, detail::once_attempts again)> task) {
    call context{options.calls, *options.time};
    context.location = read_location::primary;
    auto sending = task(context, {options.max_attempts, options.delays, ids.random()});
    return entitable::run(sending, context, *options.time, through);
}

ENTITABLE_DECL once::once(any_store through, std::string name, once_options options)
    : state_(shared<state>::make(std::move(through), std::move(name), std::move(options))) {}

ENTITABLE_DECL result<once_outcome> once::run_erased(std::string_view key, runner function) const {
    if (!state_) { return detail::moved_from("once"); }
    if (!state_->usable) { return failure{state_->usable.error()}; }
    ENTITABLE_CHECK(validate_key(key, "PartitionKey", state_->through.profile()));
    once const kept{*this}; // the function may destroy or assign this object
    state& own = *kept.state_;
    detail::once_row const at{own.options.table, std::string{key}, own.row_key, own.options.claim};
    detail::once_claim const wanted{false, own.ids.next(), own.ids.next(), 0};
    ENTITABLE_TRY(auto const claim, own.send([&](call const& context, detail::once_attempts again) {
        return claim_once(at, wanted, context, *own.options.time, std::move(again));
    }));
    once_outcome outcome{claim.mine, claim.id, claim.runs, claim.done_at};
    if (!claim.mine) { return outcome; }
    result<void> done = function(once_run{outcome.id, outcome.runs});
    if (!done) {
        if (done.error().effect == effect::none) {
            // If it fails, the claim ends by itself.
            static_cast<void>(own.send(
                [&](call const&, detail::once_attempts again) { return free_once(at, claim, std::move(again)); }));
        }
        return std::move(done).as_failure();
    }
    auto marked =
        own.send([&](call const&, detail::once_attempts again) { return mark_once(at, claim, std::move(again)); });
    if (!marked) {
        failure unmarked = std::move(marked).as_failure();
        unmarked.error().effect = effect::unknown; // effect of the function
        return unmarked;
    }
    return outcome;
}

ENTITABLE_END_NAMESPACE
