// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/codec.hpp>

#include <support/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

using namespace entitable;
using entitable_test::ContainsSubstring;

namespace codec_test {

enum class gender { unknown, male, female };
enum class colour { red, blue, green };

} // namespace codec_test

// Before the first entity that has a member of the type.
template <>
struct entitable::enum_names<codec_test::colour> {
    static constexpr entitable::enum_name<codec_test::colour> values[] = {
        {codec_test::colour::red, "red"}, {codec_test::colour::blue, "blue"}};
};

namespace codec_test {

struct painted {
    std::int32_t number{};
    colour wall{};
    std::optional<colour> trim;
};

ENTITABLE(painted, partition_key(literal("house")), row_key(number), properties(wall, trim))

struct by_bib {
    std::int32_t bib{};
    std::string name;
    std::string sex;
    std::int32_t age{};
};
ENTITABLE(by_bib,
    partition_key(literal("runners")),
    row_key(literal("BIB:"), width(bib, 5), name, sex, width(age, 2)))

struct by_age {
    std::int32_t bib{};
    std::string name;
    std::string sex;
    std::int32_t age{};
};
ENTITABLE(by_age,
    partition_key(literal("runners")),
    row_key(literal("AGE:"), width(age, 3), width(bib, 4), name, sex))

struct all_types {
    std::string key;
    std::string text;
    std::int32_t number{};
    std::int64_t large{};
    double fraction{};
    bool flag{};
    date_time when;
    guid id;
    binary bytes;
    gender sex{};
};
ENTITABLE(all_types,
    partition_key(key),
    row_key(literal("row")),
    properties(text, number, large, fraction, flag, when, id, bytes, sex))

struct all_optional {
    std::string key;
    std::optional<std::string> text;
    std::optional<std::int32_t> number;
    std::optional<std::int64_t> large;
    std::optional<double> fraction;
    std::optional<bool> flag;
    std::optional<date_time> when;
    std::optional<guid> id;
    std::optional<binary> bytes;
    std::optional<gender> sex;
};
ENTITABLE(all_optional,
    partition_key(key),
    row_key(literal("row")),
    properties(text, number, large, fraction, flag, when, id, bytes, sex))

struct every_key {
    std::string path;
    std::optional<std::int32_t> lap;
    date_time when;
    guid id;
    colour shirt{};
    std::int64_t newest{};
    std::string day;
};
ENTITABLE(every_key,
    partition_key(salted(day, 16), escaped(path)),
    row_key(descending(newest), lap, when, id, shirt))

struct small_row {
    std::string name;
    std::int64_t age{};
    std::optional<bool> finished;
};
ENTITABLE(small_row,
    partition_key(name),
    row_key(literal("row")),
    properties(age, finished))

} // namespace codec_test

using namespace codec_test;

namespace {

template <class Entity>
Entity decoded(row_view stored) {
    Entity read{};
    auto const done = from_row(stored, read);
    if (!done) { FAIL(done.error().message); }
    return read;
}

template <class Entity>
error refusal_of(row_view stored) {
    Entity read{};
    auto const done = from_row(stored, read);
    REQUIRE_FALSE(done);
    return done.error();
}

/// A row of `small_row` with the properties that a test needs.
row small(std::initializer_list<std::pair<char const*, value_view>> properties) {
    row_builder builder{"John", "row"};
    for (auto const& [name, given] : properties) { builder.add(name, given); }
    return builder.build();
}

all_types extreme(bool greatest) {
    using i32 = std::numeric_limits<std::int32_t>;
    using i64 = std::numeric_limits<std::int64_t>;
    using f64 = std::numeric_limits<double>;
    all_types one;
    one.key = "k";
    one.text = greatest ? std::string(32 * 1024, 'x') : std::string(3, '\0');
    one.number = greatest ? i32::max() : i32::min();
    one.large = greatest ? i64::max() : i64::min();
    one.fraction = greatest ? f64::max() : f64::lowest();
    one.flag = greatest;
    one.when = date_time{greatest ? date_time::max_ticks : 0};
    one.id.bytes.fill(greatest ? 255 : 0);
    one.bytes = binary(greatest ? 64 * 1024 : 0, std::byte{255});
    one.sex = greatest ? gender::female : gender::unknown;
    return one;
}

} // namespace

TEST_CASE("the keys of a runner match the table design guide") {
    CHECK(row_key_of(by_bib{1234, "John", "M", 55}).value() == "BIB:01234__John__M__55");
    CHECK(row_key_of(by_age{1234, "John", "M", 55}).value() == "AGE:055__1234__John__M");
    CHECK(partition_key_of(by_bib{1234, "John", "M", 55}).value() == "runners");
    auto const read = decoded<by_age>({"runners", "AGE:055__1234__John__M", to_row(by_age{}).value().payload()});
    CHECK(read.bib == 1234);
    CHECK(read.name == "John");
    CHECK(read.sex == "M");
    CHECK(read.age == 55);
}

TEST_CASE("a key with every kind of component is read back") {
    every_key original;
    original.day = "foobar";
    original.path = "C:\\dir/file__1!";
    original.newest = 1;
    original.when = date_time::from_date(2026, 1, 2);
    original.shirt = colour::blue;
    auto const stored = to_row(original).value();
    CHECK(stored.partition_key() == "08__foobar__C:[1dir.1file__1\"21");
    CHECK(
        stored.row_key() == "09223372036854775806__~__0134117856000000000__00000000-0000-0000-0000-000000000000__blue");
    every_key const read = decoded<every_key>(stored);
    CHECK(read.day == original.day);
    CHECK(read.path == original.path);
    CHECK(read.newest == 1);
    CHECK_FALSE(read.lap);
    CHECK(read.when == original.when);
    CHECK(read.shirt == colour::blue);
}

TEST_CASE("a number that is too wide, a negative number and an unnamed value are refused, and the error names the "
          "component") {
    auto const wide = to_row(by_bib{100000, "John", "M", 55});
    REQUIRE_FALSE(wide);
    CHECK(wide.error().code == error_code::out_of_range_input);
    CHECK_THAT(wide.error().message, ContainsSubstring("\"bib\""));
    auto const negative = to_row(by_bib{1234, "John", "M", -1});
    REQUIRE_FALSE(negative);
    CHECK(negative.error().code == error_code::out_of_range_input);
    CHECK_THAT(negative.error().message, ContainsSubstring("\"age\""));
    every_key nameless;
    nameless.shirt = colour::green;
    auto const refused = to_row(nameless);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::out_of_range_input);
    CHECK_THAT(refused.error().message, ContainsSubstring("\"shirt\""));
}

TEST_CASE(
    "a text that contains the separator or ends with an underscore is refused, and the error names the component") {
    for (char const* const name : {"John__Paul", "John_", "__"}) {
        auto const refused = to_row(by_bib{1234, name, "M", 55});
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error_code::key_not_splittable);
        CHECK_THAT(refused.error().message, ContainsSubstring("\"name\""));
    }
    CHECK(to_row(by_age{1234, "John", "M_", 55})); // the last component may
}

TEST_CASE("the error for a refused entity names its first invalid component") {
    auto const refused = row_key_of(by_bib{100000, "a__b", "M", 55}); // the error names the first invalid component
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, ContainsSubstring("\"bib\""));
}

TEST_CASE("writing a row reuses the memory of another row") {
    row made;
    REQUIRE(to_row(by_bib{1234, std::string(100, 'n'), "M", 55}, made));
    char const* const memory = made.partition_key().data();
    REQUIRE(to_row(by_bib{7, "John", "F", 5}, made));
    CHECK(made.partition_key().data() == memory);
    row const other = to_row(by_bib{7, "John", "F", 5}).value();
    CHECK(made.partition_key() == other.partition_key());
    CHECK(made.row_key() == other.row_key());
    CHECK(made.payload() == other.payload());
    CHECK(made.view().etag_text.empty());
    CHECK_FALSE(to_row(by_bib{100000, "John", "M", 55}, made));
    CHECK(made.view().row_key.empty());
    REQUIRE(to_row(by_bib{7, std::string(1000, 'n'), "F", 5}, made)); // longer than any previous row
    CHECK(decoded<by_bib>(made).name == std::string(1000, 'n'));
}

TEST_CASE("a key that the entity would not write is refused, and the error contains the key and its text") {
    std::string const payload{to_row(by_bib{}).value().payload()};
    for (char const* const key : {"", "BIB:", "AGE:055__1234__John__M", "BIB:1234__John__M__55", "BIB:01234__John__M",
             "BIB:01234__John__M__5x", "BIB:01234__John__M__555", "bib:01234__John__M__55"}) {
        CAPTURE(key);
        error const refused = refusal_of<by_bib>({"runners", key, payload});
        CHECK(refused.code == error_code::row_mismatch);
        CHECK_THAT(refused.message, ContainsSubstring("RowKey") && ContainsSubstring("by_bib"));
        CHECK(refused.detail == key);
    }
    error const foreign = refusal_of<by_bib>({"walkers", "BIB:01234__John__M__55", payload});
    CHECK(foreign.code == error_code::row_mismatch);
    CHECK_THAT(foreign.message, ContainsSubstring("PartitionKey"));
}

TEST_CASE("every type is read back from a row at both extremes") {
    for (bool const greatest : {false, true}) {
        all_types const original = extreme(greatest);
        auto const stored = to_row(original).value();
        REQUIRE(check_payload(stored.payload()));
        all_types const read = decoded<all_types>(stored);
        CHECK(read.key == original.key);
        CHECK(read.text == original.text);
        CHECK(read.number == original.number);
        CHECK(read.large == original.large);
        CHECK(read.fraction == original.fraction);
        CHECK(read.flag == original.flag);
        CHECK(read.when == original.when);
        CHECK(read.id == original.id);
        CHECK(read.bytes == original.bytes);
        CHECK(read.sex == original.sex);
    }
}

TEST_CASE("zero, false and the empty text are values") {
    row const stored = to_row(all_types{}).value();
    for (char const* const name : {"text", "number", "large", "fraction", "flag", "when", "id", "bytes", "sex"}) {
        CAPTURE(name);
        CHECK(stored.view().find(name));
    }
    all_optional zeros;
    zeros.text.emplace();
    zeros.number = 0;
    zeros.flag = false;
    all_optional const read = decoded<all_optional>(to_row(zeros).value());
    CHECK(read.text == "");
    CHECK(read.number == 0);
    CHECK(read.flag == false);
    CHECK_FALSE(read.large);
}

TEST_CASE("texts and bytes of any size are read back, and a row has no other bytes") {
    all_types one = extreme(false);
    one.text.clear();
    std::size_t const least = to_row(one)->payload().size();
    row reused;
    for (std::size_t const text : {0U, 4095U, 4096U, 4097U, 32768U}) {
        for (std::size_t const bytes : {0U, 1U, 4096U, 4097U, 65536U}) {
            INFO(text << " characters, " << bytes << " bytes");
            one.text.assign(text, 't');
            one.bytes.assign(bytes, std::byte{7});
            REQUIRE(to_row(one, reused));
            row const fresh = to_row(one).value();
            CHECK(fresh.payload().size() == least + text + bytes);
            CHECK(reused.payload() == fresh.payload());
            auto const read = decoded<all_types>(fresh);
            CHECK(read.text == one.text);
            CHECK(read.bytes == one.bytes);
            CHECK(read.when == one.when);
            CHECK(read.sex == one.sex);
        }
    }
}

TEST_CASE("doubles keep every bit") {
    for (double const number :
        {0.0, -0.0, 1.0, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::infinity(),
            -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        all_types original;
        original.fraction = number;
        auto const stored = to_row(original).value();
        double const read = decoded<all_types>(stored).fraction;
        CHECK(std::memcmp(&read, &number, sizeof read) == 0);
        CHECK(stored.view().find("fraction")->type() == edm_type::float64);
    }
}

TEST_CASE("a row contains the declared types and names, in order") {
    row const stored = to_row(all_types{}).value();
    property_cursor cursor{stored.payload()};
    property_view property;
    std::string seen;
    while (cursor.next(property)) {
        seen += std::string{property.name} + ":" + std::string{to_string(property.type).substr(4)} + " ";
    }
    CHECK_FALSE(cursor.damaged());
    CHECK(seen ==
        "text:String number:Int32 large:Int64 fraction:Double flag:Boolean when:DateTime id:Guid "
        "bytes:Binary sex:Int32 ");
}

TEST_CASE("an absent optional keeps its place in the descriptor and is not found") {
    all_optional const none{};
    auto const stored = to_row(none).value();
    REQUIRE(check_payload(stored.payload()));
    CHECK_FALSE(stored.view().find("text"));
    property_cursor cursor{stored.payload()};
    property_view property;
    std::size_t count = 0;
    while (cursor.next(property)) {
        CHECK_FALSE(property.present);
        ++count;
    }
    CHECK(count == 9);
}

TEST_CASE("an optional is emptied by reading a row without it") {
    all_optional out;
    out.text = "old";
    out.bytes = binary{std::byte{1}};
    REQUIRE(from_row(to_row(all_optional{}).value(), out));
    CHECK_FALSE(out.text);
    CHECK_FALSE(out.bytes);
    REQUIRE(from_row(row_builder{"k", "row"}.build(), out)); // with another shape
    CHECK_FALSE(out.text);
}

TEST_CASE("every optional is read back with its value") {
    all_types const full = extreme(true);
    all_optional original{full.key, full.text, full.number, full.large, full.fraction, full.flag, full.when, full.id,
        full.bytes, full.sex};
    all_optional const read = decoded<all_optional>(to_row(original).value());
    CHECK(read.text == full.text);
    CHECK(read.number == full.number);
    CHECK(read.large == full.large);
    CHECK(read.fraction == full.fraction);
    CHECK(read.flag == full.flag);
    CHECK(read.when == full.when);
    CHECK(read.id == full.id);
    CHECK(read.bytes == full.bytes);
    CHECK(read.sex == full.sex);
}

TEST_CASE("rows with plain members can be read as rows with optional members, and vice versa") {
    all_types const full = extreme(true);
    all_optional const read = decoded<all_optional>(to_row(full).value());
    CHECK(read.bytes == full.bytes);
    all_types const back = decoded<all_types>(to_row(read).value());
    CHECK(back.text == full.text);
    CHECK(back.sex == full.sex);
}

TEST_CASE("a row with its properties in a different order is read by name") {
    auto const stored = small({{"finished", true}, {"age", std::int64_t{55}}});
    small_row const read = decoded<small_row>(stored);
    CHECK(read.age == 55);
    CHECK(read.finished == true);
}

TEST_CASE("an Int32 can be read as 64 bits") {
    CHECK(decoded<small_row>(small({{"age", std::int32_t{-7}}})).age == -7);
}

TEST_CASE("undeclared properties are ignored") {
    auto const stored = small({{"extra", "x"}, {"age", std::int64_t{55}}, {"Age", 1.5}, {"more", true}});
    small_row const read = decoded<small_row>(stored);
    CHECK(read.age == 55);
    CHECK_FALSE(read.finished);
}

TEST_CASE("a row without a required property is refused, and the error names it") {
    error const refused = refusal_of<small_row>(small({{"finished", true}}));
    CHECK(refused.code == error_code::row_mismatch);
    CHECK_THAT(
        refused.message, ContainsSubstring("\"age\"") && ContainsSubstring("absent") && ContainsSubstring("small_row"));
}

TEST_CASE("a property of a different type is refused by name, even if the member is optional") {
    error const narrow = refusal_of<small_row>(small({{"age", "55"}}));
    CHECK(narrow.code == error_code::row_mismatch);
    CHECK_THAT(narrow.message, ContainsSubstring("\"age\"") && ContainsSubstring("different type"));
    error const flag = refusal_of<small_row>(small({{"age", std::int64_t{55}}, {"finished", std::int32_t{1}}}));
    CHECK(flag.code == error_code::row_mismatch);
    CHECK_THAT(flag.message, ContainsSubstring("\"finished\""));
}

TEST_CASE("the error names the first member that does not fit") {
    error const refused = refusal_of<all_types>(row_builder{"k", "row"}.build());
    CHECK_THAT(refused.message, ContainsSubstring("\"text\""));
}

TEST_CASE("an unknown enumeration value is retained, and an unknown name is refused") {
    all_types original;
    original.sex = static_cast<gender>(77);
    CHECK(decoded<all_types>(to_row(original).value()).sex == static_cast<gender>(77));
    std::string const payload{to_row(every_key{}).value().payload()};
    every_key key;
    key.day = "foobar";
    std::string row_key = row_key_of(key).value();
    row_key.replace(row_key.size() - 3, 3, "pink");
    error const refused = refusal_of<every_key>({"08__foobar__", row_key, payload});
    CHECK(refused.code == error_code::row_mismatch);
}

TEST_CASE("a name without a value is refused as such and not as a wrong type") {
    row_builder stored{"house", "0000000001"};
    stored.add("wall", value_view{"green"});
    stored.add("trim", edm_type::string, std::nullopt);
    error const refused = refusal_of<painted>(stored.build());
    CHECK(refused.code == error_code::row_mismatch);
    CHECK_THAT(
        refused.message, ContainsSubstring("\"wall\"") && ContainsSubstring("a value that the member cannot hold"));
}

TEST_CASE("a value without a name is refused when it is written, whether its property is present or not") {
    painted wall{1, codec_test::colour::blue, codec_test::colour::red};
    CHECK(decoded<painted>(to_row(wall).value()).trim == codec_test::colour::red);
    wall.trim.reset();
    CHECK_FALSE(decoded<painted>(to_row(wall).value()).trim);
    wall.trim = static_cast<codec_test::colour>(9);
    auto const refused = to_row(wall);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::out_of_range_input);
    CHECK_THAT(refused.error().message, ContainsSubstring("\"trim\""));
}

TEST_CASE("a row truncated at any byte is refused or read, and nothing is read past its end") {
    all_types original = extreme(false);
    original.bytes = binary(3, std::byte{7});
    std::string const whole{to_row(original).value().payload()};
    for (std::size_t size = 0; size < whole.size(); ++size) {
        std::string const cut = whole.substr(0, size);
        std::vector<char> const exact{cut.begin(), cut.end()}; // the sanitizer detects its end
        all_types read;
        auto const done = from_row({"k", "row", std::string_view{exact.data(), exact.size()}}, read);
        CAPTURE(size);
        REQUIRE_FALSE(done);
        CHECK((done.error().code == error_code::row_malformed || done.error().code == error_code::row_mismatch));
    }
    all_types read;
    auto const longer = from_row({"k", "row", whole + "x"}, read);
    REQUIRE_FALSE(longer);
    CHECK(longer.error().code == error_code::row_malformed);
}

TEST_CASE("a row with a wrong byte anywhere is read or refused, and nothing is read past its end") {
    all_types original = extreme(false);
    original.bytes = binary(3, std::byte{7});
    std::string const whole{to_row(original).value().payload()};
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (char const wrong : {'\x00', '\x01', '\x7F', '\xFF'}) {
            std::vector<char> exact{whole.begin(), whole.end()}; // the sanitizer detects its end
            exact[at] = wrong;
            all_types read;
            auto const done = from_row({"k", "row", std::string_view{exact.data(), exact.size()}}, read);
            CAPTURE(at, wrong);
            if (!done) {
                CHECK(
                    (done.error().code == error_code::row_malformed || done.error().code == error_code::row_mismatch));
            }
        }
    }
}

TEST_CASE("a row of a later version is refused") {
    std::string payload{to_row(all_types{}).value().payload()};
    payload[0] = 2;
    CHECK(refusal_of<all_types>({"k", "row", payload}).code == error_code::row_malformed);
}

TEST_CASE("the Timestamp of a row is not one of its properties") {
    row_builder builder{"John", "row"};
    builder.add("age", std::int64_t{55});
    std::string payload{builder.build().payload()};
    set_timestamp(payload, date_time::from_date(2026, 1, 2));
    CHECK(decoded<small_row>({"John", "row", payload}).age == 55);
    CHECK_FALSE(row_view{"John", "row", payload}.find("Timestamp"));
}

TEST_CASE("the row's descriptor is laid out at compile time") {
    STATIC_REQUIRE(detail::descriptor_of<small_row>.view() ==
        std::string_view{"\x03\x03\x00"
                         "age"
                         "\x85\x08\x00"
                         "finished",
            17});
    STATIC_REQUIRE(detail::descriptor_of<by_bib>.view().empty());
}
