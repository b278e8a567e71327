// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Golden vectors of the protocol: JSON files in the directory in the environment variable ENTITABLE_VECTORS.

#include <simdjson.h>
#include <support/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace entitable_test {

/// One file of vectors. Lives as long as the data read from it.
class vector_file {
public:
    /// Without ENTITABLE_VECTORS returns nothing and prints a line that says so. Throws if the file is missing there.
    [[nodiscard]] static bool here() {
        bool const given = std::getenv("ENTITABLE_VECTORS") != nullptr;
        if (!given) { std::puts("skipped: ENTITABLE_VECTORS names no directory of golden vectors"); }
        return given;
    }
    explicit vector_file(std::string const& name)
        : root_(parser_.load(std::string{std::getenv("ENTITABLE_VECTORS")} + "/" + name)) {}

    [[nodiscard]] simdjson::dom::element root() const { return root_; }

    /// The text of a member; empty if it is missing or null.
    [[nodiscard]] static std::string text(simdjson::dom::element of, char const* member) {
        std::string_view found;
        return of[member].get(found) == simdjson::SUCCESS ? std::string{found} : std::string{};
    }
    [[nodiscard]] static std::optional<std::string> optional_text(simdjson::dom::element of, char const* member) {
        std::string_view found;
        return of[member].get(found) == simdjson::SUCCESS ? std::optional{std::string{found}} : std::nullopt;
    }

private:
    simdjson::dom::parser parser_;
    simdjson::dom::element root_;
};

/// One file of vectors for a test that checks it first: `if (!all) { return; }`.
class vectors {
public:
    explicit vectors(std::string const& name) {
        if (vector_file::here()) { file_.emplace(name); }
    }
    explicit operator bool() const { return file_.has_value(); }

    /// The list called `name`.
    [[nodiscard]] simdjson::dom::array list(std::string_view name) const {
        simdjson::dom::array found;
        REQUIRE(file_->root()[name].get(found) == simdjson::SUCCESS);
        return found;
    }

private:
    std::optional<vector_file> file_;
};

inline simdjson::dom::array list_of(simdjson::dom::element object, std::string_view name) {
    simdjson::dom::array found;
    REQUIRE(object[name].get(found) == simdjson::SUCCESS);
    return found;
}
/// A member that is a text; empty if it is missing or null.
inline std::string text_of(simdjson::dom::element object, std::string_view name) {
    std::string_view text;
    return object[name].get(text) == simdjson::SUCCESS ? std::string{text} : std::string{};
}
inline bool has(simdjson::dom::element object, std::string_view name) {
    simdjson::dom::element value;
    return object[name].get(value) == simdjson::SUCCESS && !value.is_null();
}
inline std::int64_t number_of(simdjson::dom::element object, std::string_view name) {
    std::int64_t number{};
    REQUIRE(object[name].get(number) == simdjson::SUCCESS);
    return number;
}

} // namespace entitable_test
