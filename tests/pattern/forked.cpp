// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A child made by `fork` has a copy of its parent's memory: it returns no number and no name that its parent returns, and does
// not wait for threads that it does not have.

#include <entitable/file.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <set>
#include <string>
#include <thread>

using namespace entitable;
using namespace entitable_test;

namespace {

/// One row with a number, in memory shared by processes; the number is also its version.
struct shared_counter {
    using is_transport = void;
    std::atomic<std::int64_t>* at;
    [[nodiscard]] entitable::profile profile() const { return local_profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call&) const {
        if constexpr (std::same_as<Request, get_entity>) {
            std::int64_t const now = *at;
            std::this_thread::sleep_for(std::chrono::microseconds{200}); // so that a child starts in a thread's turn
            auto found = testing::make_row(request.partition_key, request.row_key, {{"Value", now}});
            return get_entity::response{std::move(found), etag::of(date_time{now})};
        } else if constexpr (std::same_as<Request, write_entity>) {
            row_view const wanted = request.change.entity;
            std::int64_t const next = wanted.find("Value")->as_int64();
            std::int64_t now = *at;
            if (!request.change.condition.accepts(etag::of(date_time{now})) ||
                !at->compare_exchange_strong(now, next)) {
                return failure{error_code::update_condition_not_satisfied, "another was faster"};
            }
            return written{etag::of(date_time{next})};
        } else {
            return failure{error_code::not_supported, "only a counter"};
        }
    }
};

struct numbers {
    std::atomic<std::int64_t> counter;
    std::atomic<std::size_t> count;
    std::int64_t given[20'000];
};

void take_numbers(sequence const& from, numbers& into, int count) {
    for (int taken = 0; taken < count; ++taken) {
        std::int64_t const number = from.next().value().value;
        std::size_t const place = into.count.fetch_add(1);
        if (place < std::size(into.given)) { into.given[place] = number; }
    }
}

} // namespace

TEST_CASE("forked: a sequence with blocks never gives the same number to two processes, and no child waits for threads "
          "of its parent") {
    shared_memory<numbers> const all;
    sequence_options options;
    options.block = 3;
    options.max_attempts = 10'000;
    sequence const tickets{shared_counter{&all->counter}, "tickets", options};
    take_numbers(tickets, *all, 3);
    std::atomic<bool> stop{false};
    std::thread busy{[&] { // so that children are created during the turn of a thread
        while (!stop) {
            take_numbers(tickets, *all, 1);
            std::this_thread::sleep_for(std::chrono::microseconds{100});
        }
    }};
    for (int round = 0; round < 20; ++round) {
        child_process child{[&] {
            take_numbers(tickets, *all, 10);
            child_process grandchild{[&] {
                take_numbers(tickets, *all, 10);
                return tickets.reserve(3).has_value();
            }};
            take_numbers(tickets, *all, 10);
            return grandchild.succeeds();
        }};
        bool const ended = child.succeeds(std::chrono::seconds{5});
        CHECK(ended);
        if (!ended) { break; }
    }
    stop = true;
    busy.join();
    std::size_t const count = all->count;
    REQUIRE(count < std::size(all->given));
    CHECK(std::set<std::int64_t>(all->given, all->given + count).size() == count);
}

TEST_CASE("forked: the rest of a block belongs to the parent, even if the child cannot get numbers of its own") {
    temporary_folder const folder;
    sequence_options options;
    options.block = 10;
    sequence const tickets{file_backend{folder / "tickets.db"}, "tickets", options};
    CHECK(tickets.next().value().value == 1);
    child_process child{[&] { return tickets.next().error().code == error_code::store_failed; }};
    CHECK(child.succeeds());
    CHECK(tickets.next().value().value == 2);
}

TEST_CASE("forked: operation ids of a parent and of its children differ") {
    detail::retry_ledger ledger{retry_policy::interactive(), 0, 1};
    (void)ledger.new_operation_id();
    struct ids {
        char of_child[2][33];
    };
    shared_memory<ids> const seen;
    for (auto& place : seen->of_child) {
        child_process child{[&] {
            ledger.new_operation_id().copy(place, 32);
            return true;
        }};
        REQUIRE(child.succeeds());
    }
    std::set<std::string> const all{seen->of_child[0], seen->of_child[1], ledger.new_operation_id()};
    CHECK(all.size() == 3);
}
