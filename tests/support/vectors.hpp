// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Golden vectors of the protocol: JSON files in the directory that the environment variable ENTITABLE_VECTORS names.

#include <simdjson.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace entitable_test {

/// One file of vectors. Lives as long as what is read from it.
class vector_file {
public:
    /// Nothing, and a line that says so, without ENTITABLE_VECTORS. A file that is missing there throws.
    [[nodiscard]] static bool here() {
        bool const given = std::getenv("ENTITABLE_VECTORS") != nullptr;
        if (!given) {
            std::puts("skipped: ENTITABLE_VECTORS names no directory of golden vectors");
        }
        return given;
    }
    explicit vector_file(std::string const& name)
        : root_(parser_.load(std::string{std::getenv("ENTITABLE_VECTORS")} + "/" + name)) {}

    [[nodiscard]] simdjson::dom::element root() const { return root_; }

    /// The text of a member; empty when it is missing or null.
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

} // namespace entitable_test
