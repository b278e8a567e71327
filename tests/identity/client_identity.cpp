// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Clients of the authority: a secret, a certificate, a federated token; sovereign clouds, tenants, wrong clocks.

#include <entitable/cloud/identity/identity.hpp>
#include <entitable/core/detail/base64.hpp>

#include <http/certificates.hpp>
#include <identity/machine.hpp>
#include <openssl/rsa.h>
#include <support/temporary_folder.hpp>

#include <fstream>

using namespace entitable;
using namespace entitable_test;

namespace {

void write_file(std::string const& path, std::string_view content) { std::ofstream{path} << content; }

std::string pem_of(EVP_PKEY* key, X509* certificate, std::string const& password = {}, bool key_first = true) {
    BIO* const out = BIO_new(BIO_s_mem());
    auto const put_key = [&] {
        PEM_write_bio_PrivateKey(out, key, password.empty() ? nullptr : EVP_aes_256_cbc(), nullptr, 0, nullptr,
            password.empty() ? nullptr : const_cast<char*>(password.c_str()));
    };
    if (key_first && key != nullptr) { put_key(); }
    if (certificate != nullptr) { PEM_write_bio_X509(out, certificate); }
    if (!key_first && key != nullptr) { put_key(); }
    char* bytes = nullptr;
    long const size = BIO_get_mem_data(out, &bytes);
    std::string text{bytes, static_cast<std::size_t>(size)};
    BIO_free(out);
    return text;
}

struct signer {
    key_ptr key{EVP_RSA_gen(2048), &EVP_PKEY_free};
    certificate_ptr certificate{make_certificate(key.get(), {}, key.get(), nullptr)};
};
signer const& a_signer() {
    static signer const made;
    return made;
}

std::string from_base64url(std::string text) {
    for (char& each : text) { each = each == '-' ? '+' : each == '_' ? '/' : each; }
    while (text.size() % 4 != 0) { text += '='; }
    std::string bytes;
    REQUIRE(detail::append_from_base64(bytes, text));
    return bytes;
}

/// The value of a parameter of a form, without escapes.
std::string parameter(std::string const& form, std::string const& name) {
    std::size_t const at = ("&" + form).find("&" + name + "=");
    REQUIRE(at != std::string::npos);
    std::size_t const begin = at + name.size() + 1;
    std::string const raw = form.substr(begin, form.find('&', begin) - begin);
    std::string text;
    for (std::size_t index = 0; index < raw.size(); ++index) {
        if (raw[index] == '%') {
            text += static_cast<char>(std::stoi(raw.substr(index + 1, 2), nullptr, 16));
            index += 2;
        } else {
            text += raw[index];
        }
    }
    return text;
}

} // namespace

TEST_CASE("a secret is exchanged for a token as documented") {
    machine here;
    here.authority.then(200, a_token_body);
    auto const token = here.secret("hunter2~ &+%").request_token(storage_scope).value();
    CHECK(token.text == "tok.en-1");
    CHECK(token.expires == here.time.now() + std::chrono::seconds{3599});
    CHECK(golden(here.authority.last()) ==
        "POST https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/oauth2/v2.0/token\n"
        "Content-Type: application/x-www-form-urlencoded\nAccept: application/json\n\n"
        "grant_type=client_credentials&client_id=6731de76-14a6-49ae-97bc-6eba6914391e"
        "&scope=https%3A%2F%2Fstorage.azure.com%2F.default&client_secret=hunter2~%20%26%2B%25\n");
    CHECK(here.local.asked().empty());
    CHECK(here.authority.calls().back().request_timeout == here.options.request_timeout);
}

TEST_CASE("an expiry that is text, or only a time, is understood") {
    machine here;
    here.authority.then(200, R"({"access_token":"t","expires_in":"120"})");
    CHECK(here.secret().request_token(storage_scope).value().expires == here.time.now() + std::chrono::seconds{120});
    here.authority.then(200, R"({"access_token":"t","expires_on":")" + std::to_string(here.seconds() + 60) + R"("})");
    CHECK(here.secret().request_token(storage_scope).value().expires == here.time.now() + std::chrono::seconds{60});
}

TEST_CASE("the authority is asked again after 408, 429 and 5xx, after Retry-After, and never after 400 and 401") {
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{408, 429, 500, 503}) {
        machine here;
        here.authority.then(status, "", {{"Retry-After", "5"}});
        here.authority.then(status);
        here.authority.then(200, a_token_body);
        CHECK(here.secret().request_token(storage_scope));
        CHECK(here.waited() == std::chrono::milliseconds{5000 + 1600});
    }
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{400, 401, 404, 410}) {
        machine here;
        here.authority.then(status);
        CHECK(here.secret().request_token(storage_scope).error().code == error_code::authentication_failed);
        CHECK(here.authority.asked().size() == 1);
    }
    machine here;
    for (int times = 0; times < 9; ++times) { here.authority.then(429, "", {{"Retry-After", "1000000"}}); }
    auto const busy = here.secret().request_token(storage_scope);
    CHECK(busy.error().code == error_code::server_busy);
    CHECK(here.authority.asked().size() == 4);
    CHECK(here.waited() == std::chrono::minutes{3}); // at most a minute each time
}

TEST_CASE("lost answers of the authority are asked for again; the error then names the way") {
    machine here;
    auto const lost = [](http_request const&) -> result<http_response> {
        error problem{error_code::transport_failed, "no answer"};
        problem.effect = effect::unknown;
        return failure{problem};
    };
    here.authority.then(lost);
    here.authority.then(200, a_token_body);
    CHECK(here.secret().request_token(storage_scope));
    for (int times = 0; times < 4; ++times) { here.authority.then(lost); }
    auto const failed = here.secret().request_token(storage_scope);
    CHECK(failed.error().code == error_code::transport_failed);
    CHECK(failed.error().effect == effect::none);
    CHECK(failed.error().message == "client secret: no answer");
}

TEST_CASE("a refusal says the error, its number and ids, and what to do, and nothing else of the answer") {
    machine here;
    here.authority.then(401,
        R"({"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret hunter2~secret provided.",)"
        R"("error_codes":[7000215],"timestamp":"2026-11-20","trace_id":"0D2BAE2D-3C3D-4CE3-B2D0-2A56E3A10E00",)"
        R"("correlation_id":"9f2c1e9b-1111-2222-3333-444455556666","error_uri":"https://x/hunter2"})");
    auto const refused = here.secret().request_token(storage_scope);
    CHECK(refused.error().to_string() ==
        "AuthenticationFailed (401): client secret: refused with 401, invalid_client, AADSTS7000215, "
        "trace id 0d2bae2d-3c3d-4ce3-b2d0-2a56e3a10e00, correlation id 9f2c1e9b-1111-2222-3333-444455556666; the "
        "secret "
        "is wrong: use the value of the secret, not its id; request 0d2bae2d-3c3d-4ce3-b2d0-2a56e3a10e00");
    // Texts of an answer that are not of the known forms might repeat a secret.
    here.authority.then(401,
        R"({"error":"hunter2~secret","error_description":"hunter2~secret","trace_id":"hunter2~secret","correlation_id":5})");
    CHECK(here.secret().request_token(storage_scope).error().to_string() ==
        "AuthenticationFailed (401): client secret: refused with 401");
}

TEST_CASE("sovereign clouds have their own authorities, by option or variable") {
    for (std::string_view const host :
        {authority_hosts::public_cloud, authority_hosts::government, authority_hosts::china}) {
        machine here;
        here.options.authority_host = std::string{host} + "/";
        here.authority.then(200, a_token_body);
        CHECK(here.secret().request_token(storage_scope));
        CHECK(here.authority.last().url == std::string{host} + "/" + std::string{a_tenant} + "/oauth2/v2.0/token");
    }
    machine here;
    here.variables["AZURE_AUTHORITY_HOST"] = "login.example.com";
    here.authority.then(200, a_token_body);
    CHECK(here.secret().request_token(storage_scope));
    CHECK_THAT(here.authority.last().url, StartsWith("https://login.example.com/72f988bf"));
    for (std::string const wrong : {"http://login.example.com", "https://login.example.com/tenant", "https://",
             "ftp://a", "https://a?b", "https://user@a"}) {
        machine there;
        there.variables["AZURE_AUTHORITY_HOST"] = wrong;
        auto const refused = there.secret().request_token(storage_scope);
        INFO(wrong);
        CHECK(refused.error().code == error_code::invalid_input);
        CHECK_THAT(refused.error().message, ContainsSubstring("AZURE_AUTHORITY_HOST"));
        CHECK(there.authority.asked().empty());
    }
}

TEST_CASE("ids that could change the address are refused") {
    for (std::string const wrong : {"a/b", "a?b", "-a", "a b", "a\"b", "../x", "\xC3\xA4"}) {
        machine here;
        INFO(wrong);
        identity const tenant{detail::secret_source(wrong, a_client, "s", here.seen())};
        CHECK(tenant.request_token(storage_scope).error().code == error_code::invalid_input);
        identity const client{detail::secret_source(a_tenant, wrong, "s", here.seen())};
        CHECK(client.request_token(storage_scope).error().code == error_code::invalid_input);
        CHECK(here.authority.asked().empty());
    }
    machine here;
    CHECK(here.secret("").request_token(storage_scope).error().code == error_code::invalid_input);
    CHECK(here.secret(std::string(20'000, 's')).request_token(storage_scope).error().code == error_code::invalid_input);
}

TEST_CASE("without a tenant, the service is asked which tenant it trusts") {
    machine here;
    identity const who{detail::secret_source("", a_client, "s", here.seen())};
    auto const at = endpoint::parse("https://acct.table.core.windows.net").value();
    credential const used = who;
    auto const authorize = [&] {
        http_request request;
        request.url = at.primary + "/Orders";
        auto const done = used.authorize(request, at, here.time.now());
        here.time.advance(std::chrono::minutes{1}); // a failure is not repeated at once
        return done;
    };
    std::string const tenant{a_tenant};
    for (std::string const& challenge :
        {std::string{"Bearer authorization_uri=https://evil.example.com/"} + tenant + "/oauth2/authorize",
            "Bearer authorization_uri=http://login.microsoftonline.com/" + tenant + "/oauth2/authorize",
            std::string{"Bearer authorization_uri=https://login.microsoftonline.com/"},
            std::string{"Bearer authorization_uri=https://login.microsoftonline.com/a%20b/oauth2"},
            std::string{"Basic"}, std::string{}}) {
        here.authority.then(401, "", {{"WWW-Authenticate", challenge}});
        INFO(challenge);
        CHECK_THAT(authorize().error().message, ContainsSubstring("AZURE_TENANT_ID"));
    }
    here.authority.then(401, "",
        {{"WWW-Authenticate",
            "Bearer authorization_uri=https://login.microsoftonline.com/" + tenant +
                "/oauth2/authorize resource_id=https://storage.azure.com"}});
    here.authority.then(200, a_token_body);
    std::size_t const before = here.authority.asked().size();
    CHECK(authorize());
    CHECK(golden(here.authority.asked()[before]) ==
        "GET https://acct.table.core.windows.net/Tables\nx-ms-version: 2019-12-12\n"
        "Accept: application/json;odata=nometadata\n");
    CHECK(here.authority.last().url == "https://login.microsoftonline.com/" + tenant + "/oauth2/v2.0/token");
    CHECK(authorize());
    CHECK(here.authority.asked().size() == before + 2);
    // Without a service there is nobody to ask.
    identity const alone{detail::secret_source("", a_client, "s", here.seen())};
    CHECK_THAT(alone.request_token(storage_scope).error().message, ContainsSubstring("the tenant is missing"));
}

TEST_CASE("a challenge for another tenant is followed only if that tenant is allowed") {
    std::string const other = "aaaaaaaa-0000-0000-0000-000000000000";
    std::string const challenge =
        "Bearer authorization_uri=\"https://login.microsoftonline.com/" + other + "/oauth2/authorize\"";
    auto const at = endpoint::parse("https://acct.table.core.windows.net").value();
    for (std::vector<std::string> const& allowed : {std::vector<std::string>{}, {"bbbb"}, {"bbbb", other}, {"*"}}) {
        machine here;
        here.options.additionally_allowed_tenants = allowed;
        credential const who = here.secret();
        http_request request;
        request.url = at.primary + "/Orders";
        here.authority.then(200, a_token_body);
        CHECK(who.authorize(request, at, here.time.now()));
        here.authority.then(200, a_token_body);
        who.refused(request, here.time.now(), challenge);
        CHECK(who.authorize(request, at, here.time.now()));
        bool const follows = !allowed.empty() && allowed.back() != "bbbb";
        CHECK(here.authority.asked().size() == (follows ? 2 : 1));
        CHECK((here.authority.last().url.find(other) != std::string::npos) == follows);
    }
}

TEST_CASE("a certificate signs an assertion that the authority can verify") {
    struct row {
        assertion_algorithm algorithm;
        std::string_view header;
        EVP_MD const* digest;
    };
    signer const& mine = a_signer();
    for (row const& each : {row{assertion_algorithm::ps256, R"({"alg":"PS256","typ":"JWT","x5t#S256":")", EVP_sha256()},
             row{assertion_algorithm::rs256, R"({"alg":"RS256","typ":"JWT","x5t":")", EVP_sha1()}}) {
        machine here;
        here.options.algorithm = each.algorithm;
        identity const who{detail::certificate_source(
            a_tenant, a_client, pem_of(mine.key.get(), mine.certificate.get()), here.seen())};
        here.authority.then(200, a_token_body);
        REQUIRE(who.request_token(storage_scope).value().text == "tok.en-1");
        std::string const form = here.authority.last().body;
        CHECK(parameter(form, "client_assertion_type") == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
        CHECK_THAT(form,
            StartsWith("grant_type=client_credentials&client_id=6731de76-14a6-49ae-97bc-6eba6914391e"
                       "&scope=https%3A%2F%2Fstorage.azure.com%2F.default&client_assertion_type="));
        std::string const assertion = parameter(form, "client_assertion");
        std::size_t const first = assertion.find('.');
        std::size_t const second = assertion.find('.', first + 1);
        std::string const header = from_base64url(assertion.substr(0, first));
        std::string const claims = from_base64url(assertion.substr(first + 1, second - first - 1));
        std::string const signature = from_base64url(assertion.substr(second + 1));
        unsigned char digest[EVP_MAX_MD_SIZE];
        unsigned size = 0;
        REQUIRE(X509_digest(mine.certificate.get(), each.digest, digest, &size) == 1);
        REQUIRE_THAT(header, StartsWith(std::string{each.header}));
        std::string const thumbprint = header.substr(each.header.size(), header.size() - each.header.size() - 2);
        CHECK(from_base64url(thumbprint) == std::string(reinterpret_cast<char*>(digest), size));
        std::string const begins = std::to_string(here.seconds());
        std::string const id = claims.substr(claims.find("\"jti\":\"") + 7, 36);
        CHECK(guid::parse(id));
        CHECK(claims ==
            R"({"aud":"https://login.microsoftonline.com/)" + std::string{a_tenant} + R"(/oauth2/v2.0/token","iss":")" +
                std::string{a_client} + R"(","sub":")" + std::string{a_client} + R"(","jti":")" + id + R"(","nbf":)" +
                begins + R"(,"exp":)" + std::to_string(here.seconds() + 600) + "}");
        EVP_MD_CTX* const context = EVP_MD_CTX_new();
        EVP_PKEY_CTX* parameters = nullptr;
        REQUIRE(EVP_DigestVerifyInit(context, &parameters, EVP_sha256(), nullptr, mine.key.get()) == 1);
        if (each.algorithm == assertion_algorithm::ps256) {
            EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING);
            EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST);
        }
        CHECK(EVP_DigestVerify(context, reinterpret_cast<unsigned char const*>(signature.data()), signature.size(),
                  reinterpret_cast<unsigned char const*>(assertion.data()), second) == 1);
        EVP_MD_CTX_free(context);
        here.authority.then(200, a_token_body);
        REQUIRE(who.request_token(storage_scope));
        CHECK(parameter(here.authority.last().body, "client_assertion") != assertion); // a fresh id each time
    }
}

TEST_CASE("a certificate may follow or precede its key, be one of several, and have a password") {
    signer const& mine = a_signer();
    signer const other;
    std::string const pem =
        pem_of(nullptr, other.certificate.get()) + pem_of(mine.key.get(), mine.certificate.get(), "open sesame", false);
    machine here;
    here.options.certificate_password = "open sesame";
    here.authority.then(200, a_token_body);
    CHECK(identity{detail::certificate_source(a_tenant, a_client, pem, here.seen())}.request_token(storage_scope));
    here.options.certificate_password = "hunter2";
    auto const refused =
        identity{detail::certificate_source(a_tenant, a_client, pem, here.seen())}.request_token(storage_scope);
    CHECK(refused.error().code == error_code::invalid_input);
    CHECK_THAT(refused.error().message, ContainsSubstring("password"));
}

TEST_CASE("texts that are not a certificate with its RSA key are refused") {
    signer const& mine = a_signer();
    signer const other;
    auto const elliptic = make_key();
    auto const of_elliptic = make_certificate(elliptic.get(), {}, elliptic.get(), nullptr);
    key_ptr const short_key{EVP_RSA_gen(1024), &EVP_PKEY_free};
    auto const of_short = make_certificate(short_key.get(), {}, short_key.get(), nullptr);
    for (auto const& [pem, reason] : {std::pair{std::string{}, "no private key"},
             {std::string{"hunter2"}, "no private key"}, {pem_of(nullptr, mine.certificate.get()), "no private key"},
             {pem_of(mine.key.get(), nullptr), "no certificate"},
             {pem_of(mine.key.get(), other.certificate.get()), "no certificate"},
             {pem_of(elliptic.get(), of_elliptic.get()), "not an RSA key"},
             {pem_of(short_key.get(), of_short.get()), "2048 bits"}}) {
        machine here;
        auto const refused =
            identity{detail::certificate_source(a_tenant, a_client, pem, here.seen())}.request_token(storage_scope);
        INFO(reason);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error_code::invalid_input);
        CHECK_THAT(refused.error().message, ContainsSubstring(reason));
        CHECK(here.authority.asked().empty());
    }
}

TEST_CASE("a wrong clock is named in the error, and the next assertion is dated by the authority's clock") {
    signer const& mine = a_signer();
    machine here;
    identity const who{
        detail::certificate_source(a_tenant, a_client, pem_of(mine.key.get(), mine.certificate.get()), here.seen())};
    date_time const server = here.time.now() - std::chrono::hours{1};
    std::string const date{detail::http_date(server)};
    here.authority.then(401,
        R"({"error":"invalid_client","error_description":"AADSTS700024: not within its valid time"})",
        {{"Date", date}});
    auto const refused = who.request_token(storage_scope);
    CHECK_THAT(refused.error().message,
        ContainsSubstring(
            "AADSTS700024; the assertion is not valid now: check the clock of this computer; the clock of this "
            "computer is 3600 s ahead of the server's"));
    here.authority.then(200, a_token_body, {{"Date", date}});
    auto const token = who.request_token(storage_scope).value();
    CHECK(token.expires == here.time.now() + std::chrono::seconds{3599}); // by the clock of this computer
    std::string const assertion = parameter(here.authority.last().body, "client_assertion");
    std::size_t const first = assertion.find('.');
    CHECK_THAT(from_base64url(assertion.substr(first + 1, assertion.find('.', first + 1) - first - 1)),
        ContainsSubstring("\"nbf\":" + std::to_string(here.seconds() - 3600)));
}

TEST_CASE("a federated token is exchanged as documented, and its file is read again after 5 minutes") {
    temporary_folder const folder;
    std::string const file = folder / "token";
    write_file(file, "eyJ.first.x\n");
    machine here;
    here.variables = {{"AZURE_TENANT_ID", std::string{a_tenant}}, {"AZURE_CLIENT_ID", std::string{a_client}},
        {"AZURE_FEDERATED_TOKEN_FILE", file}, {"AZURE_AUTHORITY_HOST", "https://login.microsoftonline.us/"}};
    identity const who{detail::workload_source(here.seen())};
    auto const sent = [&] {
        here.authority.then(200, a_token_body);
        REQUIRE(who.request_token(storage_scope));
        return golden(here.authority.last());
    };
    std::string const begins =
        "POST https://login.microsoftonline.us/72f988bf-86f1-41af-91ab-2d7cd011db47/oauth2/v2.0/token\n"
        "Content-Type: application/x-www-form-urlencoded\nAccept: application/json\n\n"
        "grant_type=client_credentials&client_id=6731de76-14a6-49ae-97bc-6eba6914391e"
        "&scope=https%3A%2F%2Fstorage.azure.com%2F.default"
        "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_assertion=";
    CHECK(sent() == begins + "eyJ.first.x\n");
    write_file(file, "eyJ.second.x");
    here.time.advance(std::chrono::minutes{4});
    CHECK(sent() == begins + "eyJ.first.x\n");
    here.time.advance(std::chrono::minutes{2});
    CHECK(sent() == begins + "eyJ.second.x\n");
    write_file(file, "eyJ.third.x");
    here.authority.then(401); // an expired assertion is not sent again
    CHECK_FALSE(who.request_token(storage_scope));
    CHECK(sent() == begins + "eyJ.third.x\n");
}

TEST_CASE("a workload identity names the variable that is missing, and the file that it cannot read") {
    temporary_folder const folder;
    for (std::string const missing : {"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE"}) {
        machine here;
        here.variables = {{"AZURE_TENANT_ID", std::string{a_tenant}}, {"AZURE_CLIENT_ID", std::string{a_client}},
            {"AZURE_FEDERATED_TOKEN_FILE", folder / "none"}};
        here.variables.erase(missing);
        auto const refused = identity{detail::workload_source(here.seen())}.request_token(storage_scope);
        CHECK(refused.error().code == error_code::authentication_failed);
        CHECK(refused.error().message == "workload identity: " + missing + " is not set");
    }
    machine here;
    here.options.tenant = a_tenant;
    here.options.client = a_client;
    here.options.token_file = folder / "none";
    auto const ask = [&] {
        return identity{detail::workload_source(here.seen())}.request_token(storage_scope).error().message;
    };
    CHECK_THAT(ask(), ContainsSubstring("cannot be opened"));
    write_file(here.options.token_file, std::string(20'000, 't'));
    CHECK_THAT(ask(), ContainsSubstring("16384 bytes"));
    write_file(here.options.token_file, " \n");
    CHECK_THAT(ask(), ContainsSubstring("empty"));
    here.options.token_file = "/dev/zero";
    CHECK_THAT(ask(), ContainsSubstring("not a regular file"));
    CHECK(here.authority.asked().empty());
}

TEST_CASE("the environment is a secret, or else a certificate") {
    temporary_folder const folder;
    signer const& mine = a_signer();
    write_file(folder / "c.pem", pem_of(mine.key.get(), mine.certificate.get(), "open sesame"));
    machine here;
    here.variables = {{"AZURE_TENANT_ID", std::string{a_tenant}}, {"AZURE_CLIENT_ID", std::string{a_client}},
        {"AZURE_CLIENT_SECRET", "s1"}, {"AZURE_CLIENT_CERTIFICATE_PATH", folder / "c.pem"},
        {"AZURE_CLIENT_CERTIFICATE_PASSWORD", "open sesame"}};
    here.authority.then(200, a_token_body);
    CHECK(identity{detail::environment_source(here.seen())}.request_token(storage_scope));
    CHECK_THAT(here.authority.last().body, EndsWith("&client_secret=s1"));
    here.variables.erase("AZURE_CLIENT_SECRET");
    here.authority.then(200, a_token_body);
    CHECK(identity{detail::environment_source(here.seen())}.request_token(storage_scope));
    CHECK_THAT(here.authority.last().body, ContainsSubstring("&client_assertion=ey"));
    here.variables["AZURE_CLIENT_CERTIFICATE_PATH"] = folder / "none.pem";
    CHECK_THAT(identity{detail::environment_source(here.seen())}.request_token(storage_scope).error().message,
        ContainsSubstring("AZURE_CLIENT_CERTIFICATE_PATH"));
    here.variables.erase("AZURE_CLIENT_CERTIFICATE_PATH");
    CHECK(identity{detail::environment_source(here.seen())}.request_token(storage_scope).error().message ==
        "environment: neither AZURE_CLIENT_SECRET nor AZURE_CLIENT_CERTIFICATE_PATH is set");
}
