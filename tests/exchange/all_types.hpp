// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// An entity with each type of member, and random ones.

#include <entitable/bulk/exchange/refused_line.hpp>
#include <entitable/entitable.hpp>

#include <support/draw.hpp>

#include <bit>
#include <cmath>

namespace exchange_test {

enum class colour : std::uint8_t { red, green };
enum class size_class : std::int16_t {};
enum class huge : std::uint64_t {};

} // namespace exchange_test

template <>
struct entitable::enum_names<exchange_test::colour> {
    static constexpr entitable::enum_name<exchange_test::colour> values[] = {
        {exchange_test::colour::red, "red, or \"rosso\""}, {exchange_test::colour::green, "green"}};
};

namespace exchange_test {

struct author {
    std::string country;
    std::string name;
};
ENTITABLE(author, partition_key(country), row_key(name))

/// Each EDM type, as it is and optional; keys of each kind.
struct everything {
    std::string shelf;
    std::uint64_t number{};
    std::optional<std::int16_t> part;
    huge batch{};
    entitable::date_time added;
    std::string text;
    std::int32_t small_number{};
    std::int64_t large_number{};
    double real{};
    bool truth{};
    entitable::date_time time;
    entitable::guid id;
    entitable::binary bytes;
    colour paint{};
    size_class measure{};
    entitable::reference<author> writer;
    std::string long_text;
    std::optional<std::string> maybe_text;
    std::optional<std::int32_t> maybe_small;
    std::optional<std::int64_t> maybe_large;
    std::optional<double> maybe_real;
    std::optional<bool> maybe_truth;
    std::optional<entitable::date_time> maybe_time;
    std::optional<entitable::guid> maybe_id;
    std::optional<entitable::binary> maybe_bytes;
    std::optional<colour> maybe_paint;
    std::optional<entitable::reference<author>> maybe_writer;

    [[nodiscard]] std::int32_t const& age() const noexcept { return age_; }
    void set_age(std::int32_t age) noexcept { age_ = age; }
    std::int32_t age_{};

    friend bool operator==(everything const& left, everything const& right) {
        auto const same = [](double one, double other) {
            return std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(other);
        };
        auto const rest = [](everything of) {
            of.real = 0;
            of.maybe_real.reset();
            return of;
        };
        return same(left.real, right.real) && left.maybe_real.has_value() == right.maybe_real.has_value() &&
            same(left.maybe_real.value_or(0), right.maybe_real.value_or(0)) && rest(left).equals(rest(right));
    }
    [[nodiscard]] bool equals(everything const& o) const {
        return shelf == o.shelf && number == o.number && part == o.part && batch == o.batch && added == o.added &&
            text == o.text && small_number == o.small_number && large_number == o.large_number && truth == o.truth &&
            time == o.time && id == o.id && bytes == o.bytes && paint == o.paint && measure == o.measure &&
            writer == o.writer && long_text == o.long_text && maybe_text == o.maybe_text &&
            maybe_small == o.maybe_small && maybe_large == o.maybe_large && maybe_truth == o.maybe_truth &&
            maybe_time == o.maybe_time && maybe_id == o.maybe_id && maybe_bytes == o.maybe_bytes &&
            maybe_paint == o.maybe_paint && maybe_writer == o.maybe_writer && age_ == o.age_;
    }
};
ENTITABLE(everything, partition_key(literal("P"), escaped(shelf)),
    row_key(salted(number, 4), part, batch, descending(added)),
    properties(text, small_number, large_number, property(real, "Real"), truth, time, id, bytes, paint, measure, writer,
        chunked(long_text), maybe_text, maybe_small, maybe_large, maybe_real, maybe_truth, maybe_time, maybe_id,
        maybe_bytes, maybe_paint, maybe_writer, accessors(Age, age, set_age)))

/// Text with what a CSV or JSON text must not confuse.
inline std::string hard_text(entitable_test::draw& draw) {
    constexpr std::string_view hard[] = {",", "\"", "\"\"", "\n", "\r\n", "\r", ";", "\t", " ", "\\", "{", "}", ":",
        "null", "=1+1", "\xEF\xBB\xBF", "'", "/", "\x01"};
    std::string made;
    for (std::size_t left = draw.below(6); left > 0; --left) {
        switch (draw.below(3)) {
            case 0: made += hard[draw.below(std::size(hard))]; break;
            case 1: made.push_back('\0'); break;
            default: made += draw.text();
        }
    }
    return made;
}

inline double hard_real(entitable_test::draw& draw) {
    constexpr double hard[] = {0.0, -0.0, 1.0, 0.1, 1e308, 5e-324, -2.5e-308, std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), 9007199254740993.0};
    if (draw.one_in(3)) { return hard[draw.below(std::size(hard))]; }
    double const made = std::bit_cast<double>(draw.bits());
    return std::isnan(made) ? std::numeric_limits<double>::quiet_NaN() : made;
}

inline everything random_everything(std::uint64_t seed) {
    entitable_test::draw draw{seed};
    auto const time = [&] {
        return entitable::date_time{
            static_cast<std::int64_t>(draw.bits() % (static_cast<std::uint64_t>(entitable::date_time::max_ticks) + 1))};
    };
    auto const id = [&] {
        entitable::guid made;
        for (auto& byte : made.bytes) { byte = static_cast<unsigned char>(draw.below(256)); }
        return made;
    };
    auto const bytes = [&] {
        entitable::binary made(draw.below(9));
        for (auto& byte : made) { byte = static_cast<std::byte>(draw.below(256)); }
        return made;
    };
    everything made;
    made.shelf = hard_text(draw);
    made.number = draw.integer<std::uint64_t>();
    made.batch = static_cast<huge>(draw.integer<std::uint64_t>());
    made.added = time();
    made.text = hard_text(draw);
    made.small_number = draw.integer<std::int32_t>();
    made.large_number = draw.integer<std::int64_t>();
    made.real = hard_real(draw);
    made.truth = draw.one_in(2);
    made.time = time();
    made.id = id();
    made.bytes = bytes();
    made.paint = draw.one_in(2) ? colour::red : colour::green;
    made.measure = static_cast<size_class>(draw.integer<std::int16_t>());
    made.writer = {hard_text(draw), hard_text(draw)};
    made.long_text = hard_text(draw);
    made.set_age(draw.integer<std::int32_t>());
    if (draw.one_in(2)) { made.part = draw.integer<std::int16_t>(); }
    if (draw.one_in(2)) { made.maybe_text = hard_text(draw); }
    if (draw.one_in(2)) { made.maybe_small = draw.integer<std::int32_t>(); }
    if (draw.one_in(2)) { made.maybe_large = draw.integer<std::int64_t>(); }
    if (draw.one_in(2)) { made.maybe_real = hard_real(draw); }
    if (draw.one_in(2)) { made.maybe_truth = draw.one_in(2); }
    if (draw.one_in(2)) { made.maybe_time = time(); }
    if (draw.one_in(2)) { made.maybe_id = id(); }
    if (draw.one_in(2)) { made.maybe_bytes = bytes(); }
    if (draw.one_in(2)) { made.maybe_paint = colour::green; }
    if (draw.one_in(2)) { made.maybe_writer = entitable::reference<author>{hard_text(draw), hard_text(draw)}; }
    return made;
}

/// A book with a readable title, some of which need quotes.
struct book {
    std::string language;
    std::int32_t number{};
    std::string title;
    std::optional<std::string> subtitle;
    std::int32_t year{};
    double price{};
    std::optional<entitable::date_time> lent;

    friend bool operator==(book const&, book const&) = default;
};
ENTITABLE(book, partition_key(language), row_key(literal("BOOK:"), number),
    properties(title, subtitle, year, property(price, "Price"), lent))

inline std::vector<book> made_books(std::int32_t count) {
    constexpr std::string_view languages[] = {"de", "en", "fr"};
    std::vector<book> made;
    for (std::int32_t number = 0; number < count; ++number) {
        book each{std::string{languages[number % 3]}, number, "The book, number " + std::to_string(number), {},
            1900 + number % 120, number / 100.0, {}};
        if (number % 3 == 0) { each.subtitle = number % 2 == 0 ? "" : "or: \"why\"\nand how"; }
        if (number % 7 == 0) {
            each.lent = entitable::date_time::from_date(2020, 1 + static_cast<unsigned>(number % 12), 1);
        }
        made.push_back(std::move(each));
    }
    return made;
}

/// The entities and errors of a reader, and its report.
template <class Entity>
struct readings {
    std::vector<Entity> entities;
    std::vector<std::string> errors;
    entitable::read_report report;
};
template <class Entity, class Reader>
readings<Entity> collected(Reader& reader) {
    readings<Entity> made;
    for (auto& each : reader) {
        if (each) {
            made.entities.push_back(*each);
        } else {
            made.errors.push_back(each.error().message);
        }
    }
    made.report = reader.report();
    return made;
}

} // namespace exchange_test
