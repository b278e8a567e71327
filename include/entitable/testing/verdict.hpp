// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Assertions that need no test framework and work with each: a `verdict` is yes, or no with a reason.
///
///     CHECK(testing::fails_with(orders.insert(order), error_code::entity_already_exists));   // a framework's own word
///     testing::require(testing::succeeds(orders.insert(order)));                             // none at all

#include <entitable/testing/contents.hpp>

#include <cstdio>
#include <cstdlib>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// The outcome of an assertion.
class [[nodiscard]] verdict {
public:
    [[nodiscard]] static verdict yes() { return verdict{{}}; }                           ///< it holds
    [[nodiscard]] static verdict no(std::string why) { return verdict{std::move(why)}; } ///< it does not hold, and why

    explicit operator bool() const noexcept { return why_.empty(); } ///< whether it holds
    /// What was expected and what came instead; empty when it holds.
    [[nodiscard]] std::string const& why() const noexcept { return why_; }

private:
    explicit verdict(std::string why) : why_(std::move(why)) {}
    std::string why_;
};

/// For frameworks that print what they check.
template <class Stream>
auto operator<<(Stream& out, verdict const& asked) -> decltype(out << asked.why()) {
    return out << (asked ? std::string{"yes"} : asked.why());
}

/// Ends the program with the reason and the place, unless the verdict is yes.
inline void(require)(verdict const& asked, char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!asked) {
        std::fprintf(stderr, "%s:%d: %s\n", file, line, asked.why().c_str());
        std::exit(EXIT_FAILURE);
    }
}

/// The result has a value.
template <class T>
[[nodiscard]] verdict succeeds(result<T> const& outcome) {
    return outcome ? verdict::yes() : verdict::no("expected success, got " + outcome.error().to_string());
}

/// The result has an error of this code and `effect::none`.
template <class T>
[[nodiscard]] verdict fails_with(result<T> const& outcome, error_code code) {
    std::string const expected = "expected " + std::string{to_string(code)} + ", got ";
    if (outcome) {
        return verdict::no(expected + "success");
    }
    if (outcome.error().code != code || outcome.error().effect != effect::none) {
        return verdict::no(expected + outcome.error().to_string());
    }
    return verdict::yes();
}

/// There is an entity with these keys.
[[nodiscard]] inline verdict has_entity(
    any_transport const& store, std::string table, std::string partition_key, std::string row_key) {
    call context;
    auto const read =
        store.execute(get_entity{std::move(table), std::move(partition_key), std::move(row_key), {}}, context);
    return succeeds(read);
}

/// The entity has exactly this value in this property.
[[nodiscard]] inline verdict has_property(row_view entity, std::string_view name, value_view expected) {
    auto const found = entity.find(name);
    if (found && *found == expected) {
        return verdict::yes();
    }
    auto const shown_value = [](value_view held) {
        return std::string{to_string(held.type())} + " " + value{held}.to_string();
    };
    return verdict::no("expected " + std::string{name} + " = " + shown_value(expected) + ", got " +
        (found ? shown_value(*found) : std::string{"nothing"}));
}

/// Both hold the same.
[[nodiscard]] inline verdict same_contents(contents const& expected, contents const& found, shown how = shown::data) {
    std::string different = difference(expected, found, how);
    return different.empty() ? verdict::yes() : verdict::no("not the same contents:\n" + different);
}

} // namespace testing
ENTITABLE_END_NAMESPACE
