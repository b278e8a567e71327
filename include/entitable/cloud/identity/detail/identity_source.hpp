// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `identity`: tokens of Entra ID. Each way to get them is a source; what they share is the machine they run on.

#include <entitable/cloud/account/credential.hpp>
#include <entitable/cloud/account/secret.hpp>
#include <entitable/cloud/identity/identity_options.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What a source has to offer.
struct identity_outcome {
    result<access_token> token;
    bool absent{}; ///< this way does not exist here, so that a chain continues
};

/// One way to get tokens. Thread safety: safe to use from several threads.
class identity_source : public counted {
public:
    virtual ~identity_source() = default;
    /// The name in messages.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// Gets a token. `probing`: the caller is a chain that does not know yet whether this way exists.
    [[nodiscard]] virtual identity_outcome ask(token_request const& wanted, bool probing) = 0;
    /// Learns of a challenge of the service, as `token_provider::challenged`.
    [[nodiscard]] virtual bool challenged(std::string_view challenge) {
        static_cast<void>(challenge);
        return false;
    }
};

/// Returns the provider of tokens for a credential.
[[nodiscard]] shared<token_provider> provider_of(shared<identity_source> source);

/// What the sources see of the computer; tests replace parts of it.
struct identity_machine {
    identity_options options;
    std::function<std::optional<std::string>(std::string_view name)> variable; ///< nullopt also if it is empty
    std::string imds{"http://169.254.169.254"};
    std::string arc_keys; ///< folder of the agent of Azure Arc

    /// The machine that this program runs on.
    [[nodiscard]] static identity_machine real(identity_options options);

    /// Returns the option, or else the variable.
    [[nodiscard]] std::string option_or(std::string const& option, std::string_view name) const {
        return !option.empty() ? option : variable(name).value_or(std::string{});
    }
};

/// A source whose options are wrong, or that does not exist: every request fails with `why`.
[[nodiscard]] shared<identity_source> failing_source(std::string_view name, error why, bool absent);

[[nodiscard]] shared<identity_source> function_source(token_source source);
[[nodiscard]] shared<identity_source> managed_source(identity_machine machine);
[[nodiscard]] shared<identity_source> workload_source(identity_machine machine);
[[nodiscard]] shared<identity_source> secret_source(
    std::string_view tenant, std::string_view client, std::string_view text, identity_machine machine);
[[nodiscard]] shared<identity_source> certificate_source(
    std::string_view tenant, std::string_view client, std::string_view pem, identity_machine machine);
[[nodiscard]] shared<identity_source> environment_source(identity_machine machine);
[[nodiscard]] shared<identity_source> cli_source(identity_machine machine);
[[nodiscard]] shared<identity_source> chain_source(std::vector<shared<identity_source>> members);
[[nodiscard]] shared<identity_source> default_source(identity_machine const& machine);

} // namespace detail
ENTITABLE_END_NAMESPACE
