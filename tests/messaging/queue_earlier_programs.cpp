// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Programs of format 1 and current programs on one queue of format 1. What the earlier programs send stands here as requests: they claim a message where it
// stands, and its key has the time of their own clocks.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

#include <map>
#include <random>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

struct chore {
    std::string room;
    std::int32_t number{};
};
ENTITABLE(chore, partition_key(room), row_key(number), properties())

constexpr std::size_t lanes = 2;
constexpr auto visibility = 20s;

std::int64_t ticks(std::chrono::nanoseconds of) { return of.count() / 100; }

struct house {
    testing::manual_clock time;
    memory_backend store = [&] {
        local_options options;
        options.time = &time;
        return memory_backend{options};
    }();
    house() {
        call own;
        store.execute(create_table{"chores"}, own).value();
        row_builder header{"~!queue!", "~!queue!"};
        header.add("Queue_Lanes", value_view{static_cast<std::int32_t>(lanes)});
        store.execute(write_entity{"chores", mutation::insert(header.build())}, own).value();
    }
    [[nodiscard]] table_queue<chore> queue(std::uint64_t seed) {
        queue_options how;
        how.visibility = visibility;
        how.max_deliveries = 100'000;
        how.time = &time;
        how.seed = seed;
        return table_queue<chore>{store, "chores", how};
    }
};

/// A message in the hands of an earlier program.
struct earlier_claim {
    std::string lane;
    std::string key;
    std::string claim;
    etag version;
    [[nodiscard]] std::string id() const { return key.substr(4 + 19 + 1); }
};

/// What a program of format 1 sends.
struct earlier_program {
    house& at;
    std::chrono::nanoseconds clock_is_wrong_by{};
    std::mt19937_64& random;

    result<void> enqueue(std::string const& id, std::chrono::nanoseconds delay) const {
        std::string const lane = detail::lane_key(detail::lane_of(id, lanes));
        std::string const key = detail::message_key({at.time.now().ticks + ticks(clock_is_wrong_by)}, id);
        row_builder identity{lane, "~!id!" + id};
        identity.add("Queue_Key", value_view{key});
        row_builder message{lane, key};
        message.add("Queue_Partition", value_view{"hall"});
        message.add("Queue_Row", value_view{"0000000001"});
        if (delay > 0ns) { message.add("Queue_VisibleAt", value_view{date_time{at.time.now().ticks + ticks(delay)}}); }
        return send({mutation::insert(identity.build()), mutation::insert(message.build())});
    }
    std::optional<earlier_claim> claim() const {
        std::size_t const first = random() % lanes;
        for (std::size_t index = 0; index < lanes; ++index) {
            std::string const lane = detail::lane_key((first + index) % lanes);
            call own;
            query_entities asked{"chores", {key_interval::only(lane), detail::rows_of_kind("~!q!")}, {}, {}, 1000, {}};
            auto const page = at.store.execute(asked, own).value();
            for (std::size_t row = 0; row < page.rows.size(); ++row) {
                row_view const each = page.rows[row];
                if (detail::visible_at_of(each) <= at.time.now()) {
                    earlier_claim made{lane, std::string{each.row_key}, {}, {}};
                    for (int digit = 0; digit < 32; ++digit) { made.claim += "0123456789abcdef"[random() % 16]; }
                    row_builder changes{lane, made.key};
                    changes.add("Queue_VisibleAt", value_view{date_time{at.time.now().ticks + ticks(visibility)}});
                    changes.add("Queue_Deliveries", value_view{detail::int32_in(each, "Queue_Deliveries") + 1});
                    changes.add("Queue_Claim", value_view{made.claim});
                    call write;
                    made.version =
                        at.store.execute(write_entity{"chores", mutation::merge(changes.build(), each.etag())}, write)
                            ->etag;
                    return made;
                }
            }
        }
        return {};
    }
    result<void> release(earlier_claim const& held, std::chrono::nanoseconds delay) const {
        row_builder changes{held.lane, held.key};
        changes.add("Queue_VisibleAt", value_view{date_time{at.time.now().ticks + ticks(delay)}});
        return send({mutation::merge(changes.build(), held.version)});
    }
    result<void> complete(earlier_claim const& held) const {
        row_builder identity{held.lane, "~!id!" + held.id()};
        identity.add("Queue_State", value_view{"done"});
        identity.add("Queue_Claim", value_view{held.claim});
        return send({mutation::remove(detail::message_keys(held.lane, held.key), held.version),
            mutation::merge(identity.build(), any_etag)});
    }

private:
    [[nodiscard]] result<void> send(std::vector<mutation> changes) const {
        call own;
        auto done = at.store.execute(transact{"chores", std::move(changes)}, own);
        return done ? result<void>{} : result<void>{std::move(done).as_failure()};
    }
};

bool is_gone(error const& refused) {
    return refused.code == error_code::resource_not_found ||
        refused.code == error_code::update_condition_not_satisfied || refused.code == error_code::receipt_lost;
}

} // namespace

TEST_CASE("earlier programs: either version can claim a message after the other version's lease has expired") {
    for (bool const earlier_is_first : {false, true}) {
        house at;
        std::mt19937_64 random{1};
        earlier_program const earlier{at, 0s, random};
        auto const queue = at.queue(2);
        CHECK(queue.enqueue({"hall", 1}, {.delay = {}, .id = "one"}));
        std::optional<earlier_claim> old_one;
        std::optional<claimed<chore>> new_one;
        if (earlier_is_first) {
            old_one = earlier.claim();
            REQUIRE(old_one);
            CHECK_FALSE(queue.claim().value());
            at.time.advance(visibility);
            new_one = queue.claim().value();
            REQUIRE(new_one);
            CHECK(new_one->deliveries() == 2);
            CHECK(is_gone(earlier.complete(*old_one).error()));
            CHECK(is_gone(earlier.release(*old_one, 0s).error()));
            CHECK_FALSE(earlier.claim());
            CHECK(new_one->complete());
        } else {
            new_one = queue.claim().value();
            REQUIRE(new_one);
            CHECK_FALSE(earlier.claim());
            at.time.advance(visibility);
            old_one = earlier.claim();
            REQUIRE(old_one);
            CHECK(new_one->complete().error().code == error_code::receipt_lost);
            CHECK_FALSE(queue.claim().value());
            CHECK(earlier.complete(*old_one));
        }
        CHECK_FALSE(earlier.claim());
        CHECK_FALSE(queue.claim().value());
        CHECK(queue.enqueue({"hall", 1}, {.delay = {}, .id = "one"}).value().already_there);
    }
}

TEST_CASE("earlier programs: random histories of both versions complete each message once") {
    std::size_t const histories = entitable_test::rounds(40, 20'000, 400);
    std::size_t messages = 0;
    for (std::size_t seed = 1; seed <= histories; ++seed) {
        house at;
        std::mt19937_64 random{seed};
        std::vector<earlier_program> const earlier{{at, 0s, random}, {at, -1h, random}, {at, 1h, random}};
        std::vector<table_queue<chore>> const today{at.queue(seed * 2 + 1), at.queue(seed * 2 + 2)};
        std::map<std::string, date_time> held; // until when somebody has it
        std::map<std::string, int> done;
        std::size_t put = 0;
        std::vector<std::pair<earlier_claim, std::size_t>> old_ones;
        std::vector<claimed<chore>> new_ones;
        std::string wrong;
        auto const is_claimed = [&](std::string const& id) {
            if (done.contains(id)) { wrong += id + " was delivered when it was done; "; }
            if (held[id] > at.time.now()) { wrong += id + " is in two hands; "; }
            held[id] = {at.time.now().ticks + ticks(visibility)};
        };
        bool busy = true;
        for (int turn = 0; turn < 5'000 && (busy || done.size() < put) && wrong.empty(); ++turn) {
            busy = turn < 150;
            at.time.advance(std::chrono::milliseconds{random() % (busy ? 2'000 : 6'000)});
            std::size_t const who = random() % earlier.size();
            table_queue<chore> const& queue = today[who % today.size()];
            switch (random() % (busy ? 8 : 4)) {
                case 0:
                    if (auto one = earlier[who].claim()) {
                        is_claimed(one->id());
                        old_ones.emplace_back(*one, who);
                    }
                    break;
                case 1:
                    for (auto& each : queue.claim_some(static_cast<std::uint32_t>(1 + random() % 3)).value()) {
                        is_claimed(std::string{each.id()});
                        new_ones.push_back(std::move(each));
                    }
                    break;
                case 2:
                    if (!old_ones.empty()) {
                        auto const [one, whose] = old_ones.back();
                        old_ones.pop_back();
                        auto const ended = busy && random() % 3 == 0 ? earlier[whose].release(one, random() % 2 * 5s)
                                                                     : earlier[whose].complete(one);
                        if (ended) {
                            call own;
                            auto const there = at.store.execute(get_entity{"chores", one.lane, one.key, {}}, own);
                            there ? void(held.erase(one.id())) : void(++done[one.id()]);
                        } else if (!is_gone(ended.error())) {
                            wrong += ended.error().to_string();
                        }
                    }
                    break;
                case 3:
                    if (!new_ones.empty()) {
                        claimed<chore> one = std::move(new_ones.back());
                        new_ones.pop_back();
                        bool const gives_back = busy && random() % 3 == 0;
                        auto const ended = gives_back ? one.release(random() % 2 * 5s) : one.complete();
                        std::string const id{one.id()};
                        if (ended) {
                            gives_back ? void(held.erase(id)) : void(++done[id]);
                        } else if (!is_gone(ended.error())) {
                            wrong += ended.error().to_string();
                        }
                    }
                    break;
                case 4: CHECK(earlier[who].enqueue("m" + std::to_string(put++), random() % 3 * 3s)); break;
                case 5:
                    CHECK(queue.enqueue({"hall", 1}, {.delay = random() % 3 * 3s, .id = "m" + std::to_string(put++)}));
                    break;
                case 6: put += queue.enqueue_all(std::vector<chore>(1 + random() % 3, chore{"hall", 2}))->size(); break;
                default: // a worker ends
                    old_ones.clear();
                    new_ones.clear();
                    break;
            }
        }
        CAPTURE(seed);
        CHECK(wrong == "");
        CHECK(done.size() == put);
        CHECK(std::all_of(done.begin(), done.end(), [](auto const& each) { return each.second == 1; }));
        messages += put;
    }
    CHECK(messages > histories * 20);
}
