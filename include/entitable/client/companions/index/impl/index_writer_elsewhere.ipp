// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_writer.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> index_writer::insert_intents(std::vector<moved_entity*> const& pending) {
    if (pending.empty()) { return {}; }
    transact request{family_.main.name(), {}};
    for (moved_entity const* const each : pending) { request.changes.push_back(mutation::insert(each->told.to_row())); }
    for (contention rivals = elsewhere_.contend();;) {
        ENTITABLE_CHECK(check_lease());
        error refused;
        if (pending.size() == 1) {
            auto made = elsewhere_.write(family_.main, request.changes.front());
            if (made) {
                pending.front()->told.version = std::move(made->etag);
                return {};
            }
            refused = made.error();
        } else {
            auto made = family_.main.store().execute(request, elsewhere_.context());
            if (made) {
                for (std::size_t at = 0; at < pending.size(); ++at) {
                    pending[at]->told.version = std::move(made->results[at].etag);
                }
                return {};
            }
            refused = made.error();
        }
        if (refused.code ==
            error_code::
                entity_already_exists) { // an earlier attempt of this request was applied: ids of intents are unique
            for (moved_entity* const each : pending) {
                ENTITABLE_TRY(auto const stored,
                    elsewhere_.read(family_.main,
                        {each->told.entity.partition_key,
                            intent::row_key_of(each->told.entity.row_key, each->told.id)}));
                ENTITABLE_CHECK(stored ? result<void>{} : result<void>{failure{refused}});
                ENTITABLE_TRY(intent const now, intent::read(stored->entity));
                ENTITABLE_CHECK(now.state == intent_state::pending ? result<void>{} : result<void>{failure{refused}});
                each->told.version = stored->etag;
            }
            return {};
        }
        if (refused.effect == effect::none && refused.code != error_code::server_busy) {
            return failure{std::move(refused)};
        }
        ENTITABLE_CHECK(elsewhere_.pause(rivals, refused));
    }
}

ENTITABLE_DECL result<bool> index_writer::put_rows(std::vector<moved_entity*> const& pending, error& taken) {
    for (moved_entity const* const each : pending) {
        for (move const& one : each->moves) {
            if (!one.to) { continue; }
            auto const ended = elsewhere_.put(one.index, *one.to, each->told.entity, [this] { return check_lease(); });
            if (!ended) {
                failure why{ended.error()};
                if (changed_) { return why; }
                return of_companion(std::move(why), family_.shapes[one.index].described(), each->told.entity);
            }
            if (*ended == put_end::taken) {
                failure told = key_is_taken(family_.shapes[one.index], row_keys_of(one.to->view()));
                taken = std::move(told.error());
                return false;
            }
        }
    }
    return true;
}

ENTITABLE_DECL std::optional<intent_state> index_writer::state_of(moved_entity const& one, bool& known) {
    auto const stored = elsewhere_.read(
        family_.main, {one.told.entity.partition_key, intent::row_key_of(one.told.entity.row_key, one.told.id)});
    known = stored.has_value();
    if (!known || !*stored) { return std::nullopt; }
    auto const now = intent::read((*stored)->entity);
    known = now.has_value();
    return known ? std::optional{now->state} : std::nullopt;
}

ENTITABLE_DECL index_writer::judgement index_writer::give_up(std::vector<moved_entity*> const& pending, bool maybe) {
    rows_elsewhere::uncancelled const guard{elsewhere_};
    if (pending.empty()) { // removals only: their intents are part of the transaction
        bool known = false;
        bool const made = state_of(moved_.front(), known).has_value();
        return {made, !maybe};
    }
    // One intent decides for all: the transaction needs all of them pending.
    auto const decided = elsewhere_.undo(pending.front()->told);
    if (!decided) {
        ++unsettled_;
        return {false, !maybe};
    }
    if (*decided && **decided == intent_state::applied) { return {true, false}; }
    bool const never = !maybe || decided->has_value();
    for (moved_entity* const each : pending) {
        each->told.state = intent_state::pending;
        if (!elsewhere_.apply(each->told)) { ++unsettled_; }
    }
    return {false, never};
}

ENTITABLE_DECL void index_writer::finish() {
    rows_elsewhere::uncancelled const guard{elsewhere_};
    for (moved_entity& each : moved_) {
        each.told.state = intent_state::applied;
        bool settled = true;
        for (intent::move const& one : each.told.moves) {
            if (one.from && one.from != one.to) {
                auto const index = family_.find(one.index);
                settled = elsewhere_.settle(*index, *one.from, each.told.entity).has_value() && settled;
            }
        }
        auto const gone = settled
            ? elsewhere_.write(family_.main,
                  mutation::remove(row{each.told.entity.partition_key,
                                       intent::row_key_of(each.told.entity.row_key, each.told.id), {}},
                      any_etag))
            : result<written>{failure{error_code::transport_failed, {}}};
        if (!gone && gone.error().code != error_code::resource_not_found) { ++unsettled_; }
    }
}

ENTITABLE_DECL sent_transaction index_writer::send_with_intents(transaction_scope& all, bool announces) {
    if (auto good = check_limits(all, announces); !good) { return {std::move(good).as_failure()}; }
    std::vector<moved_entity*> pending;
    for (moved_entity& each : moved_) {
        if (each.removal) {
            all.change(mutation_kind::insert, each.told.to_row(), false);
        } else {
            pending.push_back(&each);
        }
    }
    auto const end_without = [&](failure why, bool beaten) {
        why.error().effect = effect::none; // the transaction was not sent, or never will be applied
        return sent_transaction{std::move(why), beaten};
    };
    if (auto inserted = insert_intents(pending); !inserted) {
        (void)give_up(pending, false);
        return end_without(std::move(inserted).as_failure(), changed_);
    }
    error taken;
    if (auto put = put_rows(pending, taken); !put || !*put) {
        (void)give_up(pending, false);
        failure why = put ? failure{std::move(taken)} : std::move(put).as_failure();
        return end_without(std::move(why), changed_);
    }
    for (moved_entity const* const each : pending) {
        get_entity::response as_inserted;
        as_inserted.entity = each->told.to_row();
        as_inserted.etag = each->told.version;
        std::string const row_key{as_inserted.entity.row_key()};
        (void)all.rows.take(row_key, std::move(as_inserted));
        all.change(mutation_kind::merge, each->told.state_row(intent_state::applied), false);
    }
    // Sums come last: a row that counts many entities is then held for two requests, and not during the requests for
    // intents.
    if (auto added = add_sums(all); !added) {
        (void)give_up(pending, false);
        return end_without(std::move(added).as_failure(), changed_ || all.rows.in_vain());
    }
    auto request = all.rows.request(announces, all.store().profile());
    if (!request) {
        (void)give_up(pending, false);
        return {std::move(request).as_failure()};
    }
    if (auto added = add_log(all, *request); !added) {
        (void)give_up(pending, false);
        return end_without(std::move(added).as_failure(), all.rows.in_vain());
    }
    bool maybe = false;
    for (contention rivals = elsewhere_.contend();;) {
        auto made = send_healing(all, *request);
        if (made) {
            if (log_) { log_->note(*made); }
            note_versions(*request, *made);
            finish();
            return {std::move(made)};
        }
        error const refused = named(made.error(), *request);
        bool const behind = log_ && log_->lost_to_others(made.error(), all.context()); // intents decide the rest
        maybe = maybe || refused.effect == effect::unknown;
        moved_entity const& witness = pending.empty() ? moved_.front() : *pending.front();
        bool known = false;
        auto const state = maybe ? state_of(witness, known) : std::nullopt;
        if (state == intent_state::applied) {
            finish();
            transact::response concluded;
            concluded.results.push_back({{}, true});
            return {std::move(concluded)};
        }
        bool const may_be_sent_again =
            refused.effect == effect::unknown && known && (pending.empty() ? !state : state == intent_state::pending);
        if (may_be_sent_again && elsewhere_.pause(rivals, refused)) { continue; }
        judgement const judged = give_up(pending, maybe);
        if (judged.made) {
            finish();
            transact::response concluded;
            concluded.results.push_back({{}, true});
            return {std::move(concluded)};
        }
        auto const [answer, beaten] = told_refusal(all, *request, refused);
        failure why{answer.error()};
        why.error().effect = judged.never ? effect::none : effect::unknown;
        // A lost request that was stopped in time does not end the call: the body starts over.
        return {std::move(why), judged.never && (beaten || behind || changed_ || refused.effect == effect::unknown)};
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
