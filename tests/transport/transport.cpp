// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/transport/transport.hpp>

#include <support/catch.hpp>
#include <support/manual_clock.hpp>

#include <string>

using namespace entitable;
using namespace std::chrono_literals;

TEST_CASE("a call may start until it is cancelled or its deadline is reached") {
    entitable_test::manual_clock time;
    CHECK(check_call({}, time));

    call context;
    context.deadline = time.steady() + 1ns;
    CHECK(check_call(context, time));
    time.advance(1ns);
    CHECK(check_call(context, time).error().code == error_code::deadline_exceeded);
    time.advance(1h);
    CHECK(check_call(context, time).error().code == error_code::deadline_exceeded);

    cancellation_source source;
    call cancellable;
    cancellable.cancellation = source.token();
    CHECK(check_call(cancellable, time));
    source.cancel();
    auto const refused = check_call(cancellable, time);
    CHECK(refused.error().code == error_code::cancelled);
    CHECK(refused.error().effect == effect::none);
    CHECK(refused.error().http_status == 0);
}

TEST_CASE("cancellation takes precedence over a passed deadline") {
    entitable_test::manual_clock time;
    cancellation_source source;
    source.cancel();
    call context;
    context.cancellation = source.token();
    context.deadline = time.steady();
    CHECK(check_call(context, time).error().code == error_code::cancelled);
}

namespace {

/// Answers `get_entity`, and counts how often.
struct getting {
    using is_transport = void;
    int* gets;

    [[nodiscard]] entitable::profile profile() const { return {}; }
    result<get_entity::response> execute(get_entity const& request, call&) const {
        ++*gets;
        if (request.row_key.empty()) { return failure{error_code::resource_not_found, "none"}; }
        return get_entity::response{row{request.partition_key, request.row_key, request.table}, etag{"\"7\""}, true};
    }
    result<query_entities::response> execute(query_entities const&, call&) const { return query_entities::response{}; }
    result<write_entity::response> execute(write_entity const&, call&) const { return write_entity::response{}; }
};

/// Visits entities by itself, too.
struct visiting : getting {
    using visits_entities = visiting;
    using getting::execute;
    [[nodiscard]] result<void> execute(read_entity const& request, call&) const {
        return (*request.visit)({request.partition_key, request.row_key, "shown"}, etag{}, false);
    }
};

/// Inherits the visit of entities, but answers `get_entity` in its own way.
struct inheriting : visiting {};

template <class Transport>
std::string shown_by(Transport through, std::string_view row_key) {
    std::string shown;
    call context;
    auto const show = [&](row_view const& entity, etag const& version, bool stale) -> result<void> {
        shown = std::string{entity.partition_key} + "," + std::string{entity.row_key} + "," +
            std::string{entity.payload} + "," + version.to_string() + (stale ? ",stale" : "");
        return {};
    };
    entity_visitor const visit = show;
    auto const visited = execute(through, read_entity{"Orders", "p", row_key, &visit}, context);
    return visited ? shown : visited.error().message;
}

} // namespace

TEST_CASE("a visit uses get_entity if a transport has no visit function") {
    static_assert(!answers<getting, read_entity>);
    int gets = 0;
    CHECK(shown_by(getting{&gets}, "r") == "p,r,Orders,\"7\",stale");
    CHECK(shown_by(getting{&gets}, "") == "none");
    CHECK(gets == 2);
}

TEST_CASE("a visit uses a transport's own function and not an inherited one") {
    static_assert(answers<visiting, read_entity>);
    static_assert(!answers<inheriting, read_entity>);
    int gets = 0;
    CHECK(shown_by(visiting{{&gets}}, "r") == "p,r,shown,");
    CHECK(gets == 0);
    CHECK(shown_by(inheriting{{{&gets}}}, "r") == "p,r,Orders,\"7\",stale");
    CHECK(gets == 1);
}

TEST_CASE("the return value of a visitor is the result of the read") {
    int gets = 0;
    auto const refuse = [](row_view const&, etag const&, bool) -> result<void> {
        return failure{error_code::row_mismatch, "does not fit"};
    };
    entity_visitor const visit = refuse;
    read_entity const asked{"Orders", "p", "r", &visit};
    call context;
    getting one{&gets};
    CHECK(execute(one, asked, context).error().code == error_code::row_mismatch);
    visiting other{{&gets}};
    CHECK(execute(other, asked, context).error().code == error_code::row_mismatch);
}
