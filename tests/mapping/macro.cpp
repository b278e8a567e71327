// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/codec.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

// The kinds of structs that the macro accepts.

namespace macro_test {

struct in_namespace {
    std::string name;
    std::int32_t bib{};
    std::int32_t age{};
};
ENTITABLE(in_namespace,
    partition_key(name),
    row_key(bib),
    properties(age))

struct host {
    struct nested {
        std::string name;
        std::int32_t bib{};
        bool finished{};
    };
};
ENTITABLE(host::nested,
    partition_key(name),
    row_key(bib),
    properties(finished))

struct person {
    std::string name;
    std::int64_t id{};
};
struct with_base : person {
    std::int32_t age{};
};
ENTITABLE(with_base,
    partition_key(name),
    row_key(id),
    properties(age))

template <class Number>
struct measured {
    std::string name;
    std::int32_t bib{};
    Number measure{};
};
using in_metres = measured<double>;
using in_steps = measured<std::int64_t>;
ENTITABLE(in_metres,
    partition_key(name),
    row_key(bib),
    properties(measure))
ENTITABLE(in_steps,
    partition_key(name),
    row_key(bib),
    properties(measure))

/// Names that the macro and the library use themselves.
struct awkward {
    std::string partition_key;
    std::string row_key;
    std::string properties;
    std::string entity;
    std::string fields;
    std::int32_t width{};
    std::int32_t descending{};
    std::string literal;
    std::string property;
    std::string accessors;
    std::string etag;
    std::string timestamp;
    std::string escaped;
    std::int32_t salted{};
    std::string name;
    std::string entity_name;
    std::string members;
    std::string mapping;
    std::string property_names;
};
ENTITABLE(awkward,
    partition_key(partition_key, properties, width(width, 3)),
    row_key(literal, row_key, descending(descending)),
    properties(entity, fields, property, accessors, etag, timestamp, escaped, salted, name),
    properties(entity_name, members, mapping, property_names))

/// One component each, and nothing else.
struct keys_only {
    std::string name;
    std::int32_t bib{};
};
ENTITABLE(keys_only,
    row_key(bib),
    partition_key(name))

/// The names of Birthday and birthday differ.
struct cased {
    std::string name;
    std::string Birthday;
    std::string birthday;
    std::string BIRTHDAY;
};
ENTITABLE(cased,
    partition_key(name),
    row_key(literal("one")),
    properties(Birthday, birthday, BIRTHDAY))

struct renamed {
    std::string name;
    std::int32_t bib{};
    std::int32_t age{};
    std::string city;
};
ENTITABLE(renamed,
    partition_key(name),
    row_key(bib),
    properties(property(age, "bib"), property(city, "St\xC3\xA4" "dtchen")))

class guarded {
public:
    std::string name;
    std::int32_t bib{};

    [[nodiscard]] std::string const& club() const noexcept { return club_; }
    void set_club(std::string club) { club_ = std::move(club); }
    [[nodiscard]] double pace() const { return pace_; }
    guarded& set_pace(double pace) {
        pace_ = pace;
        return *this;
    }
    [[nodiscard]] std::optional<std::int32_t> const& age() const { return age_; }
    void set_age(std::optional<std::int32_t> const& age) { age_ = age; }

private:
    std::string club_;
    double pace_{};
    std::optional<std::int32_t> age_;
};
ENTITABLE(guarded,
    partition_key(name),
    row_key(bib),
    properties(accessors(club, club, set_club), accessors(Pace, pace, set_pace), accessors(age, age, set_age)))

struct versioned {
    std::string name;
    entitable::etag version;
    std::int32_t age{};
    entitable::date_time changed;
};
ENTITABLE(versioned,
    partition_key(name),
    row_key(literal("one")),
    properties(etag(version), age, timestamp(changed)))

/// As many properties as the service allows.
struct widest {
    std::string name;
    std::int32_t bib{};
    std::int32_t p000, p001, p002, p003, p004, p005, p006, p007, p008, p009, p010, p011, p012, p013, p014, p015, p016,
        p017, p018, p019, p020, p021, p022, p023, p024, p025, p026, p027, p028, p029, p030, p031, p032, p033, p034,
        p035, p036, p037, p038, p039, p040, p041, p042, p043, p044, p045, p046, p047, p048, p049, p050, p051, p052,
        p053, p054, p055, p056, p057, p058, p059, p060, p061, p062, p063, p064, p065, p066, p067, p068, p069, p070,
        p071, p072, p073, p074, p075, p076, p077, p078, p079, p080, p081, p082, p083, p084, p085, p086, p087, p088,
        p089, p090, p091, p092, p093, p094, p095, p096, p097, p098, p099, p100, p101, p102, p103, p104, p105, p106,
        p107, p108, p109, p110, p111, p112, p113, p114, p115, p116, p117, p118, p119, p120, p121, p122, p123, p124,
        p125, p126, p127, p128, p129, p130, p131, p132, p133, p134, p135, p136, p137, p138, p139, p140, p141, p142,
        p143, p144, p145, p146, p147, p148, p149, p150, p151, p152, p153, p154, p155, p156, p157, p158, p159, p160,
        p161, p162, p163, p164, p165, p166, p167, p168, p169, p170, p171, p172, p173, p174, p175, p176, p177, p178,
        p179, p180, p181, p182, p183, p184, p185, p186, p187, p188, p189, p190, p191, p192, p193, p194, p195, p196,
        p197, p198, p199, p200, p201, p202, p203, p204, p205, p206, p207, p208, p209, p210, p211, p212, p213, p214,
        p215, p216, p217, p218, p219, p220, p221, p222, p223, p224, p225, p226, p227, p228, p229, p230, p231, p232,
        p233, p234, p235, p236, p237, p238, p239, p240, p241, p242, p243, p244, p245, p246, p247, p248, p249, p250,
        p251;
};
ENTITABLE(widest,
    partition_key(name),
    row_key(bib),
    properties(p000, p001, p002, p003, p004, p005, p006, p007, p008, p009, p010, p011, p012, p013, p014, p015, p016,
        p017, p018, p019, p020, p021, p022, p023, p024, p025, p026, p027, p028, p029, p030, p031, p032, p033,
        p034, p035, p036, p037, p038, p039, p040, p041, p042, p043, p044, p045, p046, p047, p048, p049, p050,
        p051, p052, p053, p054, p055, p056, p057, p058, p059, p060, p061, p062, p063),
    properties(p064, p065, p066, p067, p068, p069, p070, p071, p072, p073, p074, p075, p076, p077, p078, p079, p080,
        p081, p082, p083, p084, p085, p086, p087, p088, p089, p090, p091, p092, p093, p094, p095, p096, p097,
        p098, p099, p100, p101, p102, p103, p104, p105, p106, p107, p108, p109, p110, p111, p112, p113, p114,
        p115, p116, p117, p118, p119, p120, p121, p122, p123, p124, p125, p126, p127),
    properties(p128, p129, p130, p131, p132, p133, p134, p135, p136, p137, p138, p139, p140, p141, p142, p143, p144,
        p145, p146, p147, p148, p149, p150, p151, p152, p153, p154, p155, p156, p157, p158, p159, p160, p161,
        p162, p163, p164, p165, p166, p167, p168, p169, p170, p171, p172, p173, p174, p175, p176, p177, p178,
        p179, p180, p181, p182, p183, p184, p185, p186, p187, p188, p189, p190, p191),
    properties(p192, p193, p194, p195, p196, p197, p198, p199, p200, p201, p202, p203, p204, p205, p206, p207, p208,
        p209, p210, p211, p212, p213, p214, p215, p216, p217, p218, p219, p220, p221, p222, p223, p224, p225,
        p226, p227, p228, p229, p230, p231, p232, p233, p234, p235, p236, p237, p238, p239, p240, p241, p242,
        p243, p244, p245, p246, p247, p248, p249, p250, p251))

/// Sixteen components of each key.
struct longest_keys {
    std::int32_t k00, k01, k02, k03, k04, k05, k06, k07, k08, k09, k10, k11, k12, k13, k14, k15, k16, k17, k18, k19,
        k20, k21, k22, k23, k24, k25, k26, k27, k28, k29, k30, k31;
};
ENTITABLE(longest_keys,
    partition_key(k00, k01, k02, k03, k04, k05, k06, k07, k08, k09, k10, k11, k12, k13, k14, k15),
    row_key(k16, k17, k18, k19, k20, k21, k22, k23, k24, k25, k26, k27, k28, k29, k30, k31))

} // namespace macro_test

namespace {

struct in_anonymous_namespace {
    std::string name;
    std::int32_t bib{};
    std::int32_t age{};
};
ENTITABLE(in_anonymous_namespace,
    partition_key(name),
    row_key(bib),
    properties(age))

} // namespace

/// At global scope.
struct macro_test_global {
    std::string name;
    std::int32_t bib{};
};
ENTITABLE(macro_test_global,
    partition_key(name),
    row_key(bib))

using namespace entitable;
using namespace macro_test;

namespace {

/// The entity that a row of `original` is read as.
template <class Entity>
Entity read_back(Entity const& original) {
    auto const stored = to_row(original);
    REQUIRE(stored);
    REQUIRE(check_payload(stored->payload()));
    Entity read{};
    auto const done = from_row(stored->view(), read);
    if (!done) { FAIL(done.error().message); }
    return read;
}

template <class Entity>
std::vector<std::string> stored_names() {
    std::vector<std::string> names(
        std::begin(mapping<Entity>::property_names), std::end(mapping<Entity>::property_names));
    names.erase(names.begin()); // the placeholder
    return names;
}

} // namespace

TEST_CASE("a struct in a namespace, in an anonymous namespace, at global scope or nested can be an entity") {
    STATIC_REQUIRE(mapped_entity<in_namespace>);
    STATIC_REQUIRE(mapped_entity<in_anonymous_namespace>);
    STATIC_REQUIRE(mapped_entity<macro_test_global>);
    STATIC_REQUIRE(mapped_entity<host::nested>);
    CHECK(read_back(in_namespace{"John", 7, 55}).age == 55);
    CHECK(read_back(in_anonymous_namespace{"John", 7, 55}).age == 55);
    CHECK(read_back(macro_test_global{"John", 7}).bib == 7);
    CHECK(read_back(host::nested{"John", 7, true}).finished);
}

TEST_CASE("the name of an entity is the name written in its declaration") {
    STATIC_REQUIRE(mapping<in_namespace>::entity_name == "in_namespace");
    STATIC_REQUIRE(mapping<host::nested>::entity_name == "host::nested");
    STATIC_REQUIRE(mapping<measured<double>>::entity_name == "in_metres");
}

TEST_CASE("members of a base class can be used") {
    with_base original;
    original.name = "John";
    original.id = -1;
    original.age = 55;
    with_base const read = read_back(original);
    CHECK(read.name == "John");
    CHECK(read.id == -1);
    CHECK(read.age == 55);
    STATIC_REQUIRE_FALSE(mapped_entity<person>);
}

TEST_CASE("two specialisations of one template are two entities") {
    CHECK(read_back(in_metres{"John", 7, 1.5}).measure == 1.5);
    CHECK(read_back(in_steps{"John", 7, -9}).measure == -9);
    STATIC_REQUIRE_FALSE(mapped_entity<measured<bool>>);
}

TEST_CASE("members may have the names of clauses, forms and generated functions") {
    awkward original;
    original.partition_key = "p";
    original.properties = "q";
    original.width = 7;
    original.literal = "l";
    original.row_key = "r";
    original.descending = 1;
    original.entity = "e";
    original.fields = "f";
    original.escaped = "x";
    original.salted = 3;
    original.etag = "t";
    original.property_names = "n";
    auto const stored = to_row(original).value();
    CHECK(stored.partition_key() == "p__q__007");
    CHECK(stored.row_key() == "l__r__2147483646");
    awkward const read = read_back(original);
    CHECK(read.properties == "q");
    CHECK(read.literal == "l");
    CHECK(read.descending == 1);
    CHECK(read.entity == "e");
    CHECK(read.fields == "f");
    CHECK(read.salted == 3);
    CHECK(read.etag == "t");
    CHECK(read.property_names == "n");
    STATIC_REQUIRE(fields<awkward>::fields.name == "fields");
    STATIC_REQUIRE(fields<awkward>::entity_name.name == "entity_name");
}

TEST_CASE("an entity may have no properties, and its clauses can be in any order") {
    auto const stored = to_row(keys_only{"John", 7}).value();
    CHECK(stored.payload().size() == row_format::header_size);
    CHECK(read_back(keys_only{"John", 7}).name == "John");
    STATIC_REQUIRE(mapping<keys_only>::properties::size == 0);
}

TEST_CASE("names that differ only in case are different properties") {
    cased const read = read_back(cased{"John", "1", "2", "3"});
    CHECK(read.Birthday == "1");
    CHECK(read.birthday == "2");
    CHECK(read.BIRTHDAY == "3");
    auto const stored = to_row(cased{"John", "1", "2", "3"}).value();
    CHECK(stored.view().find("birthday")->as_string() == "2");
    CHECK_FALSE(stored.view().find("birthDay"));
}

TEST_CASE("property(member, name) stores under that name, including UTF-8 and the name of a key") {
    auto const stored = to_row(renamed{"John", 7, 55, "Ulm"}).value();
    CHECK(stored.view().find("bib")->as_int32() == 55);
    CHECK(stored.view()
              .find("St\xC3\xA4"
                    "dtchen")
              ->as_string() == "Ulm");
    CHECK_FALSE(stored.view().find("age"));
    renamed const read = read_back(renamed{"John", 7, 55, "Ulm"});
    CHECK(read.age == 55);
    CHECK(read.city == "Ulm");
    STATIC_REQUIRE(fields<renamed>::age.name == "bib");
    CHECK(stored_names<renamed>() ==
        std::vector<std::string>{"bib",
            "St\xC3\xA4"
            "dtchen"});
}

TEST_CASE("a member that is not public is read and written through its accessors") {
    guarded original;
    original.name = "John";
    original.bib = 7;
    original.set_club("Runners");
    original.set_pace(4.25);
    original.set_age(55);
    guarded const read = read_back(original);
    CHECK(read.club() == "Runners");
    CHECK(read.pace() == 4.25);
    CHECK(read.age() == 55);
    auto const stored = to_row(original).value();
    CHECK(stored.view().find("Pace")->as_float64() == 4.25);
    original.set_age({});
    CHECK_FALSE(read_back(original).age());
    STATIC_REQUIRE(std::is_same_v<decltype(fields<guarded>::club)::value_type, std::string>);
    STATIC_REQUIRE(std::is_same_v<decltype(fields<guarded>::age)::value_type, std::optional<std::int32_t>>);
}

TEST_CASE("the members for the ETag and the Timestamp are filled when an entity is read and never stored") {
    auto const when = date_time::from_date(2026, 1, 2);
    versioned original{"John", etag{"\"ours\""}, 55, date_time{7}};
    auto stored = to_row(original).value();
    CHECK(stored.view().timestamp() == date_time{});
    CHECK(stored_names<versioned>() == std::vector<std::string>{"age"});
    std::string payload{stored.payload()};
    set_timestamp(payload, when);
    versioned read = original;
    REQUIRE(from_row(row_view{"John", "one", payload}, read));
    CHECK(read.version == etag::of(when));
    CHECK(read.changed == when);
    CHECK(read.age == 55);
}

TEST_CASE("an entity may have 252 properties, in several clauses for properties") {
    STATIC_REQUIRE(mapping<widest>::properties::size == 252);
    widest original{};
    original.name = "John";
    original.p000 = 1000;
    original.p063 = 1063;
    original.p064 = 1064;
    original.p251 = 1251;
    widest const read = read_back(original);
    CHECK(read.p000 == 1000);
    CHECK(read.p063 == 1063);
    CHECK(read.p064 == 1064);
    CHECK(read.p251 == 1251);
    CHECK(read.p100 == 0);
    CHECK(stored_names<widest>()[251] == "p251");
}

TEST_CASE("each key of an entity may have sixteen components") {
    longest_keys original{};
    original.k00 = 1;
    original.k15 = 2;
    original.k16 = 3;
    original.k31 = -1;
    longest_keys const read = read_back(original);
    CHECK(read.k00 == 1);
    CHECK(read.k15 == 2);
    CHECK(read.k16 == 3);
    CHECK(read.k31 == -1);
    CHECK(row_key_of(original).value().ends_with("__-2147483647"));
}

TEST_CASE("each field has the user's name and its position") {
    using r = fields<in_namespace>;
    STATIC_REQUIRE(std::is_same_v<decltype(r::name)::entity_type, in_namespace>);
    STATIC_REQUIRE(std::is_same_v<decltype(r::name)::codec, key_codec<std::string>>);
    STATIC_REQUIRE(std::is_same_v<decltype(r::bib)::value_type, std::int32_t>);
    STATIC_REQUIRE(r::age.name == "age");
    STATIC_REQUIRE(std::is_same_v<decltype(fields<awkward>::width)::codec, width_codec<std::int32_t, 3>>);
    STATIC_REQUIRE(decltype(fields<awkward>::descending)::codec::reversed);
}
