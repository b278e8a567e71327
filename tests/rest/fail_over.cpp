// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Secondary locations: which reads go there, what they say of it, what a location that does not respond costs, and that no write goes there.

#include <entitable/cloud/rest/azure_service.hpp>
#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/entitable.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/watcher.hpp>

#include <map>
#include <memory>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;

namespace fail_over_test {

struct item {
    std::string owner;
    std::int32_t number{};
    std::int32_t version{};
};
ENTITABLE(item, partition_key(owner), row_key(number), properties(version))

/// A service with several hosts, each with a version of one row. Hosts that are down do not answer, or answer with a status.
struct hosts {
    using is_http_client = void;
    struct state {
        std::map<std::string, int> versions;       ///< by host; 0: no row
        std::map<std::string, std::uint16_t> down; ///< status of a host; 0: no answer
        std::vector<std::string> asked;            ///< "GET host"
        std::vector<std::string> conditions;       ///< If-Match
    };
    std::shared_ptr<state> all{std::make_shared<state>()};

    result<http_response> send(http_request const& request, http_call const&) const {
        auto const url = parse_url(request.url, "the request").value();
        std::string const host{url.host};
        bool const reads = request.method == http_method::get;
        all->asked.push_back((reads ? "GET " : "WRITE ") + host);
        if (auto const down = all->down.find(host); down != all->down.end()) {
            if (down->second == 0) {
                failure gone{error_code::transport_failed, "no answer"};
                gone.error().effect = effect::unknown;
                return gone;
            }
            http_response answer;
            answer.status = down->second;
            return answer;
        }
        http_response answer;
        int& version = all->versions[host];
        auto const tag = [&] { return "W/\"" + std::to_string(version) + "\""; };
        if (reads && version == 0) {
            answer.status = 404;
            answer.body = R"({"odata.error":{"code":"ResourceNotFound","message":{"value":"x"}}})";
        } else if (reads) {
            answer.status = 200;
            std::string const row = R"({"odata.etag":"W/\")" + std::to_string(version) +
                R"(\"","PartitionKey":"ann","RowKey":"0000000001","version":)" + std::to_string(version) + "}";
            bool const one = url.path.find("Key=") != std::string_view::npos;
            answer.body = one ? row : "{\"value\":[" + row + "]}";
        } else {
            auto const condition = request.headers.find("If-Match");
            all->conditions.emplace_back(condition.value_or("none"));
            if (condition && *condition != "*" && *condition != tag()) {
                answer.status = 412;
                answer.body = R"({"odata.error":{"code":"UpdateConditionNotSatisfied","message":{"value":"x"}}})";
            } else {
                ++version;
                answer.status = 204;
                static_cast<void>(answer.headers.add("ETag", tag()));
            }
        }
        return answer;
    }
    [[nodiscard]] std::vector<std::string> take_asked() const { return std::exchange(all->asked, {}); }
};

constexpr char const* primary = "a.table.core.windows.net";
constexpr char const* other = "a-secondary.table.core.windows.net";
constexpr char const* global = "a.table.cosmos.azure.com";
constexpr char const* west = "a-westeurope.table.cosmos.azure.com";
constexpr char const* north = "a-northeurope.table.cosmos.azure.com";

struct fixture {
    explicit fixture(std::string address = std::string{"https://"} + primary) : at(std::move(address)) {
        how.time = &time;
        how.retries = retry_policy::none();
    }
    table<item> items(read_location location) {
        if (!store) { store.emplace(client, at, credential{}, how); }
        call_options options;
        options.location = location;
        options.watch = &eyes;
        return table<item>{*store, "Items"}.with(options);
    }
    testing::manual_clock time;
    hosts client;
    std::string at;
    rest_options how;
    watcher eyes;
    std::optional<rest<hosts>> store;
};

std::vector<std::string> got(std::initializer_list<char const*> names) {
    std::vector<std::string> made;
    for (char const* each : names) { made.push_back(std::string{"GET "} + each); }
    return made;
}

} // namespace fail_over_test

using namespace fail_over_test;

TEST_CASE("fail over: reads leave a primary that does not respond, and say that they may be stale") {
    for (std::uint16_t const down : std::initializer_list<std::uint16_t>{0, 408, 500, 502, 503, 504}) {
        CAPTURE(down);
        fixture f;
        f.client.all->versions = {{primary, 2}, {other, 1}};
        auto const items = f.items(read_location::primary_then_secondary);
        auto const fresh = items.get_stored("ann", 1).value();
        CHECK_FALSE(fresh.stale);
        CHECK(fresh.entity.version == 2);
        f.client.all->down[primary] = down;
        CHECK_FALSE(items.get("ann", 1)); // this read shows that the primary is down
        auto const old = items.get_stored("ann", 1).value();
        CHECK(old.stale);
        CHECK(old.entity.version == 1);
        CHECK(f.client.take_asked() == got({primary, primary, other}));
        // The attempts say where they went.
        auto const told = f.eyes.all("attempt");
        REQUIRE(told.size() == 3);
        CHECK_FALSE(told[0].attempt.secondary);
        CHECK(told[2].attempt.secondary);
        CHECK(told[2].attempt.server.address == other);
        // Reads of the primary alone are not served by the secondary.
        CHECK_FALSE(f.items(read_location::primary).get("ann", 1));
        CHECK(f.client.take_asked() == got({primary}));
        // It is tried again after 5 s; after a further failure, each time after twice as long.
        f.time.advance(5s);
        CHECK(items.get("ann", 1)); // the read of the primary alone was the second failure
        CHECK(f.client.take_asked() == got({other}));
        f.time.advance(5s);
        f.client.all->down.clear();
        CHECK_FALSE(items.get_stored("ann", 1)->stale);
        CHECK(f.client.take_asked() == got({primary}));
        // A response ends the count of failures: the next one counts as the first.
        f.client.all->down[primary] = down;
        CHECK_FALSE(items.get("ann", 1));
        f.time.advance(5s);
        CHECK_FALSE(items.get("ann", 1));
        CHECK(f.client.take_asked() == got({primary, primary}));
    }
}

TEST_CASE("fail over: refusals, throttled reads and calls that end at their deadline leave reads at the primary") {
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{400, 403, 409, 412, 429}) {
        CAPTURE(status);
        fixture f;
        f.client.all->versions = {{primary, 2}, {other, 1}};
        auto const items = f.items(read_location::primary_then_secondary);
        f.client.all->down[primary] = status;
        CHECK_FALSE(items.get("ann", 1));
        CHECK_FALSE(items.get("ann", 1));
        CHECK(f.client.take_asked() == got({primary, primary}));
    }
    // A missing row of the primary is the truth.
    fixture f;
    f.client.all->versions = {{primary, 0}, {other, 1}};
    CHECK(f.items(read_location::primary_then_secondary).find("ann", 1).value() == std::nullopt);
    CHECK(f.client.take_asked() == got({primary}));
}

TEST_CASE("fail over: the retries of one read reach the secondary") {
    fixture f;
    f.how.retries = retry_policy::standard();
    f.client.all->versions = {{primary, 2}, {other, 1}};
    f.client.all->down[primary] = 503;
    auto const items = f.items(read_location::primary_then_secondary);
    CHECK(items.get_stored("ann", 1)->stale);
    CHECK(f.client.take_asked() == got({primary, other}));
}

TEST_CASE("fail over: reads of the secondary go to the primary while the secondary does not respond") {
    fixture f;
    f.client.all->versions = {{primary, 2}, {other, 1}};
    auto const items = f.items(read_location::secondary);
    CHECK(items.get_stored("ann", 1)->stale);
    f.client.all->down[other] = 0;
    CHECK_FALSE(items.get("ann", 1));
    CHECK_FALSE(items.get_stored("ann", 1)->stale);
    CHECK(f.client.take_asked() == got({other, other, primary}));
    // If neither responds, the one that is tried again first.
    f.client.all->down[primary] = 0;
    f.time.advance(1s);
    CHECK_FALSE(items.get("ann", 1));
    CHECK_FALSE(items.get("ann", 1));
    CHECK(f.client.take_asked() == got({primary, other}));
}

TEST_CASE("fail over: no write goes to a secondary location, and an ETag read there is a condition at the primary") {
    for (auto const location : {read_location::secondary, read_location::primary_then_secondary}) {
        fixture f;
        f.client.all->versions = {{primary, 2}, {other, 1}};
        f.client.all->down[primary] = 503;
        auto const items = f.items(location);
        static_cast<void>(items.get("ann", 1));
        auto const old = items.get_stored("ann", 1).value();
        REQUIRE(old.stale);
        CHECK_FALSE(items.insert({"ann", 1, 9}));
        CHECK_FALSE(items.remove("ann", 1, any_etag));
        f.client.all->down.clear();
        // The stale version is refused, and nothing is overwritten.
        auto const refused = items.replace(item{"ann", 1, 7}, old.etag);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error_code::update_condition_not_satisfied);
        CHECK(refused.error().effect == effect::none);
        CHECK(f.client.all->conditions.back() == "W/\"1\"");
        CHECK(f.client.all->versions[primary] == 2);
        // An update reads the primary.
        CHECK(items.update("ann", 1, [](item& each) { ++each.version; }));
        CHECK(f.client.all->conditions.back() == "W/\"2\"");
        for (std::string const& each : f.client.take_asked()) {
            CHECK((each == std::string{"GET "} + primary || each == std::string{"GET "} + other ||
                each == std::string{"WRITE "} + primary));
        }
    }
}

TEST_CASE("fail over: regions of Cosmos DB serve reads that may be stale, in the order of preference") {
    fixture f{std::string{"https://"} + global};
    f.how.preferred_locations = {"West Europe", "northeurope"};
    f.client.all->versions = {{global, 3}, {west, 2}, {north, 1}};
    auto const items = f.items(read_location::secondary);
    auto const nearest = items.get_stored("ann", 1).value();
    CHECK(nearest.stale);
    CHECK(nearest.entity.version == 2);
    CHECK(f.items(read_location::primary).get("ann", 1)->version == 3);
    f.client.all->down[west] = 0;
    CHECK_FALSE(items.get("ann", 1));
    CHECK(items.get("ann", 1)->version == 1);
    f.client.all->down[north] = 503;
    CHECK_FALSE(items.get("ann", 1));
    auto const fresh = items.get_stored("ann", 1).value();
    CHECK_FALSE(fresh.stale);
    CHECK(fresh.entity.version == 3);
    CHECK(f.client.take_asked() == got({west, global, west, north, north, global}));
    f.client.all->down.clear();
    f.time.advance(5s);
    CHECK(items.get("ann", 1)->version == 2);
    // Writes go to the address of the account.
    CHECK(items.insert_or_replace({"ann", 1, 9}));
    CHECK(f.client.take_asked().back() == std::string{"WRITE "} + global);
}

TEST_CASE("fail over: without a preferred location nothing changes, and an impossible one is refused") {
    fixture f{std::string{"https://"} + global};
    f.client.all->versions = {{global, 3}};
    CHECK_FALSE(f.items(read_location::secondary).get_stored("ann", 1)->stale);
    auto const refusal = [](std::string const& address, std::vector<std::string> locations) {
        fixture g{address};
        g.how.preferred_locations = std::move(locations);
        auto const made = g.items(read_location::primary).get("ann", 1);
        CHECK(g.client.take_asked().empty());
        return made ? std::string{"read"} : made.error().message;
    };
    std::string const cosmos = std::string{"https://"} + global;
    CHECK_THAT(refusal(std::string{"https://"} + primary, {"West Europe"}), ContainsSubstring("only Cosmos DB"));
    CHECK_THAT(refusal(cosmos, {""}), ContainsSubstring("is not the name of a region"));
    CHECK_THAT(refusal(cosmos, {"West Europe", "a/b"}), ContainsSubstring("a/b is not the name of a region"));
    CHECK_THAT(refusal(cosmos, {"evil.example/"}), ContainsSubstring("is not the name of a region"));
    CHECK_THAT(refusal(cosmos, {"ftp://x"}), ContainsSubstring("is not the address of a service"));
    fixture named{cosmos};
    named.how.preferred_locations = {"https://a-own.table.cosmos.azure.com/"};
    named.client.all->versions = {{"a-own.table.cosmos.azure.com", 5}};
    CHECK(named.items(read_location::secondary).get("ann", 1)->version == 5);
}

TEST_CASE("fail over: copies of a backend, and its channels, share what they know of the locations") {
    fixture f;
    f.client.all->versions = {{primary, 2}, {other, 1}};
    auto const items = f.items(read_location::primary_then_secondary);
    f.client.all->down[primary] = 0;
    CHECK_FALSE(items.get("ann", 1));
    call_options options;
    options.location = read_location::primary_then_secondary;
    table<item> const copied = table<item>{rest<hosts>{*f.store}, "Items"}.with(options);
    CHECK(copied.get_stored("ann", 1)->stale);
    CHECK(f.client.take_asked() == got({primary, other}));
}
