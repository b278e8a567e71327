// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/validate.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/once/once.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

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
