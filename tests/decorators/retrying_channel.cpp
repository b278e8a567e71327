// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Many retried requests at once. The events of each are the same as for a blocking call; only the waits overlap.

#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/many.hpp>

#include <random>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::send_all;
using testing::fault;
using testing::make_row;

namespace {

struct stage {
    explicit stage(retry_policy policy = retry_policy::fixed(4, 1s), bool operation_rows = false)
        : backend(local_options{.time = &time}),
          service(backend, {.time = &time}),
          through(service, {.policy = policy, .operation_rows = operation_rows, .time = &time, .seed = 1}) {
        call own;
        (void)backend.execute(create_table{"Orders"}, own).value();
    }
    testing::manual_clock time;
    memory_backend backend;
    testing::faulty<memory_backend> service;
    retrying<testing::faulty<memory_backend>> through;
};

write_entity insert(std::string key) { return {"Orders", mutation::insert(make_row("p", std::move(key), {{"N", 1}}))}; }

/// The events of an observer, as text.
struct notes final : observer {
    void on_operation(operation_record const& done) noexcept override {
        all.push_back("operation " + std::string{done.name} + " " + std::to_string(done.attempts) + " " +
            std::to_string(done.outcome.error ? static_cast<int>(*done.outcome.error) : -1) + " took " +
            std::to_string((done.ended - done.begun).count()));
    }
    void on_attempt(attempt_record const& done) noexcept override {
        all.push_back("attempt " + std::string{done.name} + " " + std::to_string(done.number));
    }
    void on_wait(wait_record const& wait) noexcept override {
        all.push_back("wait " + std::string{wait.name} + " " + std::to_string((wait.until - wait.begun).count()) + " " +
            std::string{to_string(wait.cause)});
    }
    std::vector<std::string> all;
};

} // namespace

TEST_CASE("retrying, concurrent: waits overlap") {
    stage on;
    std::vector<write_entity> writes;
    for (int index = 0; index < 20; ++index) {
        writes.push_back(insert(std::to_string(index)));
        on.service.plan({index % 2 == 0 ? fault::busy() : fault::lost_after(), static_cast<std::size_t>(index) + 1});
    }
    steady_time const begun = on.time.steady();
    auto const answered = send_all(on.through, writes, 20, {}, on.time);
    CHECK(answered.successes() == 20);
    CHECK(on.time.steady() - begun == 1s); // one after the other it would be 20
    CHECK(on.service.requests() == 50);    // each lost insert is read back
    for (call const& each : answered.calls) { CHECK(each.attempts >= 2); }
}

TEST_CASE("retrying, concurrent: with an invalid policy no request is sent") {
    stage on{retry_policy::fixed(0, 1s)};
    auto const answered = send_all(on.through, std::vector<write_entity>{insert("a"), insert("b")}, 2, {}, on.time);
    CHECK(answered.order.size() == 2);
    CHECK((*answered.answers[0]).error().code == error_code::out_of_range_input);
    CHECK(on.service.requests() == 0);
}

TEST_CASE("retrying, concurrent: one of two waiting requests can be cancelled, and the other succeeds") {
    stage on;
    on.service.plan({fault::lost_before(), 1});
    on.service.plan({fault::busy(), 2});
    poll_driver io{on.time};
    auto const opened = open_channel(on.through, io);
    write_entity const first = insert("a");
    write_entity const second = insert("b");
    call contexts[2];
    opened->send(first, contexts[0], &contexts[0]);
    opened->send(second, contexts[1], &contexts[1]);
    std::vector<std::pair<void*, std::optional<error>>> seen;
    auto const note = [&](completion& done) {
        seen.emplace_back(done.tag, done.problem != nullptr ? std::optional{*done.problem} : std::nullopt);
    };
    opened->poll(io.time().steady(), note);
    CHECK(seen.empty());
    opened->cancel(&contexts[0], error{error_code::cancelled, "not wanted any more"});
    CHECK(opened->wakes_at() <= io.time().steady());
    opened->poll(io.time().steady(), note);
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].first == &contexts[0]);
    REQUIRE(seen[0].second);
    CHECK(seen[0].second->code == error_code::cancelled);
    CHECK(seen[0].second->effect == effect::unknown); // its first attempt may have been applied
    while (seen.size() < 2) {
        io.wait(opened->wakes_at());
        opened->poll(io.time().steady(), note);
    }
    CHECK_FALSE(seen[1].second);
}

TEST_CASE("retrying, concurrent: the channel may be destroyed with waiting requests") {
    stage on;
    on.service.plan({fault::busy(), 1});
    poll_driver io{on.time};
    auto opened = open_channel(on.through, io);
    write_entity const first = insert("a");
    call context;
    opened->send(first, context, &context);
    opened->poll(io.time().steady(), [](completion&) { FAIL("nothing is answered yet"); });
    opened = {};
    CHECK(on.service.requests() == 1);
}

TEST_CASE("retrying: for each request a channel acts and reports as a blocking call does") {
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
        std::mt19937 random{seed};
        auto const draw = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
        bool const rows = draw(2) == 0;
        std::size_t const named = draw(3);
        std::vector<std::pair<std::size_t, fault>> plans;
        for (std::size_t count = draw(6); count > 0; --count) {
            fault const faults[] = {fault::busy(), fault::throttled(3s), fault::lost_after(), fault::lost_before(),
                fault::late(), fault::status(500, true), fault::status(500, false), fault::half_answer()};
            plans.emplace_back(1 + draw(12), faults[draw(8)]);
        }
        auto const timeout = draw(4) == 0 ? std::chrono::nanoseconds{1500ms} : no_timeout;

        std::vector<std::string> told[2];
        for (int const way : {0, 1}) {
            stage on{retry_policy::fixed(3, 1s), rows};
            for (auto const& [number, what] : plans) { on.service.plan({what, number}); }
            notes watching;
            poll_driver io{on.time};
            auto const opened = open_channel(on.through, io);
            std::vector<std::string>& all = told[way];
            auto const ask = [&](auto const& request, std::string const& id) {
                call_options options;
                options.timeout = timeout;
                options.watch = &watching;
                options.operation_id = id;
                call context{options, on.time};
                steady_time const begun = on.time.steady();
                auto answer = [&] {
                    if (way == 0) { return on.through.execute(request, context); }
                    std::optional<std::remove_cvref_t<decltype(on.through.execute(request, context))>> came;
                    opened->send(request, context, &context);
                    while (!came) {
                        opened->poll(io.time().steady(), [&](completion& done) {
                            came.emplace(std::move(done.answer<std::remove_cvref_t<decltype(request)>>()));
                        });
                        if (!came) { io.wait(opened->wakes_at()); }
                    }
                    return *std::move(came);
                }();
                std::string line = answer ? "success"
                                          : std::string{to_string(answer.error().code)} + " effect " +
                        std::to_string(static_cast<int>(answer.error().effect)) + " attempts " +
                        std::to_string(answer.error().attempts) + " index " +
                        std::to_string(answer.error().operation_index.value_or(99)) + " id " +
                        answer.error().operation_id + " " + answer.error().message;
                if constexpr (requires { answer->after_retry; }) {
                    line += answer ? (answer->after_retry ? " after retry" : "") : "";
                }
                if constexpr (requires { answer->results.size(); }) {
                    line += answer ? " of " + std::to_string(answer->results.size()) : "";
                }
                all.push_back(line + ", " + std::to_string(context.attempts) + " attempts, " +
                    std::to_string((on.time.steady() - begun).count()) + " ns");
            };
            ask(insert("a"), named == 1 ? "one" : "");
            ask(write_entity{"Orders", mutation::insert_or_merge(make_row("p", "b", {{"N", 2}}))}, "");
            ask(transact{"Orders",
                    {mutation::insert(make_row("p", "c")), mutation::merge(make_row("p", "a", {{"M", 3}}), any_etag)}},
                named == 2 ? "two" : "");
            ask(get_entity{"Orders", "p", "a", {}}, "");
            query_entities query;
            query.table = "Orders";
            ask(query, "");
            ask(write_entity{"Orders", mutation::remove(make_row("p", "b"), any_etag)}, named == 1 ? "one" : "");
            ask(transact{"Orders", {}}, "");
            all.insert(all.end(), watching.all.begin(), watching.all.end());
            call own;
            auto const stored = on.backend.execute(query, own).value();
            for (std::size_t index = 0; index < stored.rows.size(); ++index) {
                all.emplace_back(stored.rows[index].row_key);
            }
        }
        INFO("seed " << seed);
        REQUIRE(told[0] == told[1]);
    }
}
