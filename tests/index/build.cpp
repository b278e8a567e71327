// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A build writes the rows of its index in bulk, while others write, while answers are lost, and while it is stopped.

#include "runners.hpp"
#include <entitable/bulk.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>

#include <support/around.hpp>
#include <support/catch.hpp>
#include <support/long.hpp>

#include <random>

using namespace entitable;
using namespace entitable_test;
using namespace marathon;

namespace {

using all_indexes = table<runner, by_age, unique<by_mail>, elsewhere<by_club>>;

struct world {
    memory_backend store;
    testing::manual_clock time;
    table_options how = [this] {
        table_options made;
        made.time = &time;
        return made;
    }();

    [[nodiscard]] all_indexes runners(any_store const& through) const {
        return {through, "runners", how, in_table<by_club>{through, "clubs"}};
    }
    /// Entities without any index.
    void fill(std::int32_t count) const {
        table<runner> const plain{store, "runners"};
        plain.create().value();
        std::vector<runner> rows;
        for (std::int32_t bib = 0; bib < count; ++bib) {
            rows.push_back({"race" + std::to_string(bib / 500), bib, "n", 20 + bib % 50,
                "club" + std::to_string(bib % 3), "mail" + std::to_string(bib), {}});
        }
        bulk_insert(plain, rows).value().all().value();
    }
};

/// A store that delays the first transaction with index rows.
struct holding_up {
    using is_transport = void;
    any_store below;
    std::shared_ptr<std::function<void()>> held;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact>) {
            if (!*held && request.changes.front().entity.row_key().starts_with("AGE:")) {
                *held = [through = below, request] {
                    call own;
                    static_cast<void>(through.execute(request, own));
                };
                failure lost{error_code::transport_failed, "the answer was lost"};
                lost.error().effect = effect::unknown;
                return lost;
            }
        }
        return below.execute(request, context);
    }
};

/// A clock that calls a function when a wait is long.
struct used_clock : clock {
    testing::manual_clock behind;
    steady_time begun{behind.steady()};
    std::function<void()> in_wait;
    date_time now() noexcept override { return behind.now(); }
    steady_time steady() noexcept override { return behind.steady(); }
    void wait_until(steady_time time) noexcept override {
        if (in_wait && steady() - begun >= std::chrono::seconds{30}) { in_wait(); }
        behind.wait_until(time);
    }
};

std::uint64_t rows_of(memory_backend const& store, std::string_view literal) {
    std::uint64_t count = 0;
    call context;
    query_entities asked;
    asked.table = "runners";
    for (;;) {
        auto found = any_store{store}.execute(asked, context).value();
        for (std::size_t at = 0; at < found.rows.size(); ++at) {
            count += found.rows[at].row_key.starts_with(literal) ? 1U : 0U;
        }
        if (!found.continuation) { return count; }
        asked.continuation = found.continuation;
    }
}

} // namespace

TEST_CASE("index: a build sends one request for many entities and builds the requested index") {
    world in;
    in.fill(4000);
    std::uint64_t requests = 0;
    around const counted{in.store, [&](std::string_view, bool) { ++requests; }};
    auto const runners = in.runners(counted);
    CHECK(!runners.create_if_absent().value());
    for (int index = 0; index < 3; ++index) {
        requests = 0;
        std::uint64_t const written = index == 0 ? runners.build<by_age>().value().written
            : index == 1                         ? runners.build<by_mail>().value().written
                                                 : runners.build<by_club>().value().written;
        INFO("index " << index << ", " << requests << " requests");
        CHECK(written == 4000);
        CHECK(requests <= 400); // 0.1 per entity
        CHECK(rows_of(in.store, "AGE:") == 4000);
        CHECK(rows_of(in.store, "MAIL:") == (index > 0 ? 4000 : 0));
    }
    CHECK((runners.verify)().value().good());
}

TEST_CASE("index: an index is complete after a build, even if others write between any two of its requests") {
    std::mt19937_64 random{7};
    for (int round = 0; round < static_cast<int>(rounds(12, 300, 60)); ++round) {
        world in;
        in.fill(300);
        auto const writer = in.runners(in.store);
        bool busy = false;
        std::uint64_t lost = 0;
        auto const write = [&] {
            auto const bib = static_cast<std::int32_t>(random() % 330);
            runner const one{"race0", bib, "n", static_cast<std::int32_t>(20 + random() % 50),
                "club" + std::to_string(random() % 3), "mail" + std::to_string(random() % 2 == 0 ? bib : bib + 1000),
                {}};
            auto const made = random() % 4 == 0 ? writer.remove("race0", bib, any_etag) : writer.insert_or_replace(one);
            bool const expected = made || made.error().code == error_code::resource_not_found ||
                made.error().code == error_code::declaration_missing;
            CHECK(expected);
        };
        around const disturbed{in.store, {}, [&](std::string_view, bool) {
                                   if (!std::exchange(busy, true)) {
                                       write();
                                       busy = false;
                                   }
                               }};
        testing::faulty const lossy{any_store{disturbed}};
        lossy.plan_random(random(), 3, 40, {testing::fault::lost_after(), testing::fault::busy()});
        retrying const patient{lossy, {.time = &in.time, .seed = 1}};
        auto const runners = in.runners(patient);
        auto const built = [&](auto const& made) {
            INFO("round " << round << " " << (made ? std::string{} : made.error().to_string()));
            return made.has_value();
        };
        CHECK(runners.create_if_absent().has_value()); // with a lost answer it may report that it created the table
        while (!built(runners.build<by_age>()) && lost++ < 5) {}
        while (!built(runners.build<by_mail>()) && lost++ < 5) {}
        while (!built(runners.build<by_club>()) && lost++ < 5) {}
        auto const seen = (writer.verify)().value().indexes;
        INFO("round " << round << ": " << seen.missing << " missing, " << seen.dangling << " dangling, "
                      << seen.different << " different, " << seen.violations << " violations");
        CHECK(seen.good());
        CHECK(writer.state<by_club>().value() == index_state::ready);
    }
}

TEST_CASE("index: rows written by a late request do not stay in an index that is ready") {
    world in;
    in.fill(50);
    used_clock time;
    in.how.time = &time;
    auto const held = std::make_shared<std::function<void()>>();
    auto const writer = in.runners(in.store);
    bool arrived = false;
    time.in_wait = [&] { // after the rows were sent again
        if (*held && !std::exchange(arrived, true)) {
            writer.update("race0", 7, [](runner& one) { one.age = 90; }).value();
            (*held)();
        }
    };
    auto const builder = in.runners(any_store{holding_up{in.store, held}});
    builder.create_if_absent().value();
    builder.build<by_age>().value();
    REQUIRE(*held);
    CHECK(arrived); // the build has waited for the longest request
    if (!arrived) { (*held)(); }
    CHECK(rows_of(in.store, "AGE:") == 50);
}

TEST_CASE("index: a build that is stopped at any of its requests is completed by another build") {
    int stops = 0;
    for (std::uint64_t number = 1; number <= 24; ++number) {
        world in;
        in.fill(250);
        testing::faulty const nasty{in.store};
        auto const stopped = in.runners(nasty);
        CHECK(!in.runners(in.store).create_if_absent().value());
        nasty.plan({testing::fault::refused(), number, {}});
        stops += stopped.build<by_age>() ? 0 : 1; // the bulk load sends refused rows again
        INFO("stopped at request " << number);
        auto const runners = in.runners(in.store);
        runners.build<by_age>().value();
        CHECK(rows_of(in.store, "AGE:") == 250);
        CHECK(runners.state<by_age>().value() == index_state::ready);
    }
    CHECK(stops >= 8);
}

TEST_CASE("index: a build from a different declaration removes the old rows, a few thousand at a time") {
    world in;
    in.fill(3000);
    table<by_age> const old{in.store, "runners"};
    std::vector<by_age> rows;
    for (std::int32_t bib = 0; bib < 3000; ++bib) { // as another program wrote them, from older ages
        by_age one;
        static_cast<runner&>(one) = {"race" + std::to_string(bib / 500), bib, "n", 19 + bib % 50, "", "", {}};
        rows.push_back(one);
    }
    bulk_insert(old, rows).value().all().value();
    auto const runners = in.runners(in.store);
    auto const built = runners.build<by_age>().value();
    CHECK(built.removed == 3000);
    CHECK(rows_of(in.store, "AGE:") == 3000);
    using a = fields<by_age>;
    CHECK(runners.by<by_age>().where(a::race == "race0" && a::age == 19).to().value().empty());
}
