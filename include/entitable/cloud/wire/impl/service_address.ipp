// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/service_address.hpp>
#include <entitable/cloud/wire/impl/escape.ipp>
#include <entitable/cloud/wire/impl/service_error.ipp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure query_syntax() { return refused_input("Bad Request - Error in query syntax."); }

/// Parses `'text'` from the front, with quotes inside doubled.
ENTITABLE_DECL bool take_quoted(std::string_view& from, std::string& out) {
    if (!from.starts_with('\'')) { return false; }
    from.remove_prefix(1);
    for (;;) {
        std::size_t const quote = from.find('\'');
        if (quote == std::string_view::npos) { return false; }
        out.append(from.substr(0, quote));
        from.remove_prefix(quote + 1);
        if (!from.starts_with('\'')) { return true; }
        out += '\'';
        from.remove_prefix(1);
    }
}

/// Parses `PartitionKey='..',RowKey='..'`, in either order.
ENTITABLE_DECL bool read_keys(std::string_view inside, service_address& out) {
    bool has_partition = false;
    bool has_row = false;
    for (int part = 0; part < 2; ++part) {
        bool& has = inside.starts_with("RowKey=") ? has_row : has_partition;
        std::string_view const name = &has == &has_row ? "RowKey=" : "PartitionKey=";
        if (has || !inside.starts_with(name)) { return false; }
        has = true;
        inside.remove_prefix(name.size());
        if (!take_quoted(inside, &has == &has_row ? out.row_key : out.partition_key)) { return false; }
        if (part == 0) {
            if (!inside.starts_with(',')) { return false; }
            inside.remove_prefix(1);
            inside.remove_prefix(inside.starts_with(' ') ? 1 : 0);
        }
    }
    return inside.empty();
}

ENTITABLE_DECL bool read_service_place(std::string_view rest, service_address& out) {
    if (rest.empty()) { return true; }
    std::string decoded;
    if (rest.size() > 1 && rest.ends_with('/')) { rest.remove_suffix(1); } // the service drops an empty last segment
    std::string_view text = rest;
    if (rest.find('/') != std::string_view::npos) { return false; }
    if (rest.find('%') != std::string_view::npos) {
        if (!append_url_unescaped(decoded, rest)) { return false; }
        text = decoded;
    }
    if (text == "$batch") {
        out.place = service_place::batch;
        return true;
    }
    std::size_t const open = text.find('(');
    std::string_view const name = text.substr(0, open);
    bool const tables = name == "Tables";
    out.place = tables ? service_place::tables : service_place::table;
    if (name.empty()) { return false; }
    if (!tables) { out.table = name; }
    if (open == std::string_view::npos) { return true; }
    if (!text.ends_with(')')) { return false; }
    text = text.substr(open + 1, text.size() - open - 2);
    if (text.empty()) { return true; }
    if (tables) {
        out.place = service_place::one_table;
        return take_quoted(text, out.table) && text.empty();
    }
    out.place = service_place::entity;
    return read_keys(text, out);
}

ENTITABLE_DECL result<service_address> read_service_address(std::string_view url) {
    auto const parts = parse_url(url, "the request URL");
    if (!parts) {
        return refused(400, "InvalidUri", "The requested URI does not represent any resource on the server.");
    }
    service_address made;
    made.url = *parts;
    std::size_t const path_at = static_cast<std::size_t>(parts->path.data() - url.data());
    std::string_view path = parts->path;
    std::string_view const origin = parts->path.empty() ? url.substr(0, url.find('?')) : url.substr(0, path_at);
    made.base = origin;
    path.remove_prefix(path.starts_with('/') ? 1 : 0);
    std::string const host = text::ascii_lower(parts->host);
    std::size_t const dot = host.find('.');
    bool const by_name = dot != std::string::npos && std::string_view{host}.substr(dot).starts_with(".table.");
    if (by_name) {
        made.account = host.substr(0, dot);
    } else {
        made.account = text::take_part(path, '/');
        made.base.append("/").append(made.account);
    }
    constexpr std::string_view secondary = "-secondary";
    if (made.account.ends_with(secondary)) {
        made.secondary = true;
        made.account.resize(made.account.size() - secondary.size());
    }
    if (!read_service_place(path, made)) { return query_syntax(); }
    return made;
}

ENTITABLE_DECL void for_each_option(
    std::string_view query, function_ref<void(std::string_view name, std::string_view value)> visit) {
    while (!query.empty()) {
        std::string_view const pair = text::take_part(query, '&');
        std::string_view const name = pair.substr(0, pair.find('='));
        if (!pair.empty()) { visit(name, pair.substr(name.size() == pair.size() ? pair.size() : name.size() + 1)); }
    }
}

ENTITABLE_DECL bool read_option(std::string_view query, std::string_view name, std::optional<std::string>& out) {
    bool once = true;
    for_each_option(query, [&](std::string_view found, std::string_view value) {
        std::string decoded;
        if (found.find('%') != std::string_view::npos) { // "%24filter", as some clients write it
            static_cast<void>(append_url_unescaped(decoded, found));
            found = decoded;
        }
        if (found != name) { return; }
        once = once && !out;
        std::string plain{value};
        for (char& each : plain) { each = each == '+' ? ' ' : each; }
        out.emplace();
        static_cast<void>(append_url_unescaped(*out, plain)); // the escapes were checked with the URL
    });
    return once;
}

ENTITABLE_DECL std::optional<http_method> method_named(std::string_view name) noexcept {
    for (auto const method : {http_method::get, http_method::post, http_method::put, http_method::merge,
             http_method::patch, http_method::delete_, http_method::head, http_method::options}) {
        if (name == to_string(method)) { return method; }
    }
    return std::nullopt;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
