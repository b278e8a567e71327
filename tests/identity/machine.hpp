// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A computer of which a test determines the variables, the clock and the answers to requests for tokens.

#include <entitable/cloud/identity/detail/token_exchange.hpp>
#include <entitable/cloud/identity/identity.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/canned_client.hpp>
#include <support/catch.hpp>

#include <map>
#include <memory>
#include <string>

namespace entitable_test {

inline constexpr std::string_view storage_scope = "https://storage.azure.com/.default";
inline constexpr std::string_view a_tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47";
inline constexpr std::string_view a_client = "6731de76-14a6-49ae-97bc-6eba6914391e";

struct machine {
    std::map<std::string, std::string, std::less<>> variables;
    canned_client authority; ///< answers for the authority, and the service
    canned_client local;     ///< answers for addresses of the machine
    entitable::testing::manual_clock time{entitable::date_time::from_date(2026, 11, 20)};
    entitable::identity_options options;
    std::string arc_keys{"/var/opt/azcmagent/tokens"};

    [[nodiscard]] entitable::detail::identity_machine seen() {
        entitable::detail::identity_machine made;
        made.options = options;
        made.options.time = &time;
        if (!options.send) {
            made.options.send = [this](entitable::http_request const& request, entitable::http_call const& call) {
                return authority.send(request, call);
            };
            made.options.send_local = [this](entitable::http_request const& request, entitable::http_call const& call) {
                return local.send(request, call);
            };
        }
        made.variable = [this](std::string_view name) -> std::optional<std::string> {
            auto const found = variables.find(name);
            return found == variables.end() || found->second.empty() ? std::nullopt : std::optional{found->second};
        };
        made.arc_keys = arc_keys;
        return made;
    }
    [[nodiscard]] entitable::identity managed() {
        return entitable::identity{entitable::detail::managed_source(seen())};
    }
    [[nodiscard]] entitable::identity secret(std::string_view text = "hunter2~secret") {
        return entitable::identity{entitable::detail::secret_source(a_tenant, a_client, text, seen())};
    }

    /// The time of day in seconds since 1970.
    [[nodiscard]] std::int64_t seconds() {
        return (time.now().ticks - entitable::date_time::unix_epoch) / entitable::date_time::ticks_per_second;
    }
    /// How long the clock was waited for since it was made.
    [[nodiscard]] std::chrono::milliseconds waited() {
        return std::chrono::milliseconds{
            (time.now().ticks - entitable::date_time::from_date(2026, 11, 20).ticks) / 10'000};
    }
};

/// A request as text: method, address, fields, body.
inline std::string golden(entitable::http_request const& request) {
    std::string text{to_string(request.method)};
    text.append(" ").append(request.url).append("\n");
    request.headers.for_each([&](std::string_view name, std::string_view value) {
        text.append(name).append(": ").append(value).append("\n");
    });
    return request.body.empty() ? text : text + "\n" + request.body + "\n";
}

inline std::string const a_token_body =
    R"({"token_type":"Bearer","expires_in":3599,"ext_expires_in":3599,"access_token":"tok.en-1"})";

} // namespace entitable_test
