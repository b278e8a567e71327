// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Bad inputs, numbered as in the reliability plan. Each is refused with a typed error that names the offender and the
// limit, and changes nothing: the dump of the store, including Timestamps, is the same before and after. Inputs that look
// invalid but are valid are here too and must work.

#include <entitable/core/request/validate.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/utf8.hpp>

#include <limits>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;

namespace bad_inputs {

struct note {
    std::string book;
    std::string page;
    std::string text;
    std::optional<std::int32_t> stars;
};

ENTITABLE(note,
    partition_key(book),
    row_key(page),
    properties(text, stars))

} // namespace bad_inputs

namespace {

using bad_inputs::note;

/// A store with some content, and the check of a refusal.
class bench {
public:
    bench() {
        must(create_table{"Orders"});
        must(create_table{"Other"});
        must(write_entity{"Orders", mutation::insert(make_row("p", "r", {{"A", 1}, {"S", "kept"}}))});
        must(write_entity{"Orders", mutation::insert(make_row("p", "s", {{"A", 2}}))});
        must(write_entity{"Other", mutation::insert(make_row("q", "r", {{"A", 3}}))});
        before_ = testing::dump(store, testing::shown::versions);
    }

    template <table_request Request>
    auto send(Request const& request) {
        call context;
        return store.execute(request, context);
    }
    template <table_request Request>
    void must(Request const& request) {
        CHECK(testing::succeeds(send(request)));
    }
    /// `words`: texts that the message must contain.
    template <class T>
    void refused(result<T> const& outcome, error_code code, std::initializer_list<std::string> words = {}) {
        CHECK(testing::fails_with(outcome, code));
        if (!outcome) {
            CAPTURE(outcome.error().message);
            CHECK_FALSE(outcome.error().message.empty());
            for (std::string const& word : words) { CHECK_THAT(outcome.error().message, ContainsSubstring(word)); }
        }
        unchanged();
    }
    template <table_request Request>
    void refuses(Request const& request, error_code code, std::initializer_list<std::string> words = {}) {
        refused(send(request), code, words);
    }
    /// Each kind of write of an entity, alone, first, in the middle and last in a batch.
    void refuses_entity(row const& entity, error_code code, std::initializer_list<std::string> words = {}) {
        for (auto const kind : {mutation_kind::insert, mutation_kind::replace, mutation_kind::merge,
                 mutation_kind::insert_or_replace, mutation_kind::insert_or_merge}) {
            refuses_change({kind, entity, any_etag}, code, words);
        }
    }
    void refuses_change(mutation const& change, error_code code, std::initializer_list<std::string> words = {}) {
        refuses(write_entity{"Orders", change}, code, words);
        std::string const partition{change.entity.partition_key()};
        for (std::size_t place = 0; place < 3; ++place) {
            transact batch{
                "Orders", {mutation::insert(make_row(partition, "one")), mutation::insert(make_row(partition, "two"))}};
            batch.changes.insert(batch.changes.begin() + static_cast<std::ptrdiff_t>(place), change);
            bool const bad_partition = !validate_key(partition, "PartitionKey", local_profile());
            auto const outcome = send(batch);
            refused(outcome, code);
            REQUIRE(!outcome);
            CHECK(outcome.error().operation_index == (bad_partition ? 0 : place));
        }
    }
    void refuses_key(std::string const& key, error_code code, std::initializer_list<std::string> words) {
        for (row const& keys : {make_row(key, "r"), make_row("p", key)}) {
            refuses(
                get_entity{"Orders", std::string{keys.partition_key()}, std::string{keys.row_key()}, {}}, code, words);
            refuses_change(mutation::remove(keys, any_etag), code, words);
            refuses_entity(keys, code, words);
        }
    }
    void unchanged() { CHECK(testing::dump(store, testing::shown::versions) == before_); }

    memory_backend store;

private:
    std::string before_;
};

} // namespace

TEST_CASE("bad inputs 1 to 9: invalid names of tables are refused") {
    bench b;
    struct bad {
        std::string name;
        error_code code;
    };
    std::string const nul("ab\0cd", 5);
    for (auto const& [name, code] : {bad{"", error_code::out_of_range_input}, bad{"ab", error_code::out_of_range_input},
             bad{std::string(64, 'a'), error_code::out_of_range_input}, bad{"1abc", error_code::invalid_resource_name},
             bad{"a-b", error_code::invalid_resource_name}, bad{"a_b", error_code::invalid_resource_name},
             bad{"a b", error_code::invalid_resource_name}, bad{"a.b", error_code::invalid_resource_name},
             bad{"tables", error_code::invalid_resource_name}, bad{"TABLES", error_code::invalid_resource_name},
             bad{"../x", error_code::invalid_resource_name}, bad{"a/b", error_code::invalid_resource_name},
             bad{"a\\b", error_code::invalid_resource_name}, bad{nul, error_code::invalid_resource_name},
             bad{"B\xC3\xBC"
                 "cher",
                 error_code::invalid_resource_name},
             bad{"\xC4\xB1x1", error_code::invalid_resource_name},
             bad{"\xEF\xBC\xA1", error_code::invalid_resource_name}}) {
        CAPTURE(name);
        std::string const named = code == error_code::out_of_range_input ? "3 to 63" : text::printable(name);
        b.refuses(create_table{name}, code, {named});
        b.refuses(delete_table{name}, code, {named});
        b.refuses(get_entity{name, "p", "r", {}}, code, {named});
        b.refuses(query_entities{name, {}, {}, {}, 1000, {}}, code, {named});
        b.refuses(write_entity{name, mutation::insert(make_row("p", "new"))}, code, {named});
        b.refuses(transact{name, {mutation::insert(make_row("p", "new"))}}, code, {named});
        table<note> const notes{b.store, name};
        b.refused(notes.create(), code, {named});
        b.refused(notes.insert({"b", "1", "t", {}}), code, {named});
    }
}

TEST_CASE("bad inputs 10 to 13: creating an existing table or using a missing table is refused") {
    bench b;
    b.refuses(create_table{"ORDERS"}, error_code::table_already_exists, {"ORDERS"});
    b.refuses(create_table{"Orders"}, error_code::table_already_exists, {"Orders"});
    for (std::string const name : {"con", "nul", "aux", "prn"}) {
        b.must(create_table{name});
        b.must(write_entity{name, mutation::insert(make_row("p", "r"))});
        b.must(delete_table{name});
    }
    b.unchanged();
    b.refuses(delete_table{"Missing"}, error_code::resource_not_found, {"Missing"});
    b.refuses(get_entity{"Missing", "p", "r", {}}, error_code::table_not_found, {"Missing", "create"});
    b.refuses(query_entities{"Missing", {}, {}, {}, 1000, {}}, error_code::table_not_found, {"Missing"});
    b.refuses(write_entity{"Missing", mutation::insert(make_row("p", "r"))}, error_code::table_not_found, {"Missing"});
    b.refuses(transact{"Missing", {mutation::insert(make_row("p", "r"))}}, error_code::table_not_found, {"Missing"});
}

TEST_CASE("bad input 14: a table that is being deleted cannot be used") {
    testing::manual_clock time;
    local_options options;
    options.time = &time;
    options.nasty.emplace().being_deleted = std::chrono::seconds{40};
    memory_backend const store{options};
    call context;
    CHECK(testing::succeeds(store.execute(create_table{"Orders"}, context)));
    CHECK(testing::succeeds(store.execute(delete_table{"Orders"}, context)));
    for (std::string const name : {"Orders", "orders"}) {
        auto const refused = store.execute(create_table{name}, context);
        CHECK(testing::fails_with(refused, error_code::table_being_deleted));
        CHECK_THAT(refused.error().message, ContainsSubstring(name));
    }
    CHECK(testing::fails_with(store.execute(get_entity{"Orders", "p", "r", {}}, context), error_code::table_not_found));
    CHECK(testing::succeeds(store.execute(create_table{"Orders2"}, context)));
    time.advance(std::chrono::seconds{39});
    CHECK(testing::fails_with(store.execute(create_table{"Orders"}, context), error_code::table_being_deleted));
    time.advance(std::chrono::seconds{1});
    CHECK(testing::succeeds(store.execute(create_table{"Orders"}, context)));
    CHECK(testing::fails_with(store.execute(create_table{"Orders"}, context), error_code::table_already_exists));
}

TEST_CASE("bad inputs 15 to 17: a row without keys is refused") {
    // Keys are values here and cannot be absent or null. The remaining case is a default-constructed row.
    bench b;
    b.refuses_entity(row{}, error_code::row_malformed, {"row"});
}

TEST_CASE("bad inputs 18 to 22 and 27: invalid keys are refused") {
    bench b;
    for (std::string const bad : {"/", "\\", "#", "?", "a/b"}) {
        b.refuses_key(bad, error_code::out_of_range_input, {"Key", bad == "a/b" ? "byte 1" : "byte 0"});
    }
    for (unsigned code = 0; code < 0x20; ++code) {
        b.refuses_key("a" + utf8(code), error_code::out_of_range_input, {"Key", "byte 1"});
    }
    for (unsigned code = 0x7F; code < 0xA0; ++code) {
        b.refuses_key("ab" + utf8(code), error_code::out_of_range_input, {"Key", "byte 2"});
    }
    b.refuses_key(std::string(513, 'k'), error_code::key_value_too_large, {"Key", "513", "512"});
    b.refuses_key(repeated("\xF0\x9F\x98\x80", 257), error_code::key_value_too_large, {"Key", "514", "512"});
    for (std::string const bad : {"\xED\xA0\x80", "\xFF", "\xC0\xAF", "\xF0\x9F\x98"}) {
        b.refuses_key("ok" + bad, error_code::invalid_input, {"Key", "UTF-8", "byte 2"});
    }
    b.refuses_key("x HTTP/1.1\r\nDELETE /Orders", error_code::out_of_range_input, {"Key", "byte 6"});
}

TEST_CASE("bad inputs 21 and 24 to 26: keys that only look invalid are accepted") {
    bench b;
    for (std::string const& key :
        {std::string(512, 'k'), repeated("\xF0\x9F\x98\x80", 256), std::string{"O'Hara"}, std::string{"a',RowKey='b"},
            std::string{"%"}, std::string{"%2F"}, std::string{"+"}, std::string{" "}, std::string{}}) {
        CAPTURE(key);
        b.must(write_entity{"Orders", mutation::insert(make_row(key, key, {{"A", 1}}))});
        auto const read = b.send(get_entity{"Orders", key, key, {}});
        REQUIRE(testing::succeeds(read));
        CHECK(read->entity.partition_key() == key);
        CHECK(read->entity.row_key() == key);
        b.must(write_entity{"Orders", mutation::remove(make_row(key, key), any_etag)});
    }
    b.unchanged();
}

TEST_CASE("bad inputs 29 to 34: invalid names of properties are refused") {
    bench b;
    row_builder many{"p", "r"};
    for (int index = 0; index < 253; ++index) { many.add("P" + std::to_string(index), value_view{1}); }
    b.refuses_entity(many.build(), error_code::too_many_properties, {"253", "252"});
    b.refuses_entity(
        make_row("p", "r", {{std::string(256, 'n'), 1}}), error_code::property_name_too_long, {"256", "255"});
    for (std::string const bad : {"", "a-b", "a b", "1a", "PartitionKey", "RowKey", "Timestamp", "odata.etag"}) {
        b.refuses_entity(make_row("p", "r", {{bad, 1}}), error_code::property_name_invalid, {'"' + bad + '"'});
    }
    b.refuses_entity(
        make_row("p", "r", {{"A", 1}, {"A", 2}}), error_code::duplicate_properties_specified, {"\"A\"", "twice"});
    // A Timestamp that the caller sets is not a property and is ignored.
    std::string payload{make_row("p", "t", {{"A", 1}}).payload()};
    set_timestamp(payload, date_time::from_date(1999, 1, 1));
    b.must(write_entity{"Orders", mutation::insert(row{"p", "t", payload})});
    CHECK(b.send(get_entity{"Orders", "p", "t", {}}).value().entity.view().timestamp() >
        date_time::from_date(2020, 1, 1));
    b.must(write_entity{"Orders", mutation::remove(make_row("p", "t"), any_etag)});
    // Names that differ only in case are two names.
    b.must(write_entity{"Orders", mutation::insert(make_row("p", "t", {{"name", 1}, {"Name", 2}}))});
    b.must(write_entity{"Orders", mutation::remove(make_row("p", "t"), any_etag)});
    b.unchanged();
}

TEST_CASE("bad inputs 35 to 38, 42 and 49: invalid values are refused") {
    bench b;
    b.refuses_entity(make_row("p", "r", {{"Text", std::string(32'769, 's')}}), error_code::property_value_too_large,
        {"\"Text\"", "32769", "32768"});
    b.refuses_entity(make_row("p", "r", {{"Text", repeated("\xF0\x9F\x98\x80", 16'385)}}),
        error_code::property_value_too_large, {"\"Text\"", "32770", "32768"});
    std::string const bytes(65'537, 'b');
    b.refuses_entity(make_row("p", "r", {{"Bytes", value_view{edm_type::binary, std::string_view{bytes}}}}),
        error_code::property_value_too_large, {"\"Bytes\"", "65537", "65536"});
    row_builder large{"p", "r"};
    std::string const half(60'000, 'b');
    for (int index = 0; index < 18; ++index) {
        large.add("P" + std::to_string(index), value_view{edm_type::binary, std::string_view{half}});
    }
    b.refuses_entity(large.build(), error_code::entity_too_large, {"1048576"});
    for (std::int64_t const ticks : {std::int64_t{-1}, date_time::max_ticks + 1}) {
        b.refuses_entity(make_row("p", "r", {{"When", date_time{ticks}}}), error_code::out_of_range_input,
            {"\"When\"", "1601", "9999"});
    }
    CHECK_FALSE(date_time::parse("2021-02-30T00:00:00Z"));
    CHECK_FALSE(date_time::parse("2021-02-03T24:00:00Z"));
    CHECK_FALSE(date_time::parse("2021-02-03T00:00:00.12345678Z"));
    CHECK(date_time::parse("2021-02-03T00:00:00"));
    b.unchanged();
    double const unusual[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()};
    for (double const number : unusual) {
        b.must(write_entity{"Orders", mutation::insert(make_row("p", "d", {{"D", number}}))});
        auto const read = b.send(get_entity{"Orders", "p", "d", {}});
        CHECK(testing::has_property(read.value().entity, "D", value_view{number}));
        b.must(write_entity{"Orders", mutation::remove(make_row("p", "d"), any_etag)});
    }
    // Null means absent: nothing is stored, and a merge keeps the stored value.
    row_builder lacking{"p", "n"};
    lacking.add("A", edm_type::int32, std::nullopt);
    b.must(write_entity{"Orders", mutation::insert(lacking.build())});
    CHECK_FALSE(b.send(get_entity{"Orders", "p", "n", {}}).value().entity.view().find("A"));
    b.must(write_entity{"Orders", mutation::remove(make_row("p", "n"), any_etag)});
    b.unchanged();
}

TEST_CASE("bad input 51: invalid ETags are refused") {
    bench b;
    for (std::string const& bad : {std::string{}, std::string{"junk"}, std::string{"*"}, std::string{"W/"},
             std::string{"W/\""}, std::string{"w/\"a\""}, std::string{"W/\"datetime'2020-01-01"},
             std::string{"\"a\r\nX-Header: b\""}, std::string("\"\0\"", 3), '"' + std::string(10'240, 'e') + '"'}) {
        CAPTURE(bad);
        for (auto const kind : {mutation_kind::replace, mutation_kind::merge, mutation_kind::remove}) {
            b.refuses_change(
                {kind, make_row("p", "r", {{"A", 9}}), etag{bad}}, error_code::invalid_input, {"ETag", "1024"});
        }
    }
    b.refuses_change(mutation::remove(make_row("p", "r"), etag{"W/\"0x5B168C7B6E589D2\""}),
        error_code::update_condition_not_satisfied, {"Orders"});
}

TEST_CASE("bad inputs 55 and 60: filters that are too large are refused") {
    bench b;
    query_entities query;
    query.table = "Orders";
    filter_node const leaf{filter_operator::equal, "A", value_view{1}};
    for (int index = 0; index < 10'000; ++index) { // brackets cannot be nested here, negations can
        query.filter.nodes.push_back(leaf);
        query.filter.nodes.push_back({filter_operator::negation, {}, {}});
        if (index > 0) { query.filter.nodes.push_back({filter_operator::any_of, {}, {}}); }
    }
    auto const many = b.send(query);
    REQUIRE(testing::succeeds(many)); // no limit on comparisons here
    CHECK(many->rows.size() == 1);
    query.filter.nodes.assign(1, leaf);
    query.filter.nodes.insert(query.filter.nodes.end(), 10'000, {filter_operator::negation, {}, {}});
    CHECK(b.send(query).value().rows.size() == 1);
    query.filter.nodes.assign(10'000, leaf);
    b.refuses(query, error_code::invalid_input, {"operator"});
    std::string const long_text(33'000, 'x');
    query.filter.nodes.assign(1, {filter_operator::equal, "S", value_view{std::string_view{long_text}}});
    b.refuses(query, error_code::property_value_too_large, {"32768"});

    local_options options;
    options.limits = storage_profile();
    memory_backend const service{options};
    call context;
    CHECK(testing::succeeds(service.execute(create_table{"Orders"}, context)));
    query.filter.nodes.assign(1, leaf);
    for (int index = 1; index < 16; ++index) {
        query.filter.nodes.push_back(leaf);
        query.filter.nodes.push_back({filter_operator::all_of, {}, {}});
    }
    auto const refused = service.execute(query, context);
    CHECK(testing::fails_with(refused, error_code::invalid_input));
    CHECK_THAT(refused.error().message, ContainsSubstring("16") && ContainsSubstring("15"));
}

TEST_CASE("bad inputs 62 and 63: invalid page sizes and projections are refused") {
    bench b;
    for (std::uint32_t const size : {0U, 1001U, 4'294'967'295U}) {
        b.refuses(query_entities{"Orders", {}, {}, {}, size, {}}, error_code::invalid_input,
            {"page_size", std::to_string(size), "1000"});
        b.refuses(list_tables{{}, size}, error_code::invalid_input, {"page_size", std::to_string(size), "1000"});
    }
    projection many;
    for (int index = 0; index < 300; ++index) { many.push_back("N" + std::to_string(index)); }
    for (projection const& names : {projection{"Unknown"}, many}) {
        auto const read = b.send(get_entity{"Orders", "p", "r", names});
        REQUIRE(testing::succeeds(read));
        CHECK_FALSE(read->entity.view().find("A"));
        CHECK_FALSE(read->etag.empty());
    }
    b.unchanged();
}

TEST_CASE("bad inputs 64 and 65: invalid tokens are refused") {
    bench b;
    query_entities query;
    query.table = "Orders";
    query.page_size = 1;
    std::string const token = b.send(query).value().continuation.value();
    auto const refuses = [&](std::string const& forged) {
        CAPTURE(forged.substr(0, 100));
        query.continuation = forged;
        b.refuses(query, error_code::continuation_invalid, {"token"});
    };
    for (std::size_t size = 0; size < token.size(); ++size) { refuses(token.substr(0, size)); }
    refuses(token + "\r\nX-Header: 1");
    refuses(token + '0');
    refuses(std::string(1 << 20, 'A'));
    refuses(token + std::string(1 << 20, '0'));
    refuses("1!0000000000000000!70!72");
    refuses("2" + token.substr(1));
    query.continuation = token;
    query.table = "Other";
    b.refuses(query, error_code::continuation_invalid, {"token"});
    query.table = "Orders";
    query.range.partition = key_interval::only("p");
    b.refuses(query, error_code::continuation_invalid, {"token"});
    query.range = {};
    CHECK(b.send(query).value().rows.size() == 1);
    b.must(delete_table{"Orders"});
    CHECK(testing::fails_with(b.send(query), error_code::table_not_found));
    std::string const tables = b.send(list_tables{{}, 1}).value().continuation.value_or(token);
    CHECK(testing::fails_with(b.send(list_tables{tables + "0", 1}), error_code::continuation_invalid));
}

TEST_CASE("bad inputs 66 to 70, 73, 74 and 76: invalid batches are refused") {
    bench b;
    b.refuses(transact{"Orders", {}}, error_code::invalid_input, {"empty"});
    transact batch{"Orders", {}};
    for (int index = 0; index < 101; ++index) {
        batch.changes.push_back(mutation::insert(make_row("p", std::to_string(index))));
    }
    b.refuses(batch, error_code::invalid_input, {"101", "100"});
    b.refuses(transact{"Orders", {mutation::insert(make_row("p", "1")), mutation::insert(make_row("q", "2"))}},
        error_code::commands_in_batch_act_on_different_partitions, {"partition"});
    b.refuses(transact{"Orders", {mutation::insert(make_row("p", "1")), mutation::merge(make_row("p", "1"), any_etag)}},
        error_code::invalid_duplicate_row, {"twice", "operation 0"});
    transact large{"Orders", {}};
    std::string const text(30'000, 't');
    for (int index = 0; index < 80; ++index) {
        large.changes.push_back(mutation::insert(make_row("p", std::to_string(index), {{"T", text}})));
    }
    b.refuses(large, error_code::request_body_too_large, {"4194304"});
    for (std::size_t const place : {std::size_t{0}, std::size_t{5}, std::size_t{9}}) {
        transact rows{"Orders", {}};
        for (std::size_t index = 0; index < 10; ++index) {
            rows.changes.push_back(
                mutation::insert(make_row("p", index == place ? "r" : "new" + std::to_string(index))));
        }
        auto const outcome = b.send(rows);
        b.refused(outcome, error_code::entity_already_exists, {"Orders"});
        CHECK(outcome.error().operation_index == place);
        CHECK_THAT(outcome.error().detail, ContainsSubstring("\"r\""));
    }
    // With typed entities: a batch is submitted twice, and the second submission conflicts with the first.
    table<note> const notes{b.store, "Orders"};
    auto twice = notes.batch();
    twice.insert({"book", "1", "text", 5});
    CHECK(testing::succeeds(twice.submit()));
    CHECK(testing::fails_with(twice.submit(), error_code::entity_already_exists));
    CHECK(testing::succeeds(notes.remove("book", "1", any_etag)));
    b.unchanged();
}
