// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/index/detail/index_writer.hpp>
#include <entitable/request/detail/refusal.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// 32 hexadecimal digits.
ENTITABLE_DECL std::string intent_id(std::uint64_t high, std::uint64_t low) {
    std::string made;
    for (std::uint64_t part : {high, low}) {
        for (int digit = 0; digit < 16; ++digit) {
            made += "0123456789abcdef"[part >> 60U];
            part <<= 4U;
        }
    }
    return made;
}

[[nodiscard]] inline std::optional<row_keys> keys_of(std::optional<row> const& one) {
    return one ? std::optional{keys_of(one->view())} : std::nullopt;
}

ENTITABLE_DECL failure key_is_taken(index_shape const& shape, row_keys const& keys) {
    failure made{error_code::entity_already_exists,
        text::joined({"another entity has this key of the unique index ", shape.name})};
    made.error().detail = keys_text(keys.partition_key, keys.row_key);
    return made;
}

// ---- the changes of a body, with those of index rows ------------------------------------------------

ENTITABLE_DECL result<void> index_writer::prepare(transaction_scope& all) {
    struct changed_entity {
        std::string const& row_key;
        index_rows before;
        index_rows after;
    };
    entities_ = all.rows.changed_entities();
    removals_.clear();
    moved_.clear();
    std::vector<changed_entity> changed;
    for (std::string const& row_key : entities_) {
        all.look_at(row_key);
        if (!all.rows.problem()) {
            return failure{all.rows.problem().error()};
        }
        ENTITABLE_TRY(index_rows before, family_.rows_for(all.rows.stored_at(row_key)));
        ENTITABLE_TRY(index_rows after, family_.rows_for(all.rows.now_at(row_key)));
        changed.push_back({row_key, std::move(before), std::move(after)});
    }
    // All that go first: a key of a unique index may pass from one entity to another.
    for (changed_entity& each : changed) {
        moved_entity moved;
        bool const gone = !all.rows.now_at(each.row_key);
        for (std::size_t index = 0; index < family_.shapes.size(); ++index) {
            std::optional<row>& before = each.before[index];
            std::optional<row>& after = each.after[index];
            bool const same_keys = before && after && keys_of(before->view()) == keys_of(after->view());
            bool const same = same_keys && before->view().payload == after->view().payload;
            if (!states_.keeps(index) || same) {
                after.reset();
                continue;
            }
            if (family_.shapes[index].elsewhere) {
                if (before || after) {
                    moved.moves.push_back({index, keys_of(before), std::move(after)});
                }
                after.reset();
                continue;
            }
            if (!before || same_keys) {
                continue;
            }
            if (family_.shapes[index].unique) {
                ENTITABLE_CHECK(drop_unique(all, index, *before, {all.rows.partition_key(), each.row_key}));
            } else {
                removals_.emplace_back(before->row_key());
                all.change(mutation_kind::remove, row{before->partition_key(), before->row_key(), {}}, true);
            }
        }
        if (!moved.moves.empty()) {
            moved.removal = gone;
            moved.told.entity = {all.rows.partition_key(), each.row_key};
            moved.told.id = intent_id(elsewhere_.draw(), elsewhere_.draw());
            moved.told.state = gone ? intent_state::applied : intent_state::pending;
            for (move const& one : moved.moves) {
                moved.told.moves.push_back({std::string{family_.shapes[one.index].name}, one.from, keys_of(one.to)});
            }
            moved_.push_back(std::move(moved));
        }
    }
    for (changed_entity& each : changed) {
        for (std::size_t index = 0; index < family_.shapes.size(); ++index) {
            if (!each.after[index]) {
                continue;
            }
            if (family_.shapes[index].unique) {
                ENTITABLE_CHECK(take_unique(all, index, *std::move(each.after[index])));
            } else {
                all.change(mutation_kind::insert_or_replace, *std::move(each.after[index]), true);
            }
        }
    }
    return all.rows.problem();
}

ENTITABLE_DECL result<void> index_writer::drop_unique(
    transaction_scope& all, std::size_t index, row const& old, row_keys owner) {
    ENTITABLE_TRY(auto const stored, all.find(std::string{old.row_key()}));
    if (!stored) {
        ++healed_;
        return {};
    }
    ENTITABLE_TRY(auto const named, family_.shapes[index].owner_of(*stored, all.reading()));
    if (named == owner) {
        all.change(mutation_kind::remove, row{old.partition_key(), old.row_key(), {}}, false);
    }
    return {};
}

ENTITABLE_DECL result<void> index_writer::take_unique(transaction_scope& all, std::size_t index, row made) {
    index_shape const& shape = family_.shapes[index];
    ENTITABLE_TRY(auto const stored, all.find(std::string{made.row_key()}));
    if (!stored) {
        all.change(mutation_kind::insert, std::move(made), false);
        return {};
    }
    ENTITABLE_TRY(auto const owner, shape.owner_of(*stored, all.reading()));
    ENTITABLE_TRY(auto const own, shape.owner_of(made, all.reading()));
    if (owner != own) {
        ENTITABLE_TRY(auto const other, all.find(owner.row_key));
        ENTITABLE_TRY(auto const rows, family_.rows_for(other));
        if (rows[index] && rows[index]->row_key() == made.row_key()) {
            return key_is_taken(shape, keys_of(made.view()));
        }
    }
    all.change(mutation_kind::replace, std::move(made), false);
    return {};
}

// ---- one transaction --------------------------------------------------------------------------------

ENTITABLE_DECL bool index_writer::heal(transaction_scope& all, transact& request, error const& refused) {
    if (removals_.empty() || refused.code != error_code::resource_not_found || refused.effect != effect::none) {
        return false;
    }
    auto const may_be_gone = [&](mutation const& change) {
        return change.kind == mutation_kind::remove && change.condition.any() &&
            std::find(removals_.begin(), removals_.end(), change.entity.row_key()) != removals_.end();
    };
    std::size_t const before = request.changes.size();
    if (refused.operation_index) {
        if (*refused.operation_index >= before || !may_be_gone(request.changes[*refused.operation_index])) {
            return false;
        }
        request.changes.erase(request.changes.begin() + static_cast<std::ptrdiff_t>(*refused.operation_index));
    } else {
        std::erase_if(request.changes, [&](mutation const& change) {
            if (!may_be_gone(change)) {
                return false;
            }
            auto const found =
                elsewhere_.read(family_.main, {all.rows.partition_key(), std::string{change.entity.row_key()}});
            return found && !*found;
        });
    }
    std::size_t const gone = before - request.changes.size();
    healed_ += static_cast<std::uint32_t>(gone);
    return gone > 0 && !request.changes.empty();
}

ENTITABLE_DECL result<transact::response> index_writer::send_healing(transaction_scope& all, transact& request) {
    for (;;) {
        auto made = all.send(request);
        if (made || !heal(all, request, made.error())) {
            return made;
        }
    }
}

ENTITABLE_DECL void index_writer::note_version(transact const& request, transact::response const& made) {
    version_ = {};
    for (std::size_t at = 0; at < request.changes.size() && at < made.results.size() && entities_.size() == 1; ++at) {
        if (request.changes[at].entity.row_key() == entities_.front()) {
            version_ = made.results[at].etag;
        }
    }
}

ENTITABLE_DECL sent_transaction index_writer::send(transaction_scope& all, bool announces) {
    if (auto prepared = prepare(all); !prepared) {
        return {std::move(prepared).as_failure()};
    }
    if (!moved_.empty()) {
        return send_with_intents(all, announces);
    }
    auto request = all.rows.request(announces, all.transport().profile());
    if (!request) {
        return {std::move(request).as_failure()};
    }
    auto made = send_healing(all, *request);
    if (!made) {
        return told_refusal(all, *request, made.error());
    }
    note_version(*request, *made);
    return {std::move(made)};
}

// ---- with rows elsewhere ----------------------------------------------------------------------------

ENTITABLE_DECL result<void> index_writer::insert_intents(std::vector<moved_entity*> const& pending) {
    if (pending.empty()) {
        return {};
    }
    transact request{family_.main.name(), {}};
    for (moved_entity const* const each : pending) {
        request.changes.push_back(mutation::insert(each->told.to_row()));
    }
    for (std::uint32_t attempts = 1;; ++attempts) {
        error refused;
        if (pending.size() == 1) {
            auto made = elsewhere_.write(family_.main, request.changes.front());
            if (made) {
                pending.front()->told.version = std::move(made->etag);
                return {};
            }
            refused = made.error();
        } else {
            auto made = family_.main.transport().execute(request, elsewhere_.context());
            if (made) {
                for (std::size_t at = 0; at < pending.size(); ++at) {
                    pending[at]->told.version = std::move(made->results[at].etag);
                }
                return {};
            }
            refused = made.error();
        }
        if (refused.code ==
            error_code::entity_already_exists) { // an earlier sending was applied: no two intents have one id
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
        ENTITABLE_CHECK(elsewhere_.pause(attempts, refused));
    }
}

ENTITABLE_DECL result<bool> index_writer::put_rows(std::vector<moved_entity*> const& pending, error& taken) {
    for (moved_entity const* const each : pending) {
        for (move const& one : each->moves) {
            if (!one.to) {
                continue;
            }
            ENTITABLE_TRY(put_end const ended, elsewhere_.put(one.index, *one.to, each->told.entity));
            if (ended == put_end::taken) {
                failure told = key_is_taken(family_.shapes[one.index], keys_of(one.to->view()));
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
    if (!known || !*stored) {
        return std::nullopt;
    }
    auto const now = intent::read((*stored)->entity);
    known = now.has_value();
    return known ? std::optional{now->state} : std::nullopt;
}

ENTITABLE_DECL index_writer::judgement index_writer::give_up(std::vector<moved_entity*> const& pending, bool maybe) {
    if (pending.empty()) { // removals only: their intents came with them
        bool known = false;
        bool const made = state_of(moved_.front(), known).has_value();
        return {made, !maybe};
    }
    // One of them decides: the transaction needs all of them pending.
    auto const decided = elsewhere_.undo(pending.front()->told);
    if (!decided) {
        ++unsettled_;
        return {false, !maybe};
    }
    if (*decided && **decided == intent_state::applied) {
        return {true, false};
    }
    bool const never = !maybe || decided->has_value();
    for (moved_entity* const each : pending) {
        each->told.state = intent_state::pending;
        if (!elsewhere_.apply(each->told)) {
            ++unsettled_;
        }
    }
    return {false, never};
}

ENTITABLE_DECL void index_writer::finish(bool made) {
    if (!made) {
        return;
    }
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
        if (!gone && gone.error().code != error_code::resource_not_found) {
            ++unsettled_;
        }
    }
}

ENTITABLE_DECL sent_transaction index_writer::send_with_intents(transaction_scope& all, bool announces) {
    std::vector<moved_entity*> pending;
    for (moved_entity& each : moved_) {
        if (each.removal) {
            all.change(mutation_kind::insert, each.told.to_row(), false);
        } else {
            pending.push_back(&each);
        }
    }
    auto const end_without = [&](failure why, bool beaten) {
        why.error().effect = effect::none; // the transaction was not sent, or never will be made
        return sent_transaction{std::move(why), beaten};
    };
    if (auto inserted = insert_intents(pending); !inserted) {
        (void)give_up(pending, false);
        return end_without(std::move(inserted).as_failure(), false);
    }
    error taken;
    if (auto put = put_rows(pending, taken); !put || !*put) {
        (void)give_up(pending, false);
        failure why = put ? failure{std::move(taken)} : std::move(put).as_failure();
        return end_without(std::move(why), false);
    }
    for (moved_entity const* const each : pending) {
        get_entity::response as_inserted;
        as_inserted.entity = each->told.to_row();
        as_inserted.etag = each->told.version;
        std::string const row_key{as_inserted.entity.row_key()};
        (void)all.rows.take(row_key, std::move(as_inserted));
        all.change(mutation_kind::merge, each->told.state_row(intent_state::applied), false);
    }
    auto request = all.rows.request(announces, all.transport().profile());
    if (!request) {
        (void)give_up(pending, false);
        return {std::move(request).as_failure()};
    }
    bool maybe = false;
    for (std::uint32_t attempts = 1;; ++attempts) {
        auto made = send_healing(all, *request);
        if (made) {
            note_version(*request, *made);
            finish(true);
            return {std::move(made)};
        }
        error const refused = made.error();
        maybe = maybe || refused.effect == effect::unknown;
        moved_entity const& witness = pending.empty() ? moved_.front() : *pending.front();
        bool known = false;
        auto const state = maybe ? state_of(witness, known) : std::nullopt;
        if (state == intent_state::applied) {
            finish(true);
            transact::response concluded;
            concluded.results.push_back({{}, true});
            return {std::move(concluded)};
        }
        bool const may_be_sent_again =
            refused.effect == effect::unknown && known && (pending.empty() ? !state : state == intent_state::pending);
        if (may_be_sent_again && elsewhere_.pause(attempts, refused)) {
            continue;
        }
        judgement const judged = give_up(pending, maybe);
        if (judged.made) {
            finish(true);
            transact::response concluded;
            concluded.results.push_back({{}, true});
            return {std::move(concluded)};
        }
        auto const [answer, beaten] = told_refusal(all, *request, refused);
        failure why{answer.error()};
        why.error().effect = judged.never ? effect::none : effect::unknown;
        // A lost request that was stopped in time is no reason to give up: the body begins again.
        return {std::move(why), judged.never && (beaten || refused.effect == effect::unknown)};
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
