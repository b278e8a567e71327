// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/account/endpoint.hpp>
#include <entitable/cloud/http/url.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Storage allows 3 to 24 letters and digits, Cosmos DB also allows hyphens and up to 44 characters, and emulators allow any name.
inline bool is_account(std::string_view name) noexcept {
    for (char const c : name) {
        if (!(c >= 'a' && c <= 'z') && !is_decimal(c) && c != '-') { return false; }
    }
    return !name.empty() && name.size() <= 63;
}

inline std::string_view without_slashes(std::string_view url) noexcept {
    while (!url.empty() && url.back() == '/') { url.remove_suffix(1); }
    return url;
}

/// Parses the address of a service: a URL without a query, and without slashes at its end.
ENTITABLE_DECL result<url_parts> parse_address(std::string_view url, std::string_view field) {
    auto parts = parse_url(without_slashes(url), field);
    if (parts && url.find('?') != std::string_view::npos) {
        return failure{error_code::invalid_input, text::joined({field, " must not have a query"})};
    }
    return parts;
}

/// Returns the URL with its scheme in lower case.
ENTITABLE_DECL std::string address_text(std::string_view url, url_parts const& parts) {
    url = without_slashes(url);
    return text::joined({parts.encrypted ? "https" : "http", url.substr(url.find(':'))});
}

/// Returns the secondary address by the service's rule: "-secondary" after the account.
ENTITABLE_DECL std::string derived_secondary(endpoint const& at, url_parts const& parts) {
    std::size_t const host = at.primary.find("://") + 3;
    std::size_t const account = at.path_style ? at.primary.size() - parts.path.size() + 1 : host;
    std::size_t const behind = account + at.account.size();
    if (at.kind == service::cosmos || behind > at.primary.size() ||
        text::ascii_lower(std::string_view{at.primary}.substr(account, at.account.size())) != at.account ||
        (behind < at.primary.size() && at.primary[behind] != (at.path_style ? '/' : '.'))) {
        return {};
    }
    std::string secondary = at.primary;
    secondary.insert(behind, "-secondary");
    return secondary;
}

/// Like endpoint::parse, with the names of the fields for errors.
ENTITABLE_DECL result<endpoint> parse_endpoint(std::string_view primary, std::string_view primary_field,
    std::string_view secondary, std::string_view secondary_field, std::string_view account,
    std::string_view account_field) {
    auto const refused = [](std::string_view field, std::string_view why) {
        return failure{error_code::invalid_input, text::joined({field, why})};
    };
    ENTITABLE_TRY(auto parts, parse_address(primary, primary_field));
    endpoint at;
    at.primary = address_text(primary, parts);
    std::string const host = text::ascii_lower(parts.host);
    std::string_view const segment =
        parts.path.empty() ? std::string_view{} : parts.path.substr(1, parts.path.find('/', 1) - 1);
    at.path_style = parts.is_address() || host == "localhost" || (!account.empty() && segment == account);
    at.account = !account.empty() ? account
        : at.path_style           ? segment
                                  : std::string_view{host}.substr(0, host.find('.'));
    bool const cosmos =
        host.find(".table.cosmos.") != std::string::npos || host.find(".table.cosmosdb.") != std::string::npos;
    bool const emulator = parts.is_loopback() || at.account == "devstoreaccount1";
    at.kind = cosmos ? service::cosmos : emulator ? service::azurite : service::storage;
    if (!is_account(at.account)) {
        return refused(account.empty() ? primary_field : account_field,
            account.empty() ? " does not name an account of lower-case letters, digits and hyphens"
                            : " must be 1 to 63 lower-case letters, digits and hyphens");
    }
    // In "https://ACCOUNT.table.core.windows.net/Orders" the table does not belong to the address.
    if (!at.path_style && !parts.path.empty() && host.find(".table.") != std::string::npos) {
        return refused(primary_field, " must be the address of the service only: remove the table");
    }
    if (secondary.empty()) {
        at.secondary = derived_secondary(at, parts);
        return at;
    }
    ENTITABLE_TRY(auto other, parse_address(secondary, secondary_field));
    at.secondary = address_text(secondary, other);
    return at;
}

} // namespace detail

ENTITABLE_DECL result<endpoint> endpoint::parse(
    std::string_view primary, std::string_view secondary, std::string_view account) {
    return detail::parse_endpoint(primary, "the endpoint", secondary, "the secondary endpoint", account, "the account");
}

ENTITABLE_END_NAMESPACE
