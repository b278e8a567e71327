// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_writer.hpp>
#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns 32 hexadecimal digits.
ENTITABLE_DECL std::string intent_id(std::uint64_t high, std::uint64_t low) {
    std::string made;
    append_hexadecimal(made, high);
    append_hexadecimal(made, low);
    return made;
}

[[nodiscard]] inline std::optional<row_keys> row_keys_of(std::optional<row> const& one) {
    return one ? std::optional{row_keys_of(one->view())} : std::nullopt;
}

ENTITABLE_DECL failure key_is_taken(index_shape const& shape, row_keys const& keys) {
    failure made{error_code::entity_already_exists,
        text::joined({"another entity has this key of the unique index ", shape.name})};
    made.error().detail = keys_text(keys.partition_key, keys.row_key);
    return made;
}

ENTITABLE_DECL failure not_an_entity(row_keys const& keys) {
    failure made{error_code::invalid_input,
        "this row is not an entity of the table: it is a row that the table maintains, or its type is not in the list "
        "of the table"};
    made.error().detail = keys_text(keys.partition_key, keys.row_key);
    return made;
}

ENTITABLE_DECL result<void> index_writer::check_lease() {
    if (states_->has_lease(*family_.options.time)) { return {}; }
    ENTITABLE_TRY(shared<index_states> now, family_.states_to_write(elsewhere_.context()));
    changed_ = changed_ || !now->same_as(*states_);
    states_ = std::move(now);
    if (changed_) {
        return failure{error_code::update_condition_not_satisfied,
            "an index was built or retired during this write, which starts over"};
    }
    return {};
}

// ---- the changes of a body and of its index rows ----------------------------------------------------

/// Names the entity whose rows cannot be made.
ENTITABLE_DECL failure of_entity(failure why, std::string_view partition_key, std::string_view row_key) {
    why.error().detail = keys_text(partition_key, row_key);
    return why;
}

ENTITABLE_DECL result<void> index_writer::derive(
    entity_type const& of, changed_row_views const& rows, changed_entity& made) {
    counted_entity one{&of, rows, {}, {}};
    auto const decode = [&](std::optional<row_view> const& stored, decoded_entity& into, index_rows& derived) {
        if (!stored) { return result<void>{}; }
        auto decoded = of.decode(*stored, family_.main.options().reading);
        if (!decoded) { return result<void>{std::move(decoded).as_failure()}; }
        into = *std::move(decoded);
        if (!of.indexed) { return result<void>{}; }
        derived.resize(family_.shapes.size());
        return of.derive(into.get(), [&](std::size_t index, row&& of_index) {
            derived[index] = std::move(of_index);
            return result<void>{};
        });
    };
    ENTITABLE_CHECK(decode(rows.before, one.before, made.before));
    ENTITABLE_CHECK(decode(rows.after, one.after, made.after));
    if (!of.sums.empty()) { counted_.push_back(std::move(one)); }
    return {};
}

ENTITABLE_DECL result<void> index_writer::derive_inserted(
    transaction_scope& all, entity_type const& of, changed_row_views const& rows) {
    auto decoded = of.decode(*rows.after, family_.main.options().reading);
    if (!decoded) { return of_entity(std::move(decoded).as_failure(), all.rows.partition_key(), rows.after->row_key); }
    result<void> made;
    result<void> added;
    if (of.indexed) {
        made = of.derive(decoded->get(), [&](std::size_t index, row&& of_index) {
            if (added && states_->keeps(index)) { added = add_index_row(all, index, std::move(of_index)); }
            return result<void>{};
        });
    }
    if (!made) { return of_entity(std::move(made).as_failure(), all.rows.partition_key(), rows.after->row_key); }
    if (added && !of.sums.empty()) { counted_.push_back({&of, rows, {}, *std::move(decoded)}); }
    return added;
}

ENTITABLE_DECL result<void> index_writer::add_index_row(transaction_scope& all, std::size_t index, row&& made) {
    if (family_.shapes[index].unique) { return take_unique(all, index, std::move(made)); }
    all.change(mutation_kind::insert_or_replace, std::move(made), true);
    return {};
}

ENTITABLE_DECL result<void> index_writer::prepare(transaction_scope& all) {
    // Copies the changes that the body made, before anything is added to them.
    entities_ = all.rows.changed_entities();
    removals_.clear();
    moved_.clear();
    counted_.clear();
    versions_.clear();
    bool const alone = entities_.size() == 1 && !family_.has_rows_elsewhere();
    std::vector<changed_entity> changed;
    if (!alone) { changed.reserve(entities_.size()); }
    counted_.reserve(entities_.size());
    for (std::string const& row_key : entities_) {
        entity_type const* const of = family_.type_of(all.rows.partition_key(), row_key);
        if (of == nullptr) { return not_an_entity({all.rows.partition_key(), row_key}); }
        if (!of->maintained()) { continue; }
        changed_row_views const rows = all.look_at(row_key);
        if (!all.rows.problem()) { return failure{all.rows.problem().error()}; }
        if (alone && !rows.before && rows.after) { // no index row has to be removed before others are added
            ENTITABLE_CHECK(derive_inserted(all, *of, rows));
            break;
        }
        changed_entity& made = changed.emplace_back();
        made.row_key = row_key;
        if (auto derived = derive(*of, rows, made); !derived) {
            return of_entity(std::move(derived).as_failure(), all.rows.partition_key(), row_key);
        }
    }
    if (!changed.empty()) { ENTITABLE_CHECK(put_index_rows(all, changed)); }
    return all.rows.problem();
}

ENTITABLE_DECL result<void> index_writer::put_index_rows(transaction_scope& all, std::vector<changed_entity>& changed) {
    // All removals come first, because a key of a unique index may pass from one entity to another.
    for (changed_entity& each : changed) {
        if (each.before.empty() && each.after.empty()) { continue; }
        std::optional<moved_entity> moved; // of a table with rows in other partitions
        bool const gone = each.after.empty();
        each.before.resize(family_.shapes.size());
        each.after.resize(family_.shapes.size());
        for (std::size_t index = 0; index < family_.shapes.size(); ++index) {
            std::optional<row>& before = each.before[index];
            std::optional<row>& after = each.after[index];
            bool const same_keys = before && after && before->row_key() == after->row_key() &&
                before->partition_key() == after->partition_key();
            bool const same = same_keys && before->view().payload == after->view().payload;
            if (!states_->keeps(index) || same) {
                after.reset();
                continue;
            }
            if (family_.shapes[index].elsewhere) {
                if (before || after) {
                    if (!moved) { moved.emplace(); }
                    moved->moves.push_back({index, row_keys_of(before), std::move(after)});
                }
                after = std::nullopt;
                continue;
            }
            if (!before || same_keys) { continue; }
            // Under an operation id a row to be removed is read first: a refusal that is not about a version abandons the id.
            bool const known_absent = all.rows.remembers_absence(before->row_key()); // the body has read its absence
            if (family_.shapes[index].unique || known_absent || !all.context().operation_id.empty()) {
                ENTITABLE_CHECK(drop_found(all, index, *before, {all.rows.partition_key(), std::string{each.row_key}}));
            } else {
                removals_.emplace_back(before->row_key());
                all.change(mutation_kind::remove, row{before->partition_key(), before->row_key(), {}}, true);
            }
        }
        if (moved) {
            moved->removal = gone;
            moved->told.entity = {all.rows.partition_key(), std::string{each.row_key}};
            moved->told.id = intent_id(elsewhere_.draw(), elsewhere_.draw());
            moved->told.state = gone ? intent_state::applied : intent_state::pending;
            for (move const& one : moved->moves) {
                moved->told.moves.push_back(
                    {std::string{family_.shapes[one.index].name}, one.from, row_keys_of(one.to)});
            }
            moved_.push_back(*std::move(moved));
        }
    }
    for (changed_entity& each : changed) {
        for (std::size_t index = 0; index < each.after.size(); ++index) {
            if (each.after[index]) { ENTITABLE_CHECK(add_index_row(all, index, *std::move(each.after[index]))); }
        }
    }
    return {};
}

ENTITABLE_DECL result<void> index_writer::drop_found(
    transaction_scope& all, std::size_t index, row const& old, row_keys owner) {
    ENTITABLE_TRY(auto const stored, all.find_row(old.row_key()));
    if (!stored) {
        ++healed_;
        return {};
    }
    ENTITABLE_TRY(auto const named, family_.shapes[index].owner_of(*stored, all.reading()));
    if (named == owner) { all.change(mutation_kind::remove, row{old.partition_key(), old.row_key(), {}}, false); }
    return {};
}

ENTITABLE_DECL result<void> index_writer::take_unique(transaction_scope& all, std::size_t index, row made) {
    index_shape const& shape = family_.shapes[index];
    ENTITABLE_TRY(auto const stored, all.find_row(made.row_key()));
    if (!stored) {
        all.change(mutation_kind::insert, std::move(made), false);
        return {};
    }
    ENTITABLE_TRY(auto const owner, shape.owner_of(*stored, all.reading()));
    ENTITABLE_TRY(auto const own, shape.owner_of(made, all.reading()));
    if (owner != own) {
        ENTITABLE_TRY(
            auto const other, all.find_now(owner.row_key)); // the body may have read its absence before it existed
        ENTITABLE_TRY(auto const rows, family_.rows_for(other));
        if (rows[index] && rows[index]->row_key() == made.row_key()) {
            return key_is_taken(shape, row_keys_of(made.view()));
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
            if (!may_be_gone(change)) { return false; }
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
        ENTITABLE_CHECK(check_lease());
        auto made = all.send(request);
        if (made || !heal(all, request, made.error())) { return made; }
    }
}

ENTITABLE_DECL void index_writer::note_versions(transact const& request, transact::response& made) {
    versions_.resize(entities_.size());
    std::size_t last = 0; // many changes come in the order of the entities
    for (std::size_t at = 0; at < request.changes.size() && at < made.results.size(); ++at) {
        std::string_view const row_key = request.changes[at].entity.row_key();
        if (last >= entities_.size() || entities_[last] != row_key) {
            if (entities_.size() == 1) { continue; }
            last = static_cast<std::size_t>(
                std::ranges::lower_bound(entities_, row_key, std::less<>{}) - entities_.begin());
            if (last == entities_.size() || entities_[last] != row_key) { continue; }
        }
        versions_[last++] = std::move(made.results[at].etag);
    }
}

ENTITABLE_DECL sent_transaction index_writer::send(transaction_scope& all, bool announces) {
    changed_ = false;
    if (auto prepared = prepare(all); !prepared) { return {std::move(prepared).as_failure(), all.rows.in_vain()}; }
    if (!moved_.empty()) { return send_with_intents(all, announces); }
    if (auto added = add_sums(all); !added) { return {std::move(added).as_failure(), all.rows.in_vain()}; }
    auto request = all.rows.request(announces, all.store().profile());
    if (!request) { return {too_many(all)}; }
    if (auto added = add_log(all, *request); !added) { return {std::move(added).as_failure(), all.rows.in_vain()}; }
    auto made = send_healing(all, *request);
    if (!made) {
        auto const verdict = log_ && !changed_ ? log_->judge(made.error(), all.context()) : log_verdict::not_concerned;
        if (verdict == log_verdict::applied) {
            transact::response concluded;
            concluded.results.push_back({{}, true});
            return {std::move(concluded)};
        }
        auto told = told_refusal(all, *request, named(made.error(), *request));
        if (verdict == log_verdict::begin_again) {
            failure never{told.made.error()};
            never.error().effect = effect::none;
            return {std::move(never), true};
        }
        told.beaten = told.beaten || changed_;
        return told;
    }
    if (log_) { log_->note(*made); }
    note_versions(*request, *made);
    return {std::move(made)};
}

ENTITABLE_DECL result<void> index_writer::add_log(transaction_scope& all, transact& request) {
    if (!log_) { return {}; }
    log_->skip();
    if (entities_.empty() || !logs()) { return {}; }
    if (!all.context().operation_id.empty()) {
        ENTITABLE_TRY(bool const inserted,
            log_->insert_missing_heads(all.rows.partition_key(), entities_, states_->log, all.context()));
        if (inserted) {
            all.rows.begin_again();
            return failure{
                error_code::update_condition_not_satisfied, "the change log was begun, and the write starts over"};
        }
    }
    ENTITABLE_CHECK(log_->add(request, &entities_, states_->log, all.context()));
    if (!log_->met_other_log() || std::exchange(asked_log_, true)) { return {}; }
    ENTITABLE_TRY(shared<index_states> now, family_.read_states(elsewhere_.context()));
    if (now->log == states_->log) { return {}; }
    log_->remove(request);
    states_ = std::move(now);
    all.rows.begin_again();
    return failure{
        error_code::update_condition_not_satisfied, "the table was made again during this write, which starts over"};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
