// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The conformance suite with each request awaited in a loop.

#include <entitable/async.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/conformance.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>
#include <support/untorn_pages.hpp>

using namespace entitable;

// GCC 12 requires linkage for variables that a coroutine stores.
namespace awaiting_each {

/// Copies the results in the loop's call to the call of the caller.
template <bool OnTheSpot>
struct telling {
    using is_transport = void;
    using answers_at_once = std::conditional_t<OnTheSpot, telling, void>;
    any_store below;
    call* told;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answer = below.execute(request, context);
        told->attempts += context.attempts;
        told->request_ids.insert(told->request_ids.end(), context.request_ids.begin(), context.request_ids.end());
        told->server_date = context.server_date;
        told->undecided_until = context.undecided_until;
        return answer;
    }
};

template <class Request>
struct making {
    Request const* request;
    single_request<Request> operator()() const { return single_request<Request>{*request}; }
};

template <class Request>
task<result<response_of<Request>>> ask(shared<detail::async_place> at, Request const* request) {
    making<Request> const make{request};
    co_return co_await awaited<single_request<Request>>{std::move(at), make};
}

/// A transport whose requests are awaited, one at a time. `OnTheSpot`: the loop may execute without a channel.
template <bool OnTheSpot>
struct awaiting {
    using is_transport = void;
    any_store below;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        call_options wishes;
        wishes.cancellation = context.cancellation;
        wishes.location = context.location;
        wishes.watch = context.watch;
        wishes.trace = context.trace;
        wishes.operation_id = context.operation_id;
        if (context.deadline != no_deadline) {
            wishes.timeout = (std::max)(steady_time::duration{}, context.deadline - system_clock().steady());
        }
        event_loop loop{{.letters = false}};
        auto const at = shared<detail::async_place>::make(
            loop.core(), any_store{telling<OnTheSpot>{below, &context}}, std::string{}, std::move(wishes));
        return loop.run(ask(at, &request));
    }
};

template <bool OnTheSpot>
inline void conforms(function_ref<any_store()> make) {
    std::size_t made = 0;
    auto const awaited = [&]() -> any_store {
        ++made;
        return awaiting<OnTheSpot>{make()};
    };
    for (std::string const& failure : testing::conformance::run(awaited)) { FAIL_CHECK(failure.substr(0, 2000)); }
    CHECK(made > 20);
}

} // namespace awaiting_each

using awaiting_each::conforms;

TEST_CASE("conformance: awaited requests to a memory_backend that complete at once") {
    conforms<true>([] { return memory_backend{}; });
}

TEST_CASE("conformance: awaited requests to a memory_backend over a channel") {
    conforms<false>([] { return memory_backend{}; });
}

TEST_CASE("conformance: awaited requests to a file_backend") {
    entitable_test::temporary_folder const folder;
    std::size_t files = 0;
    conforms<false>([&] { return file_backend{folder / (std::to_string(files++) + ".db")}; });
}

TEST_CASE("untorn pages: awaited requests") {
    using entitable_test::torn_page;
    CHECK(torn_page([](any_store const& store) { return any_store{awaiting_each::awaiting<true>{store}}; }) == "");
    CHECK(torn_page([](any_store const& store) { return any_store{awaiting_each::awaiting<false>{store}}; }) == "");
}
