// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/account/connection_string.hpp>
#include <entitable/cloud/account/impl/credential.ipp>
#include <entitable/cloud/account/impl/endpoint.ipp>
#include <entitable/cloud/http/http_message.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The relevant pairs of a connection string, in the order of `connection_names`.
struct connection_pairs {
    enum name : std::size_t {
        account_name,
        account_key,
        protocol,
        endpoint_suffix,
        table_endpoint,
        table_secondary,
        signature,
        development,
        development_proxy,
        known,
        queue_endpoint = known, // ignored for tables
        queue_secondary
    };
    static constexpr std::string_view names[] = {"AccountName", "AccountKey", "DefaultEndpointsProtocol",
        "EndpointSuffix", "TableEndpoint", "TableSecondaryEndpoint", "SharedAccessSignature", "UseDevelopmentStorage",
        "DevelopmentStorageProxyUri",
        // ignored
        "QueueEndpoint", "QueueSecondaryEndpoint", "AccountKeyName", "BlobEndpoint", "BlobSecondaryEndpoint",
        "FileEndpoint", "FileSecondaryEndpoint", "DfsEndpoint", "DfsSecondaryEndpoint", "WebEndpoint",
        "WebSecondaryEndpoint", "ApiKind"};
    std::optional<std::string_view> values[std::size(names)];

    /// Returns the name of an address of one of the services.
    static constexpr name endpoint_of(account_service of) noexcept {
        return of == account_service::queues ? queue_endpoint : table_endpoint;
    }
    static constexpr name secondary_of(account_service of) noexcept {
        return of == account_service::queues ? queue_secondary : table_secondary;
    }

    [[nodiscard]] bool has(name which) const noexcept { return values[which].has_value(); }
    [[nodiscard]] std::string_view operator[](name which) const noexcept {
        return values[which].value_or(std::string_view{});
    }
};

ENTITABLE_DECL failure refused_pair(std::string_view name, std::string_view why) {
    return failure{error_code::invalid_input, text::joined({"connection string: ", name, why})};
}

/// Removes blanks and line ends around the text: a text read from a file often ends with a line end.
ENTITABLE_DECL std::string_view without_line_ends(std::string_view text) noexcept {
    constexpr std::string_view blank = " \t\r\n";
    std::size_t const first = text.find_first_not_of(blank);
    return first == std::string_view::npos ? std::string_view{}
                                           : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Identifies an unknown name by its position, since it may be a secret.
ENTITABLE_DECL failure unknown_name(std::string_view position) {
    std::string known;
    for (std::size_t which = 0; which < connection_pairs::known; ++which) {
        known.append(which == 0 ? "" : ", ").append(connection_pairs::names[which]);
    }
    return refused_pair(position,
        text::joined({" has an unknown name; the known names are ", known, ", and the endpoints of other services"}));
}

ENTITABLE_DECL bool is_quoted(std::string_view text) noexcept {
    return text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
}

ENTITABLE_DECL result<connection_pairs> split_connection_string(std::string_view connection) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    connection_pairs pairs;
    connection.remove_prefix(connection.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
    if (is_quoted(without_line_ends(connection))) {
        return refused_pair("the whole string", " is in quotes: remove them");
    }
    for (std::size_t number = 1; !connection.empty(); ++number) {
        std::string_view const pair = text::take_part(connection, ';');
        if (without_line_ends(pair).empty()) {
            continue; // there is no text between two ";"
        }
        // A misplaced text may be a secret: it is identified by its position.
        std::string const position = text::joined({"pair ", std::to_string(number)});
        std::size_t const equals = pair.find('=');
        if (equals == std::string_view::npos) { return refused_pair(position, " has no ="); }
        std::string_view const name = without_line_ends(pair.substr(0, equals));
        if (same_field_name(name, "AccountEndpoint")) {
            return refused_pair("AccountEndpoint",
                " belongs to the SQL API of Cosmos DB: use the connection string of its Table API, which has "
                "TableEndpoint");
        }
        std::size_t which = 0;
        while (which < std::size(connection_pairs::names) && !same_field_name(name, connection_pairs::names[which])) {
            ++which;
        }
        if (which == std::size(connection_pairs::names)) { return unknown_name(position); }
        std::string_view const value = without_line_ends(pair.substr(equals + 1));
        if (pairs.values[which]) { return refused_pair(connection_pairs::names[which], " is repeated"); }
        if (value.empty()) { return refused_pair(connection_pairs::names[which], " is empty"); }
        if (is_quoted(value)) { return refused_pair(connection_pairs::names[which], " is in quotes: remove them"); }
        if (value.find_first_of("\r\n") != std::string_view::npos) {
            return refused_pair(connection_pairs::names[which], " contains a line end");
        }
        pairs.values[which] = value;
    }
    return pairs;
}

/// Returns the account, the key and the endpoint of the emulator, which are the same everywhere (source: the service's "Use the Azurite
/// emulator").
ENTITABLE_DECL result<connection_settings> development_settings(connection_pairs const& pairs, account_service of) {
    constexpr std::string_view account = "devstoreaccount1";
    constexpr std::string_view key =
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    if (!same_field_name(pairs[connection_pairs::development], "true")) {
        return refused_pair("UseDevelopmentStorage", " must be true");
    }
    for (std::size_t which = 0; which < connection_pairs::development; ++which) {
        if (pairs.values[which]) {
            return refused_pair(connection_pairs::names[which], " and UseDevelopmentStorage cannot be combined");
        }
    }
    std::string origin = "http://127.0.0.1";
    if (pairs.has(connection_pairs::development_proxy)) {
        ENTITABLE_TRY(auto proxy,
            parse_address(pairs[connection_pairs::development_proxy], "connection string: DevelopmentStorageProxyUri"));
        origin = text::joined({proxy.encrypted ? "https://" : "http://", proxy.host});
    }
    connection_settings settings;
    ENTITABLE_TRY(auto at,
        parse_endpoint(text::joined({origin, of == account_service::queues ? ":10001/" : ":10002/", account}),
            "connection string: DevelopmentStorageProxyUri", {}, {}, account, {}));
    settings.endpoint = std::move(at);
    settings.endpoint.of = of;
    ENTITABLE_TRY(auto who, credential::account_key(account, key));
    settings.credential = std::move(who);
    return settings;
}

ENTITABLE_DECL result<credential> credential_of(connection_pairs const& pairs, std::string_view account) {
    bool const key = pairs.has(connection_pairs::account_key);
    bool const signature = pairs.has(connection_pairs::signature);
    if (key && signature) { return refused_pair("AccountKey", " and SharedAccessSignature cannot be combined"); }
    auto who = key ? credential::account_key(account, pairs[connection_pairs::account_key])
                   : credential::shared_access_signature(pairs[connection_pairs::signature]);
    if (!who) { return refused_pair("", who.error().message); }
    return who;
}

} // namespace detail

ENTITABLE_DECL result<connection_settings> parse_connection_string(std::string_view text, account_service of) {
    using names = detail::connection_pairs;
    ENTITABLE_TRY(auto const pairs, detail::split_connection_string(text));
    if (pairs.has(names::development)) { return detail::development_settings(pairs, of); }
    if (pairs.has(names::development_proxy)) {
        return detail::refused_pair("DevelopmentStorageProxyUri", " needs UseDevelopmentStorage=true");
    }
    if (!pairs.has(names::account_key) && !pairs.has(names::signature)) {
        return detail::refused_pair("AccountKey", " or SharedAccessSignature is missing");
    }
    bool const queues = of == account_service::queues;
    names::name const primary = names::endpoint_of(of);
    names::name const secondary = names::secondary_of(of);
    if (!pairs.has(names::account_name) && !pairs.has(primary)) {
        return detail::refused_pair("AccountName", text::joined({" or ", names::names[primary], " is missing"}));
    }
    if (pairs.has(secondary) && !pairs.has(primary)) {
        return detail::refused_pair(names::names[secondary], text::joined({" needs ", names::names[primary]}));
    }
    std::string_view const account = pairs[names::account_name];
    if (pairs.has(names::account_name) && !detail::is_account(account)) {
        return detail::refused_pair("AccountName", " must be 1 to 63 lower-case letters, digits and hyphens");
    }
    std::string_view const protocol = pairs.values[names::protocol].value_or("https");
    bool const encrypted = detail::same_field_name(protocol, "https");
    if (!encrypted && !detail::same_field_name(protocol, "http")) {
        return detail::refused_pair("DefaultEndpointsProtocol", " must be https or http");
    }
    bool const given = pairs.has(primary);
    std::string made;
    if (!given) {
        made = text::joined({encrypted ? "https" : "http", "://", account, queues ? ".queue." : ".table.",
            pairs.values[names::endpoint_suffix].value_or("core.windows.net")});
    }
    detail::wiped_at_end const may_hold_a_misplaced_secret{made};
    ENTITABLE_TRY(auto at,
        detail::parse_endpoint(given ? pairs[primary] : std::string_view{made},
            text::joined({"connection string: ", given ? names::names[primary] : "EndpointSuffix"}), pairs[secondary],
            text::joined({"connection string: ", names::names[secondary]}), account, "connection string: AccountName"));
    at.of = of;
    ENTITABLE_TRY(auto who, detail::credential_of(pairs, at.account));
    return connection_settings{std::move(at), std::move(who)};
}

ENTITABLE_END_NAMESPACE
