// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/identity/identity.hpp>
#include <entitable/cloud/identity/impl/cli_identity.ipp>
#include <entitable/cloud/identity/impl/client_assertion.ipp>
#include <entitable/cloud/identity/impl/client_identity.ipp>
#include <entitable/cloud/identity/impl/identity_chain.ipp>
#include <entitable/cloud/identity/impl/managed_identity.ipp>
#include <entitable/cloud/identity/impl/program_output.ipp>
#include <entitable/cloud/identity/impl/token_answer.ipp>
#include <entitable/cloud/identity/impl/token_exchange.ipp>
#include <entitable/core/atomic.hpp>

#include <cstdlib>
#include <mutex>
#include <thread>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL identity_machine identity_machine::real(identity_options options) {
    identity_machine machine;
    machine.variable = [](std::string_view name) -> std::optional<std::string> {
        char const* const found = std::getenv(std::string{name}.c_str());
        return found == nullptr || *found == '\0' ? std::nullopt : std::optional<std::string>{found};
    };
#if defined(_WIN32)
    if (auto const data = machine.variable("ProgramData")) {
        machine.arc_keys = *data + "\\AzureConnectedMachineAgent\\Tokens";
    }
#else
    machine.arc_keys = "/var/opt/azcmagent/tokens";
#endif
    if (!options.send) {
        options.send = [client = curl_client{options.network}](
                           http_request const& request, http_call const& call) { return client.send(request, call); };
    }
    if (!options.send_local) {
        curl_options local; // without a proxy, whatever the options say
        local.link_local_http = true;
        options.send_local = [client = curl_client{std::move(local)}](http_request const& request,
                                 http_call const& call) { return client.send(request, call); };
    }
    machine.options = std::move(options);
    return machine;
}

class source_provider final : public token_provider {
public:
    explicit source_provider(shared<identity_source> source) : source_(std::move(source)) {}
    source_provider(source_provider const&) = delete;
    source_provider& operator=(source_provider const&) = delete;
    ~source_provider() override { stop(); }

    result<access_token> get(token_request const& wanted) override { return source_->ask(wanted, false).token; }
    bool challenged(std::string_view challenge) override { return source_->challenged(challenge); }

    bool has_thread() const noexcept override { return true; }
    bool start(std::function<void(http_call const&)> work) override {
        std::lock_guard const guard{mutex_};
        if (busy_.exchange(true, memory_order::acq_rel)) { return false; }
        if (thread_.joinable()) { thread_.join(); } // it has ended, or is about to
        http_call limits;
        limits.cancellation = stopping_.token();
        thread_ = std::thread{[this, limits, work = std::move(work)] {
            work(limits);
            busy_.store(false, memory_order::release);
        }};
        return true;
    }
    void stop() noexcept override {
        stopping_.cancel();
        std::lock_guard const guard{mutex_};
        if (thread_.joinable()) { thread_.join(); }
    }

private:
    shared<identity_source> const source_;
    cancellation_source stopping_;
    atomic<bool> busy_{false};
    std::mutex mutex_;
    std::thread thread_; ///< guarded by mutex_
};

ENTITABLE_DECL shared<token_provider> provider_of(shared<identity_source> source) {
    return shared<token_provider>{new source_provider{std::move(source)}};
}

class failed_source final : public identity_source {
public:
    failed_source(std::string_view name, error why, bool absent) : name_(name), why_(std::move(why)), absent_(absent) {}

    std::string_view name() const noexcept override { return name_; }
    identity_outcome ask(token_request const&, bool) override { return {failure{why_}, absent_}; }

private:
    std::string_view const name_;
    error const why_;
    bool const absent_;
};

ENTITABLE_DECL shared<identity_source> failing_source(std::string_view name, error why, bool absent) {
    return shared<identity_source>{new failed_source{name, std::move(why), absent}};
}

class function_as_source final : public identity_source {
public:
    explicit function_as_source(token_source source) : source_(std::move(source)) {}

    std::string_view name() const noexcept override { return "function"; }
    identity_outcome ask(token_request const& wanted, bool) override { return {source_(wanted.scope), false}; }

private:
    token_source const source_;
};

ENTITABLE_DECL shared<identity_source> function_source(token_source source) {
    return shared<identity_source>{new function_as_source{std::move(source)}};
}

} // namespace detail

ENTITABLE_DECL result<access_token> identity::request_token(std::string_view scope, http_call const& limits) const {
    auto outcome = source_->ask({scope, {}, &limits, false}, false);
    return std::move(outcome.token);
}

ENTITABLE_DECL identity managed_identity(identity_options options) {
    return identity{detail::managed_source(detail::identity_machine::real(std::move(options)))};
}
ENTITABLE_DECL identity workload_identity(identity_options options) {
    return identity{detail::workload_source(detail::identity_machine::real(std::move(options)))};
}
ENTITABLE_DECL identity client_secret(
    std::string_view tenant, std::string_view client, std::string_view secret, identity_options options) {
    return identity{detail::secret_source(tenant, client, secret, detail::identity_machine::real(std::move(options)))};
}
ENTITABLE_DECL identity client_certificate(
    std::string_view tenant, std::string_view client, std::string_view pem, identity_options options) {
    return identity{
        detail::certificate_source(tenant, client, pem, detail::identity_machine::real(std::move(options)))};
}
ENTITABLE_DECL identity environment_identity(identity_options options) {
    return identity{detail::environment_source(detail::identity_machine::real(std::move(options)))};
}
ENTITABLE_DECL identity azure_cli(identity_options options) {
    return identity{detail::cli_source(detail::identity_machine::real(std::move(options)))};
}
ENTITABLE_DECL identity chain(std::initializer_list<identity> members) {
    std::vector<shared<detail::identity_source>> sources;
    for (identity const& each : members) { sources.push_back(each.source_); }
    return identity{detail::chain_source(std::move(sources))};
}
ENTITABLE_DECL identity default_identity(identity_options options) {
    return identity{detail::default_source(detail::identity_machine::real(std::move(options)))};
}

ENTITABLE_END_NAMESPACE
