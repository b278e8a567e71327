// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Bearer tokens: what they say, who signed them, and the tokens of attackers.

#include "served.hpp"
#include <entitable/core/detail/base64.hpp>
#include <entitable/core/text.hpp>
#include <entitable/serve/server/token_check.hpp>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;
using entitable::text::joined;

namespace {

using owned_key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

struct fixed_clock : entitable::clock {
    date_time time{date_time::from_date(2026, 1, 1)};
    date_time now() noexcept override { return time; }
    steady_time steady() noexcept override { return system_clock().steady(); }
    void wait_until(steady_time) override {}
};

constexpr std::int64_t now_seconds = 1'767'225'600; // 2026-01-01
std::string const issuer = "https://sts.windows.net/0000/";

std::string url_form(std::string_view bytes) {
    std::string made;
    detail::append_base64(made, bytes);
    while (made.ends_with('=')) { made.pop_back(); }
    for (char& each : made) { each = each == '+' ? '-' : each == '/' ? '_' : each; }
    return made;
}
std::string number_form(BIGNUM const* number, int size) {
    std::string made(static_cast<std::size_t>(size), '\0');
    BN_bn2binpad(number, reinterpret_cast<unsigned char*>(made.data()), size);
    return url_form(made);
}

/// A signer with its public key as a member of a key set.
struct signer {
    std::string id;
    bool elliptic;
    owned_key key;

    signer(std::string name, bool is_elliptic, unsigned bits = 2048)
        : id(std::move(name)),
          elliptic(is_elliptic),
          key(is_elliptic ? EVP_EC_gen("P-256") : EVP_RSA_gen(bits), &EVP_PKEY_free) {}

    [[nodiscard]] std::string number(char const* name, int size) const {
        BIGNUM* value = nullptr;
        REQUIRE(EVP_PKEY_get_bn_param(key.get(), name, &value) == 1);
        std::string const made = number_form(value, size == 0 ? BN_num_bytes(value) : size);
        BN_free(value);
        return made;
    }
    [[nodiscard]] std::string member(std::string_view more = {}) const {
        return elliptic
            ? joined({R"({"kty":"EC","crv":"P-256","kid":")", id, R"(","x":")", number(OSSL_PKEY_PARAM_EC_PUB_X, 32),
                  R"(","y":")", number(OSSL_PKEY_PARAM_EC_PUB_Y, 32), "\"", more, "}"})
            : joined({R"({"kty":"RSA","use":"sig","kid":")", id, R"(","n":")", number(OSSL_PKEY_PARAM_RSA_N, 0),
                  R"(","e":")", number(OSSL_PKEY_PARAM_RSA_E, 0), "\"", more, "}"});
    }
    [[nodiscard]] std::string signature(std::string_view text) const {
        std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> const context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
        std::size_t size = 1024;
        std::string made(size, '\0');
        auto* const bytes = reinterpret_cast<unsigned char*>(made.data());
        REQUIRE(EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1);
        REQUIRE(EVP_DigestSign(context.get(), bytes, &size, reinterpret_cast<unsigned char const*>(text.data()),
                    text.size()) == 1);
        made.resize(size);
        if (!elliptic) { return made; }
        unsigned char const* from = bytes;
        ECDSA_SIG* const both = d2i_ECDSA_SIG(nullptr, &from, static_cast<long>(size));
        std::string raw(64, '\0');
        BN_bn2binpad(ECDSA_SIG_get0_r(both), reinterpret_cast<unsigned char*>(raw.data()), 32);
        BN_bn2binpad(ECDSA_SIG_get0_s(both), reinterpret_cast<unsigned char*>(raw.data()) + 32, 32);
        ECDSA_SIG_free(both);
        return raw;
    }
    [[nodiscard]] std::string token(std::string_view claims) const {
        return token_with(
            joined({R"({"typ":"JWT","alg":")", elliptic ? "ES256" : "RS256", R"(","kid":")", id, R"("})"}), claims);
    }
    [[nodiscard]] std::string token_with(std::string_view header, std::string_view claims) const {
        std::string const text = joined({url_form(header), ".", url_form(claims)});
        return joined({text, ".", url_form(signature(text))});
    }
};

/// The claims of a good token, with changes.
struct claims {
    std::string iss{joined({"\"", issuer, "\""})};
    std::string aud{R"("https://storage.azure.com/")"};
    std::string exp{std::to_string(now_seconds + 3600)};
    std::string nbf{std::to_string(now_seconds - 60)};
    std::string more{};
    [[nodiscard]] std::string text() const {
        return joined({R"({"iss":)", iss, R"(,"aud":)", aud, R"(,"exp":)", exp, R"(,"nbf":)", nbf, more, "}"});
    }
};

signer const& rsa() {
    static signer const instance{"r1", false};
    return instance;
}
signer const& ec() {
    static signer const instance{"e1", true};
    return instance;
}

struct key_file {
    temporary_folder folder;
    std::string path{folder / "keys.json"};
    explicit key_file(std::string_view members) { write(members); }
    void write(std::string_view members) const { std::ofstream{path} << "{\"keys\":[" << members << "]}"; }
};

struct checked {
    fixed_clock time;
    key_file file{joined({rsa().member(), ",", ec().member()})};
    token_rules rules{.issuers = {issuer}, .skew = std::chrono::seconds{300}, .time = &time};
    token_check check{token_check::with_keys(file.path, rules).value()};

    std::string operator()(std::string const& token) const {
        bearer_verdict const made = check("acct", token);
        return made.accepted ? "accepted" : std::string{made.reason};
    }
};

std::string const bad_signature = "Signature validation failed.";
std::string const malformed = "The token is malformed.";
std::string const expired = "Lifetime validation failed. The token is expired.";
std::string const early = "Lifetime validation failed. The token is not yet valid.";
std::string const other_issuer = "Issuer validation failed. Issuer did not match.";
std::string const other_audience = "Audience validation failed. Audience did not match.";

std::string with_keys_error(std::string const& path) {
    auto const made = token_check::with_keys(path, {.issuers = {issuer}});
    if (made) { return "accepted"; }
    CHECK(made.error().code == error_code::invalid_input);
    CHECK(made.error().message.find(path) != std::string::npos);
    return made.error().message;
}
std::string key_error(std::string_view members) {
    key_file const file{members};
    return with_keys_error(file.path);
}
bool mentions(std::string const& text, std::string_view what) { return text.find(what) != std::string::npos; }

} // namespace

TEST_CASE("tokens with a good signature are accepted") {
    checked const by;
    CHECK(by(rsa().token(claims{}.text())) == "accepted");
    CHECK(by(ec().token(claims{}.text())) == "accepted");
    CHECK(by(ec().token(claims{.aud = R"("https://acct.table.core.windows.net")"}.text())) == "accepted");
    CHECK(by(ec().token(claims{.aud = R"(["other","https://storage.azure.com"])"}.text())) == "accepted");
    CHECK(by(ec().token(claims{.exp = std::to_string(now_seconds + 9) + ".5"}.text())) == "accepted");
    for (int round = 0; round < 50; ++round) { CHECK(by(ec().token(claims{}.text())) == "accepted"); } // short numbers
}

TEST_CASE("the times of a token are checked to the second") {
    checked by;
    auto const at = [&](std::int64_t expires, std::int64_t begins) {
        return by(ec().token(claims{.exp = std::to_string(expires), .nbf = std::to_string(begins)}.text()));
    };
    CHECK(at(now_seconds - 299, 0) == "accepted");
    CHECK(at(now_seconds - 300, 0) == expired);
    CHECK(at(now_seconds - 301, 0) == expired);
    CHECK(at(now_seconds + 600, now_seconds + 300) == "accepted");
    CHECK(at(now_seconds + 600, now_seconds + 301) == early);
    by.rules.skew = std::chrono::seconds{0};
    by.check = token_check::with_keys(by.file.path, by.rules).value();
    CHECK(at(now_seconds + 1, now_seconds) == "accepted");
    CHECK(at(now_seconds, 0) == expired);
    CHECK(at(now_seconds + 10, now_seconds + 1) == early);
    by.rules.skew = (std::chrono::seconds::max)();
    by.check = token_check::with_keys(by.file.path, by.rules).value();
    CHECK(at(1, 253'402'300'799) == "accepted");
    by.rules.skew = (std::chrono::seconds::min)();
    by.check = token_check::with_keys(by.file.path, by.rules).value();
    CHECK(at(253'402'300'799, 0) == expired);
    for (std::string const each :
        {"-1", "1e300", "null", "true", "\"1999999999\"", "9223372036854775808", "1e999", "[]"}) {
        CHECK(by(ec().token(claims{.exp = each}.text())) == malformed);
        CHECK(by(ec().token(claims{.nbf = each}.text())) == malformed);
    }
    CHECK(by(ec().token(joined({R"({"iss":")", issuer, R"(","aud":"https://storage.azure.com"})"}))) == malformed);
}

TEST_CASE("issuers, audiences and identities are compared as a whole") {
    checked by;
    for (std::string const each : {"\"\"", "\"https://sts.windows.net/0000\"", "\"https://sts.windows.net/0000/x\"",
             "\"https://sts.windows.net/1111/\"", "\"HTTPS://sts.windows.net/0000/\""}) {
        CHECK(by(ec().token(claims{.iss = each}.text())) == other_issuer);
    }
    CHECK(by(ec().token(claims{.iss = "7"}.text())) == malformed);
    for (std::string const each : {R"("https://storage.azure.com.evil.example")",
             R"("https://other.table.core.windows.net")", "[]", R"("storage.azure.com")",
             R"("https://storage.azure.com//")", R"([""])", R"("https://{account}.table.core.windows.net")"}) {
        CHECK(by(ec().token(claims{.aud = each}.text())) == other_audience);
    }
    for (std::string const each : {"\"\"", "null", "3", R"(["https://storage.azure.com",1])", "{}"}) {
        CHECK(by(ec().token(claims{.aud = each}.text())) == malformed);
    }
    by.rules.objects = {"someone"};
    by.check = token_check::with_keys(by.file.path, by.rules).value();
    CHECK(by(ec().token(claims{.more = R"(,"oid":"someone")"}.text())) == "accepted");
    CHECK(by(ec().token(claims{.more = R"(,"oid":"another")"}.text())) == "The identity of the token is not accepted.");
    CHECK(by(ec().token(claims{}.text())) == "The identity of the token is not accepted.");
}

TEST_CASE("attack: no token chooses its algorithm or its key") {
    checked const by;
    std::string const good = claims{}.text();
    auto const unsigned_with = [&](std::string_view header) {
        return joined({url_form(header), ".", url_form(good), "."});
    };
    for (std::string_view const each : {"none", "None", "NONE", "nOnE"}) {
        std::string const header = joined({R"({"alg":")", each, R"(","kid":"r1"})"});
        CHECK(by(unsigned_with(header)) == bad_signature);
        CHECK(by(rsa().token_with(header, good)) == bad_signature);
    }
    // HS256 with the public key as the secret, in each form that a naive library would take.
    BIO* const memory = BIO_new(BIO_s_mem());
    PEM_write_bio_PUBKEY(memory, rsa().key.get());
    char* bytes = nullptr;
    long const size = BIO_get_mem_data(memory, &bytes);
    std::string const pem{bytes, static_cast<std::size_t>(size)};
    BIO_free(memory);
    for (std::string const& secret : {pem, rsa().number(OSSL_PKEY_PARAM_RSA_N, 0), std::string{}, std::string{"r1"}}) {
        std::string const text = joined({url_form(R"({"alg":"HS256","kid":"r1"})"), ".", url_form(good)});
        unsigned char digest[32];
        unsigned int length = sizeof digest;
        HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
            reinterpret_cast<unsigned char const*>(text.data()), text.size(), digest, &length);
        CHECK(by(joined({text, ".", url_form({reinterpret_cast<char const*>(digest), length})})) == bad_signature);
    }
    // The signature of one algorithm under the name or the key of the other.
    CHECK(by(rsa().token_with(R"({"alg":"ES256","kid":"r1"})", good)) == bad_signature);
    CHECK(by(rsa().token_with(R"({"alg":"RS256","kid":"e1"})", good)) == bad_signature);
    CHECK(by(rsa().token_with(R"({"alg":"ES256","kid":"e1"})", good)) == bad_signature);
    CHECK(by(ec().token_with(R"({"alg":"RS256","kid":"r1"})", good)) == bad_signature);
    CHECK(by(ec().token_with(R"({"alg":"ES256","kid":"r1"})", good)) == bad_signature);
    for (std::string_view const each : {"RS384", "PS256", "RS1", "rs256", "ES256K", " RS256"}) {
        CHECK(by(rsa().token_with(joined({R"({"alg":")", each, R"(","kid":"r1"})"}), good)) == bad_signature);
    }
    // Keys that the token brings or names.
    signer const own{"r1", false};
    CHECK(by(own.token(good)) == bad_signature);
    CHECK(
        by(own.token_with(joined({R"({"alg":"RS256","kid":"r1","jwk":)", own.member(), "}"}), good)) == bad_signature);
    CHECK(by(own.token_with(R"({"alg":"RS256","kid":"r1","jku":"http://127.0.0.1/keys"})", good)) == bad_signature);
    for (std::string_view const each : {R"({"alg":"RS256"})", R"({"alg":"RS256","kid":""})",
             R"({"alg":"RS256","kid":"r2"})", R"({"alg":"RS256","kid":"../../keys"})", R"({"alg":"RS256","kid":"R1"})",
             R"({"alg":"RS256","kid":"r1\u0000"})"}) {
        CHECK(by(rsa().token_with(each, good)) == bad_signature);
    }
    CHECK(by(rsa().token_with(R"({"alg":"RS256","kid":"r1","crit":["exp"]})", good)) == malformed);
    CHECK(by(rsa().token_with(R"({"alg":["RS256"],"kid":"r1"})", good)) == malformed);
    CHECK(by(rsa().token_with(R"({"kid":"r1"})", good)) == malformed);
}

TEST_CASE("attack: changed, repeated, huge and malformed tokens") {
    checked const by;
    std::string const good = ec().token(claims{}.text());
    // Every change of one character is refused: also those that leave the decoded bytes alone.
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (char const other : {'A', 'Q', '_', '.', '=', '+', ' ', '\n'}) {
            std::string changed = good;
            changed[at] = other;
            if (changed != good) { CHECK(by(changed) != "accepted"); }
        }
        CHECK(by(good.substr(0, at)) != "accepted");
    }
    for (std::string const& each :
        {std::string{}, std::string{"."}, std::string{".."}, std::string{"..."}, std::string{"a.b.c"}, good + ".",
            good + "=", good + "==", good + "\n", " " + good, "." + good, good + "." + good}) {
        CHECK(by(each) == malformed);
    }
    auto const last_claim = [&](std::string_view more) {
        return by(ec().token(claims{.more = std::string{more}}.text()));
    };
    CHECK(last_claim(R"(,"exp":9999999999)") == malformed);
    CHECK(last_claim(R"(,"iss":"https://sts.windows.net/1111/")") == malformed);
    CHECK(last_claim(R"(,"\u0065xp":9999999999)") == malformed); // the same name by another spelling
    CHECK(last_claim(R"(,"a":{"b":1},"a":2)") == malformed);
    CHECK(last_claim(R"(,"a":{"exp":1,"exp":2})") == "accepted"); // not read
    CHECK(last_claim(",\"a\":\"\xff\"") == malformed);
    CHECK(last_claim(",\"a\":") == malformed);
    CHECK(last_claim("} {") == malformed);
    CHECK(by(ec().token(claims{}.text() + " x")) == malformed);
    CHECK(by(ec().token("[1]")) == malformed);
    CHECK(by(ec().token("")) == malformed);
    CHECK(by(ec().token_with(R"({"alg":"ES256","alg":"none","kid":"e1"})", claims{}.text())) == malformed);
    CHECK(last_claim(joined({",\"a\":\"", std::string(10'000, 'x'), "\""})) == "accepted");
    CHECK(last_claim(joined({",\"a\":\"", std::string(13'000, 'x'), "\""})) == malformed); // over 16 KiB
    CHECK(by(std::string(10'000'000, 'A')) == malformed);
    CHECK(by(joined({std::string(5'000, '.'), good})) == malformed);
    CHECK(last_claim(joined({",\"a\":", std::string(5'000, '['), std::string(5'000, ']')})) == malformed);
    std::string members;
    for (int number = 0; number < 300; ++number) { members += joined({",\"m", std::to_string(number), "\":1"}); }
    CHECK(last_claim(members) == malformed);
    // The last character of 64 bytes has four bits that are not used: they must be 0, or one signature would have 16 spellings.
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string spelled = good;
    spelled.back() = digits[digits.find(spelled.back()) + 1];
    CHECK(by(spelled) == malformed);
    // Signatures of ES256: as DER, with zeros, cut.
    std::string const text = good.substr(0, good.rfind('.') + 1);
    for (std::size_t const size : {0U, 1U, 63U, 64U, 65U, 128U}) {
        CHECK(by(text + url_form(std::string(size, '\0'))) == bad_signature);
        CHECK(by(text + url_form(std::string(size, '\xff'))) == bad_signature);
    }
}

TEST_CASE("key sets: files are read strictly, and errors name the file") {
    CHECK(mentions(with_keys_error("/absent/keys.json"), "No such file"));
    CHECK(mentions(with_keys_error("/"), "not a regular file"));
    CHECK(mentions(key_error(""), "no key for RS256 or ES256"));
    CHECK(mentions(key_error("1"), "a key is malformed"));
    CHECK(mentions(key_error("}"), "not a JSON web key set"));
    CHECK(mentions(key_error(joined({ec().member(), ",", ec().member()})), "two keys have the kid e1"));
    CHECK(mentions(key_error(R"({"kty":"oct","kid":"s","k":"c2VjcmV0"})"), "no key"));
    CHECK(mentions(key_error(rsa().member(R"(,"alg":"RS512")")), "no key"));
    CHECK(mentions(key_error(R"({"kty":"RSA","kid":"x","n":"AQAB","e":"AQAB"})"), "the key x is malformed")); // short
    CHECK(mentions(key_error(R"({"kty":"RSA","kid":"x","e":"AQAB"})"), "the key x is malformed"));
    CHECK(mentions(key_error(R"({"kty":"EC","crv":"P-256","kid":"x","x":"AA","y":"AA"})"), "the key x is malformed"));
    std::string const half(43, 'A');
    CHECK(
        mentions(key_error(joined({R"({"kty":"EC","crv":"P-256","kid":"x","x":")", half, R"(","y":")", half, R"("})"})),
            "the key x is malformed")); // not on the curve
    signer const weak{"w", false, 1024};
    CHECK(mentions(key_error(weak.member()), "the key w is malformed"));
    std::string const modulus = rsa().number(OSSL_PKEY_PARAM_RSA_N, 0);
    for (std::string_view const exponent : {"AQ", "Ag", "AA", "", "AQABAQABAQABAQAB"}) { // 1, 2, 0, none, 12 bytes
        CHECK(mentions(key_error(joined({R"({"kty":"RSA","kid":"x","n":")", modulus, R"(","e":")", exponent, R"("})"})),
            "the key x is malformed"));
    }
    CHECK(key_error(joined({R"({"kty":"OKP","crv":"Ed25519","kid":"o","x":"AA"},)",
              ec().member(R"(,"use":"sig","alg":"ES256")")})) == "accepted");
    temporary_folder const folder;
    std::ofstream{folder / "large.json"} << std::string(1'100'000, ' ');
    CHECK(mentions(with_keys_error(folder / "large.json"), "1 MiB"));
    std::string const pipe = folder / "pipe.json"; // opening it would wait for a writer
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(mentions(with_keys_error(pipe), joined({pipe, ": it is not a regular file"})));
    key_file const file{ec().member()};
    auto const without_issuer = token_check::with_keys(file.path, {});
    REQUIRE_FALSE(without_issuer);
    CHECK(mentions(without_issuer.error().message, "issuers"));
    CHECK_FALSE(token_check::with_keys("", {.issuers = {issuer}}));
}

TEST_CASE("key sets are replaced by a reload, and kept if the new file is malformed") {
    checked const by;
    signer const next{"n1", true};
    std::string const token = next.token(claims{}.text());
    CHECK(by(token) == bad_signature);
    by.file.write(next.member());
    CHECK(by(token) == bad_signature);
    REQUIRE(by.check.reload());
    CHECK(by(token) == "accepted");
    CHECK(by(ec().token(claims{}.text())) == bad_signature); // its key is no longer there
    by.file.write("{");
    auto const failed = by.check.reload();
    REQUIRE_FALSE(failed);
    CHECK(mentions(failed.error().message, by.file.path));
    CHECK(by(token) == "accepted");
    by.file.write(next.member());
    std::thread reloading{[&] {
        for (int round = 0; round < 200; ++round) { static_cast<void>(by.check.reload()); }
    }};
    for (int round = 0; round < 200; ++round) { CHECK(by(token) == "accepted"); }
    reloading.join();
}

TEST_CASE("moved from: token_check") {
    token_check first = token_check::without_signatures();
    token_check const second = std::move(first);
    CHECK_FALSE(first("acct", "x").accepted); // NOLINT(bugprone-use-after-move)
    auto const reloaded = first.reload();
    REQUIRE_FALSE(reloaded);
    CHECK(reloaded.error().code == error_code::invalid_input);
    CHECK(second.reload());
}

TEST_CASE("the basic check reads what a token says, as the emulator does, and no signature") {
    fixed_clock time;
    token_check const check = token_check::without_signatures({.time = &time});
    auto const verdict = [&](claims const& said) {
        std::string const token = joined({url_form(R"({"alg":"none"})"), ".", url_form(said.text()), "."});
        bearer_verdict const made = check("acct", token);
        return made.accepted ? "accepted" : std::string{made.reason};
    };
    CHECK(verdict({}) == "accepted");
    CHECK(verdict({.iss = R"("https://login.microsoftonline.com/1111/v2.0")"}) == "accepted");
    CHECK(verdict({.iss = R"("https://evil.example/")"}) == other_issuer);
    CHECK(verdict({.iss = R"("https://sts.windows.net.evil.example/")"}) == other_issuer);
    CHECK(verdict({.aud = R"("https://vault.azure.net")"}) == other_audience);
    CHECK(verdict({.exp = std::to_string(now_seconds - 301)}) == expired);
    CHECK(verdict({.nbf = std::to_string(now_seconds + 301)}) == early);
}

TEST_CASE("a server with a token check answers as the service does") {
    fixed_clock time;
    server_options options = with_account();
    options.bearer = token_check::without_signatures({.time = &time});
    asker const by{table_server{memory_backend{}, options}};
    auto const answer = [&](claims const& said, std::string_view accept = "application/json") {
        auto request = by.request(http_method::get, "/Tables", {}, {{"Accept", accept}});
        std::string const token = joined({"Bearer ", url_form(R"({"alg":"none"})"), ".", url_form(said.text()), "."});
        REQUIRE(request.headers.add("Authorization", token));
        return by.server.answer(request, {.encrypted = true});
    };
    CHECK(answer({}).status == 200);
    auto const refused = answer({.exp = "1"});
    CHECK(said(refused) == "401 InvalidAuthenticationInfo");
    CHECK(field(refused, "WWW-Authenticate") ==
        "Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2/authorize "
        "resource_id=https://storage.azure.com");
    CHECK(mentions(refused.body,
        "Please refer to the information in the www-authenticate header. Lifetime validation failed. "
        "The token is expired."));
    CHECK(refused.body.starts_with("{\"odata.error\""));
    CHECK(answer({.exp = "1"}, "application/xml").body.find("<Code>InvalidAuthenticationInfo</Code>") !=
        std::string::npos);
    // In a program, an address with https is as good as a connection with TLS: nothing is sent.
    auto request = by.request(http_method::get, "/Tables");
    REQUIRE(request.headers.add(
        "Authorization", joined({"Bearer ", url_form(R"({"alg":"none"})"), ".", url_form(claims{}.text()), "."})));
    CHECK(by.server.send(request, {}).value().status == 403);
    request.url.replace(0, 4, "https");
    CHECK(by.server.send(request, {}).value().status == 200);
}
