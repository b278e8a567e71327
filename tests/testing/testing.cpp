// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

#include <limits>
#include <sstream>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;
using testing::manual_clock;

namespace {

static_assert(transport<testing::scripted>);
static_assert(transport<testing::spy<memory_backend>>);
static_assert(transport<testing::spy<testing::scripted>>);
static_assert(transport<testing::spy<any_store>>);

template <class Transport, class Request>
auto send(Transport const& store, Request const& request) {
    call context;
    return store.execute(request, context);
}

memory_backend some_store() {
    memory_backend store;
    REQUIRE(send(store, create_table{"Orders"}));
    REQUIRE(send(store, create_table{"Empty"}));
    REQUIRE(send(store,
        write_entity{"Orders",
            mutation::insert(make_row("p", "r", {{"Name", "John"}, {"Age", 55}, {"Big", std::int64_t{5}}}))}));
    REQUIRE(send(store, write_entity{"Orders", mutation::insert(make_row("a\"\xC3\xA4", "", {{"Yes", true}}))}));
    return store;
}

/// Each page of rows has a token.
struct endless {
    using is_transport = void;
    memory_backend inner = some_store();
    [[nodiscard]] entitable::profile profile() const { return inner.profile(); }
    result<query_entities::response> execute(query_entities asked, call& context) const {
        asked.continuation.reset();
        auto page = inner.execute(asked, context);
        if (page) { page->continuation = "again"; }
        return page;
    }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& asked, call& context) const {
        return inner.execute(asked, context);
    }
};

} // namespace

TEST_CASE("manual_clock: only moves when it is advanced") {
    manual_clock time{date_time::from_date(2020, 1, 1)};
    auto const begun = time.steady();
    CHECK(time.now() == date_time::from_date(2020, 1, 1));
    CHECK(time.steady() == begun);
    time.advance(std::chrono::hours{24});
    CHECK(time.now() == date_time::from_date(2020, 1, 2));
    CHECK(time.steady() == begun + std::chrono::hours{24});
    time.wait_until(begun + std::chrono::hours{48});
    CHECK(time.now() == date_time::from_date(2020, 1, 3));
    time.wait_until(begun);
    CHECK(time.steady() == begun + std::chrono::hours{48});
    time.set(date_time::from_date(2019, 1, 1));
    CHECK(time.now() == date_time::from_date(2019, 1, 1));
    CHECK(time.steady() == begun + std::chrono::hours{48});
    time.advance_with_each_look(std::chrono::seconds{1});
    auto const day = time.now();
    CHECK(time.now().ticks == day.ticks + date_time::ticks_per_second);
    auto const steady = time.steady();
    CHECK(time.steady() == steady + std::chrono::seconds{1});
}

TEST_CASE("contents: a store is printed as text") {
    auto const store = some_store();
    CHECK(testing::dump(store) ==
        "table Empty\n"
        "table Orders\n"
        "  \"a\"\xC3\xA4\" / \"\"\n"
        "    Yes = true\n"
        "  \"p\" / \"r\"\n"
        "    Age = Edm.Int32 55\n"
        "    Big = Edm.Int64 5\n"
        "    Name = \"John\"\n");
    CHECK_THAT(testing::dump(store, testing::shown::versions), ContainsSubstring("    (Timestamp) = Edm.DateTime 20"));
    CHECK_THAT(testing::dump(testing::scripted{}), StartsWith("NotSupported"));
    CHECK(testing::to_text(testing::read_contents(store, {"Empty"}).value()) == "table Empty\n");
    CHECK(testing::fails_with(testing::read_contents(store, {"None"}), error_code::table_not_found));
}

TEST_CASE("contents: two stores are compared") {
    auto const store = some_store();
    auto const before = testing::read_contents(store).value();
    CHECK(testing::difference(before, before, testing::shown::versions).empty());
    REQUIRE(send(store, delete_table{"Empty"}));
    REQUIRE(send(store, create_table{"Fresh"}));
    REQUIRE(send(store, write_entity{"Fresh", mutation::insert(make_row("p", "r"))}));
    REQUIRE(send(store, write_entity{"Orders", mutation::remove(make_row("a\"\xC3\xA4", ""), any_etag)}));
    REQUIRE(send(store,
        write_entity{
            "Orders", mutation::replace(make_row("p", "r", {{"Name", "Jane"}, {"Big", 5}, {"New", 1.5}}), any_etag)}));
    auto const after = testing::read_contents(store).value();
    CHECK(testing::difference(before, after) ==
        "- table Empty\n"
        "+ table Fresh\n"
        "+ Fresh \"p\" / \"r\"\n"
        "- Orders \"a\"\xC3\xA4\" / \"\"\n"
        "~ Orders \"p\" / \"r\" Age: Edm.Int32 55 -> absent\n"
        "~ Orders \"p\" / \"r\" Big: Edm.Int64 5 -> Edm.Int32 5\n"
        "~ Orders \"p\" / \"r\" Name: \"John\" -> \"Jane\"\n"
        "~ Orders \"p\" / \"r\" New: absent -> Edm.Double 1.5\n");
    CHECK_FALSE(testing::same_contents(before, after));
    // Writing the same content changes only the version.
    REQUIRE(send(store, write_entity{"Fresh", mutation::merge(make_row("p", "r"), any_etag)}));
    auto const touched = testing::read_contents(store).value();
    CHECK(testing::difference(after, touched).empty());
    CHECK_THAT(testing::difference(after, touched, testing::shown::versions),
        StartsWith("~ Fresh \"p\" / \"r\" (Timestamp): "));
}

TEST_CASE("contents: long values are compared completely, although only a part is shown") {
    memory_backend const store;
    REQUIRE(send(store, create_table{"Orders"}));
    std::string const text(500, 'x');
    auto const with = [&](std::string const& content, edm_type type) {
        row_builder entity{"p", "r"};
        entity.add("Long", value_view{type, std::string_view{content}});
        testing::contents all;
        all.tables["Orders"].emplace(std::pair{"p", "r"}, entity.build());
        return all;
    };
    for (edm_type const type : {edm_type::string, edm_type::binary}) {
        CHECK(testing::same_contents(with(text, type), with(text, type)));
        CHECK_FALSE(testing::same_contents(with(text, type), with(text + "x", type)));
        CHECK_FALSE(testing::same_contents(with(text, type), with(text.substr(1), type)));
        CHECK_FALSE(testing::same_contents(with(text + "1", type), with(text + "2", type)));
    }
    CHECK(testing::difference(with(text + "old", edm_type::string), with(text + "new", edm_type::string)) ==
        "~ Orders \"p\" / \"r\" Long: \"" + text.substr(0, 64) + "...\" (503 bytes, at 500: \"old\") -> \"" +
            text.substr(0, 64) + "...\" (503 bytes, at 500: \"new\")\n");
}

TEST_CASE("contents: all NaNs are equal, and the signs of zero differ") {
    auto const with = [](std::initializer_list<testing::named_value> properties) {
        testing::contents all;
        all.tables["Orders"].emplace(std::pair{"p", "r"}, make_row("p", "r", properties));
        return all;
    };
    double const nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(testing::same_contents(with({{"D", nan}}), with({{"D", -nan}})));
    CHECK_FALSE(testing::same_contents(with({{"D", nan}}), with({{"D", 0.0}})));
    CHECK_FALSE(testing::same_contents(with({{"D", 0.0}}), with({{"D", -0.0}})));
    CHECK(testing::same_contents(with({{"A", 1}, {"B", 2}}), with({{"B", 2}, {"A", 1}})));
    CHECK(testing::difference(with({{"A", 1}}), with({{"A", 1}, {"A", 2}})) ==
        "~ Orders \"p\" / \"r\" A: absent -> Edm.Int32 2\n");
}

TEST_CASE("contents: endless pages are an error and not an endless loop") {
    CHECK(testing::fails_with(testing::read_contents(endless{}), error_code::transport_failed));
}

TEST_CASE("verdict: explains the failure") {
    auto const store = some_store();
    CHECK(testing::has_entity(store, "Orders", "p", "r"));
    auto const missing = testing::has_entity(store, "Orders", "p", "none");
    CHECK_FALSE(missing);
    CHECK_THAT(missing.reason(), ContainsSubstring("ResourceNotFound"));
    CHECK(testing::fails_with(send(store, create_table{"Orders"}), error_code::table_already_exists));
    CHECK_THAT(testing::fails_with(send(store, create_table{"Fine"}), error_code::table_already_exists).reason(),
        ContainsSubstring("got success"));
    error lost{error_code::transport_failed, "lost"};
    lost.effect = effect::unknown;
    CHECK_FALSE(testing::fails_with(result<void>{failure{lost}}, error_code::transport_failed));
    row const entity = make_row("p", "r", {{"A", 1}});
    CHECK(testing::has_property(entity, "A", value_view{1}));
    CHECK(testing::has_property(entity, "A", value_view{std::int64_t{1}}).reason() ==
        "expected A = Edm.Int64 1, got Edm.Int32 1");
    CHECK(testing::has_property(entity, "B", value_view{1}).reason() == "expected B = Edm.Int32 1, got nothing");
    std::ostringstream out;
    out << testing::verdict::yes() << testing::verdict::no(", no");
    CHECK(out.str() == "yes, no");
    testing::require(testing::verdict::yes());
}

TEST_CASE("spy: records the requests that passed") {
    testing::spy<memory_backend> const watched{some_store()};
    auto const copy = watched;
    CHECK(send(copy, get_entity{"Orders", "p", "r", {"Name"}}));
    CHECK_FALSE(send(watched, get_entity{"Orders", "p", "none", {}}));
    CHECK(send(watched, list_tables{}));
    auto const seen = watched.seen();
    REQUIRE(seen.size() == 3);
    CHECK(seen[0].name == "get_entity");
    CHECK(seen[0].table == "Orders");
    CHECK(seen[0].partition == "p");
    CHECK_FALSE(seen[0].failed);
    CHECK(seen[1].failed == error_code::resource_not_found);
    CHECK(seen[2].table.empty());
    CHECK(watched.count<get_entity>() == 2);
    CHECK(watched.all<get_entity>()[0].select == projection{"Name"});
    watched.forget();
    CHECK(copy.seen().empty());
}

TEST_CASE("scripted: returns answers in the order of the script") {
    testing::scripted service{cosmos_profile()};
    CHECK(service.profile().kind == service::cosmos);
    CHECK(service.finished());
    service.expect<create_table>();
    service.expect<write_entity>().fails(error_code::transport_failed, effect::unknown);
    service.expect<get_entity>([](get_entity const& asked) { return asked.row_key == "r"; })
        .does([](get_entity const& asked) {
            get_entity::response answer;
            answer.entity = make_row(asked.partition_key, asked.row_key, {{"A", 1}});
            return result<get_entity::response>{std::move(answer)};
        });
    CHECK_THAT(service.finished().reason(), ContainsSubstring("step 3 was not requested: get_entity"));
    CHECK(send(service, create_table{"Orders"}));
    auto const lost = send(service, write_entity{"Orders", mutation::insert(make_row("p", "r"))});
    REQUIRE(!lost);
    CHECK(lost.error().code == error_code::transport_failed);
    CHECK(lost.error().effect == effect::unknown);
    CHECK(testing::has_property(send(service, get_entity{"Orders", "p", "r", {}}).value().entity, "A", value_view{1}));
    CHECK(service.finished());
    // A request that is not in the script is refused and reported.
    CHECK(testing::fails_with(send(service, list_tables{}), error_code::not_supported));
    CHECK_THAT(service.finished().reason(), ContainsSubstring("step 4: expected nothing more, got list_tables"));

    testing::scripted strict;
    strict.expect<get_entity>([](get_entity const& asked) { return asked.table == "Orders"; });
    CHECK_FALSE(send(strict, get_entity{"Other", "p", "r", {}}));
    CHECK_FALSE(send(strict, create_table{"Orders"}));
    CHECK(strict.finished().reason() ==
        "step 1: expected get_entity, got get_entity that does not match\n"
        "step 1: expected get_entity, got create_table\n"
        "step 1 was not requested: get_entity\n");
    cancellation_source stop;
    stop.cancel();
    call context;
    context.cancellation = stop.token();
    CHECK(testing::fails_with(strict.execute(get_entity{"Orders", "p", "r", {}}, context), error_code::cancelled));
}
