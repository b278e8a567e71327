// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Assumptions of the library about the service that no emulator can prove: each test is one claim. They run on an account
// (`tests/tools/live`), and, but for those with the tag [service], on the emulator.

#include <entitable/azure.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/testing/conformance.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace entitable;

namespace {

/// A table of its own on the account, or on the emulator, which is dropped at the end.
class live_table {
public:
    live_table() : store_(connection()) {
        std::string const id = guid::random().to_string();
        name_ = "entitable";
        std::copy_if(id.begin(), id.end(), std::back_inserter(name_), [](char one) { return one != '-'; });
        ask(create_table{name_}).value();
    }
    live_table(live_table const&) = delete;
    live_table& operator=(live_table const&) = delete;
    ~live_table() { (void)ask(delete_table{name_}); }

    template <class Request>
    result<response_of<Request>> ask(Request const& request) const {
        call context;
        return store_.execute(request, context);
    }
    result<written> write(mutation change) const { return ask(write_entity{name_, std::move(change)}); }
    result<transact::response> together(std::vector<mutation> changes) const {
        return ask(transact{name_, std::move(changes)});
    }
    result<get_entity::response> read(std::string row_key) const {
        return ask(get_entity{name_, "p", std::move(row_key), {}});
    }

    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] azure_backend const& store() const { return store_; }
    [[nodiscard]] static char const* store_address() { return connection(); }

private:
    static char const* connection() {
        char const* given = std::getenv("ENTITABLE_LIVE_CONNECTION");
        given = given != nullptr ? given : std::getenv("ENTITABLE_AZURITE");
        return given != nullptr ? given
                                : throw std::runtime_error{"ENTITABLE_LIVE_CONNECTION holds no connection string"};
    }

    azure_backend store_;
    std::string name_;
};

row nothing_of(std::string_view row_key) { return row_builder{"p", row_key}.build(); }
row number_of(std::string_view row_key, std::int32_t number) {
    row_builder builder{"p", row_key};
    builder.add("Number", value_view{number});
    return builder.build();
}
std::int32_t number_in(get_entity::response const& found) { return found.entity.view().find("Number")->as_int32(); }

} // namespace

TEST_CASE(
    "a merge without properties under the exact ETag is accepted, changes no property and gives a new ETag", "[live]") {
    live_table const in;
    auto const first = in.write(mutation::insert(number_of("r", 7))).value();
    auto const second = in.write(mutation::merge(nothing_of("r"), first.etag)).value();
    CHECK(second.etag != first.etag);
    CHECK(number_in(in.read("r").value()) == 7);
    CHECK(in.write(mutation::merge(nothing_of("r"), first.etag)).error().code ==
        error_code::update_condition_not_satisfied);
}

TEST_CASE(
    "a merge without properties under * is accepted for an existing row and refused for a missing row", "[live]") {
    live_table const in;
    in.write(mutation::insert(number_of("r", 7))).value();
    CHECK(in.write(mutation::merge(nothing_of("r"), any_etag)));
    CHECK(in.write(mutation::merge(nothing_of("gone"), any_etag)).error().code == error_code::resource_not_found);
    auto const refused = in.together({mutation::merge(nothing_of("r"), any_etag),
        mutation::merge(nothing_of("gone"), any_etag), mutation::insert(number_of("new", 1))});
    CHECK(refused.error().code == error_code::resource_not_found);
    CHECK(refused.error().operation_index == 1);
    CHECK_FALSE(in.read("new"));
}

TEST_CASE("the operations in a transaction are tried in order, and the first failure is reported", "[live]") {
    live_table const in;
    auto const old = in.write(mutation::insert(number_of("r", 1))).value();
    in.write(mutation::replace(number_of("r", 2), any_etag)).value();
    mutation const stale = mutation::replace(number_of("r", 3), old.etag);
    mutation const taken = mutation::insert(number_of("taken", 1));
    mutation const gone = mutation::merge(nothing_of("gone"), any_etag);
    in.write(taken).value();
    struct {
        std::vector<mutation> changes;
        error_code first;
    } const orders[] = {{{stale, taken, gone}, error_code::update_condition_not_satisfied},
        {{stale, gone, taken}, error_code::update_condition_not_satisfied},
        {{taken, stale, gone}, error_code::entity_already_exists},
        {{taken, gone, stale}, error_code::entity_already_exists},
        {{gone, stale, taken}, error_code::resource_not_found}, {{gone, taken, stale}, error_code::resource_not_found}};
    for (auto const& each : orders) {
        auto const refused = in.together(each.changes);
        CHECK(refused.error().code == each.first);
        CHECK(refused.error().operation_index == 0);
        CHECK(refused.error().effect == effect::none);
    }
    // After changes that would succeed: none of them is applied.
    auto const refused =
        in.together({mutation::insert(number_of("a", 1)), mutation::replace(number_of("taken", 9), any_etag), stale});
    CHECK(refused.error().operation_index == 2);
    CHECK_FALSE(in.read("a"));
    CHECK(number_in(in.read("taken").value()) == 1);
}

TEST_CASE("a transaction returns the new ETag of each row, and reads return the same ETag", "[live]") {
    live_table const in;
    auto const made = in.together({mutation::insert(number_of("a", 1)), mutation::insert_or_replace(number_of("b", 2)),
                                      mutation::insert_or_merge(number_of("c", 3))})
                          .value();
    REQUIRE(made.results.size() == 3);
    CHECK(made.results[0].etag == in.read("a")->etag);
    CHECK(made.results[1].etag == in.read("b")->etag);
    CHECK(made.results[2].etag == in.read("c")->etag);
}

TEST_CASE("each write gives the row an ETag that the row never had, even if the content is the same", "[live]") {
    live_table const in;
    std::vector<etag> had{in.write(mutation::insert(number_of("r", 1)))->etag};
    for (int repetition = 0; repetition < 20; ++repetition) {
        etag const next = in.write(mutation::replace(number_of("r", 1), had.back()))->etag;
        CHECK(std::find(had.begin(), had.end(), next) == had.end());
        had.push_back(next);
    }
    in.write(mutation::remove(nothing_of("r"), had.back())).value();
    etag const again = in.write(mutation::insert(number_of("r", 1)))->etag;
    CHECK(std::find(had.begin(), had.end(), again) == had.end());
}

TEST_CASE("if several writers use the same ETag, exactly one succeeds and the others are informed that the version has "
          "changed",
    "[live]") {
    live_table const in;
    etag const version = in.write(mutation::insert(number_of("r", 0)))->etag;
    std::vector<std::thread> writers;
    std::vector<result<transact::response>> outcomes(6, failure{error_code::invalid_input, {}});
    for (std::size_t number = 0; number < outcomes.size(); ++number) {
        writers.emplace_back([&, number] {
            outcomes[number] =
                in.together({mutation::replace(number_of("r", static_cast<std::int32_t>(number)), version),
                    mutation::insert(number_of("by" + std::to_string(number), 1))});
        });
    }
    std::for_each(writers.begin(), writers.end(), [](std::thread& each) { each.join(); });
    std::size_t succeeded = 0;
    for (auto const& each : outcomes) {
        succeeded += each ? 1U : 0U;
        CHECK((each || each.error().code == error_code::update_condition_not_satisfied));
    }
    CHECK(succeeded == 1);
}

TEST_CASE("many transactions that merge no properties into one row under * do not make each other fail", "[live]") {
    live_table const in;
    in.write(mutation::insert(nothing_of("fence"))).value();
    std::vector<std::thread> writers;
    std::vector<std::string> problems(6);
    for (std::size_t number = 0; number < problems.size(); ++number) {
        writers.emplace_back([&, number] {
            for (int each = 0; each < 10; ++each) {
                auto const done = in.together({mutation::merge(nothing_of("fence"), any_etag),
                    mutation::insert(number_of(std::to_string(number) + "-" + std::to_string(each), each))});
                if (!done) { problems[number] = done.error().to_string(); }
            }
        });
    }
    std::for_each(writers.begin(), writers.end(), [](std::thread& each) { each.join(); });
    for (std::string const& each : problems) { CHECK(each.empty()); }
}

TEST_CASE("rows are returned in the order of their keys by UTF-16 code unit, even across pages", "[live]") {
    live_table const in;
    // U+1F600 is a pair of surrogates, so it sorts before U+FF5E, though its number is larger.
    std::vector<std::string> const keys{
        "", "-1", "0", "A", "_", "a", "~", "\xC3\xA9", "\xF0\x9F\x98\x80", "\xEF\xBD\x9E"};
    for (std::size_t number = keys.size(); number-- > 0;) {
        in.write(mutation::insert(number_of(keys[number], 1))).value();
    }
    std::vector<std::string> found;
    query_entities asked;
    asked.table = in.name();
    asked.page_size = 3;
    for (;;) {
        auto page = in.ask(asked).value();
        for (std::size_t number = 0; number < page.rows.size(); ++number) {
            found.emplace_back(page.rows[number].row_key);
        }
        if (!page.continuation) { break; }
        asked.continuation = page.continuation;
    }
    CHECK(found == keys);
}

TEST_CASE("an answer contains the time of the service, which settles lost writes", "[live]") {
    live_table const in;
    call context;
    in.store().execute(write_entity{in.name(), mutation::insert(number_of("r", 1))}, context).value();
    auto const seconds = (context.server_date.ticks - date_time::now().ticks) / 10'000'000;
    CHECK((seconds > -900 && seconds < 900)); // signatures of another time would have been refused
}

TEST_CASE("table names are case-insensitive", "[live][service]") {
    live_table const in;
    in.write(mutation::insert(number_of("r", 7))).value();
    std::string other = in.name();
    std::transform(other.begin(), other.end(), other.begin(),
        [](char one) { return one >= 'a' && one <= 'z' ? static_cast<char>(one - 32) : one; });
    CHECK(in.ask(get_entity{other, "p", "r", {}}));
    CHECK(in.ask(create_table{other}).error().code == error_code::table_already_exists);
}

TEST_CASE("a merge that would give a row more than 252 properties is refused", "[live][service]") {
    live_table const in;
    auto const many = [](std::string_view prefix, int count) {
        row_builder builder{"p", "r"};
        for (int number = 0; number < count; ++number) {
            builder.add(std::string{prefix} + std::to_string(number), value_view{std::int32_t{number}});
        }
        return builder.build();
    };
    in.write(mutation::insert(many("a", 252))).value();
    CHECK(in.write(mutation::merge(many("b", 1), any_etag)).error().code == error_code::too_many_properties);
    CHECK_FALSE(in.read("r")->entity.view().find("b0"));
}

TEST_CASE("a text of 32,768 UTF-16 units can be stored", "[live]") {
    live_table const in;
    row_builder builder{"p", "r"};
    std::string const value(32'768, 'x');
    builder.add("Text", value_view{std::string_view{value}});
    CHECK(in.write(mutation::insert(builder.build())));
    CHECK(in.read("r")->entity.view().find("Text")->as_string() == value);
}

TEST_CASE(
    "a key of 512 UTF-16 units can be stored, and a longer key is refused, although a page of the service says 1,024",
    "[live]") {
    live_table const in;
    rest_options options;
    options.limits = in.store().profile();
    options.limits->max_key_units = 2'000; // so that the service decides
    azure_backend const unlimited{in.store_address(), options};
    for (std::size_t const units : {512U, 513U, 1'024U, 1'025U}) {
        std::string const key(units, 'k');
        for (bool const partition : {true, false}) {
            row_builder builder{partition ? key : "p", partition ? "r" : key};
            call context;
            auto const made = unlimited.execute(write_entity{in.name(), mutation::insert(builder.build())}, context);
            INFO(units << (partition ? " in the PartitionKey" : " in the RowKey"));
            CHECK(bool(made) == (units <= 512));
            if (made && units > 512) { std::printf("a key of %zu UTF-16 units was stored\n", units); }
        }
    }
}

TEST_CASE("creating a table under the name of a deleted table returns TableBeingDeleted for a while, and succeeds "
          "within a quarter of an hour",
    "[live][service]") {
    live_table const in;
    std::string const name = in.name() + "x";
    in.ask(create_table{name}).value();
    in.ask(delete_table{name}).value();
    auto const begin = std::chrono::steady_clock::now();
    for (;;) {
        auto const made = in.ask(create_table{name});
        auto const seconds =
            std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count();
        if (made) {
            std::printf("a deleted table's name was free after %lld s\n", static_cast<long long>(seconds));
            break;
        }
        REQUIRE(made.error().code == error_code::table_being_deleted);
        REQUIRE(made.error().effect == effect::none);
        REQUIRE(seconds < 900);
        std::this_thread::sleep_for(std::chrono::seconds{5});
    }
    CHECK(in.ask(delete_table{name}));
}

TEST_CASE("the contracts of a table hold as on every backend, as checked by the conformance suite", "[live][service]") {
    live_table const in;
    std::size_t number = 0;
    for (auto const& each : testing::conformance::behaviours()) {
        for (std::string const& failure :
            testing::conformance::try_behaviour(each, in.store(), in.name().substr(0, 30) + std::to_string(++number))) {
            FAIL_CHECK(failure.substr(0, 1000));
        }
    }
}
