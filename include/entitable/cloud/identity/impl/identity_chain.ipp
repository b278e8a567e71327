// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/identity/detail/identity_source.hpp>
#include <entitable/core/text.hpp>

#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class chain_of_sources final : public identity_source {
public:
    explicit chain_of_sources(std::vector<shared<identity_source>> members) : members_(std::move(members)) {}

    std::string_view name() const noexcept override { return "chain"; }

    identity_outcome ask(token_request const& wanted, bool probing) override {
        static_cast<void>(probing); // its members are always probed
        if (shared<identity_source> const kept = current()) { return kept->ask(wanted, false); }
        std::string reasons;
        for (shared<identity_source> const& each : members_) {
            identity_outcome outcome = each->ask(wanted, true);
            if (outcome.token) {
                std::lock_guard const guard{mutex_};
                kept_ = each;
                return outcome;
            }
            error const& why = outcome.token.error();
            bool const ended = why.code == error_code::cancelled || why.code == error_code::deadline_exceeded;
            if (!outcome.absent || ended) { return {std::move(outcome.token), false}; }
            reasons += text::joined({reasons.empty() ? "" : "; ", why.message});
        }
        return {
            failure{error_code::authentication_failed,
                text::joined({"no identity is available here: ", members_.empty() ? "the chain is empty" : reasons})},
            true};
    }
    bool challenged(std::string_view challenge) override {
        shared<identity_source> const kept = current();
        return kept && kept->challenged(challenge);
    }

private:
    [[nodiscard]] shared<identity_source> current() {
        std::lock_guard const guard{mutex_};
        return kept_;
    }

    std::vector<shared<identity_source>> const members_;
    std::mutex mutex_;
    shared<identity_source> kept_; ///< the member that has answered; guarded by mutex_
};

ENTITABLE_DECL shared<identity_source> chain_source(std::vector<shared<identity_source>> members) {
    return shared<identity_source>{new chain_of_sources{std::move(members)}};
}

/// The managed identity of a chain, which is the one with the client id of the environment.
ENTITABLE_DECL shared<identity_source> default_managed_source(identity_machine machine) {
    if (machine.options.object_id.empty() && machine.options.resource_id.empty()) {
        machine.options.client = machine.option_or(machine.options.client, "AZURE_CLIENT_ID");
    }
    return managed_source(std::move(machine));
}

ENTITABLE_DECL shared<identity_source> default_source(identity_machine const& machine) {
    std::string const chosen = text::ascii_lower(machine.variable("AZURE_TOKEN_CREDENTIALS").value_or(std::string{}));
    if (chosen == "environmentcredential") { return environment_source(machine); }
    if (chosen == "workloadidentitycredential") { return workload_source(machine); }
    if (chosen == "managedidentitycredential") { return default_managed_source(machine); }
    if (chosen == "azureclicredential" || chosen == "dev") { return cli_source(machine); }
    if (!chosen.empty() && chosen != "prod") {
        return failing_source("default identity",
            {error_code::invalid_input,
                "AZURE_TOKEN_CREDENTIALS must be prod, dev, EnvironmentCredential, WorkloadIdentityCredential, "
                "ManagedIdentityCredential or AzureCliCredential"},
            false);
    }
    std::vector<shared<identity_source>> members{
        environment_source(machine), workload_source(machine), default_managed_source(machine)};
    if (chosen.empty()) { members.push_back(cli_source(machine)); }
    return chain_source(std::move(members));
}

} // namespace detail
ENTITABLE_END_NAMESPACE
