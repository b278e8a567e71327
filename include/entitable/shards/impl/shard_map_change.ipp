// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/mapping/codec.hpp>
#include <entitable/request/idempotency.hpp>
#include <entitable/shards/detail/shard_map_change.hpp>
#include <entitable/shards/detail/shard_map_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL shard_map_reading::shard_map_reading(std::string const& table, steady_time now)
    : pages_{table, {}, {}, {}, 1000, {}}, header_{table, "map", "header", {}} {
    pages_.range.partition = key_interval::only("map");
    begin(now);
}

ENTITABLE_DECL void shard_map_reading::begin(steady_time now) {
    made_ = shard_map_ref::make();
    made_->asked_at = now;
    pages_.continuation.reset();
    read_ = 0;
    headed_ = checks_ = false;
}

ENTITABLE_DECL operation_step shard_map_reading::next() const noexcept {
    return outcome_ ? operation_step{} : checks_ ? operation_step{header_} : operation_step{pages_};
}

ENTITABLE_DECL result<void> shard_map_reading::take(page const& rows) {
    for (std::size_t index = 0; index < rows.size(); ++index) {
        row_view const each = rows[index];
        if (each.row_key == "header") {
            headed_ = true;
            made_->version = each.etag();
            ENTITABLE_CHECK(from_row(each, made_->header));
        } else if (each.row_key.starts_with("shard")) {
            shard_place& place = made_->places.emplace_back();
            place.version = each.etag();
            ENTITABLE_CHECK(from_row(each, place.row));
            place.retired = shard_retired_in(place.row.retired);
        }
    }
    return {};
}

ENTITABLE_DECL void shard_map_reading::answer(result<query_entities::response> found, steady_time) {
    if (!found && found.error().code == error_code::wrong_store) { // of stores on a hash, which have no map
        outcome_.emplace(failure{found.error()});
        return;
    }
    if (!found) {
        failure away{error_code::map_unavailable,
            text::joined({"the map of the shards cannot be read: ", found.error().to_string()})};
        away.error().detail = found.error().detail;
        outcome_.emplace(std::move(away));
        return;
    }
    ++read_;
    if (auto taken = take(found->rows); !taken) {
        outcome_.emplace(std::move(taken).as_failure());
        return;
    }
    pages_.continuation = std::move(found->continuation);
    if (pages_.continuation) {
        return;
    }
    if (!headed_) {
        outcome_.emplace(map_fault("has no header: it was not made, or not to its end"));
    } else if (read_ > 1) {
        checks_ = true;
    } else {
        end();
    }
}

ENTITABLE_DECL void shard_map_reading::answer(result<get_entity::response> header, steady_time now) {
    constexpr std::size_t most_attempts = 20;
    if (header && header->etag == made_->version) {
        end();
    } else if (++attempts_ < most_attempts) {
        begin(now);
    } else {
        outcome_.emplace(
            failure{error_code::map_unavailable, "the map of the shards changes faster than it can be read"});
    }
}

ENTITABLE_DECL void shard_map_reading::end() {
    made_->tables = shard_tables_in(made_->header.tables);
    if (auto covered = check_coverage(*made_); !covered) {
        outcome_.emplace(std::move(covered).as_failure());
    } else {
        outcome_.emplace(made_);
    }
}

ENTITABLE_DECL shard_map_change::shard_map_change(
    std::string const& table, std::optional<std::int32_t> shard, std::string nonce, edit_type edit, steady_time now)
    : table_(table), shard_(shard), nonce_(std::move(nonce)), edit_(std::move(edit)), request_{table, {}} {
    read(now);
}

ENTITABLE_DECL void shard_map_change::read(steady_time now) { reading_.emplace(table_, now); }

ENTITABLE_DECL operation_step shard_map_change::next() const noexcept {
    if (outcome_) {
        return {};
    }
    operation_step due = reading_ ? reading_->next() : operation_step{request_};
    due.not_before = not_before_;
    return due;
}

ENTITABLE_DECL void shard_map_change::answer(result<query_entities::response> found, steady_time now) {
    reading_->answer(std::move(found), now);
    look(now);
}
ENTITABLE_DECL void shard_map_change::answer(result<get_entity::response> header, steady_time now) {
    reading_->answer(std::move(header), now);
    look(now);
}

ENTITABLE_DECL void shard_map_change::look(steady_time) {
    if (!reading_->next().done()) {
        return;
    }
    not_before_ = (steady_time::min)();
    auto read = reading_->finish();
    reading_.reset();
    if (!read) {
        failure lost{read.error()};
        lost.error().effect = unsettled_ ? effect::unknown : effect::none;
        outcome_.emplace(std::move(lost));
        return;
    }
    if (unsettled_) {
        shard_map_copy const& now_there = **read;
        bool const in_row = shard_ && static_cast<std::size_t>(*shard_) < now_there.places.size() &&
            now_there.places[static_cast<std::size_t>(*shard_)].row.nonce == sent_nonce_;
        if (in_row || now_there.header.nonce == sent_nonce_) {
            outcome_.emplace();
            return;
        }
        if (now_there.version == base_->version) {
            return; // nothing was applied so far: the same is sent again
        }
        unsettled_ = false; // and nothing of it ever will be: the ETag is another
    }
    base_ = *std::move(read);
    draw_up();
}

ENTITABLE_DECL void shard_map_change::draw_up() {
    constexpr std::size_t most_drafts = 50;
    if (++drafts_ > most_drafts) {
        outcome_.emplace(
            failure{error_code::map_unavailable, "the map of the shards is changed by others all the time"});
        return;
    }
    auto const make = [&]() -> result<bool> {
        shard_map_draft draft{base_->header, base_->tables, {}, {}};
        if (shard_) {
            if (*shard_ < 0 || static_cast<std::size_t>(*shard_) >= base_->places.size()) {
                return failure{error_code::invalid_input, "there is no such virtual shard"};
            }
            shard_place const& place = base_->places[static_cast<std::size_t>(*shard_)];
            draft.row = place.row;
            draft.retired = place.retired;
        }
        ENTITABLE_TRY(bool const wanted, edit_(*base_, draft));
        if (!wanted) {
            return false;
        }
        sent_nonce_ = text::joined({nonce_, "-", std::to_string(drafts_)});
        draft.header.tables = text_of(draft.tables);
        draft.header.nonce = sent_nonce_;
        ++draft.header.version;
        request_.changes.clear();
        ENTITABLE_TRY(auto header, to_row(draft.header));
        request_.changes.push_back(mutation::replace(std::move(header), base_->version));
        if (shard_) {
            draft.row.retired = text_of(draft.retired);
            draft.row.nonce = sent_nonce_;
            ENTITABLE_TRY(auto row, to_row(draft.row));
            request_.changes.push_back(
                mutation::replace(std::move(row), base_->places[static_cast<std::size_t>(*shard_)].version));
        }
        return true;
    };
    auto made = make();
    if (!made) {
        outcome_.emplace(std::move(made).as_failure());
    } else if (!*made) {
        outcome_.emplace();
    }
    sendings_ = 0;
}

ENTITABLE_DECL void shard_map_change::answer(result<transact::response> changed, steady_time now) {
    constexpr std::size_t most_sendings = 50;
    if (changed) {
        outcome_.emplace();
        return;
    }
    bool const lost = changed.error().effect == effect::unknown;
    bool const refused = changed.error().code == error_code::update_condition_not_satisfied;
    if ((!lost && !refused && !unsettled_) || ++sendings_ == most_sendings) {
        failure ended{changed.error()};
        ended.error().effect = unsettled_ || lost ? effect::unknown : effect::none;
        outcome_.emplace(std::move(ended));
        return;
    }
    // A sending whose answer was lost may have been the one that the ETag refused now.
    unsettled_ = unsettled_ || lost;
    if (!refused) {
        not_before_ = now + std::chrono::milliseconds{sendings_ < 10 ? 1 << sendings_ : 1000};
    }
    read(now);
}

ENTITABLE_DECL void shard_map_change::abandon(error const& reason) {
    failure ended{reason};
    ended.error().effect = unsettled_ ? effect::unknown : effect::none;
    outcome_.emplace(std::move(ended));
}

} // namespace detail
ENTITABLE_END_NAMESPACE
