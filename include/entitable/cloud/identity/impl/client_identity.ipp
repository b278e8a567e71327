// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/url.hpp>
#include <entitable/cloud/identity/detail/token_exchange.hpp>
#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the address of the authority, without a slash at the end. Errors: InvalidInput names the variable.
ENTITABLE_DECL result<std::string> authority_of(identity_machine const& machine) {
    std::string address = machine.option_or(machine.options.authority_host, "AZURE_AUTHORITY_HOST");
    if (address.empty()) { address = authority_hosts::public_cloud; }
    if (address.find("://") == std::string::npos) { address.insert(0, "https://"); }
    while (address.ends_with('/')) { address.pop_back(); }
    constexpr std::string_view field = "the authority host (option authority_host, or AZURE_AUTHORITY_HOST)";
    ENTITABLE_TRY(auto url, parse_url(address, field));
    if (!url.encrypted && !url.is_loopback()) {
        return failure{error_code::invalid_input, text::joined({field, " must begin with https://"})};
    }
    if (!url.path.empty() || !url.query.empty()) {
        return failure{error_code::invalid_input, text::joined({field, " must not have a path"})};
    }
    return address;
}

/// Returns the tenant in a challenge of a service, if the authority's host issued it: "Bearer authorization_uri=https://HOST/TENANT/..."
ENTITABLE_DECL std::string challenged_tenant(std::string_view challenge, std::string_view authority) {
    constexpr std::string_view mark = "authorization_uri=";
    std::size_t const at = challenge.find(mark);
    if (!challenge.starts_with("Bearer ") || at == std::string_view::npos) { return {}; }
    std::string_view address = challenge.substr(at + mark.size());
    if (address.starts_with('"')) { address.remove_prefix(1); }
    address = address.substr(0, address.find_first_of("\", "));
    auto const url = parse_url(address, "challenge");
    auto const own = parse_url(authority, "authority");
    if (!url || !own || !url->encrypted || !same_field_name(url->host, own->host) || url->path.size() < 2) {
        return {};
    }
    std::string_view const tenant = url->path.substr(1, url->path.find('/', 1) - 1);
    return is_directory_name(tenant) ? std::string{tenant} : std::string{};
}

/// A client of the authority. What proves that it is this client is up to the derived class.
class client_source : public identity_source {
public:
    client_source(
        std::string_view name, identity_machine machine, std::string authority, std::string tenant, std::string client)
        : machine_(std::move(machine)),
          client_(std::move(client)),
          authority_(std::move(authority)),
          name_(name),
          tenant_(std::move(tenant)) {}

    std::string_view name() const noexcept override { return name_; }
    identity_outcome ask(token_request const& wanted, bool) override { return {request(wanted), false}; }
    bool challenged(std::string_view challenge) override {
        std::string named = challenged_tenant(challenge, authority_);
        std::lock_guard const guard{mutex_};
        if (named.empty() || named == tenant_) { return false; }
        bool allowed = tenant_.empty();
        for (std::string const& each : machine_.options.additionally_allowed_tenants) {
            allowed = allowed || each == "*" || each == named;
        }
        if (allowed) { tenant_ = std::move(named); }
        return allowed;
    }

protected:
    /// Appends the parameters that prove who the client is, to text with enough room.
    [[nodiscard]] virtual result<void> append_proof(std::string& form, std::string_view audience, date_time now) = 0;
    /// Learns that the authority has refused the proof.
    virtual void proof_refused() {}

    static void append_assertion(std::string& form, std::string_view assertion) {
        form += "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
                "&client_assertion=";
        append_url_escaped(form, assertion);
    }

    static constexpr std::size_t largest_proof_ = std::size_t{16} * 1024;
    identity_machine const machine_;
    std::string const client_;

private:
    result<access_token> request(token_request const& wanted) {
        std::string tenant;
        std::chrono::seconds ahead{0};
        {
            std::lock_guard const guard{mutex_};
            tenant = tenant_;
            ahead = ahead_;
        }
        if (tenant.empty()) {
            ENTITABLE_TRY(tenant, discover(wanted));
            std::lock_guard const guard{mutex_};
            tenant_ = tenant;
        }
        http_request sent;
        sent.method = http_method::post;
        sent.url = text::joined({authority_, "/", tenant, "/oauth2/v2.0/token"});
        static_cast<void>(sent.headers.add("Content-Type", "application/x-www-form-urlencoded"));
        static_cast<void>(sent.headers.add("Accept", "application/json"));
        sent.body.reserve(
            4 * largest_proof_ + 4 * (client_.size() + wanted.scope.size())); // growing would leave a copy
        wiped_at_end const wiped{sent.body};
        sent.body = "grant_type=client_credentials&client_id=";
        append_url_escaped(sent.body, client_);
        sent.body += "&scope=";
        append_url_escaped(sent.body, wanted.scope);
        ENTITABLE_CHECK(append_proof(sent.body, sent.url, machine_.options.time->now() - ahead));
        ENTITABLE_TRY(auto answer, exchange_token(machine_, false, name_, sent, wanted, {}));
        std::uint16_t const status = answer.answer.status;
        if (auto const off = clock_ahead(answer)) {
            std::lock_guard const guard{mutex_};
            ahead_ = off->count() > 60 || off->count() < -60 ? *off : std::chrono::seconds{0};
        }
        if (status == 400 || status == 401) { proof_refused(); }
        return token_in_answer(answer, name_, status == 404 ? "check tenant and authority host" : "", {});
    }

    /// Asks the service which tenant it trusts.
    [[nodiscard]] result<std::string> discover(token_request const& wanted) const {
        constexpr std::string_view advice = "pass the tenant, or set AZURE_TENANT_ID";
        if (wanted.endpoint.empty()) { return no_token(name_, {"the tenant is missing: ", advice}); }
        http_request request;
        request.url = text::joined({wanted.endpoint, "/Tables"});
        static_cast<void>(request.headers.add("x-ms-version", "2019-12-12")); // from here on services name the tenant
        static_cast<void>(request.headers.add("Accept", "application/json;odata=nometadata"));
        ENTITABLE_TRY(auto answer, exchange_token(machine_, false, name_, request, wanted, {}));
        std::string tenant = answer.answer.status == 401
            ? challenged_tenant(answer.answer.headers.find("WWW-Authenticate").value_or(std::string_view{}), authority_)
            : std::string{};
        if (tenant.empty()) {
            return no_token(name_, {"the service does not name a tenant of this authority: ", advice});
        }
        return tenant;
    }

    std::string const authority_;
    std::string_view const name_;
    std::mutex mutex_;
    std::string tenant_;            ///< guarded by mutex_
    std::chrono::seconds ahead_{0}; ///< how far this computer's clock is ahead of the authority's; guarded by mutex_
};

class secret_source_of_client final : public client_source {
public:
    secret_source_of_client(
        identity_machine machine, std::string authority, std::string tenant, std::string client, std::string_view text)
        : client_source(
              "client secret", std::move(machine), std::move(authority), std::move(tenant), std::move(client)),
          secret_(text) {}

private:
    result<void> append_proof(std::string& form, std::string_view, date_time) override {
        form += "&client_secret=";
        append_url_escaped(form, secret_.reveal());
        return {};
    }
    secret const secret_;
};

class certificate_source_of_client final : public client_source {
public:
    certificate_source_of_client(
        identity_machine machine, std::string authority, std::string tenant, std::string client)
        : client_source(
              "client certificate", std::move(machine), std::move(authority), std::move(tenant), std::move(client)) {}

    client_key key;

private:
    result<void> append_proof(std::string& form, std::string_view audience, date_time now) override {
        ENTITABLE_TRY(auto assertion, key.sign(audience, client_, now));
        append_assertion(form, assertion.reveal());
        return {};
    }
};

class workload_source_of_client final : public client_source {
public:
    workload_source_of_client(
        identity_machine machine, std::string authority, std::string tenant, std::string client, std::string file)
        : client_source(
              "workload identity", std::move(machine), std::move(authority), std::move(tenant), std::move(client)),
          file_(std::move(file)) {}

private:
    result<void> append_proof(std::string& form, std::string_view, date_time) override {
        constexpr std::chrono::minutes longest{5};
        steady_time const now = machine_.options.time->steady();
        std::lock_guard const guard{mutex_};
        if (assertion_.empty() || now - read_at_ > longest) {
            ENTITABLE_TRY(assertion_,
                read_secret_file(file_, "workload identity, the file with the federated token", largest_proof_, true));
            read_at_ = now;
        }
        if (assertion_.empty()) {
            return no_token("workload identity", {"the file with the federated token is empty"});
        }
        append_assertion(form, assertion_.reveal());
        return {};
    }
    void proof_refused() override {
        std::lock_guard const guard{mutex_};
        assertion_ = {};
    }

    std::string const file_;
    std::mutex mutex_;
    secret assertion_;    ///< guarded by mutex_
    steady_time read_at_; ///< guarded by mutex_
};

/// Checks what all clients need; returns the authority.
ENTITABLE_DECL result<std::string> check_client(
    std::string_view way, identity_machine const& machine, std::string_view tenant, std::string_view client) {
    if (!tenant.empty() && !is_directory_name(tenant)) {
        return failure{error_code::invalid_input,
            text::joined({way, ": the tenant must have 1 to 256 letters, digits, dots, hyphens and underscores"})};
    }
    if (!is_directory_name(client)) {
        return failure{error_code::invalid_input,
            text::joined({way, ": the client id must have 1 to 256 letters, digits, dots, hyphens and underscores"})};
    }
    return authority_of(machine);
}

ENTITABLE_DECL shared<identity_source> secret_source(
    std::string_view tenant, std::string_view client, std::string_view text, identity_machine machine) {
    constexpr std::string_view way = "client secret";
    auto authority = check_client(way, machine, tenant, client);
    if (!authority) { return failing_source(way, authority.error(), false); }
    if (text.empty() || text.size() > std::size_t{16} * 1024) {
        return failing_source(way,
            {error_code::invalid_input,
                text.empty() ? "client secret: the secret is empty" : "client secret: the secret exceeds 16 KiB"},
            false);
    }
    return shared<identity_source>{new secret_source_of_client{
        std::move(machine), *std::move(authority), std::string{tenant}, std::string{client}, text}};
}

ENTITABLE_DECL shared<identity_source> certificate_source(
    std::string_view tenant, std::string_view client, std::string_view pem, identity_machine machine) {
    constexpr std::string_view way = "client certificate";
    auto authority = check_client(way, machine, tenant, client);
    if (!authority) { return failing_source(way, authority.error(), false); }
    std::string password = machine.options.certificate_password;
    wiped_at_end const wiped{password};
    assertion_algorithm const algorithm = machine.options.algorithm;
    wipe(machine.options.certificate_password.data(), machine.options.certificate_password.size());
    machine.options.certificate_password.clear();
    auto* const made = new certificate_source_of_client{
        std::move(machine), *std::move(authority), std::string{tenant}, std::string{client}};
    shared<identity_source> owned{made};
    if (auto read = made->key.read(pem, password, algorithm); !read) {
        return failing_source(way, read.error(), false);
    }
    return owned;
}

ENTITABLE_DECL shared<identity_source> workload_source(identity_machine machine) {
    constexpr std::string_view way = "workload identity";
    std::string const tenant = machine.option_or(machine.options.tenant, "AZURE_TENANT_ID");
    std::string const client = machine.option_or(machine.options.client, "AZURE_CLIENT_ID");
    std::string const file = machine.option_or(machine.options.token_file, "AZURE_FEDERATED_TOKEN_FILE");
    std::string_view const missing = file.empty() ? "AZURE_FEDERATED_TOKEN_FILE"
        : tenant.empty()                          ? "AZURE_TENANT_ID"
        : client.empty()                          ? "AZURE_CLIENT_ID"
                                                  : "";
    if (!missing.empty()) {
        return failing_source(
            way, {error_code::authentication_failed, text::joined({way, ": ", missing, " is not set"})}, true);
    }
    auto authority = check_client(way, machine, tenant, client);
    if (!authority) { return failing_source(way, authority.error(), false); }
    return shared<identity_source>{
        new workload_source_of_client{std::move(machine), *std::move(authority), tenant, client, file}};
}

ENTITABLE_DECL shared<identity_source> environment_source(identity_machine machine) {
    constexpr std::string_view way = "environment";
    auto const tenant = machine.variable("AZURE_TENANT_ID");
    auto const client = machine.variable("AZURE_CLIENT_ID");
    auto hidden = machine.variable("AZURE_CLIENT_SECRET");
    auto const file = machine.variable("AZURE_CLIENT_CERTIFICATE_PATH");
    std::string nothing;
    wiped_at_end const wiped{hidden ? *hidden : nothing};
    std::string_view const missing = !tenant ? "AZURE_TENANT_ID is not set"
        : !client                            ? "AZURE_CLIENT_ID is not set"
        : !hidden && !file                   ? "neither AZURE_CLIENT_SECRET nor AZURE_CLIENT_CERTIFICATE_PATH is set"
                                             : "";
    if (!missing.empty()) {
        return failing_source(way, {error_code::authentication_failed, text::joined({way, ": ", missing})}, true);
    }
    if (hidden) { return secret_source(*tenant, *client, *hidden, std::move(machine)); }
    auto const pem = read_secret_file(*file, "environment, the file of AZURE_CLIENT_CERTIFICATE_PATH", 65'536, true);
    if (!pem) { return failing_source(way, pem.error(), false); }
    if (auto password = machine.variable("AZURE_CLIENT_CERTIFICATE_PASSWORD")) {
        machine.options.certificate_password = *password;
        wipe(password->data(), password->size());
    }
    return certificate_source(*tenant, *client, pem->reveal(), std::move(machine));
}

} // namespace detail
ENTITABLE_END_NAMESPACE
