// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run_all.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/route/impl/shard_kept.ipp>
#include <entitable/shards/route/impl/shard_reading.ipp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class shard_gathering : shard_reading {
public:
    using shard_reading::shard_reading;

    /// Collects a page.
    [[nodiscard]] result<query_entities::response> run() {
        query_entities::response found;
        collects_ = true;
        auto const collect = [&](shard_part& part, std::size_t rows) { add(found.rows, part, rows); };
        ENTITABLE_CHECK(read(collect));
        if (misses_ != nullptr && !parts_.empty() && taken_ == 0 && !request_.continuation &&
            std::all_of(parts_.begin(), parts_.end(), [](shard_part const& each) { return each.failed; })) {
            std::lock_guard<std::mutex> const guard{misses_->lock};
            return failure{misses_->all.back().error}; // all parts failed, so there is no partial result
        }
        found.continuation = continuation();
        found.kept = kept(found.continuation);
        found.examined = examined_;
        found.stale = stale_;
        found.request_charge = context_.request_charge;
        return found;
    }

    /// Shows the rows of a page where they are, in the pages of the shards.
    [[nodiscard]] result<read_entities::response> show(read_entities const& wanted) {
        auto const pass_on = [&](shard_part& part, std::size_t rows) {
            auto const run = rows_of(part, rows);
            (*wanted.visit)(wanted.versions && !part.has_etags ? etags_.added(run, part.way.epoch()) : run);
        };
        ENTITABLE_CHECK(read(pass_on));
        read_entities::response done{continuation(), taken_, examined_, stale_, context_.request_charge};
        done.kept = kept(done.continuation);
        return done;
    }

private:
    /// Receives the next rows of a part, which are of one partition.
    using taker = function_ref<void(shard_part& part, std::size_t rows)>;

    result<void> read(taker take_rows) {
        ENTITABLE_CHECK(validate(request_, state_.profile()));
        ENTITABLE_CHECK(check_call(context_));
        print_ = fingerprint(request_, text::ascii_lower(request_.table));
        lookup_map_state& source = state_.map.state();
        writes_ = source.writes.load(memory_order::acquire);
        read_at_ = source.now();
        std::optional<last_keys> last;
        if (request_.continuation) { ENTITABLE_TRY(last, keys_of_token(print_, *request_.continuation)); }
        ENTITABLE_TRY(map_, state_.map_with(request_.table, context_));
        if (!go_on_with_kept()) { ENTITABLE_CHECK(find_parts(last)); }
        in_turn_ = misses_ == nullptr && !state_.options.hedge && state_.answers_in_turn(map_, context_);
        // Two pages of a store are two snapshots, so a page of one partition contains the rows of a single page
        // (`transport`, rule 10).
        bool const one_partition = request_.range.partition.is_point();
        for (;;) {
            ENTITABLE_CHECK(feed());
            merge(take_rows);
            bool const full = taken_ >= request_.page_size;
            more_ = std::any_of(parts_.begin(), parts_.end(),
                [](shard_part const& each) { return !each.ended || each.at < each.rows.size(); });
            bool const enough = taken_ > 0 && (one_partition || taken_ * 2 >= request_.page_size);
            if (!more_ || full || enough) { return {}; }
        }
    }

    [[nodiscard]] std::optional<std::string> continuation() {
        if (!more_) { return std::nullopt; }
        row_view const end = last_taken_->rows[last_taken_->at - 1];
        return token_of_keys(print_, {std::string{end.partition_key}, std::string{end.row_key}});
    }

    /// Keeps what is left of the pages of the shards. Parts that failed would have to be noted again, and a page of one partition is one of
    /// its store.
    [[nodiscard]] shared<kept_rows> kept(std::optional<std::string> const& token) {
        if (!token || misses_ != nullptr || request_.range.partition.is_point()) { return {}; }
        auto* const made = new kept_parts;
        shared<kept_rows> owned{made};
        made->parts = std::move(parts_); // they stay where they are in memory, and the queue refers to them
        made->queue = std::move(queue_);
        made->map = std::move(map_);
        made->location = context_.location;
        made->query = print_;
        made->token = *token;
        made->read_at = read_at_;
        made->writes = writes_;
        return owned;
    }

    /// Takes over the rows kept by the page before, if nobody can tell them from rows read now: this program wrote nothing since, the copy of
    /// the map is the same and its leases say that no shard can have moved, and the rows are recent.
    [[nodiscard]] bool go_on_with_kept() {
        constexpr std::chrono::seconds longest{1};
        kept_rows* const given = request_.kept.get();
        if (given == nullptr || misses_ != nullptr || given->kind() != kept_parts::own_kind()) { return false; }
        auto& before = static_cast<kept_parts&>(*given);
        if (before.query != print_ || before.token != request_.continuation || before.map.get() != map_.get() ||
            before.writes != writes_ || before.location != context_.location || read_at_ - before.read_at > longest) {
            return false;
        }
        if (!before.take()) { return false; }
        for (shard_part const& each : before.parts) {
            bool const waits = each.at < each.rows.size();
            if (waits && (each.way.map.get() != map_.get() || !map_->good(*each.way.place, read_at_))) { return false; }
        }
        parts_ = std::move(before.parts);
        queue_ = std::move(before.queue);
        for (shard_part const& each : parts_) { stale_ = stale_ || (each.stale && each.at < each.rows.size()); }
        several_ = parts_.size() > 1;
        read_at_ = before.read_at;
        // The reader continues from page to page, so what does not fit into this page is not read in vain.
        constexpr std::uint32_t fewest = 200;
        rows_of_part_ = (std::max)(share_of_part(), (std::min)(fewest, request_.page_size));
        return true;
    }

    result<void> find_parts(std::optional<last_keys> const& last) {
        shard_place const* only = nullptr;
        if (request_.range.partition.is_point()) {
            ENTITABLE_TRY(only, state_.map.state().place_of(*map_, request_.range.partition.lower.key));
        }
        parts_.reserve(only != nullptr ? 1 : map_->places.size());
        for (shard_place const& place : map_->places) {
            if ((only != nullptr && only != &place) || !meets_range(place, request_.range)) { continue; }
            shard_part part;
            part.shard = place.row.shard;
            part.keys = place.keys();
            part.last = last;
            restart(part);
            if (misses_ != nullptr) { skip_if_failed(part); }
            parts_.push_back(std::move(part));
        }
        several_ = parts_.size() > 1;
        rows_of_part_ = share_of_part();
        return {};
    }
    /// Rows of the page that each part provides, and some more, because the parts do not have equally many.
    [[nodiscard]] std::uint32_t share_of_part() const noexcept {
        std::size_t const count = parts_.empty() ? 1 : parts_.size();
        std::size_t const share = (request_.page_size + count - 1) / count;
        return static_cast<std::uint32_t>(
            (std::min)(std::size_t{request_.page_size}, count == 1 ? share : share + share / 8 + 8));
    }

    /// Queries all parts that have no row, until each has one or is at its end.
    result<void> feed() {
        for (;;) {
            std::vector<shard_part*> hungry;
            for (shard_part& each : parts_) {
                if (!each.hungry()) { continue; }
                if (hungry.empty()) { hungry.reserve(parts_.size()); }
                hungry.push_back(&each);
            }
            if (hungry.empty()) { return {}; }
            ENTITABLE_CHECK(check_call(context_));
            ENTITABLE_CHECK(ask(hungry));
        }
    }

    result<void> ask(std::vector<shard_part*>& hungry) {
        std::vector<shard_part*> sent;
        std::vector<any_store> stores;
        std::vector<std::pair<shard_part*, shard_route>> ways;
        std::vector<std::string_view> names;
        sent.reserve(hungry.size());
        stores.reserve(hungry.size());
        ways.reserve(hungry.size());
        names.reserve(hungry.size());
        for (shard_part* const each : hungry) {
            auto way = way_of(*each);
            if (way && each->asked.continuation && !each->way.leads_where(*way)) {
                restart(*each); // its continuation belongs to a different table
                if (each->ended) { continue; }
                way = way_of(*each);
            }
            if (!way) {
                ENTITABLE_CHECK(fail(*each, way.error()));
                continue;
            }
            names.push_back(way->store());
            ways.emplace_back(each, *std::move(way));
        }
        auto reached = state_.stores_of(names, context_);
        for (std::size_t index = 0; index < ways.size(); ++index) {
            auto& [each, way] = ways[index];
            auto& store = reached[index];
            if (!store) {
                each->way = std::move(way); // the error names it
                ENTITABLE_CHECK(fail(*each, store.error()));
                continue;
            }
            address(*each, std::move(way));
            each->asked.filter = request_.filter;
            each->asked.select = request_.select;
            each->asked.page_size = rows_of_part_;
            each->has_etags = false;
            each->run_ends.clear();
            sent.push_back(each);
            stores.push_back(*std::move(store));
        }
        bool const hedged = state_.options.hedge.has_value();
        if ((sent.size() == 1 && !hedged) || in_turn_) {
            for (std::size_t index = 0; index < sent.size(); ++index) {
                ENTITABLE_CHECK(check_call(context_));
                ENTITABLE_CHECK(take(*sent[index], page_of_part(stores[index], *sent[index])));
            }
            return {};
        }
        if (sent.empty()) { return {}; }
        shared<shard_lane> lane = state_.take_lane();
        std::vector<channel*> places;
        std::vector<shard_page_request> requests;
        std::vector<call> calls;
        requests.reserve(sent.size());
        calls.reserve(sent.size());
        for (std::size_t index = 0; index < sent.size(); ++index) {
            shared<channel>& to = lane->channels[sent[index]->way.store()];
            if (!to) { to = open_channel(stores[index], lane->io); }
            auto const known = std::find(places.begin(), places.end(), to.get());
            requests.emplace_back(sent[index]->asked, static_cast<std::size_t>(known - places.begin()));
            if (known == places.end()) { places.push_back(to.get()); }
            call& own = calls.emplace_back(context_);
            own.attempts = 0;
            own.request_ids.clear();
            own.request_charge = 0;
            if (own.watch != nullptr) { own.spans.drawn = draw_span_id(context_); }
        }
        bool const spoke = hedged ? ask_hedged(requests, calls, places, lane->io, state_)
                                  : run_all(requests, calls, places, lane->io, state_.options.in_flight);
        if (spoke) { state_.give_back(std::move(lane)); }
        for (call const& own : calls) {
            context_.attempts += own.attempts;
            context_.request_charge += own.request_charge;
            context_.request_ids.insert(context_.request_ids.end(), own.request_ids.begin(), own.request_ids.end());
            context_.server_date = context_.server_date < own.server_date ? own.server_date : context_.server_date;
        }
        for (std::size_t index = 0; index < sent.size(); ++index) {
            ENTITABLE_CHECK(take(*sent[index], requests[index].finish()));
        }
        return {};
    }

    /// Reads a page of a part. A store that shows its rows shows them in runs, and makes pages row by row. Rows that will be collected get
    /// their ETags here, so that they are copied as they are later.
    [[nodiscard]] result<query_entities::response> page_of_part(any_store const& store, shard_part& part) {
        if (!part.asked.select.empty()) { return store.execute(part.asked, context_); }
        query_entities::response made;
        made.rows = std::move(part.rows); // reuses its memory
        made.rows.clear();
        part.at = 0;
        part.has_etags = collects_;
        auto const collect = [&](std::span<row_view const> run) { add_run(made.rows, run, part); };
        page_visitor const visit{collect};
        ENTITABLE_TRY(auto done, store.execute(read_entities{part.asked.table, &part.asked, &visit}, context_));
        made.continuation = std::move(done.continuation);
        made.examined = done.examined;
        made.stale = done.stale;
        return made;
    }

    result<void> take(shard_part& part, result<query_entities::response> answer) {
        bool const missing = !answer && answer.error().code == error_code::table_not_found;
        auto const holds = state_.still_holds(
            part.way, part.keys_of(part.asked.range.partition), request_.table, false, missing, context_);
        if (!holds) { return fail(part, holds.error()); }
        if (!*holds) { // discarded: requested again at the new place
            restart(part);
            return {};
        }
        if (missing && part.way.table->whole) {
            failure lost = lost_part(*part.way.place, *part.way.table);
            return fail(part, lost.error());
        }
        if (!answer) { return fail(part, answer.error()); }
        examined_ += answer->examined;
        part.stale = answer->stale;
        stale_ = stale_ || answer->stale;
        part.rows = std::move(answer->rows);
        part.at = part.run = 0;
        go_on(part, std::move(answer->continuation));
        if (!part.rows.empty() && !part.ended) { // a part at its end never starts over
            row_view const end = part.rows[part.rows.size() - 1];
            if (!part.last) { part.last.emplace(); }
            part.last->partition_key = end.partition_key;
            part.last->row_key = end.row_key;
        }
        return {};
    }

    /// Adds the parts that have rows again. Returns false if a part has none yet and is not at its end.
    [[nodiscard]] bool queue_parts() {
        for (shard_part& each : parts_) {
            if (each.queued) { continue; }
            if (each.at == each.rows.size()) {
                if (!each.ended) { return false; }
                continue;
            }
            each.queued = true;
            queue_.push_back({each.front().partition_key, &each});
            std::push_heap(queue_.begin(), queue_.end(), queued_part::behind);
        }
        return true;
    }

    /// Passes rows on in key order, until the page is full or a part needs another page.
    void merge(taker take_rows) {
        if (!queue_parts()) { return; }
        while (!queue_.empty() && taken_ < request_.page_size) {
            shard_part& part = *queue_.front().part;
            std::string_view const partition = queue_.front().partition;
            std::size_t const rows =
                (std::min)(part.end_of_partition(partition) - part.at, std::size_t{request_.page_size} - taken_);
            take_rows(part, rows);
            part.at += rows;
            taken_ += rows;
            last_taken_ = &part;
            if (part.at < part.rows.size()) {
                queue_.front().partition = part.front().partition_key;
                sink_front(queue_);
                continue;
            }
            std::pop_heap(queue_.begin(), queue_.end(), queued_part::behind);
            queue_.pop_back();
            part.queued = false;
            if (!part.ended) { return; }
        }
    }

    void add_run(page& to, std::span<row_view const> run, shard_part& part) {
        append_run(to, part.has_etags ? etags_.added(run, part.way.epoch()) : run, part.asked.page_size);
        part.run_ends.push_back(to.size());
    }

    /// Copies rows of a part to the end of a page, with the ETags that clients of `sharded` see.
    void add(page& out, shard_part& part, std::size_t rows) {
        if (out.empty()) {
            constexpr std::size_t bytes_of_etag = 32;
            std::size_t all_rows = 0;
            std::size_t bytes = 0;
            for (shard_part const& each : parts_) {
                all_rows += each.rows.size();
                bytes += each.rows.bytes();
            }
            out.reserve((std::min)(all_rows, std::size_t{request_.page_size}), bytes + all_rows * bytes_of_etag);
        }
        if (part.has_etags) { return out.append(part.rows, part.at, rows); }
        for (row_view const& each : etags_.added(rows_of(part, rows), part.way.epoch())) { out.append(each); }
    }

    std::vector<shard_part> parts_;
    std::vector<queued_part> queue_; ///< a heap
    shard_map_ref map_;
    std::uint64_t print_{};
    std::uint64_t writes_{};   ///< see `kept_parts::writes`
    steady_time read_at_;      ///< see `kept_parts::read_at`
    std::size_t taken_{};      ///< rows passed on
    shard_part* last_taken_{}; ///< the part of the last of them
    bool more_{};              ///< there are rows behind the page
    bool collects_{};          ///< the page is returned, with ETags
    bool in_turn_{};           ///< see `sharded_state::answers_in_turn`
    std::uint32_t rows_of_part_{};
    shown_etags etags_;
};

ENTITABLE_DECL result<query_entities::response> gather_shards(
    sharded_state& state, query_entities const& request, call& context, shard_misses* misses) {
    bool const begun_in_turn = request.continuation && is_turn_token(*request.continuation); // by `show_shards`
    bool const in_turn = misses == nullptr && request.select.empty() &&
        shows_in_turn(state, read_entities{request.table, &request}, context);
    if (begun_in_turn || in_turn) { return page_in_turn(state, request, context); } // copies each row once
    return shard_gathering{state, request, context, misses}.run();
}

ENTITABLE_DECL result<read_entities::response> show_merged(
    sharded_state& state, read_entities const& request, call& context) {
    return shard_gathering{state, *request.asked, context, nullptr}.show(request);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
