// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Connection strings: an invalid string is InvalidInput and nothing is sent; no error repeats any part of a string, which contains a
// password.

#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/postgres_server.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

/// The whole text of an error.
std::string all_of(error const& said) {
    return said.to_string() + " | " + said.message + " | " + said.server_message + " | " + said.detail;
}

} // namespace

TEST_CASE("postgres: an invalid connection string returns InvalidInput, and the error contains no part of the string") {
    for (std::string const string : {
             "host=h password=my s3cret port=1",
             "postgresql://u:s3cr/et@h:1/d",
             "postgresql://u:s3cr@et@h:1/d",
             "postgresql://u:s3cr%zz@h:1/d",
             "postgresql://u:s3cret@[::1/d",
             "host=h passwort=s3cret",
             "host=h password='s3cret",
             "host=h password=a=s3cret =",
             "postgresql://u:p@h/d?password=s3cret&s3cret",
             "host=h sslmode=s3cret",
             "host=h target_session_attrs=s3cret",
             "host=h connect_timeout=s3cret",
             "host=h port=s3cret",
             "host=h port=99999 password=s3cret",
             "host=h,i,j port=1,2 password=s3cret",
             "host=h,i hostaddr=127.0.0.1 password=s3cret",
             "host=h channel_binding=s3cret",
             "host=h sslmode=verify-full sslrootcert=/no/such/s3cret",
             "host='s3cr et' password=p",
         }) {
        INFO(string);
        auto const refused = postgres_backend::connect(string);
        REQUIRE(!refused);
        CHECK(refused.error().code == error_code::invalid_input);
        std::string const said = all_of(refused.error());
        INFO(said);
        for (char const* part : {"s3cr", "et@", "%zz", "passwort"}) { CHECK(said.find(part) == std::string::npos); }
    }
    CHECK(postgres_backend::connect(std::string_view{"host=h\0password=x", 17}).error().code ==
        error_code::invalid_input);
}

TEST_CASE("postgres: a refused connection has an error code, and the error contains nothing from the connection string "
          "or the server's message") {
    postgres_options options = own_schema();
    options.connect_timeout = std::chrono::seconds{5};
    struct attempt {
        std::string string;
        error_code code;
    };
    std::vector<attempt> attempts{
        {"host=/no/such/s3cret user=u password=s3cret", error_code::transport_failed},
        {"host=127.0.0.1 port=1 user=s3cret password=s3cret", error_code::transport_failed},
        {"host=s3cret.invalid user=u password=s3cret", error_code::transport_failed},
        {"host=127.0.0.1,/no/such port=1,2 user=u password=s3cret", error_code::transport_failed},
        {"postgresql://u:s3cret@[::1]:1/d", error_code::transport_failed},
    };
    if (char const* const server = postgres_server()) {
        attempts.push_back({std::string{server} + " user=s3cret", error_code::authentication_failed});
        attempts.push_back({std::string{server} + " dbname=s3cret", error_code::store_foreign});
        attempts.push_back(
            {std::string{server} + " dbname=s3cret options='-c lc_messages=de_DE.UTF-8'", error_code::store_foreign});
    }
    for (attempt const& each : attempts) {
        INFO(each.string);
        auto const refused = postgres_backend::connect(each.string, options);
        REQUIRE(!refused);
        std::string const said = all_of(refused.error());
        INFO(said);
        CHECK(refused.error().code == each.code);
        CHECK(said.find("s3cret") == std::string::npos);
    }
}
