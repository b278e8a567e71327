// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A program with a handler of its own, which throws: header-only, because each file of a program has the same one.

#include <exception>

namespace own {

inline int calls = 0;

template <class Error>
void handle(char const* what, Error const& problem) {
    ++calls;
    if (what == nullptr || *what == '\0') { std::terminate(); }
    problem.raise();
}

} // namespace own

#define ENTITABLE_ASSERT(condition, what, problem) ((condition) ? void() : own::handle(what, problem))

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <cstdio>
#include <string>

struct account {
    std::string bank;
    std::int32_t number{};
    std::int64_t cents{};
};

ENTITABLE(account,
    partition_key(bank),
    row_key(number),
    properties(cents))

namespace {

int failures = 0;

template <class Read>
void throws(char const* name, entitable::error_code expected, Read const& read) {
    int const before = own::calls;
    try {
        read();
    } catch (entitable::error const& problem) {
        if (problem.code == expected && own::calls == before + 1) { return; }
    }
    std::printf("%s did not throw through the handler\n", name);
    ++failures;
}

} // namespace

int main() {
    using entitable::error_code;
    using a = entitable::fields<account>;
    entitable::table<account> const accounts{entitable::memory_backend{}, "accounts"};
    accounts.create().value();
    accounts.insert({"First", 1, 10'000}).value();

    throws("->", error_code::resource_not_found, [&] { static_cast<void>(accounts.get("Frist", 1)->cents); });
    throws("*", error_code::resource_not_found, [&] { static_cast<void>(*accounts.get("Frist", 1)); });
    throws("error()", error_code::invalid_input, [&] { static_cast<void>(accounts.get("First", 1).error()); });
    throws("++", error_code::invalid_input, [&] {
        auto const all = accounts.where(a::bank == "First");
        auto at = all.begin();
        ++at;
        ++at;
    });
    static_cast<void>(accounts.get("First", 1)->cents);
    return failures;
}
