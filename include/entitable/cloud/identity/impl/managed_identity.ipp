// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/url.hpp>
#include <entitable/cloud/identity/detail/token_exchange.hpp>
#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/core/atomic.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What all machines share: one GET with the resource in its address.
class machine_source : public identity_source {
public:
    explicit machine_source(identity_machine machine) : machine_(std::move(machine)) {}
    std::string_view name() const noexcept override { return "managed identity"; }

protected:
    /// Makes the request; `identities` are the names of the parameters for client, object and resource id.
    [[nodiscard]] http_request request_to(std::string_view address, std::string_view version, std::string_view scope,
        std::initializer_list<std::string_view> identities = {}) const {
        http_request request;
        request.url = text::joined({address, "?api-version=", version, "&resource="});
        append_url_escaped(request.url, resource_of(scope));
        identity_options const& options = machine_.options;
        std::string const* given[] = {&options.client, &options.object_id, &options.resource_id};
        std::size_t index = 0;
        for (std::string_view const each : identities) {
            if (std::string const& id = *given[index++]; !id.empty()) {
                request.url += text::joined({"&", each, "="});
                append_url_escaped(request.url, id);
            }
        }
        return request;
    }
    identity_machine const machine_;
};

/// The metadata service of a virtual machine.
class imds_source final : public machine_source {
public:
    using machine_source::machine_source;

    identity_outcome ask(token_request const& wanted, bool probing) override {
        constexpr std::string_view way = "managed identity (IMDS)";
        if (probing && !there_.load(memory_order::relaxed)) {
            if (auto found = probe(wanted); !found) { return {std::move(found).as_failure(), true}; }
            there_.store(true, memory_order::relaxed);
        }
        auto request = request_to(text::joined({machine_.imds, "/metadata/identity/oauth2/token"}), "2018-02-01",
            wanted.scope, {"client_id", "object_id", "msi_res_id"});
        static_cast<void>(request.headers.add("Metadata", "true"));
        auto answer = exchange_token(machine_, true, way, request, wanted, {5, std::chrono::milliseconds{800}, true});
        if (!answer) { return {std::move(answer).as_failure(), false}; }
        std::uint16_t const status = answer->answer.status;
        bool const unassigned = status == 400;
        // A machine without an identity may still have a user, and on other networks something else answers at this address.
        bool const absent = probing && (unassigned || status == 401 || status == 403 || status == 404);
        auto token = token_in_answer(*answer, way,
            unassigned ? "assign an identity to this machine, or name one of those that are assigned" : "",
            resource_of(wanted.scope));
        return {std::move(token), absent};
    }

private:
    /// Asks without the field that a request needs: any answer shows that the service exists.
    result<void> probe(token_request const& wanted) const {
        http_request request =
            request_to(text::joined({machine_.imds, "/metadata/identity/oauth2/token"}), "2018-02-01", wanted.scope);
        http_call limits;
        if (wanted.call != nullptr) {
            limits.deadline = wanted.call->deadline;
            limits.cancellation = wanted.call->cancellation;
        }
        limits.request_timeout = machine_.options.probe_timeout;
        limits.max_body_size = std::size_t{64} * 1024;
        if (auto answer = machine_.options.send_local(request, limits); !answer) {
            bool const ended = answer.error().code != error_code::transport_failed;
            if (ended) { return std::move(answer).as_failure(); }
            return no_token("managed identity",
                {"nothing answers at the metadata address of Azure within ",
                    std::to_string(machine_.options.probe_timeout.count()), " ms"});
        }
        return {};
    }
    atomic<bool> there_{false};
};

/// App Service, Functions and Container Apps.
class app_service_source final : public machine_source {
public:
    app_service_source(identity_machine machine, std::string address, secret header)
        : machine_source(std::move(machine)), address_(std::move(address)), header_(std::move(header)) {}

    identity_outcome ask(token_request const& wanted, bool) override {
        constexpr std::string_view way = "managed identity (App Service)";
        auto request = request_to(address_, "2019-08-01", wanted.scope, {"client_id", "principal_id", "mi_res_id"});
        if (!request.headers.add("X-IDENTITY-HEADER", header_.reveal())) {
            return {no_token(way, {"IDENTITY_HEADER contains characters that are invalid in a header field"}), false};
        }
        auto answer = exchange_token(machine_, true, way, request, wanted, {});
        if (!answer) { return {std::move(answer).as_failure(), false}; }
        return {token_in_answer(*answer, way,
                    "assign an identity to this application, or name one of those that are assigned",
                    resource_of(wanted.scope)),
            false};
    }

private:
    std::string const address_;
    secret const header_;
};

/// Azure Arc: proves that the program may read a file of the agent.
class arc_source final : public machine_source {
public:
    arc_source(identity_machine machine, std::string address)
        : machine_source(std::move(machine)), address_(std::move(address)) {}

    identity_outcome ask(token_request const& wanted, bool) override { return {ask_twice(wanted), false}; }

private:
    static constexpr std::string_view way_ = "managed identity (Azure Arc)";

    result<access_token> ask_twice(token_request const& wanted) const {
        identity_options const& options = machine_.options;
        if (!options.client.empty() || !options.object_id.empty() || !options.resource_id.empty()) {
            return no_token(way_, {"Azure Arc has no user-assigned identities: leave out the client id"});
        }
        auto request = request_to(address_, "2019-11-01", wanted.scope);
        static_cast<void>(request.headers.add("Metadata", "true"));
        ENTITABLE_TRY(auto first, exchange_token(machine_, true, way_, request, wanted, {}));
        if (first.answer.status != 401) {
            return token_in_answer(first, way_, "the agent must answer with a challenge", resource_of(wanted.scope));
        }
        ENTITABLE_TRY(auto key, read_key(first.answer.headers.find("WWW-Authenticate").value_or(std::string_view{})));
        std::string field;
        field.reserve(sizeof("Basic ") + key.reveal().size());
        field.append("Basic ").append(key.reveal());
        wiped_at_end const wiped{field};
        if (!request.headers.add("Authorization", field)) {
            return no_token(way_, {"the key file contains characters that are invalid in a header field"});
        }
        ENTITABLE_TRY(auto second, exchange_token(machine_, true, way_, request, wanted, {}));
        return token_in_answer(second, way_, "", resource_of(wanted.scope));
    }

    /// Reads the file that a challenge names, if it is one of the agent's own.
    [[nodiscard]] result<secret> read_key(std::string_view challenge) const {
        constexpr std::string_view begins = "Basic realm=";
        constexpr std::size_t largest = 4096;
        if (!challenge.starts_with(begins)) { return no_token(way_, {"the challenge must be Basic realm=FILE"}); }
        std::string_view path = challenge.substr(begins.size());
        if (path.size() >= 2 && path.front() == '"' && path.back() == '"') { path = path.substr(1, path.size() - 2); }
        bool const in_folder = path.starts_with(machine_.arc_keys) && path.size() > machine_.arc_keys.size() &&
            (path[machine_.arc_keys.size()] == '/' || path[machine_.arc_keys.size()] == '\\');
        std::string_view const file = in_folder ? path.substr(machine_.arc_keys.size() + 1) : std::string_view{};
        if (machine_.arc_keys.empty() || file.size() <= 4 || !file.ends_with(".key") || file.starts_with('.') ||
            !is_directory_name(file)) {
            return no_token(way_,
                {"the challenge names a file that is not a key file in ",
                    machine_.arc_keys.empty() ? "the agent's folder" : machine_.arc_keys});
        }
        return read_secret_file(std::string{path}, "managed identity (Azure Arc), the key file", largest, false);
    }

    std::string const address_;
};

ENTITABLE_DECL shared<identity_source> managed_source(identity_machine machine) {
    constexpr std::string_view way = "managed identity";
    identity_options const& options = machine.options;
    auto const refuse = [&](error_code code, std::string_view why, bool absent) {
        return failing_source(way, error{code, text::joined({way, ": ", why})}, absent);
    };
    int const named =
        (options.client.empty() ? 0 : 1) + (options.object_id.empty() ? 0 : 1) + (options.resource_id.empty() ? 0 : 1);
    if (named > 1) {
        return refuse(error_code::invalid_input, "name an identity by one of client, object_id and resource_id", false);
    }
    auto const address = machine.variable("IDENTITY_ENDPOINT");
    auto header = machine.variable("IDENTITY_HEADER");
    std::string nothing;
    wiped_at_end const wiped{header ? *header : nothing};
    if (machine.variable("MSI_ENDPOINT") && !address) {
        return refuse(error_code::not_supported,
            machine.variable("MSI_SECRET") ? "the protocol of Azure ML (MSI_ENDPOINT and MSI_SECRET) is not supported"
                                           : "the protocol of Cloud Shell (MSI_ENDPOINT) is not supported",
            true);
    }
    if (!address) { return shared<identity_source>{new imds_source{std::move(machine)}}; }
    if (machine.variable("IDENTITY_SERVER_THUMBPRINT")) {
        return refuse(error_code::not_supported,
            "the protocol of Service Fabric (IDENTITY_SERVER_THUMBPRINT) is not supported", true);
    }
    auto const url = parse_url(*address, "managed identity: IDENTITY_ENDPOINT");
    if (!url) { return failing_source(way, url.error(), false); }
    if (!url->is_loopback() && !url->is_link_local()) {
        return refuse(error_code::invalid_input,
            "IDENTITY_ENDPOINT must be an address of this machine: loopback, or 169.254.0.0/16", false);
    }
    if (!url->query.empty()) {
        return refuse(error_code::invalid_input, "IDENTITY_ENDPOINT must not have a query", false);
    }
    if (header) {
        return shared<identity_source>{new app_service_source{std::move(machine), *address, secret{*header}}};
    }
    if (machine.variable("IMDS_ENDPOINT")) {
        return shared<identity_source>{new arc_source{std::move(machine), *address}};
    }
    return refuse(error_code::not_supported,
        "IDENTITY_ENDPOINT is set, but neither IDENTITY_HEADER (App Service) nor IMDS_ENDPOINT (Azure Arc)", true);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
