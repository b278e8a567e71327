// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/account/credential.hpp>
#include <entitable/cloud/account/signing.hpp>

#include <account/emulator.hpp>
#include <support/catch.hpp>
#include <support/vectors.hpp>

#include <set>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

std::string signature_of(key_signer const& signer, std::string_view text) {
    key_signer::signature out;
    REQUIRE(signer.sign([&](std::string& to) { to.append(text); }, out));
    return {out, sizeof out};
}

http_request request_to(http_method method, std::string url) {
    http_request request;
    request.method = method;
    request.url = std::move(url);
    return request;
}

std::string authorization(
    http_request request, endpoint const& at, key_scheme scheme, std::string_view account = emulator_account) {
    auto const who = credential::account_key(account, emulator_key, scheme).value();
    who.authorize(request, at, a_friday()).value();
    CHECK(request.headers.find("x-ms-date") == "Fri, 20 Nov 2026 15:27:36 GMT");
    CHECK(request.headers.count("authorization") == 1);
    return std::string{request.headers.find("Authorization").value()};
}

} // namespace

TEST_CASE("dates are written in the HTTP format") {
    CHECK(detail::http_date(time_of("1601-01-01T00:00:00Z")) == "Mon, 01 Jan 1601 00:00:00 GMT");
    CHECK(detail::http_date(time_of("1999-12-31T23:59:59.9999999Z")) == "Fri, 31 Dec 1999 23:59:59 GMT");
    CHECK(detail::http_date(time_of("2000-02-29T12:00:00Z")) == "Tue, 29 Feb 2000 12:00:00 GMT");
    CHECK(detail::http_date(time_of("2000-02-29T12:00:00.5Z")) == "Tue, 29 Feb 2000 12:00:00 GMT");
    CHECK(detail::http_date(time_of("2000-02-29T12:00:01Z")) == "Tue, 29 Feb 2000 12:00:01 GMT");
    CHECK(detail::http_date(time_of("9999-12-31T23:59:59Z")) == "Fri, 31 Dec 9999 23:59:59 GMT");
}

TEST_CASE("keys are decoded from strict base64") {
    CHECK(detail::decode_account_key("AAEC")->reveal() == std::string_view("\0\1\2", 3));
    CHECK(detail::decode_account_key("/+8=")->reveal() == "\xFF\xEF");
    CHECK(detail::decode_account_key("/w==")->reveal() == "\xFF");
    CHECK(detail::decode_account_key(emulator_key)->reveal().size() == 64);
    for (std::string_view const bad : {"", "A", "AA", "AAA", "AA=A", "A===", "====", "AAEC\n", " AAEC", "AA-_",
             "/x==", "/+9=", "AAECAA", "not*base64==", "AAEC==", "AAECAA=="}) {
        INFO(bad);
        CHECK((detail::decode_account_key(bad).has_value()) == (bad == "AAECAA=="));
    }
}

TEST_CASE("a signer can sign any number of texts") {
    key_signer const signer{detail::decode_account_key(emulator_key)->reveal()};
    for (int round = 0; round < 3; ++round) {
        CHECK(signature_of(signer, "") == "RNeMV4QhAsdhJ2sGUgufA/AfRsaKXZU2cEJdUsvj4NY=");
        CHECK(signature_of(signer, std::string(5000, 'x')) == "y7OagP1TJJ3LAb7BCLud0ojkp9WxygyFZcHDycAp/Cc=");
    }
}

TEST_CASE("threads can share one signer") {
    key_signer const signer{detail::decode_account_key(emulator_key)->reveal()};
    std::vector<std::thread> threads;
    std::vector<std::set<std::string>> seen(8);
    for (std::size_t index = 0; index < seen.size(); ++index) {
        threads.emplace_back([&, index] {
            for (int round = 0; round < 500; ++round) {
                key_signer::signature out;
                if (signer.sign([&](std::string& to) { to.append(index + 1, 'x'); }, out)) {
                    seen[index].emplace(out, sizeof out);
                }
            }
        });
    }
    for (auto& thread : threads) { thread.join(); }
    for (std::size_t index = 0; index < seen.size(); ++index) {
        CHECK(seen[index] == std::set{signature_of(signer, std::string(index + 1, 'x'))});
    }
}

TEST_CASE("account keys sign the bytes that are sent") {
    std::string const base = "http://127.0.0.1:10002/devstoreaccount1";
    auto post = request_to(http_method::post, base + "/Runners(PartitionKey='%25',RowKey='a%20b')?$select=x");
    REQUIRE(post.headers.add("content-md5", "MD5=="));
    REQUIRE(post.headers.add("content-TYPE", "application/json"));
    CHECK(authorization(post, emulator(), key_scheme::shared_key) ==
        "SharedKey devstoreaccount1:x6B3slCetfIb/seJcnXbp0HB1PtR/fVUfj5jhAZJfVM=");
    CHECK(authorization(post, emulator(), key_scheme::shared_key_lite) ==
        "SharedKeyLite devstoreaccount1:byNuXjfFcITEuIfj7+xd98fLxfHKdf7nyEZFYsyZ2GA=");

    auto const stats = "?restype=service&comp=stats";
    for (std::string const& url : {base + "/" + stats, base + "-secondary/" + stats}) {
        CHECK(authorization(request_to(http_method::get, url), emulator(), key_scheme::shared_key) ==
            "SharedKey devstoreaccount1:scryGE3ifW8rVfqf8PcyKj/PGLnF9lFCiRtFd4wB1Os=");
    }

    auto const cloud = endpoint::parse("https://devstoreaccount1.table.core.windows.net").value();
    CHECK(authorization(request_to(http_method::delete_, cloud.primary + "/Runners(PartitionKey='',RowKey='')"), cloud,
              key_scheme::shared_key) == "SharedKey devstoreaccount1:53fUv4pDzxSV84JaH7D9BznUN5bbE1QSMEVq7rl5+kk=");
}

TEST_CASE("the timeout parameter is not signed") {
    std::string const base = "http://127.0.0.1:10002/devstoreaccount1";
    auto post = request_to(http_method::post, base + "/Orders?timeout=17");
    REQUIRE(post.headers.add("Content-Type", "application/json"));
    CHECK(authorization(post, emulator(), key_scheme::shared_key) ==
        "SharedKey devstoreaccount1:8GeCGkAacaDfDicBduscLNDHvKNWJJMDIL44q+KC5iE=");
    CHECK(authorization(post, emulator(), key_scheme::shared_key_lite) ==
        "SharedKeyLite devstoreaccount1:hJwzIXi8M/Rj4wX5oLVtkD6MPTd9US6iyjdVHfRub+w=");
    auto const properties = request_to(http_method::get, base + "/?restype=service&comp=properties&timeout=17");
    CHECK(authorization(properties, emulator(), key_scheme::shared_key) ==
        "SharedKey devstoreaccount1:OlbaCw9aMVyu7mjPfq2i9fx0v1yR5uT/Cvp6I5rTekY=");
}

TEST_CASE("each attempt gets a new signature, which replaces the previous one") {
    auto const who = credential::account_key(emulator_account, emulator_key).value();
    auto request = request_to(http_method::get, emulator().primary + "/Tables");
    who.authorize(request, emulator(), a_friday()).value();
    std::string const first{request.headers.find("Authorization").value()};
    who.authorize(request, emulator(), {a_friday().ticks + date_time::ticks_per_second}).value();
    CHECK(request.headers.size() == 2);
    CHECK(request.headers.find("Authorization") != first);
    CHECK(request.headers.find("x-ms-date") == "Fri, 20 Nov 2026 15:27:37 GMT");
}

TEST_CASE("the string to sign contains the path as it is sent, and comp as the only query parameter") {
    auto const text = [](std::string const& url, key_scheme scheme = key_scheme::shared_key_lite) {
        auto const request = request_to(http_method::merge, url);
        std::string out;
        detail::append_string_to_sign(out, scheme, "acct", request, parse_url(url, "url").value(), "D");
        return out;
    };
    CHECK(
        text("https://h/T(PartitionKey='%27%27',RowKey='~%2F')") == "D\n/acct/T(PartitionKey='%27%27',RowKey='~%2F')");
    CHECK(text("https://h") == "D\n/acct/");
    CHECK(text("https://h?comp=list") == "D\n/acct/?comp=list");
    CHECK(text("https://h/T?$filter=comp%20eq%201&comp=acl&timeout=5") == "D\n/acct/T?comp=acl");
    CHECK(text("https://h/T?xcomp=acl") == "D\n/acct/T");
    CHECK(text("https://h/T", key_scheme::shared_key) == "MERGE\n\n\nD\n/acct/T");
    // the secondary in path style is signed as the primary, and nothing else is shortened
    CHECK(text("https://h/acct-secondary/T") == "D\n/acct/acct/T");
    CHECK(text("https://h/acct-secondary") == "D\n/acct/acct");
    CHECK(text("https://h/acct/T") == "D\n/acct/acct/T");
    CHECK(text("https://h/acct-secondaryT/T") == "D\n/acct/acct-secondaryT/T");
    CHECK(text("https://h/x/acct-secondary") == "D\n/acct/x/acct-secondary");
}

TEST_CASE("signatures match the golden vectors") {
    if (!vector_file::here()) { return; }
    vector_file const file{"signing.json"};
    std::size_t checked = 0;
    for (auto const item : file.root()["cases"]) {
        INFO(vector_file::text(item, "id"));
        std::string const host = vector_file::text(item, "host");
        bool const local = host.find("127.0.0.1") == 0 || host.find("localhost") != std::string::npos;
        std::string const origin = (local ? "http://" : "https://") + host;
        std::string const account = vector_file::text(item, "account");
        std::string url = origin + vector_file::text(item, "path");
        if (std::string const query = vector_file::text(item, "query"); !query.empty()) { url += "?" + query; }
        endpoint at;
        at.primary = origin;
        at.account = account;
        for (auto const scheme : {key_scheme::shared_key, key_scheme::shared_key_lite}) {
            auto const expected = item[scheme == key_scheme::shared_key ? "shared_key" : "shared_key_lite"].value();
            http_request request;
            std::string_view const method = item["method"];
            for (auto const known : {http_method::get, http_method::post, http_method::put, http_method::merge,
                     http_method::patch, http_method::delete_, http_method::head, http_method::options}) {
                if (to_string(known) == method) { request.method = known; }
            }
            request.url = url;
            for (auto const field : simdjson::dom::object(item["headers"])) {
                if (field.key != "x-ms-date") {
                    REQUIRE(request.headers.add(field.key, field.value.get_string().value()));
                }
            }
            std::string to_sign;
            detail::append_string_to_sign(to_sign, scheme, account, request, parse_url(url, "url").value(),
                vector_file::text(file.root(), "date"));
            CHECK(to_sign == vector_file::text(expected, "string_to_sign"));
            auto const who = credential::account_key(account, vector_file::text(item, "key"), scheme).value();
            who.authorize(request, at, time_of("2026-07-27T12:28:53Z")).value();
            CHECK(request.headers.find("Authorization") == vector_file::text(expected, "authorization"));
            CHECK(request.headers.find("x-ms-date") == vector_file::text(file.root(), "date"));
            ++checked;
        }
    }
    CHECK(checked >= 38);
}
