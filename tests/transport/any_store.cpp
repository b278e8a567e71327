// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "archetypes.hpp"
#include <entitable/core/transport/any_store.hpp>

#include <support/catch.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace entitable;
using entitable_test::ContainsSubstring;

namespace {

struct state {
    explicit state(int& counter) : alive(&counter) { ++*alive; }
    state(state const&) = delete;
    state& operator=(state const&) = delete;
    ~state() { --*alive; }

    int* alive;
    std::vector<std::string> seen;
};

/// A handle to a state that records the names of requests.
struct collecting_misses {
    using is_transport = void;
    std::shared_ptr<state> shared_state;

    [[nodiscard]] entitable::profile profile() const {
        entitable::profile own;
        own.max_page_size = 17;
        return own;
    }
    template <class Request>
    result<response_of<Request>> execute(Request const& request, call& context) {
        shared_state->seen.push_back(std::string{Request::name} + " " + table_of(request));
        ++context.attempts;
        return response_of<Request>{};
    }

private:
    static std::string table_of(list_tables const&) { return "-"; }
    template <class Request>
    static std::string table_of(Request const& request) {
        return request.table;
    }
};

} // namespace

TEST_CASE("any_store forwards every request together with its call") {
    int alive = 0;
    auto const kept = std::make_shared<state>(alive);
    any_store const any = collecting_misses{kept};
    CHECK(any.profile().max_page_size == 17);
    call context;
    CHECK(any.execute(create_table{"a"}, context));
    CHECK(any.execute(delete_table{"b"}, context));
    CHECK(any.execute(list_tables{}, context));
    CHECK(any.execute(get_entity{"c", {}, {}, {}}, context));
    query_entities query;
    query.table = "d";
    CHECK(any.execute(query, context));
    CHECK(any.execute(write_entity{"e", {}}, context));
    CHECK(any.execute(transact{"f", {}}, context));
    CHECK(kept->seen ==
        std::vector<std::string>{"create_table a", "delete_table b", "list_tables -", "get_entity c",
            "query_entities d", "write_entity e", "transact f"});
    CHECK(context.attempts == 7);
}

TEST_CASE("copies of any_store share one state and keep it alive") {
    int alive = 0;
    auto kept = std::make_shared<state>(alive);
    auto const* const seen = &kept->seen;
    call context;
    {
        any_store first = collecting_misses{std::move(kept)};
        kept.reset();
        CHECK(alive == 1);
        auto second = first;
        {
            any_store const third = second;
            CHECK(third.execute(create_table{"a"}, context));
        }
        second = first;
        CHECK(second.execute(create_table{"b"}, context));
        auto const moved = std::move(first);
        CHECK(moved.execute(create_table{"c"}, context));
        CHECK(seen->size() == 3);
        CHECK(alive == 1);
    }
    CHECK(alive == 0);
}

TEST_CASE("a request that a transport does not support is answered with NotSupported") {
    auto const check = [](auto const& answer, std::string const& name) {
        REQUIRE_FALSE(answer.has_value());
        CHECK(answer.error().code == error_code::not_supported);
        CHECK(answer.error().http_status == 0);
        CHECK(answer.error().effect == effect::none);
        CHECK_THAT(answer.error().message, ContainsSubstring(name));
    };
    call context;
    any_store const any = archetypes::minimal{};
    check(any.execute(create_table{"a"}, context), "create_table");
    check(any.execute(delete_table{"a"}, context), "delete_table");
    check(any.execute(list_tables{}, context), "list_tables");
    check(any.execute(transact{"a", {}}, context), "transact");
    CHECK(any.execute(get_entity{}, context));
    CHECK(any.execute(query_entities{}, context));
    CHECK(any.execute(write_entity{}, context));

    archetypes::minimal direct;
    check(execute(direct, transact{"a", {}}, context), "transact");
    any_store const nested = archetypes::decorated<any_store>{any};
    check(nested.execute(transact{"a", {}}, context), "transact");
    CHECK(nested.execute(get_entity{}, context));
}
