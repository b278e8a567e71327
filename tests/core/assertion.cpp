// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/result.hpp>

#include <support/catch.hpp>
#include <support/dying.hpp>

#include <string>
#include <utility>

#if !defined(_WIN32)

using namespace entitable;
using entitable_test::last_words;

namespace {

auto const* const no_value =
    "entitable: * or -> was used on a result that has an error: ResourceNotFound (404): the table "
    "\"runners\" has no entity with this key\n";
auto const* const no_error = "entitable: error() was called on a result that has a value: InvalidInput (400): call "
                             "error() only after testing the result\n";

result<std::string> not_found() {
    return failure{error_code::resource_not_found, "the table \"runners\" has no entity with this key"};
}

template <class T>
void use(T&& read) {
    [[maybe_unused]] auto const* volatile at = &read;
}

} // namespace

TEST_CASE("a failed result has no value: * and -> end the program with the error") {
    auto found = not_found();
    auto const& unchangeable = found;
    CHECK(last_words([&] { use(*found); }) == no_value);
    CHECK(last_words([&] { use(*unchangeable); }) == no_value);
    CHECK(last_words([&] { use(*std::move(found)); }) == no_value);
    CHECK(last_words([&] { use(found->size()); }) == no_value);
    CHECK(last_words([&] { use(unchangeable->size()); }) == no_value);
    CHECK(last_words([&] { found->append("written"); }) == no_value);
}

TEST_CASE("a successful result has no error: error() ends the program") {
    result<int> const number{1};
    result<void> const done;
    CHECK(last_words([&] { use(number.error()); }) == no_error);
    CHECK(last_words([&] { use(done.error()); }) == no_error);
}

TEST_CASE("a result whose error was moved out says so") {
    auto found = not_found();
    result<int> const passed_on{std::move(found).as_failure()};
    CHECK(last_words([&] { use(*found); }) ==
        "entitable: * or -> was used on a result that has an error: InvalidInput (400): this result was moved from, or "
        "its error "
        "was taken\n");
    CHECK(last_words([&] { use(*passed_on); }) == no_value);
}

TEST_CASE("the text of an error is one line, whatever the service's answer contains") {
    failure refused{error_code::server_busy, "the service is busy"};
    refused.error().server_message = "first\nsecond";
    result<int> const busy{std::move(refused)};
    CHECK(last_words([&] { use(*busy); }) ==
        "entitable: * or -> was used on a result that has an error: ServerBusy (503): the service is busy; the server "
        "reported: "
        "first\\x0asecond\n");
}

TEST_CASE("a value can be read any number of times") {
    result<std::string> good{std::string{"John"}};
    CHECK(good->size() == 4);
    CHECK(*std::as_const(good) == "John");
    CHECK(*std::move(good) == "John");
}

#endif
