// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/account/sas.hpp>
#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/http/url.hpp>
#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <iterator>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A parameter of a signature; omitted from the query if it has no value.
struct sas_field {
    std::string_view name;
    std::optional<std::string> value;
};

inline failure refused_term(std::string_view field, std::string_view why) {
    return failure{error_code::invalid_input, text::joined({"shared access signature: ", field, why})};
}

/// Returns `letters` in the service's order; empty if a letter is unknown or repeated, or there are no letters.
ENTITABLE_DECL std::optional<std::string> in_order(std::string_view letters, std::string_view order) {
    std::string sorted;
    for (char const c : order) {
        if (letters.find(c) != std::string_view::npos) { sorted += c; }
    }
    if (sorted.empty() || sorted.size() != letters.size()) { return std::nullopt; }
    return sorted;
}

inline std::optional<std::string> sas_time(std::optional<date_time> time) {
    if (!time) { return std::nullopt; }
    return date_time{time->ticks - time->ticks % date_time::ticks_per_second}.to_string(true);
}

inline std::optional<std::string> unless_empty(std::string const& text) {
    return text.empty() ? std::nullopt : std::optional{text};
}

/// Checks the terms common to both kinds of signatures.
template <class Terms>
result<void> check_terms(Terms const& terms) {
    if ((terms.start && !terms.start->is_valid()) || (terms.expiry && !terms.expiry->is_valid())) {
        return refused_term(terms.expiry && !terms.expiry->is_valid() ? "expiry" : "start", " is out of range");
    }
    if (terms.start && terms.expiry && *terms.start >= *terms.expiry) {
        return refused_term("expiry", " must be after start");
    }
    if (!terms.protocols.empty() && terms.protocols != "https" && terms.protocols != "https,http") {
        return refused_term("protocols", " must be https or https,http");
    }
    if (!date_time::parse(text::joined({terms.version, "T00:00:00Z"})) || terms.version < "2015-04-05") {
        return refused_term("version", " must be 2015-04-05 or later");
    }
    for (char const c : terms.addresses) {
        if (hexadecimal_digit(c) < 0 && c != '.' && c != ':' && c != '-') {
            return refused_term("addresses", " must be an IP address or a range of IP addresses");
        }
    }
    return {};
}

ENTITABLE_DECL result<std::string> signed_query(
    credential const& key, std::vector<sas_field> const& fields, std::string_view to_sign) {
    constexpr std::size_t escaped = 3; // maximum number of bytes for an escaped byte
    std::size_t room = sizeof("&sig=") + escaped * key_signer::signature_size;
    for (sas_field const& field : fields) {
        room += field.name.size() + 2 + escaped * (field.value ? field.value->size() : 0);
    }
    std::string query;
    query.reserve(room); // the text must not be reallocated with the signature inside
    for (sas_field const& field : fields) {
        if (field.value) {
            query.append(query.empty() ? "" : "&").append(field.name).append("=");
            append_url_escaped(query, *field.value);
        }
    }
    std::string signature;
    wiped_at_end const of_this_call{signature};
    if (!key.sign(to_sign, signature)) {
        return failure{error_code::not_supported, "a shared access signature requires an account key"};
    }
    query.append("&sig=");
    append_url_escaped(query, signature);
    return query;
}

/// Returns the values of `fields` with these names, one per line; an absent value is an empty line.
ENTITABLE_DECL std::string lines_to_sign(
    std::vector<sas_field> const& fields, std::initializer_list<std::string_view> names) {
    std::string lines;
    for (std::string_view const name : names) {
        for (sas_field const& field : fields) {
            if (field.name == name && field.value) { lines += *field.value; }
        }
        lines += '\n';
    }
    return lines;
}

/// Returns the string to sign of a signature for a table.
ENTITABLE_DECL std::string table_sas_to_sign(
    std::string_view account, std::string_view table, std::vector<sas_field> const& fields) {
    std::string to_sign = lines_to_sign(fields, {"sp", "st", "se"});
    to_sign += text::joined({"/table/", account, "/", text::ascii_lower(table), "\n"});
    to_sign += lines_to_sign(fields, {"si", "sip", "spr", "sv", "spk", "srk", "epk", "erk"});
    to_sign.pop_back(); // there is no line end after the last value
    return to_sign;
}

/// Returns the string to sign of a signature for an account.
ENTITABLE_DECL std::string account_sas_to_sign(
    std::string_view account, std::string_view version, std::vector<sas_field> const& fields) {
    std::string to_sign = text::joined({account, "\n"});
    to_sign += lines_to_sign(fields, {"sp", "ss", "srt", "st", "se", "sip", "spr", "sv"});
    if (version >= "2020-12-06") {
        to_sign += '\n'; // the encryption scope does not apply to tables
    }
    return to_sign;
}

} // namespace detail

ENTITABLE_DECL result<std::string> make_signature(credential const& key, table_sas const& terms) {
    ENTITABLE_CHECK(detail::check_terms(terms));
    if (terms.table.empty()) { return detail::refused_term("table", " is missing"); }
    if (terms.policy.empty() && !terms.expiry) { return detail::refused_term("expiry", " is missing"); }
    if (terms.policy.size() > 64) { return detail::refused_term("policy", " is longer than 64 characters"); }
    auto permissions = detail::in_order(terms.permissions, "raud");
    if (!permissions && (terms.policy.empty() || !terms.permissions.empty())) {
        return detail::refused_term("permissions", " must consist of the letters r, a, u and d, each at most once");
    }
    if ((terms.first_row && !terms.first_partition) || (terms.last_row && !terms.last_partition)) {
        return detail::refused_term(terms.first_row && !terms.first_partition ? "first_row" : "last_row",
            " requires the partition bound of the same end: first_row requires first_partition, last_row "
            "last_partition");
    }
    for (auto const* const text : {&terms.first_partition, &terms.first_row, &terms.last_partition, &terms.last_row}) {
        if (*text && !text::utf16_length(**text)) {
            return detail::refused_term("a key bound", " must be valid UTF-8");
        }
    }
    std::vector<detail::sas_field> const fields{{"sp", std::move(permissions)}, {"st", detail::sas_time(terms.start)},
        {"se", detail::sas_time(terms.expiry)}, {"si", detail::unless_empty(terms.policy)},
        {"sip", detail::unless_empty(terms.addresses)}, {"spr", detail::unless_empty(terms.protocols)},
        {"sv", terms.version}, {"tn", terms.table}, {"spk", terms.first_partition}, {"srk", terms.first_row},
        {"epk", terms.last_partition}, {"erk", terms.last_row}};
    return detail::signed_query(key, fields, detail::table_sas_to_sign(key.account(), terms.table, fields));
}

ENTITABLE_DECL result<std::string> make_signature(credential const& key, account_sas const& terms) {
    ENTITABLE_CHECK(detail::check_terms(terms));
    if (!terms.expiry) { return detail::refused_term("expiry", " is missing"); }
    auto permissions = detail::in_order(terms.permissions, "rwdxylacuptfi");
    if (!permissions) {
        return detail::refused_term(
            "permissions", " must consist of the letters r, w, d, l, a, c and u, each at most once");
    }
    auto types = detail::in_order(terms.resource_types, "sco");
    if (!types) {
        return detail::refused_term("resource_types", " must consist of the letters s, c and o, each at most once");
    }
    auto services = detail::in_order(terms.services, "btqf");
    if (!services) {
        return detail::refused_term("services", " must consist of the letters b, t, q and f, each at most once");
    }
    std::vector<detail::sas_field> const fields{{"sv", terms.version}, {"ss", std::move(services)},
        {"srt", std::move(types)}, {"sp", std::move(permissions)}, {"st", detail::sas_time(terms.start)},
        {"se", detail::sas_time(terms.expiry)}, {"sip", detail::unless_empty(terms.addresses)},
        {"spr", detail::unless_empty(terms.protocols)}};
    return detail::signed_query(key, fields, detail::account_sas_to_sign(key.account(), terms.version, fields));
}

ENTITABLE_END_NAMESPACE
