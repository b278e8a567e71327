// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "refusals.hpp"
#include <entitable/core/request/validate.hpp>

#include <support/catch.hpp>
#include <support/utf8.hpp>

#include <string>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr profile limits = storage_profile();

transact batch_of(std::size_t count) {
    transact batch{"table", {}};
    for (std::size_t index = 0; index < count; ++index) {
        batch.changes.push_back(mutation::insert(row_builder{"p", "r" + std::to_string(index)}.build()));
    }
    return batch;
}

row sized(std::string_view key, std::size_t bytes) {
    row_builder builder{"p", key};
    std::size_t left = bytes - 4 - 2 * (1 + key.size());
    for (char name = 'a'; left > 0; ++name) {
        std::size_t const overhead = 8 + 2 + 4;
        std::size_t const size = left - overhead > 65'000 ? 65'000 : left - overhead;
        std::string const content(size, 'x');
        builder.add(std::string(1, name), value_view{edm_type::binary, std::string_view{content}});
        left -= overhead + size;
    }
    return builder.build();
}

} // namespace

TEST_CASE("a batch has 1 to 100 operations") {
    CHECK(validate(batch_of(1), limits));
    CHECK(validate(batch_of(100), limits));
    check_refused(validate(batch_of(0), limits), error_code::invalid_input, "batch is empty");
    check_refused(validate(batch_of(101), limits), error_code::invalid_input, "101", "100", "operations");
    CHECK_FALSE(validate(batch_of(101), limits).error().operation_index);
}

TEST_CASE("all changes of a batch must be in one partition") {
    for (std::size_t const at : {std::size_t{1}, std::size_t{2}}) {
        auto batch = batch_of(3);
        batch.changes[at] = mutation::insert(row_builder{"secret", "r"}.build());
        auto const checked = validate(batch, limits);
        check_refused(checked, error_code::commands_in_batch_act_on_different_partitions, "partition");
        CHECK(checked.error().operation_index == at);
        check_kept_apart(checked, "secret");
    }
}

TEST_CASE("an entity occurs only once in a batch, with any operations") {
    auto batch = batch_of(4);
    batch.changes[1] = mutation::insert(row_builder{"p", "secret"}.build());
    batch.changes[3] = mutation::remove(row_builder{"p", "secret"}.build(), any_etag);
    auto const checked = validate(batch, limits);
    check_refused(checked, error_code::invalid_duplicate_row, "twice", "operation 1");
    CHECK(checked.error().operation_index == std::size_t{3});
    check_kept_apart(checked, "secret");
    batch.changes[3] = mutation::remove(row_builder{"p", "Secret"}.build(), any_etag);
    CHECK(validate(batch, limits));
}

TEST_CASE("a transaction: the same row twice is found in any order and number of rows") {
    for (std::size_t const count : {2U, 7U, 9U, 30U, 100U}) {
        for (std::size_t const step : {std::size_t{1}, count - 1, std::size_t{101}, std::size_t{37}}) {
            transact batch{"runners", {}};
            std::size_t const rows = step == 37 ? 101 : count; // a prime: each row once
            for (std::size_t index = 0; index < count; ++index) {
                std::size_t const number = step == 101 ? count - index : index * step % rows;
                batch.changes.push_back(mutation::insert(row_builder{"p", std::to_string(1'000 + number)}.build()));
            }
            CHECK(validate(batch, limits));
            for (std::size_t later = 1; later < count; later += count > 30 ? 13 : 1) {
                for (std::size_t earlier = 0; earlier < later; ++earlier) {
                    transact twice = batch;
                    twice.changes[later] = twice.changes[earlier];
                    auto const checked = validate(twice, limits);
                    REQUIRE_FALSE(checked);
                    CHECK(checked.error().code == error_code::invalid_duplicate_row);
                    CHECK(checked.error().operation_index == later);
                    std::string const first = "first as operation " + std::to_string(earlier);
                    CHECK(checked.error().message.find(first) != std::string::npos);
                }
            }
        }
    }
}

TEST_CASE("an invalid operation is reported by its position, first, middle or last") {
    for (std::size_t const at : {std::size_t{0}, std::size_t{49}, std::size_t{99}}) {
        auto batch = batch_of(100);
        row_builder bad{"p", "bad"};
        bad.add("field", date_time{-1});
        batch.changes[at] = mutation::merge(bad.build(), any_etag);
        auto const checked = validate(batch, limits);
        check_refused(checked, error_code::out_of_range_input, "field");
        CHECK(checked.error().operation_index == at);
        CHECK_THAT(checked.error().to_string(), ContainsSubstring("operation " + std::to_string(at) + " "));
    }
}

TEST_CASE("names and keys are not validated again if they equal those of the previous entity") {
    detail::known_good known;
    row_builder good{"p", "r"};
    good.add("Name", true);
    good.add("Maybe", edm_type::int32, std::nullopt);
    row const first = good.build();
    REQUIRE(detail::validate_entity(first, limits, known));
    CHECK(known.partition_key == "p");
    CHECK(known.descriptor.size() == 3 + 4 + 3 + 5);

    SECTION("a different partition key is validated") {
        row_builder other{"p/", "r"};
        other.add("Name", true);
        check_refused(
            detail::validate_entity(other.build(), limits, known), error_code::out_of_range_input, "PartitionKey");
    }
    SECTION("a row key is always validated") {
        check_refused(detail::validate_entity(row_builder{"p", "#"}.build(), limits, known),
            error_code::out_of_range_input, "RowKey");
    }
    SECTION("other names are validated; names of absent properties are validated once they have a value") {
        row_builder lacking{"p", "r"};
        lacking.add("not a name", edm_type::int32, std::nullopt);
        row const without = lacking.build();
        REQUIRE(detail::validate_entity(without, limits, known));
        row_builder present{"p", "r"};
        present.add("not a name", edm_type::int32, value_view{1});
        check_refused(
            detail::validate_entity(present.build(), limits, known), error_code::property_name_invalid, "not a name");
        row_builder once{"p", "r"};
        once.add("Twice", true);
        once.add("Twice", edm_type::boolean, std::nullopt);
        row const single = once.build();
        REQUIRE(detail::validate_entity(single, limits, known));
        row_builder twice{"p", "r"};
        twice.add("Twice", true);
        twice.add("Twice", edm_type::boolean, value_view{true});
        check_refused(
            detail::validate_entity(twice.build(), limits, known), error_code::duplicate_properties_specified, "Twice");
    }
    SECTION("values are always validated") {
        row_builder texts{"p", "r"};
        texts.add("Text", "good");
        row const whole = texts.build();
        REQUIRE(detail::validate_entity(whole, limits, known));
        row_builder bad{"p", "r"};
        bad.add("Text", "\xFF");
        check_refused(detail::validate_entity(bad.build(), limits, known), error_code::invalid_input, "Text");
        std::string cut{whole.payload()};
        cut.pop_back();
        check_refused(detail::validate_entity({"p", "r", cut}, limits, known), error_code::row_malformed, "not a row");
    }
}

TEST_CASE("a row with the same names as another is validated as if it were alone") {
    auto const with = [](value_view text, value_view bytes, value_view time, std::optional<value_view> maybe) {
        row_builder builder{"p", "r"};
        builder.add("Text", text);
        builder.add("Bytes", bytes);
        builder.add("Time", time);
        builder.add("Maybe", edm_type::string, maybe);
        builder.add("Id", value_view{edm_type::guid, std::string_view{"0123456789abcdef"}});
        builder.add("Flag", true);
        builder.add("Number", std::int32_t{1});
        builder.add("Real", 0.5);
        return builder.build();
    };
    std::string const long_text(32'769, 'x');
    std::string const wide_text = repeated("\xC3\xA9", 20'000); // 20,000 units, 40,000 bytes
    std::string const long_bytes(65'537, '\0');
    value_view const bytes{edm_type::binary, std::string_view{"\xFF", 1}};
    value_view const time{date_time{1}};
    row const first = with("", bytes, time, std::nullopt);
    std::vector<std::string> payloads;
    for (row const& each : {first, with("text", bytes, time, "text"), with("\xFF", bytes, time, "text"),
             with("text", bytes, time, "\xC3"), with("text", bytes, date_time{-1}, std::nullopt),
             with("text", bytes, date_time{date_time::max_ticks + 1}, std::nullopt),
             with(std::string_view{long_text}, bytes, time, std::nullopt),
             with(std::string_view{wide_text}, bytes, time, std::string_view{wide_text}),
             with("", value_view{edm_type::binary, std::string_view{long_bytes}}, time, std::nullopt)}) {
        payloads.emplace_back(each.payload());
    }
    std::string const whole = payloads[1];
    for (std::size_t size = 0; size < whole.size(); ++size) { payloads.push_back(whole.substr(0, size)); }
    payloads.push_back(whole + "x");
    for (std::size_t const at : {0U, 2U, 3U, 4U, 16U, 17U}) { // version, count, size, type and name of the first
        payloads.push_back(whole);
        ++payloads.back()[at];
    }
    std::size_t good = 0;
    for (profile const& limit : {storage_profile(), cosmos_profile()}) {
        detail::known_good known;
        REQUIRE(detail::validate_entity(first, limit, known));
        for (std::string const& payload : payloads) {
            detail::known_good here = known;
            auto const alone = validate_entity({"p", "r", payload}, limit);
            auto const found = detail::validate_entity({"p", "r", payload}, limit, here);
            REQUIRE(found.has_value() == alone.has_value());
            good += found ? 1U : 0U;
            if (!found) { CHECK(found.error().message == alone.error().message); }
        }
        profile few = limit;
        few.max_properties = 7;
        CHECK_FALSE(detail::validate_entity({"p", "r", payloads[1]}, few, known));
        few = limit;
        few.max_entity_size = 100;
        CHECK_FALSE(detail::validate_entity({"p", "r", payloads[1]}, few, known));
    }
    CHECK(good >= 6);
}

TEST_CASE("a batch has at most 4 MiB") {
    std::size_t const mebibyte = 1'048'576;
    transact batch{"table", {}};
    for (char const* const key : {"a", "b", "c"}) { batch.changes.push_back(mutation::insert(sized(key, mebibyte))); }
    batch.changes.push_back(mutation::insert(sized("d", mebibyte - 8)));
    batch.changes.push_back(mutation::remove(row{"p", "e", {}}, any_etag));
    CHECK(validate(batch, limits));
    batch.changes[3] = mutation::insert(sized("d", mebibyte - 7));
    auto const checked = validate(batch, limits);
    check_refused(checked, error_code::request_body_too_large, "batch", std::to_string(4 * mebibyte));
    CHECK(checked.error().operation_index == std::size_t{4});
}

TEST_CASE("the limits of batches come from the profile") {
    profile tight;
    tight.max_operations = 2;
    CHECK(validate(batch_of(2), tight));
    check_refused(validate(batch_of(3), tight), error_code::invalid_input, "3", "2");
    tight = {};
    tight.max_transaction_size = 20;
    CHECK(validate(batch_of(2), tight));
    CHECK(validate(batch_of(3), tight).error().code == error_code::request_body_too_large);
}
