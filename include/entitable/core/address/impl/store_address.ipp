// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/address/store_address.hpp>
#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline failure wrong_address(std::initializer_list<std::string_view> parts) {
    return failure{error_code::invalid_input, text::joined(parts)};
}

/// Whether the text begins with the name of a connection string's field and "=".
inline bool is_connection_string(std::string_view text) {
    std::size_t const name = text.find('=');
    std::size_t const letters = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz \t\r\n");
    return name != std::string_view::npos && name > 0 && letters == name;
}

/// Whether the text begins with two or more letters and ":", as a URL does; "C:" begins a path.
inline bool has_scheme(std::string_view text) {
    std::size_t const letters = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    return letters != std::string_view::npos && letters > 1 && text[letters] == ':';
}

inline bool is_variable_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
            each == '_' || each == '-' || each == '.';
    });
}

/// Removes a prefix; false if the text does not begin with it.
inline bool drop_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) { return false; }
    text.remove_prefix(prefix.size());
    return true;
}

/// Returns the address in the environment variable that `env:NAME` names.
inline result<std::string> address_in_environment(std::string_view name) {
    if (!is_variable_name(name)) {
        return wrong_address({"env: is followed by something other than the name of an environment variable"});
    }
    std::string const asked{name};
    char const* const value = std::getenv(asked.c_str()); // NOLINT(concurrency-mt-unsafe): the caller's contract
    if (value == nullptr || *value == '\0') {
        return wrong_address(
            {"the environment variable ", name, " is not set: it should contain the address of a store"});
    }
    if (std::string_view{value}.starts_with("env:")) {
        return wrong_address({"the environment variable ", name, " refers to another environment variable"});
    }
    return std::string{value};
}

} // namespace detail

ENTITABLE_DECL result<store_address> store_address::parse(std::string_view text) {
    std::string held;
    if (detail::drop_prefix(text, "env:")) {
        ENTITABLE_TRY(held, detail::address_in_environment(text));
        text = held;
    }
    store_address made;
    bool has_options = true;
    if (detail::drop_prefix(text, "memory:")) {
        made.component_ = store_component::memory;
    } else if (detail::drop_prefix(text, "file:")) {
        made.component_ = store_component::file;
    } else if (detail::drop_prefix(text, "shards:")) {
        made.component_ = store_component::shards;
    } else {
        has_options = false;
        if (text.starts_with("postgres://") || text.starts_with("postgresql://")) {
            made.component_ = store_component::postgres;
        } else if (text.starts_with("https://") || text.starts_with("http://") || detail::is_connection_string(text)) {
            made.component_ = store_component::azure;
        } else if (text.ends_with(".db") && !detail::has_scheme(text)) {
            made.component_ = store_component::file;
        } else {
            return detail::wrong_address(
                {"the address of a store begins with memory:, file:, postgres://, https://, shards: or env:, ends in "
                 ".db, or is a connection string"});
        }
    }
    std::size_t const query = has_options ? text.find('?') : std::string_view::npos;
    std::string_view const place = text.substr(0, query);
    if (made.component_ == store_component::file && has_options) {
        if (!detail::append_url_unescaped(made.place_, place)) {
            return detail::wrong_address(
                {"the path after file: has a % without two hexadecimal digits: write % as %25"});
        }
    } else {
        made.place_ = place;
    }
    if (made.component_ == store_component::file && made.place_.empty()) {
        return detail::wrong_address({"file: is not followed by a path"});
    }
    if (query != std::string_view::npos) { ENTITABLE_CHECK(made.add_options(text.substr(query + 1))); }
    return made;
}

ENTITABLE_DECL result<void> store_address::add_options(std::string_view query) {
    while (!query.empty()) { ENTITABLE_CHECK(add_option(text::take_part(query, '&'))); }
    return {};
}

ENTITABLE_DECL result<void> store_address::add_option(std::string_view pair) {
    std::size_t const equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        return detail::wrong_address({"the address has an option without a name and a value: write name=value"});
    }
    option read;
    read.name = pair.substr(0, equals);
    if (!detail::append_url_unescaped(read.value, pair.substr(equals + 1))) {
        return detail::wrong_address({"the option ", text::shortened(text::printable(read.name)),
            " of the address has a % without two hexadecimal digits: write % as %25"});
    }
    bool const twice =
        std::any_of(options_.begin(), options_.end(), [&](option const& each) { return each.name == read.name; });
    if (twice) {
        return detail::wrong_address(
            {"the option ", text::shortened(text::printable(read.name)), " of the address is given twice"});
    }
    options_.push_back(std::move(read));
    return {};
}

ENTITABLE_DECL store_address::option const* store_address::find(std::string_view name) {
    known_.emplace_back(name);
    auto const found =
        std::find_if(options_.begin(), options_.end(), [&](option const& each) { return each.name == name; });
    return found == options_.end() ? nullptr : &*found;
}

ENTITABLE_DECL result<bool> store_address::flag(std::string_view name, bool otherwise) {
    ENTITABLE_TRY(auto const chosen, one_of(name, {"false", "true"}));
    return chosen ? *chosen == 1 : otherwise;
}

ENTITABLE_DECL result<std::optional<std::size_t>> store_address::one_of(
    std::string_view name, std::initializer_list<std::string_view> values) {
    option const* const given = find(name);
    if (given == nullptr) { return std::optional<std::size_t>{}; }
    auto const found = std::find(values.begin(), values.end(), given->value);
    if (found != values.end()) { return std::optional{static_cast<std::size_t>(found - values.begin())}; }
    std::string known;
    for (std::string_view const each : values) { known += text::joined({known.empty() ? "" : ", ", each}); }
    return detail::wrong_address({"the option ", name, " of the address accepts: ", known});
}

ENTITABLE_DECL result<std::optional<std::size_t>> store_address::number(
    std::string_view name, std::size_t least, std::size_t most) {
    option const* const given = find(name);
    if (given == nullptr) { return std::optional<std::size_t>{}; }
    std::size_t value = 0;
    char const* const end = given->value.data() + given->value.size();
    auto const read = std::from_chars(given->value.data(), end, value);
    if (read.ec == std::errc{} && read.ptr == end && value >= least && value <= most) { return std::optional{value}; }
    return detail::wrong_address({"the option ", name, " of the address is not a number from ", std::to_string(least),
        " to ", std::to_string(most)});
}

ENTITABLE_DECL std::optional<std::string> store_address::text(std::string_view name) {
    option const* const given = find(name);
    return given == nullptr ? std::nullopt : std::optional{given->value};
}

ENTITABLE_DECL result<void> store_address::check_options() const {
    for (option const& each : options_) {
        if (std::find(known_.begin(), known_.end(), each.name) != known_.end()) { continue; }
        std::string names;
        for (std::string const& known : known_) { names += text::joined({names.empty() ? "" : ", ", known}); }
        return detail::wrong_address({"the address has an unknown option ", text::shortened(text::printable(each.name)),
            names.empty() ? ": it accepts none" : "; it accepts: ", names});
    }
    return {};
}

ENTITABLE_DECL result<void> store_address::take_from_query(std::string_view name) {
    std::size_t const query = place_.find('?');
    if (query == std::string::npos) { return {}; }
    std::string rest;
    std::string_view left = std::string_view{place_}.substr(query + 1);
    while (!left.empty()) {
        std::string_view const pair = text::take_part(left, '&');
        if (pair.substr(0, pair.find('=')) == name) {
            ENTITABLE_CHECK(add_option(pair));
        } else {
            rest += text::joined({rest.empty() ? "?" : "&", pair});
        }
    }
    place_ = text::joined({std::string_view{place_}.substr(0, query), rest});
    return {};
}

ENTITABLE_END_NAMESPACE
