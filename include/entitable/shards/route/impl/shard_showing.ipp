// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Shows the rows of shards one after the other, while their stores are being read: no page is made and nothing is merged.

#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/route/impl/shard_reading.ipp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::string token_of_turn(std::uint64_t query, shard_turn const& at) {
    part_hash hash{query};
    hash.add(static_cast<std::uint64_t>(at.shard));
    hash.add(std::uint64_t{at.last ? 1U : 0U});
    if (at.last) {
        hash.add(std::string_view{at.last->partition_key});
        hash.add(std::string_view{at.last->row_key});
    }
    std::string token = text::joined({"2!", std::to_string(hash.value()), "!", std::to_string(at.shard)});
    if (at.last) {
        token += '!';
        append_hexadecimal(token, at.last->partition_key);
        token += '!';
        append_hexadecimal(token, at.last->row_key);
    }
    return token;
}

ENTITABLE_DECL result<shard_turn> turn_of_token(std::uint64_t query, std::string const& token) {
    std::vector<std::string_view> parts;
    for (std::string_view rest = token;;) {
        std::size_t const end = rest.find('!');
        parts.push_back(rest.substr(0, end));
        if (end == std::string_view::npos) { break; }
        rest.remove_prefix(end + 1);
    }
    bool const has_last = parts.size() == 5;
    if (has_last || parts.size() == 3) {
        shard_turn found;
        constexpr std::size_t most_digits = 6;
        for (char const digit : parts[2].substr(0, most_digits)) { found.shard = found.shard * 10 + (digit - '0'); }
        auto first = has_last ? from_hexadecimal(parts[3]) : std::string{};
        auto second = has_last ? from_hexadecimal(parts[4]) : std::string{};
        if (first && second) {
            if (has_last) { found.last = last_keys{*std::move(first), *std::move(second)}; }
            if (token_of_turn(query, found) == token) { return found; }
        }
    }
    return invalid_shard_token(token);
}

class shard_showing : shard_reading {
public:
    shard_showing(sharded_state& state, read_entities const& request, call& context)
        : shard_reading(state, *request.asked, context, nullptr), wanted_(request) {}

    [[nodiscard]] result<read_entities::response> run() {
        ENTITABLE_CHECK(validate(request_, state_.profile()));
        ENTITABLE_CHECK(check_call(context_));
        ENTITABLE_TRY(map_, state_.map_with(request_.table, context_));
        print_ = fingerprint(request_, text::ascii_lower(request_.table));
        one_partition_ = request_.range.partition.is_point();
        ENTITABLE_CHECK(find_places());
        several_ = places_.size() > 1;
        hashed_ = several_ && !map_->by_ranges;
        ENTITABLE_CHECK(find_start());
        part_.asked.filter = request_.filter;
        part_.asked.select = request_.select;
        for (; at_ < places_.size(); ++at_) {
            begin_part();
            while (!part_.ended) {
                ENTITABLE_CHECK(check_call(context_));
                ENTITABLE_CHECK(show_page_of_part());
                if (is_over()) { return finish(); }
            }
        }
        return finish();
    }

private:
    result<void> find_places() {
        shard_place const* only = nullptr;
        if (one_partition_) {
            ENTITABLE_TRY(only, state_.map.state().place_of(*map_, request_.range.partition.lower.key));
        }
        for (shard_place const& place : map_->places) {
            if ((only == nullptr || only == &place) && meets_range(place, request_.range)) {
                places_.push_back(&place);
            }
        }
        return {};
    }

    result<void> find_start() {
        if (!request_.continuation) { return {}; }
        if (!hashed_) {
            ENTITABLE_TRY(part_.last, keys_of_token(print_, *request_.continuation));
            return {};
        }
        ENTITABLE_TRY(shard_turn turn, turn_of_token(print_, *request_.continuation));
        while (at_ < places_.size() && places_[at_]->row.shard < turn.shard) { ++at_; }
        part_.last = std::move(turn.last);
        return {};
    }

    /// Begins the part of the current place. In a map of ranges, the last row of the part before it comes before all of its rows.
    void begin_part() {
        shard_place const& place = *places_[at_];
        if (hashed_ && begun_) { part_.last.reset(); }
        begun_ = true;
        knows_place_ = true;
        part_.way = {};
        part_.shard = place.row.shard;
        part_.keys = place.keys();
        restart(part_);
    }

    [[nodiscard]] bool is_over() const noexcept {
        bool const ends_here = hashed_ && part_.ended;
        if (shown_ == 0 || !(ends_here || (knows_place_ && part_.last))) { return false; }
        // Two pages of a store are two snapshots (`transport`, rule 10).
        return cut_ || one_partition_ || shown_ >= request_.page_size;
    }

    [[nodiscard]] result<read_entities::response> finish() {
        read_entities::response done{std::nullopt, shown_, examined_, stale_};
        bool const more = at_ < places_.size() && (!part_.ended || at_ + 1 < places_.size());
        if (!more) { return done; }
        if (!hashed_) {
            done.continuation = token_of_keys(print_, *part_.last);
        } else if (part_.ended) {
            done.continuation = token_of_turn(print_, {places_[at_ + 1]->row.shard, std::nullopt});
        } else {
            done.continuation = token_of_turn(print_, {part_.shard, part_.last});
        }
        return done;
    }

    void pass_on(std::span<row_view const> run) {
        shown_ += run.size();
        row_view const& end = run.back();
        if (!part_.last) { part_.last.emplace(); }
        part_.last->partition_key = end.partition_key;
        part_.last->row_key = end.row_key;
        knows_place_ = true;
        (*wanted_.visit)(wanted_.versions ? etags_.added(run, part_.way.epoch()) : run);
    }

    result<void> show_page_of_part() {
        auto way = way_of(part_);
        if (way && part_.asked.continuation && !part_.way.leads_where(*way)) {
            restart(part_); // its continuation belongs to a different table
            return {};
        }
        if (!way) { return fail(part_, way.error()); }
        address(part_, *std::move(way));
        bool const longer = wanted_.any_order || wanted_.only_counts;
        part_.asked.page_size = request_.page_size - (longer ? 0 : static_cast<std::uint32_t>(shown_));
        auto const store = state_.store(part_.way.store(), context_);
        if (!store) { return fail(part_, store.error()); }
        return buffered_ ? show_buffered(*store) : show_direct(*store);
    }

    /// Shows each run after the leases say that it is valid: what was shown cannot be taken back.
    result<void> show_direct(any_store const& store) {
        lookup_map_state& source = state_.map.state();
        shard_keys const keys = part_.keys_of(part_.asked.range.partition);
        std::uint64_t const before = shown_;
        bool stopped = false;
        auto const look = [&](std::span<row_view const> run) {
            stopped = stopped ||
                (!part_.way.map->good(*part_.way.place, source.now()) &&
                    !state_.holds_by_lease(part_.way, keys, false));
            if (!stopped) { pass_on(run); }
        };
        page_visitor const watcher{look};
        auto const answer = store.execute(read_entities{part_.asked.table, &part_.asked, &watcher, true,
                                              wanted_.only_counts, wanted_.without_system_rows, wanted_.versions},
            context_);
        bool const missing = !answer && answer.error().code == error_code::table_not_found;
        auto const holds = state_.still_holds(part_.way, keys, request_.table, false, missing, context_);
        if (!holds) { return fail(part_, holds.error()); }
        if (!*holds || stopped) { // requested again behind the rows shown
            restart(part_);
            cut_ = shown_ != before;
            buffered_ = buffered_ || stopped;
            return {};
        }
        ENTITABLE_CHECK(judge(answer, missing));
        if (shown_ == before) { // the store counted rows and showed none
            knows_place_ = knows_place_ && answer->shown == 0;
            shown_ += answer->shown;
        }
        take(answer->examined, answer->stale, answer->continuation);
        return {};
    }

    /// Reads a page, and shows it after the map says that it is valid: for the rest of a request during which a lease has ended.
    result<void> show_buffered(any_store const& store) {
        shard_keys const keys = part_.keys_of(part_.asked.range.partition);
        auto answer = store.execute(part_.asked, context_);
        bool const missing = !answer && answer.error().code == error_code::table_not_found;
        auto const holds = state_.still_holds(part_.way, keys, request_.table, false, missing, context_);
        if (!holds) { return fail(part_, holds.error()); }
        if (!*holds) {
            restart(part_);
            return {};
        }
        ENTITABLE_CHECK(judge(answer, missing));
        for (std::size_t index = 0; index < answer->rows.size(); ++index) {
            row_view const each = answer->rows[index];
            pass_on({&each, 1});
        }
        take(answer->examined, answer->stale, answer->continuation);
        return {};
    }

    template <class Answer>
    result<void> judge(Answer const& answer, bool missing) {
        if (missing && part_.way.table->whole) {
            failure lost = lost_part(*part_.way.place, *part_.way.table);
            return fail(part_, lost.error());
        }
        return answer ? result<void>{} : fail(part_, answer.error());
    }
    void take(std::uint64_t examined, bool stale, std::optional<std::string> const& continuation) {
        examined_ += examined;
        stale_ = stale_ || stale;
        go_on(part_, continuation);
    }

    read_entities const& wanted_;
    shard_map_ref map_;
    std::vector<shard_place const*> places_; ///< places with rows of the range, in their order
    std::size_t at_{};
    shard_part part_; ///< the part of the current place
    std::uint64_t print_{};
    std::uint64_t shown_{};
    bool one_partition_{};
    bool hashed_{};          ///< several shards whose keys are not ranges: a page ends at a `shard_turn`
    bool begun_{};           ///< a part has begun
    bool knows_place_{true}; ///< `part_.last` is the last row that was shown or counted, if any was
    bool buffered_{};
    bool cut_{}; ///< the page ends here, because rows behind it are of another snapshot
    shown_etags etags_;
};

ENTITABLE_DECL bool sharded_state::answers_in_turn(shard_map_ref const& of, call const& context) {
    {
        std::lock_guard<std::mutex> const guard{lock};
        if (judged.get() == of.get()) { return in_turn; }
    }
    bool all = true;
    shared<shard_lane> lane = take_lane();
    std::vector<std::string_view> seen;
    for (shard_place const& each : of->places) {
        if (!all || std::find(seen.begin(), seen.end(), each.row.store) != seen.end()) { continue; }
        seen.push_back(each.row.store);
        auto const opened = store(each.row.store, context);
        if (!opened) {
            give_back(std::move(lane));
            return false; // a fan-out reports it
        }
        if (shared<channel> own = opened->open(lane->io)) {
            all = false;
            lane->channels.try_emplace(each.row.store, std::move(own));
        }
    }
    give_back(std::move(lane));
    std::lock_guard<std::mutex> const guard{lock};
    judged = of;
    in_turn = all;
    return all;
}

ENTITABLE_DECL bool shows_in_turn(sharded_state& state, read_entities const& request, call const& context) {
    query_entities const& asked = *request.asked;
    if (asked.continuation && is_turn_token(*asked.continuation)) { return true; }
    if (state.options.hedge) { return false; }
    if (asked.range.partition.is_point()) { return true; }
    auto const map = state.map_with(request.table, context);
    if (!map) { return false; }
    bool const in_order = (*map)->by_ranges || (*map)->places.size() == 1;
    bool const any_order = request.any_order && !asked.continuation;
    return (in_order || any_order) && state.answers_in_turn(*map, context);
}

ENTITABLE_DECL result<read_entities::response> show_shards(
    sharded_state& state, read_entities const& request, call& context) {
    return shard_showing{state, request, context}.run();
}

ENTITABLE_DECL result<query_entities::response> page_in_turn(
    sharded_state& state, query_entities const& request, call& context) {
    query_entities::response made;
    auto const collect = [&](std::span<row_view const> run) { append_run(made.rows, run, request.page_size); };
    page_visitor const visit{collect};
    ENTITABLE_TRY(auto done, show_shards(state, read_entities{request.table, &request, &visit}, context));
    made.continuation = std::move(done.continuation);
    made.examined = done.examined;
    made.stale = done.stale;
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
