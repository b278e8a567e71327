// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Assertions that work with any test framework and without one: a `verdict` is a yes, or a no with a reason.
///
///     CHECK(testing::fails_with(orders.insert(order), error_code::entity_already_exists));   // with a framework's macro
///     testing::require(testing::succeeds(orders.insert(order)));                             // without a framework

#include <entitable/testing/contents.hpp>

#include <cstdio>
#include <cstdlib>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// The result of an assertion.
class [[nodiscard]] verdict {
public:
    [[nodiscard]] static verdict yes() { return verdict{{}}; }                           ///< a success
    [[nodiscard]] static verdict no(std::string why) { return verdict{std::move(why)}; } ///< a failure with its reason

    explicit operator bool() const noexcept { return reason_.empty(); } ///< whether the assertion holds
    /// Returns the expectation and the actual result; empty if the assertion holds.
    [[nodiscard]] std::string const& reason() const noexcept { return reason_; }

private:
    explicit verdict(std::string why) : reason_(std::move(why)) {}
    std::string reason_;
};

/// Prints the reason, for frameworks that print their checks.
template <class Stream>
auto operator<<(Stream& out, verdict const& asked) -> decltype(out << asked.reason()) {
    return out << (asked ? std::string{"yes"} : asked.reason());
}

/// Ends the program with the reason and the place, unless the verdict is yes.
inline void(require)(verdict const& asked, char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!asked) {
        std::fprintf(stderr, "%s:%d: %s\n", file, line, asked.reason().c_str());
        std::exit(EXIT_FAILURE);
    }
}

/// Asserts that the result has a value.
template <class T>
[[nodiscard]] verdict succeeds(result<T> const& outcome) {
    return outcome ? verdict::yes() : verdict::no("expected success, got " + outcome.error().to_string());
}

/// Asserts that the result has an error of this code and `effect::none`.
template <class T>
[[nodiscard]] verdict fails_with(result<T> const& outcome, error_code code) {
    std::string const expected = "expected " + std::string{to_string(code)} + ", got ";
    if (outcome) { return verdict::no(expected + "success"); }
    if (outcome.error().code != code || outcome.error().effect != effect::none) {
        return verdict::no(expected + outcome.error().to_string());
    }
    return verdict::yes();
}

/// Asserts that an entity with these keys exists.
[[nodiscard]] inline verdict has_entity(
    any_store const& store, std::string table, std::string partition_key, std::string row_key) {
    call context;
    auto const read =
        store.execute(get_entity{std::move(table), std::move(partition_key), std::move(row_key), {}}, context);
    return succeeds(read);
}

/// Asserts that the entity has exactly this value in this property.
[[nodiscard]] inline verdict has_property(row_view entity, std::string_view name, value_view expected) {
    auto const found = entity.find(name);
    if (found && *found == expected) { return verdict::yes(); }
    auto const shown_value = [](value_view held) {
        return std::string{to_string(held.type())} + " " + value{held}.to_string();
    };
    return verdict::no("expected " + std::string{name} + " = " + shown_value(expected) + ", got " +
        (found ? shown_value(*found) : std::string{"nothing"}));
}

/// Asserts that both stores have the same contents.
[[nodiscard]] inline verdict same_contents(contents const& expected, contents const& found, shown how = shown::data) {
    std::string different = difference(expected, found, how);
    return different.empty() ? verdict::yes() : verdict::no("the contents differ:\n" + different);
}

} // namespace testing
ENTITABLE_END_NAMESPACE
