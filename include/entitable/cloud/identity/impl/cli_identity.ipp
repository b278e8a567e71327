// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/identity/detail/token_exchange.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>

#include <cstdio>
#include <ctime>

#if !defined(_WIN32)
#include <sys/stat.h>
#include <unistd.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the absolute path of a program in PATH; empty if there is none. Relative folders are skipped: whoever can write to the current
/// folder could replace the program.
ENTITABLE_DECL std::string find_program(
    [[maybe_unused]] std::string_view path, [[maybe_unused]] std::string_view name) {
#if !defined(_WIN32)
    while (!path.empty()) {
        std::string_view const folder = text::take_part(path, ':');
        if (!folder.starts_with('/')) { continue; }
        std::string found = text::joined({folder, "/", name});
        struct stat about{};
        if (::stat(found.c_str(), &about) == 0 && S_ISREG(about.st_mode) && ::access(found.c_str(), X_OK) == 0) {
            return found;
        }
    }
#endif
    return {};
}

/// Parses a local time of the CLI, "2026-11-20 15:27:36.000000", as seconds since 1970.
ENTITABLE_DECL std::optional<std::int64_t> local_seconds(std::string_view text) {
    constexpr std::string_view form = "0000-00-00 00:00:00";
    if (text.size() < form.size()) { return std::nullopt; }
    int parts[6]{};
    int part = 0;
    for (std::size_t at = 0; at < form.size(); ++at) {
        if (form[at] == '0') {
            if (!is_decimal(text[at])) { return std::nullopt; }
            parts[part] = parts[part] * 10 + (text[at] - '0');
        } else {
            if (text[at] != form[at]) { return std::nullopt; }
            ++part;
        }
    }
    std::tm local{};
    local.tm_year = parts[0] - 1900;
    local.tm_mon = parts[1] - 1;
    local.tm_mday = parts[2];
    local.tm_hour = parts[3];
    local.tm_min = parts[4];
    local.tm_sec = parts[5];
    local.tm_isdst = -1;
    std::time_t const seconds = std::mktime(&local);
    return seconds == static_cast<std::time_t>(-1) ? std::nullopt : std::optional<std::int64_t>{seconds};
}

/// Returns the digits after AADSTS in what the CLI has written to standard error; nothing else of it is shown.
ENTITABLE_DECL std::string cli_error_number(std::string_view written) {
    std::size_t const at = written.find("AADSTS");
    std::string digits;
    if (at != std::string_view::npos) {
        for (char const each : written.substr(at + 6)) {
            if (!is_decimal(each) || digits.size() == 9) { break; }
            digits += each;
        }
    }
    return digits;
}

class azure_cli_source final : public identity_source {
public:
    azure_cli_source(identity_machine machine, std::string tenant)
        : machine_(std::move(machine)), tenant_(std::move(tenant)) {}

    std::string_view name() const noexcept override { return way_; }

    identity_outcome ask(token_request const& wanted, bool) override {
        if (!is_scope(wanted.scope)) {
            return {failure{error_code::invalid_input, "Azure CLI: the scope has characters other than those of a URL"},
                false};
        }
        std::string const program = find_program(machine_.variable("PATH").value_or(std::string{}), "az");
        if (program.empty()) { return {no_token(way_, {"az was not found in PATH"}), true}; }
        std::vector<std::string> arguments{
            "az", "account", "get-access-token", "--output", "json", "--scope", std::string{wanted.scope}};
        if (!tenant_.empty()) {
            arguments.emplace_back("--tenant");
            arguments.push_back(tenant_);
        }
        auto ran = run_program(program, arguments, machine_.options.cli_timeout, wanted.call);
        if (!ran) {
            failure problem = std::move(ran).as_failure();
            problem.error().message = text::joined({way_, ": ", problem.error().message});
            return {std::move(problem), false};
        }
        if (ran->status != 0) { return refused(*ran); }
        return {token_in(ran->out), false};
    }

private:
    static constexpr std::string_view way_ = "Azure CLI";

    static bool is_scope(std::string_view scope) noexcept {
        for (char const each : scope) {
            if (!is_unreserved(each) && each != ':' && each != '/') { return false; }
        }
        return !scope.empty() && scope.front() != '-';
    }
    static identity_outcome refused(program_output const& ran) {
        std::string const& written = ran.error;
        if (written.find("az login") != std::string::npos || written.find("az account set") != std::string::npos) {
            std::string const number = cli_error_number(written);
            return {
                no_token(way_, {"nobody is logged in: run az login", number.empty() ? "" : "; AADSTS", number}), true};
        }
        std::string const number = cli_error_number(written);
        return {no_token(way_,
                    {"az ended with status ", std::to_string(ran.status), number.empty() ? "" : ", AADSTS", number,
                        "; run az account get-access-token to see why"}),
            false};
    }
    result<access_token> token_in(secret const& written) const {
        std::string body;
        body.reserve(written.reveal().size() + http_response::padding);
        body.append(written.reveal());
        token_answer answer = read_token_answer(body);
        if (!answer.readable || answer.token.empty()) {
            return no_token(way_, {"az wrote something that is not a token"});
        }
        if (!answer.type.empty() && text::ascii_lower(answer.type) != "bearer") {
            return no_token(way_, {"the type of the token is not Bearer"});
        }
        auto const expiry = answer.expires_on ? answer.expires_on : local_seconds(answer.local_expiry);
        if (!expiry) { return no_token(way_, {"az wrote a token without an expiry"}); }
        date_time const expires{date_time::unix_epoch + *expiry * date_time::ticks_per_second};
        if (expires <= machine_.options.time->now()) { return no_token(way_, {"the token has expired already"}); }
        return access_token{std::string{answer.token.reveal()}, expires};
    }

    identity_machine const machine_;
    std::string const tenant_;
};

ENTITABLE_DECL shared<identity_source> cli_source(identity_machine machine) {
#if defined(_WIN32)
    return failing_source("Azure CLI", {error_code::not_supported, "Azure CLI: not supported on Windows"}, true);
#else
    std::string tenant = machine.options.tenant;
    if (!tenant.empty() && !is_directory_name(tenant)) {
        return failing_source("Azure CLI",
            {error_code::invalid_input,
                "Azure CLI: the tenant must have 1 to 256 letters, digits, dots, hyphens and underscores"},
            false);
    }
    return shared<identity_source>{new azure_cli_source{std::move(machine), std::move(tenant)}};
#endif
}

} // namespace detail
ENTITABLE_END_NAMESPACE
