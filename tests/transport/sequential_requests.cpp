// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/sequential_requests.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

/// Three pages without rows; each takes a minute. Records the deadlines.
struct slow_pages {
    using is_transport = void;
    testing::manual_clock* time;
    std::vector<steady_time>* deadlines;
    std::string fails_at{};

    [[nodiscard]] entitable::profile profile() const { return {}; }
    [[nodiscard]] result<query_entities::response> execute(query_entities const& asked, call& context) const {
        deadlines->push_back(context.deadline);
        time->advance(1min);
        std::string const page = asked.continuation.value_or("1");
        if (page == fails_at) { return failure{error_code::server_busy, "busy"}; }
        query_entities::response answered;
        if (page != "3") { answered.continuation = page == "1" ? "2" : "3"; }
        return answered;
    }
    [[nodiscard]] result<get_entity::response> execute(get_entity const&, call&) const {
        return failure{error_code::not_supported, ""};
    }
    [[nodiscard]] result<written> execute(write_entity const&, call&) const {
        return failure{error_code::not_supported, ""};
    }
};

struct fixture {
    testing::manual_clock time;
    std::vector<steady_time> deadlines;
    int pages{};

    template <class Calls>
    result<void> read(Calls& calls, std::string fails_at = {}, int most = 9) {
        auto const turn = [&](query_entities& asked, result<query_entities::response> page) -> result<bool> {
            if (!page) { return std::move(page).as_failure(); }
            asked.continuation = std::move(page->continuation);
            return ++pages < most && asked.continuation.has_value();
        };
        sequential_requests<query_entities> reading{query_entities{}, turn};
        slow_pages const store{&time, &deadlines, std::move(fails_at)};
        return run(reading, calls, time, store);
    }
};

} // namespace

static_assert(operation<sequential_requests<query_entities>> &&
    takes_answer_to<sequential_requests<query_entities>, query_entities>);
static_assert(!takes_answer_to<sequential_requests<query_entities>, get_entity>);

TEST_CASE("sequential_requests: continues until it is ended or an answer is an error") {
    fixture f;
    call context;
    CHECK(f.read(context));
    CHECK(f.pages == 3);
    f.pages = 0;
    CHECK(f.read(context, {}, 2));
    CHECK(f.pages == 2);
    f.pages = 0;
    auto const failed = f.read(context, "2");
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == error_code::server_busy);
    CHECK(f.pages == 1);
}

TEST_CASE("run: requests share a call, or each has its own call") {
    fixture f;
    steady_time const begun = f.time.steady();
    call_options options;
    options.timeout = 10min;
    call together{options, f.time};
    CHECK(f.read(together));
    CHECK(f.deadlines == std::vector<steady_time>(3, begun + 10min));
    f.deadlines.clear();
    CHECK(f.read(options));
    CHECK(f.deadlines == std::vector<steady_time>{begun + 13min, begun + 14min, begun + 15min});
}
