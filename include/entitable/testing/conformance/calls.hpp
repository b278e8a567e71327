// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of a call, independent of its data: deadlines, cancellation, the observer, and other ways to send requests.

#include <entitable/core/transport/channel.hpp>
#include <entitable/testing/conformance/trial.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

inline void ended_calls_do_nothing(trial& t) {
    std::string const table = t.new_table();
    std::string const fresh = t.prefix() + "fresh";
    t.put(table, make_row("p", "r", {{"A", 1}}));
    auto const before = t.now(table);
    cancellation_source source;
    source.cancel();
    call cancelled;
    cancelled.cancellation = source.token();
    call late;
    late.deadline = steady_time{};
    query_entities query;
    query.table = table;
    row const entity = make_row("p", "r");
    auto const ignore = [](row_view const&, etag const&, bool) { return result<void>{}; };
    entity_visitor const visit = ignore;
    for (auto const& [context, code, name] : {std::tuple{&cancelled, error_code::cancelled, "of a cancelled call"},
             {&late, error_code::deadline_exceeded, "after its deadline"}}) {
        std::string const text{name};
        t.no(t.send(create_table{fresh}, *context), code, "create_table " + text);
        t.no(t.send(delete_table{table}, *context), code, "delete_table " + text);
        t.no(t.send(list_tables{}, *context), code, "list_tables " + text);
        t.no(t.send(get_entity{table, "p", "r", {}}, *context), code, "get_entity " + text);
        t.no(t.send(query, *context), code, "query_entities " + text);
        t.no(t.send(write_entity{table, mutation::insert_or_merge(entity)}, *context), code, "write_entity " + text);
        t.no(t.send(write_entity{table, mutation::remove(entity, any_etag)}, *context), code, "a removal " + text);
        t.no(t.send(transact{table, {mutation::remove(entity, any_etag)}}, *context), code, "transact " + text);
        t.no(t.send(read_entity{table, "p", "r", &visit}, *context), code, "read_entity " + text);
    }
    t.unchanged(before, table, "calls whose deadline had passed before they began");
    t.no(t.send(delete_table{fresh}), error_code::resource_not_found, "the table of a call whose deadline had passed");
}

inline void calls_with_time_go_on(trial& t) {
    std::string const table = t.new_table();
    cancellation_source source;
    call context{call_options{.timeout = std::chrono::minutes{10}, .cancellation = source.token()}};
    t.yes(t.send(write_entity{table, mutation::insert(make_row("p", "r"))}, context),
        "a write with a deadline in ten minutes");
    t.yes(t.send(get_entity{table, "p", "r", {}}, context), "a read with a deadline in ten minutes");
    query_entities query;
    query.table = table;
    t.yes(t.send(query, context), "a query with a deadline in ten minutes");
    t.yes(t.send(transact{table, {mutation::remove(make_row("p", "r"), any_etag)}}, context),
        "a transaction with a deadline in ten minutes");
}

inline void attempts_are_reported(trial& t) {
    struct attempts final : observer {
        void on_attempt(attempt_record const& done) noexcept override {
            all += std::string{done.name} + " of " + std::string{done.table} +
                (done.outcome.error ? " " + std::string{to_string(*done.outcome.error)} : "") + ", attempt " +
                std::to_string(done.number) + "\n";
        }
        std::string all;
    };
    std::string const table = t.new_table();
    attempts watch;
    call context;
    context.watch = &watch;
    t.yes(t.send(write_entity{table, mutation::insert(make_row("p", "r"))}, context), "an insert");
    t.no(t.send(get_entity{table, "p", "absent", {}}, context), error_code::resource_not_found, "a read");
    t.same(watch.all, "insert of " + table + ", attempt 1\nget_entity of " + table + " ResourceNotFound, attempt 1\n",
        "the observer's events");
    t.expect(context.attempts == 2, "two attempts of one call were counted as " + std::to_string(context.attempts));
}

inline void primary_is_not_stale(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "r"));
    auto const read = t.get(table, "p", "r");
    if (t.yes(read, "a read")) { t.expect(!read->stale, "a read of the primary location is marked stale"); }
    query_entities query;
    query.table = table;
    auto const page = t.send(query);
    if (t.yes(page, "a query")) { t.expect(!page->stale, "a query of the primary location is marked stale"); }
}

inline void shown_as_it_is_read(trial& t) {
    std::string const table = t.new_table();
    std::string const never = t.prefix() + "never";
    etag const version = t.put(table, make_row("p", "r", {{"A", 1}, {"B", "b"}}));
    t.put(table, make_row("p", "other", {{"A", 2}}));
    int visits = 0;
    auto const looking = [&](row_view const& entity, etag const& seen, bool stale) {
        ++visits;
        t.same(entity, make_row("p", "r", {{"A", 1}, {"B", "b"}}), "the entity passed to the visitor");
        t.same(seen.to_string(), version.to_string(), "the version passed to the visitor");
        t.expect(!stale, "an entity of the primary location is marked stale");
        return result<void>{};
    };
    entity_visitor const look = looking;
    call context;
    t.yes(t.send(read_entity{table, "p", "r", &look}, context), "an entity");
    t.expect(visits == 1, "the visitor was called " + std::to_string(visits) + " times instead of once");
    t.expect(context.attempts == 1, "one attempt was counted as " + std::to_string(context.attempts));
    t.no(t.send(read_entity{table, "p", "absent", &look}), error_code::resource_not_found, "no entity");
    t.no(t.send(read_entity{never, "p", "r", &look}), t.no_table(), "no table");
    t.no(t.send(read_entity{table, "p", "a/b", &look}), error_code::out_of_range_input, error_code::invalid_input,
        "a forbidden key");
    t.expect(visits == 1, "the visitor was called without an entity");
    auto const refusing = [](row_view const&, etag const&, bool) -> result<void> {
        return failure{error_code::row_mismatch, "the visitor fails"};
    };
    entity_visitor const refuse = refusing;
    t.no(t.send(read_entity{table, "p", "r", &refuse}), error_code::row_mismatch, "the visitor's error");
}

/// Sends requests into a channel, three at a time; returns the response to each.
template <class Request>
std::vector<std::optional<result<response_of<Request>>>> answers_to(
    trial& t, std::vector<Request> const& requests, std::string_view what) {
    poll_driver io;
    shared<channel> const opened = open_channel(t.store(), io);
    std::vector<std::optional<result<response_of<Request>>>> answers(requests.size());
    std::vector<call> calls(requests.size());
    std::size_t sent = 0;
    std::size_t answered = 0;
    auto const take = [&](completion& done) {
        auto const* const of = static_cast<call const*>(done.tag);
        auto const at = static_cast<std::size_t>(of - calls.data());
        bool const right = at < sent && done.context == of && done.request.as<Request>() == &requests[at];
        if (t.expect(right && !answers[at], std::string{what} + ": an unexpected response")) {
            answers[at] = std::move(done.answer<Request>());
        }
        ++answered;
    };
    for (;;) {
        for (; sent < requests.size() && sent - answered < 3; ++sent) {
            opened->send(requests[sent], calls[sent], &calls[sent]);
        }
        opened->poll(io.time().steady(), take);
        if (answered >= requests.size()) { return answers; }
        if (opened->wakes_at() != (steady_time::max)() || io.watches()) {
            io.wait(opened->wakes_at());
        } else if (sent == requests.size() || sent - answered >= 3) {
            return answers; // the channel does not respond
        }
    }
}

inline void many_like_single_ones(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "taken"));
    std::vector<write_entity> writes;
    std::vector<get_entity> reads;
    for (std::size_t index = 0; index < 10; ++index) {
        std::string const key = index == 7 ? "taken" : padded(index);
        writes.push_back({table, mutation::insert(make_row("p", key, {{"N", static_cast<std::int32_t>(index)}}))});
        reads.push_back({table, "p", index == 4 ? "absent" : key, {}});
    }
    auto const wrote_all = answers_to(t, writes, "writes");
    auto const read_all = answers_to(t, reads, "reads");
    for (std::size_t index = 0; index < 10; ++index) {
        std::string const text = " in slot " + std::to_string(index);
        auto const& wrote = wrote_all[index];
        auto const& read = read_all[index];
        if (!t.expect(wrote.has_value(), "the write" + text + " of a group has no response") ||
            !t.expect(read.has_value(), "the read" + text + " of a group has no response")) {
            continue;
        }
        if (index == 7) {
            t.no(*wrote, error_code::entity_already_exists, "a write" + text);
        } else if (index == 4) {
            t.no(*read, error_code::resource_not_found, "a read" + text);
        } else if (t.yes(*wrote, "a write" + text) && t.yes(*read, "a read" + text)) {
            t.same((*read)->entity, writes[index].change.entity, "a read" + text);
            t.same((*wrote)->etag.to_string(), (*read)->etag.to_string(), "the ETag of a write" + text);
        }
    }
}

inline constexpr behaviour behaviours_of_calls[] = {
    {"a call whose deadline has passed does nothing", ended_calls_do_nothing,
        "Cancelled or DeadlineExceeded from every request, before it is sent (transport, rule 7)"},
    {"a call within its deadline succeeds", calls_with_time_go_on,
        "a deadline is a time on the steady clock (call.hpp)"},
    {"each attempt is counted and reported", attempts_are_reported,
        "one attempt for each request that is sent, even if it is refused (transport, rule 8)"},
    {"a read of the primary is not stale", primary_is_not_stale,
        "only a read of the secondary location may be stale, and is marked so (requests.hpp)"},
    {"a visitor receives the entity that was read", shown_as_it_is_read,
        "read_entity calls the visitor once, or returns the error of get_entity (requests.hpp)"},
    {"concurrent requests have the same results as sequential ones", many_like_single_ones,
        "each request that is sent has exactly one completion (channel, rule 3)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
