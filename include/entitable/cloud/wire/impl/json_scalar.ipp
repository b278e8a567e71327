// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/core/error.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/text.hpp>

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

static_assert(simdjson::SIMDJSON_VERSION_MAJOR >= 3, "entitable/azure.hpp needs simdjson 3 or newer");

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Compares bytes. It is inline, because most names of a page are compared once with their previous value.
inline bool same_bytes(char const* left, char const* right, std::size_t size) noexcept {
    auto const same = [&]<class Word>(Word ours, std::size_t at) {
        Word theirs{};
        std::memcpy(&ours, left + at, sizeof ours);
        std::memcpy(&theirs, right + at, sizeof theirs);
        return ours == theirs;
    };
    if (size >= sizeof(std::uint64_t)) { // the last word may overlap the one before
        std::size_t const last = size - sizeof(std::uint64_t);
        for (std::size_t at = 0; at < last; at += sizeof(std::uint64_t)) {
            if (!same(std::uint64_t{}, at)) { return false; }
        }
        return same(std::uint64_t{}, last);
    }
    if (size >= sizeof(std::uint32_t)) {
        return same(std::uint32_t{}, 0) && same(std::uint32_t{}, size - sizeof(std::uint32_t));
    }
    for (std::size_t at = 0; at < size; ++at) {
        if (left[at] != right[at]) { return false; }
    }
    return true;
}
inline bool same_bytes(std::string_view left, std::string_view right) noexcept {
    return left.size() == right.size() && same_bytes(left.data(), right.data(), left.size());
}

/// Sorts names and returns whether they are distinct.
inline bool all_different(std::vector<std::string_view>& names) {
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) == names.end();
}

/// A value of a member, of a type that properties can have.
struct json_scalar {
    enum class kind : unsigned char {
        text,
        boolean,
        integer, ///< 64-bit, signed
        real,
        large, ///< a 64-bit unsigned integer, as `real`
        null,
        other
    };

    kind is{kind::other};
    bool boolean{};
    std::int64_t integer{};
    double real{};
    std::string_view text;
};

/// Returns the value in a document.
inline json_scalar scalar_of(simdjson::dom::element value) noexcept {
    json_scalar made;
    switch (value.type()) {
        case simdjson::dom::element_type::STRING:
            made.is = value.get(made.text) == simdjson::SUCCESS ? json_scalar::kind::text : json_scalar::kind::other;
            break;
        case simdjson::dom::element_type::BOOL:
            made.is =
                value.get(made.boolean) == simdjson::SUCCESS ? json_scalar::kind::boolean : json_scalar::kind::other;
            break;
        case simdjson::dom::element_type::INT64:
            made.is =
                value.get(made.integer) == simdjson::SUCCESS ? json_scalar::kind::integer : json_scalar::kind::other;
            break;
        case simdjson::dom::element_type::UINT64:
            made.is = value.get(made.real) == simdjson::SUCCESS ? json_scalar::kind::large : json_scalar::kind::other;
            break;
        case simdjson::dom::element_type::DOUBLE:
            made.is = value.get(made.real) == simdjson::SUCCESS ? json_scalar::kind::real : json_scalar::kind::other;
            break;
        case simdjson::dom::element_type::NULL_VALUE: made.is = json_scalar::kind::null; break;
        default: break;
    }
    return made;
}

/// Reads a number in place in a text. Reals of more than 19 digits are `other`: simdjson 3.0.1 misreads them here, but not in a document.
inline json_scalar::kind read_number(simdjson::ondemand::value value, json_scalar& out) noexcept {
    constexpr std::size_t longest_real = 19;
    std::size_t const size = value.raw_json_token().size();
    simdjson::ondemand::number number;
    if (value.get_number().get(number) != simdjson::SUCCESS) { return json_scalar::kind::other; }
    if (number.is_int64()) {
        out.integer = number.get_int64();
        return json_scalar::kind::integer;
    }
    out.real = number.as_double();
    return number.is_uint64()  ? json_scalar::kind::large
        : size <= longest_real ? json_scalar::kind::real
                               : json_scalar::kind::other;
}

/// Returns the value in place in a text; malformed values are `other`.
inline json_scalar scalar_of(simdjson::ondemand::value value) noexcept {
    json_scalar made;
    simdjson::ondemand::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) { return made; }
    if (type == simdjson::ondemand::json_type::string) {
        if (value.get_string().get(made.text) == simdjson::SUCCESS) { made.is = json_scalar::kind::text; }
    } else if (type == simdjson::ondemand::json_type::boolean) {
        if (value.get_bool().get(made.boolean) == simdjson::SUCCESS) { made.is = json_scalar::kind::boolean; }
    } else if (type == simdjson::ondemand::json_type::number) {
        made.is = read_number(value, made);
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
