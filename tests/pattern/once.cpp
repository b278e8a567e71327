// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/once.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/defects.hpp>

#include <limits>
#include <set>
#include <stdexcept>
#include <thread>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;
using testing::fault;

namespace {

static_assert(operation<detail::once_operation>);

struct stage {
    once make(once_options how = {}) {
        how.time = &time;
        how.seed = seed++;
        return once{service, "mail", how};
    }
    [[nodiscard]] std::optional<row> stored(std::string const& key) const {
        call context;
        auto const read = store.execute(get_entity{"once", key, "mail", {}}, context);
        return read ? std::optional{read->entity} : std::nullopt;
    }
    [[nodiscard]] std::string text(std::string const& key, std::string_view name) const {
        auto const found = stored(key);
        auto const kept = found ? found->view().find(name) : std::nullopt;
        return kept ? std::string{kept->as_string()} : "";
    }
    result<void> count(once_run const& run) {
        ++runs;
        ids.emplace(run.id);
        return {};
    }
    [[nodiscard]] auto counted() {
        return [this](once_run const& run) { return count(run); };
    }

    testing::manual_clock time;
    memory_backend store{local_options{.time = &time}};
    testing::faulty<memory_backend> service{store, {.time = &time}};
    std::uint64_t seed{1};
    int runs{};
    std::set<std::string> ids;
};

failure lost() {
    failure made{error_code::transport_failed, "lost"};
    made.error().effect = effect::unknown;
    return made;
}

} // namespace

TEST_CASE("once: a function runs once for each key, and its row records the run") {
    stage on;
    once const mails = on.make();
    auto const first = mails.run("ann", on.counted());
    REQUIRE(first);
    CHECK(first->ran);
    CHECK(first->runs == 1);
    CHECK(first->id.size() == 32);
    CHECK(first->done_at == date_time{});
    on.time.advance(1h);
    auto const second = on.make().run("ann", on.counted());
    REQUIRE(second);
    CHECK_FALSE(second->ran);
    CHECK(second->id == first->id);
    CHECK(second->runs == 1);
    CHECK(second->done_at != date_time{});
    CHECK(on.runs == 1);
    CHECK(mails.run("bob", on.counted())->ran);
    CHECK(once{on.store, "letter"}.run("ann", on.counted())->ran); // another name
    CHECK(on.runs == 3);
    CHECK(on.ids.size() == 3);
    // Golden: the stored format, version 1.
    CHECK(on.text("ann", "State") == "done");
    CHECK(on.text("ann", "Id") == first->id);
    CHECK(on.text("ann", "Claim").size() == 32);
    CHECK(on.stored("ann")->view().find("Lease")->as_int64() == 60'000);
    CHECK(on.stored("ann")->view().find("Runs")->as_int32() == 1);
}

TEST_CASE("once: rows that were stored by hand are read") {
    stage on;
    row_table{on.store, "once"}.create().value();
    auto const put = [&](char const* key, char const* state, std::int64_t lease = 60'000, std::int32_t runs = 3) {
        call context;
        auto made = testing::make_row(key, "mail",
            {{"State", value{value_view{state}}}, {"Claim", value{value_view{"c"}}},
                {"Id", value{value_view{"0123456789abcdef0123456789abcdef"}}}, {"Lease", value{value_view{lease}}},
                {"Runs", value{value_view{runs}}}});
        on.store.execute(write_entity{"once", mutation::insert(std::move(made))}, context).value();
    };
    put("done", "done");
    put("free", "free");
    put("claimed", "claimed");
    put("later", "of a newer version");
    put("longest", "claimed", (std::numeric_limits<std::int64_t>::max)());
    put("negative", "claimed", -1);
    put("most", "free", 60'000, (std::numeric_limits<std::int32_t>::max)());
    once const mails = on.make();
    CHECK_FALSE(mails.run("done", on.counted())->ran);
    CHECK(mails.run("free", on.counted())->runs == 4);
    CHECK(mails.run("claimed", on.counted()).error().code == error_code::store_busy);
    for (char const* const key : {"later", "longest", "negative"}) {
        CHECK(mails.run(key, on.counted()).error().code == error_code::row_mismatch);
    }
    CHECK(mails.run("most", on.counted())->runs == (std::numeric_limits<std::int32_t>::max)());
    CHECK(on.ids == std::set<std::string>{"0123456789abcdef0123456789abcdef"});
}

TEST_CASE("once: an error without effect frees the key, and after any other error the key stays claimed") {
    stage on;
    once const mails = on.make();
    auto const refused = mails.run("ann",
        [](once_run const&) -> result<void> { return failure{error_code::out_of_range_input, "no such address"}; });
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "no such address");
    CHECK(on.text("ann", "State") == "free");
    auto const again = mails.run("ann", on.counted());
    REQUIRE(again);
    CHECK(again->runs == 2);

    CHECK(mails
              .run("bob",
                  [&](once_run const& run) -> result<void> {
                      (void)on.count(run);
                      return lost();
                  })
              .error()
              .effect == effect::unknown);
    auto const busy = mails.run("bob", on.counted());
    REQUIRE_FALSE(busy);
    CHECK(busy.error().code == error_code::store_busy);
    CHECK(busy.error().effect == effect::none);
    CHECK(busy.error().retry_after.value() > 59s);
    CHECK_THAT(busy.error().message, ContainsSubstring("\"bob\""));
    on.time.advance(61s);
    auto const later = mails.run("bob", on.counted());
    REQUIRE(later);
    CHECK(later->runs == 2);
    CHECK(on.ids.size() == 2); // ann, and one id in both runs for bob
}

TEST_CASE("once: an exception is propagated, and the key stays claimed") {
    stage on;
    once const mails = on.make();
    CHECK_THROWS_AS(
        mails.run("ann", [](once_run const&) -> result<void> { throw std::runtime_error{"gone"}; }).has_value(),
        std::runtime_error);
    CHECK(mails.run("ann", on.counted()).error().code == error_code::store_busy);
    on.time.advance(61s);
    CHECK(mails.run("ann", on.counted())->runs == 2);
}

TEST_CASE("once: the function may claim other keys, and destroy the object") {
    stage on;
    std::optional<once> mails{on.make()};
    auto const done = mails->run("ann", [&](once_run const& run) -> result<void> {
        ENTITABLE_CHECK(mails->run("bob", on.counted()));
        CHECK(mails->run("ann", on.counted()).error().code == error_code::store_busy);
        mails.reset();
        return on.count(run);
    });
    CHECK(done->ran);
    CHECK(on.runs == 2);
}

TEST_CASE("once: each request may fail or lose its answer") {
    for (std::uint64_t request = 1; request <= 6; ++request) {
        for (bool const applied : {false, true}) {
            stage on;
            CAPTURE(request, applied);
            std::uint64_t sent = 0;
            bool hurt = false;
            auto const faulty =
                entitable_test::with_defect([&]<class Request>(any_store const& below, Request const& asked,
                                                call& context) -> result<response_of<Request>> {
                    if (++sent != request) { return below.execute(asked, context); }
                    hurt = true;
                    if (applied) { (void)below.execute(asked, context); }
                    return lost();
                })(any_store{on.store});
            once_options how;
            how.time = &on.time;
            how.seed = 5;
            once const mails{faulty, "mail", how};
            auto done = mails.run("ann", on.counted());
            if (!done) { // a lost read
                on.time.advance(61s);
                done = mails.run("ann", on.counted());
            }
            REQUIRE(done);
            CHECK(done->ran);
            CHECK(on.runs == 1);
            CHECK(on.text("ann", "State") == "done");
            CHECK((hurt || request > 3));
        }
    }
}

TEST_CASE("once: with one attempt, the effect is unknown if the answer to the mark is lost") {
    stage on;
    once_options how;
    how.max_attempts = 1;
    {
        once const mails = on.make(how); // the table is missing: one attempt is too few
        CHECK(mails.run("ann", on.counted()).error().code == error_code::table_not_found);
    }
    row_table{on.store, "once"}.create().value();
    auto const silent = entitable_test::with_defect(
        []<class Request>(any_store const& below, Request const& asked, call& context) -> result<response_of<Request>> {
            auto answer = below.execute(asked, context);
            if constexpr (std::same_as<Request, write_entity>) {
                if (asked.change.kind == mutation_kind::merge) { return lost(); }
            }
            return answer;
        });
    how.time = &on.time;
    once const mails{silent(any_store{on.store}), "mail", how};
    auto const unmarked = mails.run("ann", on.counted());
    REQUIRE_FALSE(unmarked);
    CHECK(unmarked.error().effect == effect::unknown);
    CHECK(on.runs == 1);
    CHECK_FALSE(on.make().run("ann", on.counted())->ran); // it was marked
}

TEST_CASE("once: a run that takes longer than its claim is overtaken, and the key is still marked as done") {
    stage on;
    once const mails = on.make();
    once const others = on.make();
    auto const slow = mails.run("ann", [&](once_run const& run) -> result<void> {
        on.time.advance(61s);
        CHECK_FALSE(others.run("ann", [](once_run const&) -> result<void> { return lost(); }));
        return on.count(run);
    });
    REQUIRE(slow);
    CHECK(slow->runs == 1);
    CHECK_FALSE(others.run("ann", on.counted())->ran);
    // An overtaken run that has no effect does not free the claim of the other.
    CHECK_FALSE(mails.run("bob", [&](once_run const&) -> result<void> {
        on.time.advance(61s);
        CHECK_FALSE(others.run("bob", [](once_run const&) -> result<void> { return lost(); }));
        return failure{error_code::cancelled, "no"};
    }));
    CHECK(on.text("bob", "State") == "claimed");
}

TEST_CASE("once: a row that is removed during the run is stored again as done") {
    stage on;
    once const mails = on.make();
    CHECK(mails.run("ann", [&](once_run const& run) -> result<void> {
        row_table{on.store, "once"}.remove("ann", "mail", any_etag).value();
        return on.count(run);
    }));
    CHECK(on.text("ann", "State") == "done");
    CHECK(mails.run("bob", [&](once_run const& run) -> result<void> {
        row_table{on.store, "once"}.drop().value();
        return on.count(run);
    }));
    CHECK_FALSE(mails.run("bob", on.counted())->ran);
}

TEST_CASE("once: the clock of the store decides, not the clock of the program") {
    stage on;
    once const mails = on.make();
    CHECK_FALSE(mails.run("ann", [](once_run const&) -> result<void> { return lost(); }));
    testing::manual_clock ahead{date_time::from_date(2040, 1, 1)};
    auto const dated =
        entitable_test::with_defect([&]<class Request>(any_store const& below, Request const& asked, call& context) {
            auto answer = below.execute(asked, context);
            context.server_date = on.time.now();
            return answer;
        });
    once_options how;
    how.time = &ahead;
    once const other{dated(any_store{on.store}), "mail", how};
    CHECK(other.run("ann", on.counted()).error().code == error_code::store_busy);
    on.time.advance(61s);
    CHECK(other.run("ann", on.counted())->ran);
}

TEST_CASE("once: keys and options outside their limits are refused before a request is sent") {
    stage on;
    once const mails = on.make();
    CHECK(mails.run("a/b", on.counted()).error().code == error_code::out_of_range_input);
    CHECK(mails.run(std::string(600, 'k'), on.counted()).error().code == error_code::key_value_too_large);
    CHECK(mails.run("", on.counted())->ran); // an empty key is a key
    auto const refused = [&](once_options const& how) { return on.make(how).run("ann", on.counted()).error().code; };
    CHECK(refused({.claim = 1'999ms}) == error_code::out_of_range_input);
    CHECK(refused({.claim = std::chrono::hours{169}}) == error_code::out_of_range_input);
    CHECK(refused({.max_attempts = 0}) == error_code::out_of_range_input);
    CHECK(refused({.table = "ab"}) == error_code::out_of_range_input);
    CHECK(once{on.store, "a#b"}.run("ann", on.counted()).error().code == error_code::out_of_range_input);
    CHECK(on.make({.claim = 2s}).run("shortest", on.counted())->ran);
    CHECK(on.runs == 2);
}

TEST_CASE("once: threads that call it with the same keys run each key once") {
    stage on;
    memory_backend const store;
    std::atomic<int> runs{0};
    once const mails{store, "mail"};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&] {
            for (int key = 0; key < 50; ++key) {
                for (;;) {
                    auto const done = mails.run(std::to_string(key), [&](once_run const&) -> result<void> {
                        ++runs;
                        return {};
                    });
                    if (done || done.error().code != error_code::store_busy) { break; }
                    std::this_thread::yield();
                }
            }
        });
    }
    for (std::thread& each : callers) { each.join(); }
    CHECK(runs == 50);
}
