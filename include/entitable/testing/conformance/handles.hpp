// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of several handles and several threads: anomalies that only concurrent access can reveal.

#include <entitable/core/atomic.hpp>
#include <entitable/testing/conformance/trial.hpp>

#include <chrono>
#include <thread>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

inline void copies_are_one_store(trial& t) {
    std::string const table = t.new_table();
    etag const version = t.put(table, make_row("p", "1", {{"A", 1}}));
    t.put(table, make_row("p", "2"));
    auto const read = t.send_other(get_entity{table, "p", "1", {}});
    if (!t.yes(read, "reading another handle's write")) { return; }
    t.same(read->etag.to_string(), version.to_string(), "the ETag through the other handle");
    query_entities query;
    query.table = table;
    query.page_size = 1;
    for (int pages = 0; pages < 100; ++pages) { // reads until there is a row, because pages may be empty
        auto page = t.send(query);
        if (!t.yes(page, "the first page") || !page->rows.empty()) {
            query.continuation = page ? std::move(page->continuation) : std::nullopt;
            break;
        }
        query.continuation = std::move(page->continuation);
    }
    if (t.expect(query.continuation.has_value(), "the query has more pages")) {
        query.page_size = t.largest_page();
        t.yes(t.send_other(query), "a token of one handle used through the other");
    }
    t.yes(t.send_other(write_entity{table, mutation::remove(make_row("p", "1"), version)}),
        "an ETag of one handle used through the other");
    t.no(t.get(table, "p", "1"), error_code::resource_not_found, "an entity that the other handle removed");
    t.yes(t.send_other(delete_table{table}), "deleting the table through the other handle");
    t.no(t.get(table, "p", "2"), t.no_table(), "a table that the other handle deleted");
}

inline void write_between_read_and_write(trial& t) {
    std::string const table = t.new_table();
    for (auto const kind : {mutation_kind::replace, mutation_kind::merge, mutation_kind::remove}) {
        std::string const key{to_string(kind)};
        for (bool const in_transaction : {false, true}) {
            std::string const text = key + (in_transaction ? " in a transaction" : "");
            t.put(table, make_row("p", key, {{"A", 1}}));
            auto const read = t.get(table, "p", key);
            if (!t.yes(read, "a read")) { return; }
            t.yes(t.send_other(write_entity{table, mutation::insert_or_merge(make_row("p", key, {{"B", 2}}))}),
                "a write in between");
            mutation const change{kind, make_row("p", key, {{"A", 3}}), read->etag};
            if (in_transaction) {
                t.no(t.send(transact{table, {change}}), error_code::update_condition_not_satisfied, text);
            } else {
                t.no(t.write(table, change), error_code::update_condition_not_satisfied, text);
            }
            t.holds(table, make_row("p", key, {{"A", 1}, {"B", 2}}), "after a refused " + text);
        }
    }
}

/// Writes through another handle when the first attempt of a call is reported.
template <table_request Request>
class writes_between final : public observer {
public:
    writes_between(any_store store, Request change) : store_(std::move(store)), change_(std::move(change)) {}
    ~writes_between() override { finish(); }

    void on_attempt(attempt_record const&) noexcept override {
        if (writer_.joinable()) { return; }
        // Writes on a separate thread, because a backend may hold a lock while it reports, and the write then waits for that lock.
        writer_ = std::thread{[this] {
            call own;
            outcome = store_.execute(change_, own);
            done_.store(true, memory_order::release);
        }};
        for (int waited = 0; waited < 50 && !done_.load(memory_order::acquire); ++waited) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }
    /// Waits for the write.
    void finish() {
        if (writer_.joinable()) { writer_.join(); }
    }

    result<response_of<Request>> outcome{failure{error_code::cancelled, "no attempt was reported"}};

private:
    any_store store_;
    Request change_;
    atomic<bool> done_{false};
    std::thread writer_;
};

inline void write_between_check_and_write(trial& t) {
    std::string const table = t.new_table();
    for (bool const in_transaction : {false, true}) {
        std::string const key = in_transaction ? "transact" : "write";
        etag const version = t.put(table, make_row("p", key, {{"A", 1}}));
        writes_between other{t.other(), write_entity{table, mutation::insert_or_merge(make_row("p", key, {{"B", 2}}))}};
        call context;
        context.watch = &other;
        mutation const change = mutation::replace(make_row("p", key, {{"A", 3}}), version);
        auto const replaced = [&](auto const& outcome) {
            return outcome || !t.no(outcome, error_code::update_condition_not_satisfied, "a replace");
        };
        std::int32_t const expected = (in_transaction ? replaced(t.send(transact{table, {change}}, context))
                                                      : replaced(t.send(write_entity{table, change}, context)))
            ? 3
            : 1;
        other.finish();
        t.yes(other.outcome, "the write through the other handle");
        // Either order is correct, and each handle keeps the other handle's change.
        t.holds(
            table, make_row("p", key, {{"A", expected}, {"B", 2}}), "a replace with an ETag, with a merge in between");
    }
}

/// Two threads that run concurrently, until they have met often enough or their time is over.
class side_by_side {
public:
    /// Calls `turn(thread)` repeatedly, with 0 in this thread and with 1 in a second thread, until a turn returns false or the threads have
    /// met a hundred times. Threads that share one processor seldom meet, so they get a twentieth of a second. Each thread gets at least
    /// three turns, however long they take.
    template <class Turn>
    void run(Turn const& turn) {
        auto const begun = std::chrono::steady_clock::now();
        auto const all = [&](std::size_t thread) {
            for (std::size_t turns = 1; !stopped_.load(memory_order::acquire); ++turns) {
                bool const over = met_.load(memory_order::relaxed) >= enough ||
                    std::chrono::steady_clock::now() - begun > std::chrono::milliseconds{50};
                if (!turn(thread) || (over && turns >= 3)) { stopped_.store(true, memory_order::release); }
            }
        };
        std::thread other{[&] { all(1); }};
        all(0);
        other.join();
    }
    /// Records that one thread has seen a recent change of the other.
    void met() noexcept { met_.fetch_add(1, memory_order::relaxed); }

private:
    static constexpr std::size_t enough = 100;
    atomic<std::size_t> met_{0};
    atomic<bool> stopped_{false};
};

/// A request of one of two threads.
template <table_request Request>
[[nodiscard]] result<response_of<Request>> send_through(any_store const& store, Request const& request) {
    call own;
    return store.execute(request, own);
}

inline void two_threads_raise_a_counter(trial& t) {
    struct account {
        etag seen;
        std::int32_t next{1};
        std::int32_t raised{0};
        bool unsure{false}; ///< set if the effect of a write is unknown
    };
    std::string const table = t.new_table();
    etag const first = t.put(table, make_row("p", "counter", {{"N", 0}}));
    any_store const stores[] = {t.store(), t.other()};
    account accounts[2] = {{first}, {first}};
    side_by_side threads;
    threads.run([&](std::size_t thread) {
        account& mine = accounts[thread];
        row const raised = make_row("p", "counter", {{"N", mine.next}});
        auto const written = send_through(stores[thread], write_entity{table, mutation::replace(raised, mine.seen)});
        if (written) {
            ++mine.raised;
            ++mine.next;
            mine.seen = written->etag;
            return true;
        }
        mine.unsure = mine.unsure || written.error().effect == effect::unknown;
        threads.met();
        if (auto const read = send_through(stores[thread], get_entity{table, "p", "counter", {}})) {
            auto const count = read->entity.view().find("N");
            mine.next = count ? count->as_int32() + 1 : 1;
            mine.seen = read->etag;
        }
        return true;
    });
    auto const read = t.get(table, "p", "counter");
    if (accounts[0].unsure || accounts[1].unsure || !t.yes(read, "the counter")) { return; }
    auto const count = read->entity.view().find("N");
    std::int32_t const raised = accounts[0].raised + accounts[1].raised;
    t.expect(count && *count == value_view{raised},
        "two threads replaced the same version and both succeeded: after " + std::to_string(raised) +
            " increments the counter is " + (count ? value{*count}.to_string() : "nothing"));
}

inline void two_threads_insert_one_key(trial& t) {
    std::string const table = t.new_table();
    any_store const stores[] = {t.store(), t.other()};
    std::string wrong[2];
    side_by_side threads;
    threads.run([&](std::size_t thread) {
        row const mine = make_row("p", "r", {{"Thread", static_cast<std::int32_t>(thread)}});
        auto const inserted = send_through(stores[thread], write_entity{table, mutation::insert(mine)});
        if (!inserted) {
            threads.met();
            return true;
        }
        // The other thread cannot change the entity now, however long this takes.
        std::this_thread::yield();
        auto const removed = send_through(stores[thread], write_entity{table, mutation::remove(mine, inserted->etag)});
        if (!removed &&
            (removed.error().code == error_code::update_condition_not_satisfied ||
                removed.error().code == error_code::resource_not_found)) {
            wrong[thread] = "two threads inserted the same key and both succeeded, but one removal failed: " +
                removed.error().to_string();
        }
        return removed.has_value();
    });
    t.expect(wrong[0].empty(), wrong[0]);
    t.expect(wrong[1].empty(), wrong[1]);
}

inline void two_threads_merge(trial& t) {
    struct account {
        std::int32_t merged{0};
        std::optional<value> of_other{};
        bool lost{false};
    };
    std::string const table = t.new_table();
    any_store const stores[] = {t.store(), t.other()};
    account accounts[2];
    side_by_side threads;
    threads.run([&](std::size_t thread) {
        account& mine = accounts[thread];
        std::string const names[] = {"First", "Second"};
        row const change = make_row("p", "r", {{names[thread], ++mine.merged}});
        if (!send_through(stores[thread], write_entity{table, mutation::insert_or_merge(change)})) { return true; }
        std::this_thread::yield();
        auto const read = send_through(stores[thread], get_entity{table, "p", "r", {}});
        if (!read) { return true; }
        auto const found = read->entity.view().find(names[thread]);
        mine.lost = !found || *found != value_view{mine.merged};
        auto const other = read->entity.view().find(names[1 - thread]);
        if (other && (!mine.of_other || *other != mine.of_other->view())) {
            mine.of_other = value{*other};
            threads.met();
        }
        return !mine.lost;
    });
    t.expect(!accounts[0].lost && !accounts[1].lost, "two threads merged different properties, and one merge is lost");
}

inline void transaction_is_seen_whole(trial& t) {
    if (t.limits().kind == service::azurite) {
        return; // the emulator applies one operation after the other, and processes queries in between
    }
    std::string const table = t.new_table();
    any_store const stores[] = {t.store(), t.other()};
    transact batch{table, {}};
    for (std::size_t index = 0; index < std::min<std::size_t>(10, t.limits().max_operations); ++index) {
        batch.changes.push_back(mutation::insert_or_merge(make_row("p", padded(index), {{"N", 0}})));
    }
    std::int32_t round = 0; // used by the first thread
    std::int32_t last = 0;  // used by the second thread, like `torn`
    bool torn = false;
    side_by_side threads;
    threads.run([&](std::size_t thread) {
        call own;
        if (thread == 0) {
            ++round;
            for (mutation& change : batch.changes) {
                change.entity = make_row("p", change.entity.row_key(), {{"N", round}});
            }
            (void)stores[0].execute(batch, own);
            return true;
        }
        query_entities query;
        query.table = table;
        query.range.partition = key_interval::only("p");
        auto const page = stores[1].execute(query, own);
        for (std::size_t index = 0; page && index < page->rows.size(); ++index) {
            auto const first = page->rows[0].find("N");
            auto const other = page->rows[index].find("N");
            torn = torn || !first || !other || *first != *other;
            if (index == 0 && first && first->as_int32() != last) {
                last = first->as_int32();
                threads.met();
            }
        }
        return !torn;
    });
    t.expect(!torn, "a page contains rows from two different transactions");
}

/// A layer must not return several pages of its store as one: another handle changes all rows after the first attempt.
inline void page_is_one_snapshot(trial& t) {
    if (t.limits().kind == service::azurite) {
        return; // as above
    }
    std::string const table = t.new_table();
    transact batch{table, {}};
    auto const set_all = [&](std::int32_t number) {
        batch.changes.clear();
        for (std::size_t index = 0; index < std::min<std::size_t>(8, t.limits().max_operations); ++index) {
            batch.changes.push_back(mutation::insert_or_merge(make_row("p", padded(index), {{"N", number}})));
        }
    };
    set_all(0);
    if (!t.yes(t.send(batch), "a transaction")) { return; }
    query_entities query;
    query.table = table;
    query.range.partition = key_interval::only("p");
    for (std::int32_t number = 1; number <= 100; ++number) {
        set_all(number);
        writes_between other{t.other(), batch};
        call context;
        context.watch = &other;
        auto page = t.send(query, context);
        other.finish();
        if (!t.yes(page, "a page") || !t.yes(other.outcome, "a transaction through the other handle")) { return; }
        for (std::size_t index = 1; index < page->rows.size(); ++index) {
            auto const first = page->rows[0].find("N");
            auto const each = page->rows[index].find("N");
            if (!t.expect(
                    first && each && *first == *each, "a page contains rows from before and after a transaction")) {
                return;
            }
        }
        if (!page->continuation) { return; }
        query.continuation = std::move(page->continuation);
    }
    t.expect(false, "a query of 8 rows did not end within 100 pages");
}

inline constexpr behaviour behaviours_of_handles[] = {
    {"copies share one store", copies_are_one_store,
        "copies share the same state: writes, ETags and tokens of one are valid in the other (transport, rule 1)"},
    {"a write makes the ETags of earlier reads stale", write_between_read_and_write,
        "an ETag becomes stale after any write, through any handle (If-Match)"},
    {"a write between a check and its write", write_between_check_and_write,
        "a condition is checked atomically with the write (transport, rule 10)"},
    {"two threads increment a counter", two_threads_raise_a_counter,
        "of two writes of one version, exactly one succeeds (transport, rules 2 and 10)"},
    {"two threads insert one key", two_threads_insert_one_key,
        "of two inserts of one key, exactly one succeeds (transport, rules 2 and 10)"},
    {"two threads merge different properties", two_threads_merge,
        "a merge keeps the changes of a concurrent merge (transport, rules 2 and 10)"},
    {"a transaction is seen as a whole", transaction_is_seen_whole,
        "a page of one partition contains all changes of a transaction or none (transport, rule 10)"},
    {"a page of one partition is one snapshot", page_is_one_snapshot,
        "several pages of a store are never returned as one (transport, rules 3 and 10)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
