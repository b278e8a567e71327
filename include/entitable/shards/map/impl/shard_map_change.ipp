// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/shard_map_change.hpp>
#include <entitable/shards/map/detail/shard_map_rows.hpp>

#include <algorithm>

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
            place.retired = shard_retired_in(place.row.retired, place.row.shard);
        } else if (each.row_key == shard_map_identity{}.part) {
            shard_map_identity own;
            ENTITABLE_CHECK(from_row(each, own));
            made_->identity = own.state ? std::string{} : std::move(own.identity);
        } else if (each.row_key.starts_with("store")) {
            shard_map_store store;
            ENTITABLE_CHECK(from_row(each, store));
            made_->stores.push_back(std::move(store.store));
        }
    }
    return {};
}

ENTITABLE_DECL void shard_map_reading::answer(result<query_entities::response> found, steady_time) {
    // These errors are permanent: hashed stores have no map, or the catalogue was moved from, or its address is invalid.
    if (!found && (found.error().code == error_code::wrong_store || found.error().code == error_code::invalid_input)) {
        outcome_.emplace(failure{found.error()});
        return;
    }
    if (!found) {
        failure away{
            error_code::map_unavailable, text::joined({"cannot read the shard map: ", found.error().to_string()})};
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
    if (pages_.continuation) { return; }
    if (!headed_) {
        outcome_.emplace(map_fault("has no header: it was not created, or its creation was interrupted"));
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
        outcome_.emplace(failure{error_code::map_unavailable, "the shard map changes faster than it can be read"});
    }
}

ENTITABLE_DECL void shard_map_reading::end() {
    if (made_->header.state) {
        outcome_.emplace(map_fault(text::joined({"is in the state \"", text::printable(*made_->header.state),
            "\": its creation was interrupted; create it again"})));
        return;
    }
    made_->tables = shard_tables_in(made_->header.tables);
    made_->by_ranges = made_->header.strategy == "ranges";
    if (made_->by_ranges) {
        std::sort(made_->places.begin(), made_->places.end(), [](shard_place const& left, shard_place const& right) {
            return text::compare_utf16(left.row.low, right.row.low) < 0;
        });
    }
    if (auto covered = check_coverage(*made_); !covered) {
        outcome_.emplace(std::move(covered).as_failure());
    } else {
        outcome_.emplace(made_);
    }
}

ENTITABLE_DECL shard_row_draft* shard_map_draft::edit(shard_map_copy const& map, std::int32_t shard) {
    for (shard_row_draft& each : rows) {
        if (each.row.shard == shard) { return &each; }
    }
    shard_place const* const place = map.find_shard(shard);
    return place == nullptr ? nullptr
                            : &rows.emplace_back(shard_row_draft{place->row, place->retired, place->version, false});
}

ENTITABLE_DECL shard_map_change::shard_map_change(
    std::string const& table, std::string nonce, edit_type edit, steady_time now)
    : table_(table), nonce_(std::move(nonce)), edit_(std::move(edit)), request_{table, {}} {
    read(now);
}

ENTITABLE_DECL void shard_map_change::read(steady_time now) { reading_.emplace(table_, now); }

ENTITABLE_DECL operation_step shard_map_change::next() const noexcept {
    if (outcome_) { return {}; }
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
    if (!reading_->next().done()) { return; }
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
        if (is_applied(**read)) {
            outcome_.emplace();
            return;
        }
        if ((*read)->version == base_->version) {
            return; // nothing has been applied: the same request is sent again
        }
        unsettled_ = false; // the ETag differs, so it was not applied and never will be
    }
    base_ = *std::move(read);
    draw_up();
}

ENTITABLE_DECL bool shard_map_change::is_applied(shard_map_copy const& map) const {
    return map.header.nonce == sent_nonce_ ||
        std::any_of(sent_rows_.begin(), sent_rows_.end(), [&](std::int32_t shard) {
            shard_place const* const place = map.find_shard(shard);
            return place != nullptr && place->row.nonce == sent_nonce_;
        });
}

ENTITABLE_DECL void shard_map_change::draw_up() {
    constexpr std::size_t most_drafts = 50;
    if (++drafts_ > most_drafts) {
        outcome_.emplace(
            failure{error_code::map_unavailable, "too many conflicts with other changes of the shard map"});
        return;
    }
    auto const make = [&]() -> result<bool> {
        shard_map_draft draft{base_->header, base_->tables, {}, {}};
        ENTITABLE_TRY(bool const wanted, edit_(*base_, draft));
        if (!wanted) { return false; }
        sent_nonce_ = text::joined({nonce_, "-", std::to_string(drafts_)});
        draft.header.tables = text_of(draft.tables);
        draft.header.nonce = sent_nonce_;
        ++draft.header.version;
        request_.changes.clear();
        ENTITABLE_TRY(auto header, to_row(draft.header));
        request_.changes.push_back(mutation::replace(std::move(header), base_->version));
        sent_rows_.clear();
        for (shard_row_draft& each : draft.rows) {
            each.row.retired = text_of(each.retired, each.row.shard);
            each.row.nonce = sent_nonce_;
            ENTITABLE_TRY(auto row, to_row(each.row));
            request_.changes.push_back(each.erased ? mutation::remove(std::move(row), each.version)
                    : each.version.empty()         ? mutation::insert(std::move(row))
                                                   : mutation::replace(std::move(row), each.version));
            if (!each.erased) { sent_rows_.push_back(each.row.shard); }
        }
        std::move(draft.others.begin(), draft.others.end(), std::back_inserter(request_.changes));
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
    bool const refused = changed.error().code == error_code::update_condition_not_satisfied ||
        changed.error().code == error_code::resource_not_found; // for example, a rule was removed in the meantime
    if ((!lost && !refused && !unsettled_) || ++sendings_ == most_sendings) {
        failure ended{changed.error()};
        ended.error().effect = unsettled_ || lost ? effect::unknown : effect::none;
        outcome_.emplace(std::move(ended));
        return;
    }
    // The ETag mismatch may be due to an earlier send whose response was lost.
    unsettled_ = unsettled_ || lost;
    if (!refused) { not_before_ = now + std::chrono::milliseconds{sendings_ < 10 ? 1 << sendings_ : 1000}; }
    read(now);
}

ENTITABLE_DECL void shard_map_change::abandon(error const& reason) {
    failure ended{reason};
    ended.error().effect = unsettled_ ? effect::unknown : effect::none;
    outcome_.emplace(std::move(ended));
}

} // namespace detail
ENTITABLE_END_NAMESPACE
