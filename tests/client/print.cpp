// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/print.hpp>

#include <support/catch.hpp>

#include <sstream>

namespace printed_shop {

enum class state : std::uint8_t { open, paid, lost };
enum class size : std::uint8_t { small = 1 };

} // namespace printed_shop

template <>
struct entitable::enum_names<printed_shop::state> {
    static constexpr entitable::enum_name<printed_shop::state> values[] = {
        {printed_shop::state::open, "open"}, {printed_shop::state::paid, "paid"}};
};

namespace printed_shop {

struct book {
    std::string shelf;
    std::string isbn;
};
ENTITABLE(book,
    partition_key(shelf),
    row_key(isbn))

class order {
public:
    std::string shop, region;
    std::uint64_t number{};
    entitable::date_time at;
    state status{};
    size box{size::small};
    std::optional<double> weight;
    std::optional<std::string> note;
    bool urgent{};
    double total{};
    entitable::guid id;
    entitable::binary label;
    std::string text;
    entitable::reference<book> of;
    std::optional<entitable::reference<book>> next;
    entitable::etag version;
    entitable::date_time changed;

    [[nodiscard]] std::int32_t lines() const noexcept { return lines_; }
    void set_lines(std::int32_t lines) noexcept { lines_ = lines; }

private:
    std::int32_t lines_{3};
};
ENTITABLE(order,
    partition_key(salted(shop, 4), region),
    row_key(literal("ORDER:"), descending(number), at),
    properties(status, box, weight, property(note, "Remark"), urgent, total, id, label, chunked(text), of, next),
    properties(accessors(lines, lines, set_lines), etag(version), timestamp(changed)))

/// Prints itself.
struct proud {
    std::string name;
    std::int32_t number{};
};
ENTITABLE(proud,
    partition_key(name),
    row_key(number))
std::ostream& operator<<(std::ostream& out, proud const& printed) { return out << "proud of " << printed.name; }

/// Prints itself, to streams of any character.
struct wide {
    std::string name;
    std::int32_t number{};
};
ENTITABLE(wide,
    partition_key(name),
    row_key(number))
template <class Character, class Traits>
std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& out, wide const&) {
    return out << "wide";
}

/// Prints itself through its base class.
struct printable_base {};
template <class T>
    requires std::derived_from<T, printable_base>
std::ostream& operator<<(std::ostream& out, T const&) {
    return out << "by its base";
}
struct derived : printable_base {
    std::string name;
    std::int32_t number{};
};
ENTITABLE(derived,
    partition_key(name),
    row_key(number))

struct plain {
    int number{};
};
struct book_in_translation : book {}; // without a declaration of its own
enum class unnamed : std::uint8_t { one };

} // namespace printed_shop

namespace { // an entity in an unnamed namespace

struct hidden_entity {
    std::string name;
    std::int32_t number{};
};
ENTITABLE(hidden_entity,
    partition_key(name),
    row_key(number))

template <class T>
std::string streamed(T const& value) {
    std::ostringstream out;
    std::ostream& base = out;
    base << value;
    std::ostringstream derived;
    derived << value; // must select the same operator
    CHECK(out.str() == derived.str());
    return out.str();
}

template <class T, class Stream = std::ostream>
concept goes_to_stream = requires(Stream& out, T const& value) { out << value; };

} // namespace

struct global_entity {
    std::string name;
    std::int32_t number{};
};
ENTITABLE(global_entity,
    partition_key(name),
    row_key(number))

using namespace entitable;
using namespace std::chrono_literals;

TEST_CASE("an entity is printed from its declaration: keys, properties, and the version if it was read") {
    printed_shop::order printed;
    printed.shop = "Ann's";
    printed.region = "north";
    printed.number = 18'446'744'073'709'551'615U;
    printed.at = date_time::from_date(2026, 11, 25) + 1500ms;
    printed.status = printed_shop::state::paid;
    printed.note = "a \"quoted\"\nline\x01";
    printed.urgent = true;
    printed.total = 12.5;
    printed.id = guid::parse("c9da6455-213d-42c9-9a79-3e9149a57833").value();
    printed.label = {std::byte{0}, std::byte{255}};
    printed.text = "t";
    printed.of = {"sf", "123"};
    std::string const before =
        R"(order{shop: "Ann's", region: "north", number: 18446744073709551615, at: 2026-11-25T00:00:01.5Z, status: paid, box: 1, )"
        R"(weight: absent, Remark: "a \"quoted\"\nline\x01", urgent: true, total: 12.5, )"
        R"(id: c9da6455-213d-42c9-9a79-3e9149a57833, label: X'00ff', text: "t", of: "sf" / "123", next: absent, lines: 3)";
    CHECK(to_text(printed) == before + "}");
    CHECK(streamed(printed) == before + "}");

    printed.version = etag::of(date_time::from_date(2026, 1, 1));
    printed.changed = date_time::from_date(2026, 1, 1);
    CHECK(to_text(printed) ==
        before + R"(, etag: W/"datetime'2026-01-01T00%3A00%3A00Z'", timestamp: 2026-01-01T00:00:00Z})");
}

TEST_CASE("operator<< is found for entities of any namespace, their optionals and named enumerations") {
    CHECK(streamed(printed_shop::book{"sf", "123"}) == R"(book{shelf: "sf", isbn: "123"})");
    CHECK(streamed(global_entity{"a", -1}) == R"(global_entity{name: "a", number: -1})");
    CHECK(streamed(hidden_entity{"", 0}) == R"(hidden_entity{name: "", number: 0})");
    CHECK(streamed(std::optional{printed_shop::book{"sf", "1"}}) == R"(book{shelf: "sf", isbn: "1"})");
    CHECK(streamed(std::optional<printed_shop::book>{}) == "absent");
    CHECK(streamed(printed_shop::state::paid) == "paid");
    CHECK(streamed(printed_shop::state::lost) == "2"); // without a name
    CHECK(streamed(std::optional{printed_shop::state::open}) == "open");
    std::ostringstream chain;
    chain << printed_shop::state::open << ' ' << global_entity{} << 7;
    CHECK(chain.str() == R"(open global_entity{name: "", number: 0}7)");
}

TEST_CASE("an entity's own operator<< is preferred, whatever its form") {
    CHECK(streamed(printed_shop::proud{"Ann", 1}) == "proud of Ann");
    CHECK(streamed(printed_shop::wide{"Ann", 1}) == "wide");
    CHECK(to_text(printed_shop::proud{"Ann", 1}) == R"(proud{name: "Ann", number: 1})");
    std::ostringstream out;
    std::ostream& base = out;
    base << printed_shop::derived{{}, "Ann", 1};
    CHECK(out.str() == "by its base");
}

TEST_CASE("types that are not declared cannot be printed") {
    STATIC_REQUIRE_FALSE(goes_to_stream<printed_shop::plain>);
    STATIC_REQUIRE_FALSE(goes_to_stream<std::optional<printed_shop::plain>>);
    STATIC_REQUIRE_FALSE(goes_to_stream<std::vector<printed_shop::book>>);
    STATIC_REQUIRE_FALSE(goes_to_stream<printed_shop::book_in_translation>);
    STATIC_REQUIRE_FALSE(goes_to_stream<printed_shop::unnamed>);
    STATIC_REQUIRE_FALSE(goes_to_stream<table<printed_shop::book>>);
    STATIC_REQUIRE_FALSE(goes_to_stream<memory_backend>);
    STATIC_REQUIRE_FALSE(goes_to_stream<any_store>);
    STATIC_REQUIRE_FALSE(goes_to_stream<write_entity>);
    STATIC_REQUIRE_FALSE(goes_to_stream<call>);
    STATIC_REQUIRE_FALSE(goes_to_stream<printed_shop::book, std::wostream>);
}

TEST_CASE("a result is printed as its value or its error, without detail") {
    CHECK(streamed(result<void>{}) == "OK");
    CHECK(streamed(result<int>{7}) == "7");
    CHECK(streamed(result<printed_shop::book>{printed_shop::book{"sf", "1"}}) == R"(book{shelf: "sf", isbn: "1"})");
    CHECK(streamed(result<std::optional<printed_shop::book>>{std::nullopt}) == "absent");
    CHECK(streamed(result<std::string>{"sig=c2VjcmV0"}) == "a text of 12 bytes"); // `make_signature` returns a secret
    CHECK(to_text(std::string{"a\tb"}) == R"("a\tb")");
    CHECK(streamed(result<printed_shop::plain>{printed_shop::plain{}}) == "OK");
    CHECK(to_text(printed_shop::plain{}) == "...");
    CHECK(streamed(result<printed_shop::proud>{printed_shop::proud{"Ann", 1}}) == R"(proud{name: "Ann", number: 1})");
    CHECK(streamed(result<written>{written{}}) == "written{}");
    CHECK(streamed(written{etag{"\"v1\""}, true}) == R"(written{etag: "v1", after_retry: true})");
    CHECK(streamed(result<std::pair<std::string, std::tuple<int, double>>>{{"a", {1, 2.0}}}) == R"(("a", (1, 2.0)))");
    CHECK(streamed(updated<printed_shop::book>{{"sf", "1"}, etag{"\"v1\""}, {}}).starts_with("updated{entity: book{"));
    error refused{error_code::entity_already_exists, "the entity exists"};
    refused.detail = "the secret key";
    CHECK(streamed(refused) == "EntityAlreadyExists (409): the entity exists");
    CHECK(streamed(result<int>{failure{refused}}) == "error: EntityAlreadyExists (409): the entity exists");
    CHECK(streamed(result<void>{failure{refused}}) == "error: EntityAlreadyExists (409): the entity exists");
    result<int> taken{failure{refused}};
    (void)std::move(taken).as_failure();
    CHECK(streamed(taken).starts_with("error: ")); // NOLINT: moved from
}

TEST_CASE("values of the library are printed") {
    CHECK(streamed(date_time::from_date(2026, 1, 2)) == "2026-01-02T00:00:00Z");
    CHECK(streamed(date_time{std::numeric_limits<std::int64_t>::min()}) != "");
    CHECK(streamed(std::optional{date_time::from_date(2026, 1, 2)}) == "2026-01-02T00:00:00Z");
    CHECK(streamed(guid{}) == "00000000-0000-0000-0000-000000000000");
    CHECK(streamed(etag{}) == "no etag");
    CHECK(streamed(etag{"\"v1\""}) == "\"v1\"");
    CHECK(streamed(error_code::server_busy) == "ServerBusy");
    CHECK(streamed(edm_type::int32) == "Edm.Int32");
    CHECK(streamed(access_path::row_range) == "row_range");
    CHECK(streamed(reference<printed_shop::book>{"a", "b\\"}) == R"("a" / "b\\")");
    CHECK(streamed(value{value_view{1.0}}) == "1.0");
    CHECK(streamed(value_view{"x"}) == "\"x\"");
    stored<printed_shop::book> read{{"sf", "1"}, etag{"\"v1\""}, {}, true};
    CHECK(streamed(read) == R"(stored{entity: book{shelf: "sf", isbn: "1"}, etag: "v1", stale: true})");
}

TEST_CASE("rows and entities without a type are printed with their properties") {
    entity made{"p", "r\n"};
    made.set("n", 5).set("text", "x");
    CHECK(streamed(made) == R"("p" / "r\n" {n: 5, text: "x"})");
    row const whole = made.to_row();
    CHECK(streamed(whole) == R"("p" / "r\n" {n: 5, text: "x"})");
    CHECK(streamed(whole.view()) == streamed(whole));
    CHECK(streamed(row{}) == R"("" / "" {})");
    row_builder with_absent{"p", "r"};
    with_absent.add("gone", edm_type::string, std::nullopt);
    CHECK(streamed(with_absent.build()) == R"("p" / "r" {gone: absent})");
    // Damaged bytes, at every length.
    for (std::size_t size = 1; size < whole.payload().size(); ++size) {
        row_view const cut{whole.partition_key(), whole.row_key(), whole.payload().substr(0, size)};
        CAPTURE(size);
        CHECK(streamed(cut).ends_with("damaged}"));
    }
    row moved = whole;
    row const taken = std::move(moved);
    CHECK(streamed(moved) == R"("" / "" {})"); // NOLINT: moved from
    CHECK(streamed(taken) == streamed(whole));
}

TEST_CASE("long texts and binaries are cut between characters and followed by their size") {
    auto const text = [](std::string const& value) { return to_text(value); };
    CHECK(text(std::string(100, 'a')) == '"' + std::string(100, 'a') + '"');
    CHECK(text(std::string(101, 'a')) == '"' + std::string(100, 'a') + "...\" (101 bytes)");
    CHECK(text(std::string(99, 'a') + "\xC3\xA4") == '"' + std::string(99, 'a') + "...\" (101 bytes)");
    CHECK(text("\xff\\") == R"("\xff\\")");
    CHECK(text(std::string(2, '\0')) == R"("\x00\x00")");
    CHECK(to_text(binary(32)) == "X'" + std::string(64, '0') + "'");
    CHECK(to_text(binary(33)) == "X'" + std::string(64, '0') + "...' (33 bytes)");
    CHECK(to_text(binary{}) == "X''");
    printed_shop::book const thick{std::string(70'000, 'x'), ""};
    CHECK(to_text(thick).size() < 200);
}

TEST_CASE("ranges of entities are printed as their first elements and the number of elements") {
    std::vector<printed_shop::book> books(3);
    CHECK(to_text(std::vector<int>{}) == "[]");
    CHECK(to_text(books) == R"([book{shelf: "", isbn: ""}, book{shelf: "", isbn: ""}, book{shelf: "", isbn: ""}])");
    CHECK(to_text(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}) == "[1, 2, 3, 4, 5, 6, 7, 8]");
    CHECK(to_text(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9}) == "[1, 2, 3, 4, 5, 6, 7, 8, ... (9 elements)]");
    CHECK(streamed(result<std::vector<printed_shop::book>>{books}).starts_with("[book{"));
}

TEST_CASE("a query is printed as its plan, and its rows as entities") {
    table<printed_shop::order> const orders{memory_backend{}, "orders"};
    orders.create().value();
    printed_shop::order made;
    made.shop = "a";
    made.number = 5;
    orders.insert(made).value();
    using o = fields<printed_shop::order>;
    auto const found = orders.where(o::shop == "a" && o::region == "");
    CHECK(streamed(found) == found.explain().value().to_string());
    CHECK(streamed(found.select(o::status, o::note).first()) ==
        R"(order{shop: "a", region: "", number: 5, at: 1601-01-01T00:00:00Z, status: open, Remark: absent})");
    CHECK(streamed(decltype(found){}).starts_with("error: InvalidInput"));
    std::string const read = streamed(orders.get("a", "", 5U, date_time{}));
    CHECK(read.starts_with(R"(order{shop: "a", region: "", number: 5, )"));
    CHECK(read.find("etag: W/") != std::string::npos);
}

TEST_CASE("a failed assertion of Catch shows entities, results and values of the library") {
    CHECK(Catch::StringMaker<printed_shop::book>::convert({"sf", "1"}) == R"(book{shelf: "sf", isbn: "1"})");
    CHECK(Catch::StringMaker<global_entity>::convert({"a", 1}) == R"(global_entity{name: "a", number: 1})");
    CHECK(Catch::Detail::stringify(std::vector{printed_shop::book{}}) == R"({ book{shelf: "", isbn: ""} })");
    CHECK(Catch::StringMaker<printed_shop::state>::convert(printed_shop::state::paid) == "paid");
    CHECK(Catch::StringMaker<std::optional<printed_shop::book>>::convert(std::optional<printed_shop::book>{}) ==
        "absent");
    CHECK(Catch::StringMaker<result<void>>::convert(result<void>{}) == "OK");
    CHECK(Catch::StringMaker<error_code>::convert(error_code::server_busy) == "ServerBusy");
    CHECK(Catch::StringMaker<date_time>::convert(date_time{}) == "1601-01-01T00:00:00Z");
    using found = query<printed_shop::book, access_path::table>; // a range, which Catch would read
    CHECK(Catch::StringMaker<found>::convert(found{}).starts_with("error: InvalidInput"));
}

#if defined(__cpp_lib_format)
TEST_CASE("std::format prints the same text, with the options of a string") {
    CHECK(std::format("{}", printed_shop::book{"sf", "1"}) == R"(book{shelf: "sf", isbn: "1"})");
    CHECK(std::format("{:>8}", printed_shop::state::paid) == "    paid");
    CHECK(std::format("{:.4}|", result<void>{}) == "OK|");
    CHECK(std::format("{}", date_time{}) == "1601-01-01T00:00:00Z");
    CHECK(std::format("{}", result<int>{failure{error_code::server_busy, "busy"}}) == "error: ServerBusy (503): busy");
    CHECK(std::format("{}", query<printed_shop::book, access_path::table>{}).starts_with("error: InvalidInput"));
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<std::formatter<printed_shop::plain>>);
}
#endif
