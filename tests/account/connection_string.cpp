// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/account/connection_string.hpp>

#include <account/emulator.hpp>
#include <support/catch.hpp>
#include <support/vectors.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

// The bytes 0, 1, 2 ... 63: a key of nobody.
constexpr std::string_view planted_key =
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==";
constexpr std::string_view planted_sas = "sv=2019-02-02&sig=cGxhbnRlZA%3D%3D";

std::string name_and_key() { return text::joined({"AccountName=contoso;AccountKey=", planted_key}); }

/// The message of the error that `text` must give; nothing of what is secret in it may be there.
std::string refusal(std::string const& text) {
    INFO(text);
    auto const parsed = parse_connection_string(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == error_code::invalid_input);
    CHECK(parsed.error().effect == effect::none);
    std::string const all = parsed.error().to_string() + parsed.error().detail;
    for (std::string_view const planted : {"AAECAw", "cGxhbnRlZA", "hunter2", "KissLS"}) {
        CHECK(all.find(planted) == std::string::npos);
    }
    CHECK_THAT(parsed.error().message, StartsWith("connection string: "));
    return parsed.error().message;
}

/// What the credential signs for a request to list tables.
std::string authorized(connection_settings const& settings) {
    http_request request;
    request.url = settings.endpoint.primary + "/Tables";
    settings.credential.authorize(request, settings.endpoint, a_friday()).value();
    return request.url + " " + std::string{request.headers.find("Authorization").value_or("")};
}

} // namespace

TEST_CASE("a connection string with a name and a key is parsed") {
    auto const parsed = parse_connection_string(name_and_key()).value();
    CHECK(parsed.endpoint.primary == "https://contoso.table.core.windows.net");
    CHECK(parsed.endpoint.secondary == "https://contoso-secondary.table.core.windows.net");
    CHECK(parsed.endpoint.account == "contoso");
    CHECK(parsed.endpoint.kind == service::storage);
    CHECK_FALSE(parsed.endpoint.path_style);
    CHECK(parsed.credential.account() == "contoso");
}

TEST_CASE("names are case-insensitive, and blanks, empty pairs and fields for other services are ignored") {
    auto const parsed = parse_connection_string(text::joined({"; ACCOUNTNAME = contoso ;;accountkey =", planted_key,
                                                    ";BlobEndpoint=https://x/;endpointsuffix=core.chinacloudapi.cn;"}))
                            .value();
    CHECK(parsed.endpoint.primary == "https://contoso.table.core.chinacloudapi.cn");
}

TEST_CASE("the connection string of the emulator is parsed") {
    auto const usual = parse_connection_string("UseDevelopmentStorage=true").value();
    CHECK(usual.endpoint.primary == "http://127.0.0.1:10002/devstoreaccount1");
    CHECK(usual.endpoint.secondary == "http://127.0.0.1:10002/devstoreaccount1-secondary");
    CHECK(usual.endpoint.kind == service::azurite);
    CHECK(usual.endpoint.path_style);
    auto const elsewhere =
        parse_connection_string("usedevelopmentstorage=TRUE;DevelopmentStorageProxyUri=https://[::1]:99/").value();
    CHECK(elsewhere.endpoint.primary == "https://[::1]:10002/devstoreaccount1");
    auto const in_full = parse_connection_string(
        text::joined({"AccountName=devstoreaccount1;TableEndpoint=http://127.0.0.1:10002/devstoreaccount1/;AccountKey=",
            emulator_key}))
                             .value();
    CHECK(authorized(in_full) == authorized(usual));
}

TEST_CASE("connection strings with a shared access signature are parsed") {
    auto const parsed = parse_connection_string(
        text::joined(
            {"TableEndpoint=https://contoso.table.core.usgovcloudapi.net/;SharedAccessSignature=?", planted_sas}))
                            .value();
    CHECK(parsed.endpoint.account == "contoso");
    CHECK(parsed.endpoint.secondary == "https://contoso-secondary.table.core.usgovcloudapi.net");
    CHECK(
        authorized(parsed) == text::joined({"https://contoso.table.core.usgovcloudapi.net/Tables?", planted_sas, " "}));
}

TEST_CASE("invalid connection strings are refused, and the error names the field at fault") {
    std::string const good = name_and_key();
    std::string const key{planted_key};
    CHECK_THAT(refusal(""), ContainsSubstring("AccountKey or SharedAccessSignature is missing"));
    CHECK_THAT(refusal(";;"), ContainsSubstring("is missing"));
    CHECK_THAT(refusal("AccountKey=" + key), ContainsSubstring("AccountName or TableEndpoint is missing"));
    CHECK_THAT(refusal("AccountName=contoso"), ContainsSubstring("AccountKey or SharedAccessSignature is missing"));
    CHECK_THAT(refusal("AccountName=contoso;AccountKey="), ContainsSubstring("AccountKey is empty"));
    // keys: no base64, wrong lengths
    for (std::string const bad : {"hunter2", "hunter2=", "AAECAw=", "AAECAw===", "AAECAw_-", "AAE CAwQF"}) {
        CHECK_THAT(refusal("AccountName=contoso;AccountKey=" + bad), ContainsSubstring("AccountKey is not base64"));
    }
    // twice, unknown, no "="; a text in the wrong place is not shown, for it may be the key
    CHECK_THAT(refusal(good + ";accountname=x"), ContainsSubstring("AccountName is repeated"));
    CHECK_THAT(refusal(good + ";AccountKey=" + key), ContainsSubstring("AccountKey is repeated"));
    CHECK_THAT(refusal(good + ";hunter2=x"), ContainsSubstring("pair 3 has an unknown name"));
    CHECK_THAT(refusal(good + ";" + key), ContainsSubstring("pair 3 has an unknown name"));
    CHECK_THAT(refusal("hunter2;" + good), ContainsSubstring("pair 1 has no ="));
    // both, none
    CHECK_THAT(refusal(text::joined({good, ";SharedAccessSignature=", planted_sas})),
        ContainsSubstring("AccountKey and SharedAccessSignature cannot be combined"));
    // the emulator
    CHECK_THAT(refusal("UseDevelopmentStorage=false"), ContainsSubstring("UseDevelopmentStorage"));
    CHECK_THAT(
        refusal("UseDevelopmentStorage=true;AccountName=x"), ContainsSubstring("AccountName and UseDevelopment"));
    CHECK_THAT(refusal("UseDevelopmentStorage=true;DevelopmentStorageProxyUri=10.0.0.5"),
        ContainsSubstring("DevelopmentStorageProxyUri must begin with"));
    CHECK_THAT(
        refusal(good + ";DevelopmentStorageProxyUri=http://x"), ContainsSubstring("needs UseDevelopmentStorage"));
    // endpoints
    CHECK_THAT(refusal("DefaultEndpointsProtocol=ftp;" + good), ContainsSubstring("DefaultEndpointsProtocol"));
    CHECK_THAT(refusal(good + ";TableSecondaryEndpoint=https://x"), ContainsSubstring("needs TableEndpoint"));
    CHECK_THAT(refusal(good + ";TableEndpoint=https://x;TableSecondaryEndpoint=x"),
        ContainsSubstring("TableSecondaryEndpoint must begin with"));
    CHECK_THAT(refusal(good + ";EndpointSuffix=core windows net"), ContainsSubstring("EndpointSuffix"));
    CHECK_THAT(refusal(good + ";EndpointSuffix=u:hunter2@x"), ContainsSubstring("EndpointSuffix must not have a user"));
    for (std::string const account : {"a/b", "Contoso", "con_toso", "\xC3\xA4", "a.b",
             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
        CHECK_THAT(refusal("AccountKey=" + key + ";AccountName=" + account), ContainsSubstring("AccountName must be"));
    }
    // signatures
    for (std::string const bad : {"sv=1", "sig=", "sig=a&sig=b", "sig=a b", "sig=a#", "sig=%4", "sig=a+b",
             "sig=a&se=tomorrow", "sig=a&st=2026-13-01", "sig=a\xC3\xA4"}) {
        CHECK_THAT(
            refusal("AccountName=contoso;SharedAccessSignature=" + bad), ContainsSubstring("SharedAccessSignature"));
    }
}

TEST_CASE("connection strings match the golden vectors") {
    if (!vector_file::here()) { return; }
    vector_file const file{"connection_strings.json"};
    std::size_t checked = 0;
    for (auto const item : file.root()["valid"]) {
        INFO(vector_file::text(item, "id"));
        auto const parsed = parse_connection_string(vector_file::text(item, "connection_string"));
        REQUIRE(parsed);
        auto const expected = item["expect"].value();
        CHECK(parsed->endpoint.primary == vector_file::text(expected, "endpoint"));
        CHECK(parsed->endpoint.secondary == vector_file::text(expected, "secondary"));
        CHECK(parsed->endpoint.account == vector_file::text(expected, "account"));
        bool const cosmos = expected["cosmos"].error() == simdjson::SUCCESS;
        CHECK((parsed->endpoint.kind == service::cosmos) == cosmos);
        auto same = *parsed;
        std::string const key = vector_file::text(expected, "key");
        same.credential = key.empty() ? credential::shared_access_signature(vector_file::text(expected, "sas")).value()
                                      : credential::account_key(vector_file::text(expected, "account"), key).value();
        CHECK(authorized(*parsed) == authorized(same));
        ++checked;
    }
    for (auto const item : file.root()["invalid"]) {
        INFO(vector_file::text(item, "id"));
        CHECK_FALSE(parse_connection_string(vector_file::text(item, "connection_string")));
        ++checked;
    }
    CHECK(checked >= 25);
}

TEST_CASE("line ends and quotes are removed, and a text that is not a connection string is refused with an error that "
          "names its kind") {
    std::string const good = "AccountName=shop;AccountKey=Zm9v";
    for (std::string const& text : {good + "\n", good + "\r\n", "\r\n" + good, " " + good + " \n\n",
             "\xEF\xBB\xBF" + good, good + ";\n", std::string{"AccountName=shop;\r\nAccountKey=Zm9v;\r\n"},
             std::string{"AccountName = shop\n;\n AccountKey\n=\nZm9v\n"}}) {
        INFO(text);
        auto const read = parse_connection_string(text);
        REQUIRE(read);
        CHECK(read->endpoint.primary == "https://shop.table.core.windows.net");
    }
    auto const why = [](std::string const& text) {
        auto const read = parse_connection_string(text);
        REQUIRE_FALSE(read);
        CHECK(read.error().code == error_code::invalid_input);
        CHECK(read.error().to_string().find("Zm9") == std::string::npos);
        return read.error().message;
    };
    for (char const quote : {'"', '\''}) {
        CHECK_THAT(why(quote + good + quote), ContainsSubstring("the whole string is in quotes"));
        CHECK_THAT(why(quote + good + quote + "\n"), ContainsSubstring("quotes"));
        CHECK_THAT(why("AccountName=shop;AccountKey=" + (quote + std::string{"Zm9v"}) + quote),
            ContainsSubstring("AccountKey is in quotes"));
    }
    CHECK_THAT(why("AccountName=shop;AccountKey=Zm9v\nZm9v"), ContainsSubstring("AccountKey contains a line end"));
    CHECK_THAT(why("AccountEndpoint=https://shop.documents.azure.com:443/;AccountKey=Zm9v;"),
        ContainsSubstring("SQL API of Cosmos DB"));
    CHECK_THAT(why(good + ";Zm9vbmFtZQ=1"),
        ContainsSubstring("pair 3 has an unknown name; the known names are AccountName, AccountKey"));
}
