// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run_all.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/route/impl/shard_reading.ipp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class shard_gathering : shard_reading {
public:
    using shard_reading::shard_reading;

    [[nodiscard]] result<query_entities::response> run() {
        ENTITABLE_CHECK(validate(request_, state_.profile()));
        ENTITABLE_CHECK(check_call(context_));
        std::uint64_t const print = fingerprint(request_, text::ascii_lower(request_.table));
        std::optional<last_keys> last;
        if (request_.continuation) { ENTITABLE_TRY(last, keys_of_token(print, *request_.continuation)); }
        ENTITABLE_CHECK(find_parts(last));
        // Two pages of a store are two snapshots, so a page of one partition contains the rows of a single page
        // (`transport`, rule 10).
        bool const one_partition = request_.range.partition.is_point();
        query_entities::response found;
        for (;;) {
            ENTITABLE_CHECK(feed());
            merge(found.rows);
            bool const full = found.rows.size() >= request_.page_size;
            bool const more = std::any_of(parts_.begin(), parts_.end(),
                [](shard_part const& each) { return !each.ended || each.at < each.rows.size(); });
            if (!more || full ||
                (!found.rows.empty() && (one_partition || found.rows.size() * 2 >= request_.page_size))) {
                if (more) {
                    row_view const end = found.rows[found.rows.size() - 1];
                    found.continuation =
                        token_of_keys(print, {std::string{end.partition_key}, std::string{end.row_key}});
                }
                break;
            }
        }
        if (misses_ != nullptr && !parts_.empty() && found.rows.empty() && !request_.continuation &&
            std::all_of(parts_.begin(), parts_.end(), [](shard_part const& each) { return each.failed; })) {
            std::lock_guard<std::mutex> const guard{misses_->lock};
            return failure{misses_->all.back().error}; // all parts failed, so there is no partial result
        }
        found.examined = examined_;
        found.stale = stale_;
        found.request_charge = context_.request_charge;
        return found;
    }

private:
    result<void> find_parts(std::optional<last_keys> const& last) {
        ENTITABLE_TRY(auto const map, state_.map_with(request_.table, context_));
        shard_place const* only = nullptr;
        if (request_.range.partition.is_point()) {
            ENTITABLE_TRY(only, state_.map.state().place_of(*map, request_.range.partition.lower.key));
        }
        for (shard_place const& place : map->places) {
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
        std::size_t const count = parts_.empty() ? 1 : parts_.size();
        std::size_t const share = (request_.page_size + count - 1) / count;
        rows_of_part_ = static_cast<std::uint32_t>(
            (std::min)(std::size_t{request_.page_size}, count == 1 ? share : share + share / 8 + 8));
        return {};
    }

    /// Queries all parts that have no row, until each has one or is at its end.
    result<void> feed() {
        for (;;) {
            std::vector<shard_part*> hungry;
            for (shard_part& each : parts_) {
                if (each.hungry()) { hungry.push_back(&each); }
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
            sent.push_back(each);
            stores.push_back(*std::move(store));
        }
        bool const hedged = state_.options.hedge.has_value();
        if (sent.size() == 1 && !hedged) {
            return take(*sent.front(), stores.front().execute(sent.front()->asked, context_));
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
        stale_ = stale_ || answer->stale;
        part.rows = std::move(answer->rows);
        part.etag_start.clear();
        part.at = 0;
        if (!part.rows.empty()) {
            row_view const end = part.rows[part.rows.size() - 1];
            part.last = last_keys{std::string{end.partition_key}, std::string{end.row_key}};
        }
        go_on(part, std::move(answer->continuation));
        return {};
    }

    /// Moves rows to the page in key order, until it is full or a part needs another page.
    void merge(page& out) {
        auto const after = [](shard_part const* left, shard_part const* right) {
            int const order = text::compare_utf16(left->front().partition_key, right->front().partition_key);
            return order > 0; // a partition is in one shard
        };
        std::vector<shard_part*> heap;
        for (shard_part& each : parts_) {
            if (each.at < each.rows.size()) {
                heap.push_back(&each);
            } else if (!each.ended) {
                return;
            }
        }
        std::make_heap(heap.begin(), heap.end(), after);
        if (out.empty()) {
            constexpr std::size_t bytes_of_etag = 32;
            std::size_t rows = 0;
            std::size_t bytes = 0;
            for (shard_part const& each : parts_) {
                rows += each.rows.size();
                bytes += each.rows.bytes();
            }
            out.reserve((std::min)(rows, std::size_t{request_.page_size}), bytes + rows * bytes_of_etag);
        }
        while (!heap.empty() && out.size() < request_.page_size) {
            std::pop_heap(heap.begin(), heap.end(), after);
            shard_part& part = *heap.back();
            std::string_view const partition = part.front().partition_key;
            if (part.etag_start.empty()) { part.etag_start = start_of_etags(part.way.epoch()); }
            std::string_view const start = part.etag_start;
            for (; part.at < part.rows.size() && out.size() < request_.page_size; ++part.at) {
                row_view each = part.front();
                if (each.partition_key != partition) { break; }
                if (each.etag_text.empty()) {
                    shown_.assign(start);
                    append_end_of_etag(shown_, each.timestamp());
                } else {
                    shown_ = etag_with_epoch(etag{each.etag_text}, part.way.epoch()).to_string();
                }
                each.etag_text = shown_;
                out.append(each);
            }
            if (part.at < part.rows.size()) {
                std::push_heap(heap.begin(), heap.end(), after);
            } else {
                heap.pop_back();
                if (!part.ended) { return; }
            }
        }
    }

    std::vector<shard_part> parts_;
    std::uint32_t rows_of_part_{};
    std::string shown_;
};

ENTITABLE_DECL result<query_entities::response> gather_shards(
    sharded_state& state, query_entities const& request, call& context, shard_misses* misses) {
    bool const begun_in_turn = request.continuation && is_turn_token(*request.continuation); // by `show_shards`
    bool const in_turn = misses == nullptr && request.select.empty() &&
        shows_in_turn(state, read_entities{request.table, &request}, context);
    if (begun_in_turn || in_turn) { return page_in_turn(state, request, context); } // copies each row once
    return shard_gathering{state, request, context, misses}.run();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
