// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/cloud/wire/detail/odata_reader.hpp>
#include <entitable/core/detail/base64.hpp>
#include <entitable/core/request/detail/key_ranges.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/serve/server/detail/server_work.hpp>
#include <entitable/serve/server/detail/stored_settings.hpp>
#include <entitable/serve/server/impl/change_answers.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<std::optional<std::string>> option_of(server_work const& work, std::string_view name) {
    std::optional<std::string> found;
    if (!read_option(work.address.url.query, name, found)) {
        return refused(
            400, "InvalidQueryParameterValue", text::joined({"The query parameter ", name, " is repeated."}));
    }
    return found;
}

ENTITABLE_DECL result<std::uint32_t> page_size_of(server_work const& work) {
    constexpr std::uint32_t most = 1000;
    ENTITABLE_TRY(auto text, option_of(work, "$top"));
    if (!text) { return most; }
    std::string_view digits = *text;
    auto const number = leading_number<std::uint32_t>(digits);
    if (!number || !digits.empty() || *number > most) { return refused_input("$top must be a number from 0 to 1000."); }
    return *number;
}

ENTITABLE_DECL std::string wrapped_token(std::string_view token) {
    std::string text;
    append_base64(text, token);
    for (char& each : text) { each = each == '=' ? '-' : each == '+' ? '.' : each == '/' ? '_' : each; }
    return text::joined({"1!", std::to_string(text.size()), "!", text});
}

ENTITABLE_DECL std::optional<std::string> unwrapped_token(std::string_view text) {
    if (!text.starts_with("1!")) { return std::nullopt; }
    text.remove_prefix(2);
    auto const size = leading_number<std::size_t>(text);
    if (!size || !text.starts_with('!') || text.size() != *size + 1) { return std::nullopt; }
    std::string base64{text.substr(1)};
    for (char& each : base64) { each = each == '-' ? '=' : each == '.' ? '+' : each == '_' ? '/' : each; }
    std::string made;
    return append_from_base64(made, base64) ? std::optional{std::move(made)} : std::nullopt;
}

/// Reads `$select`; empty for all properties.
ENTITABLE_DECL result<projection> read_select(server_work const& work) {
    auto text = option_of(work, "$select");
    if (!text) { return std::move(text).as_failure(); }
    projection made;
    std::string_view rest = *text ? std::string_view{**text} : std::string_view{};
    while (!rest.empty()) {
        std::string_view const name = trimmed(rest.substr(0, rest.find(',')));
        rest.remove_prefix(rest.find(',') == std::string_view::npos ? rest.size() : rest.find(',') + 1);
        if (name == "*") { return projection{}; }
        bool known = name.empty();
        for (std::string const& each : made) { known = known || each == name; }
        if (!known) { made.emplace_back(name); }
        if (name.find_first_of("'\"[](){}<>=; ") != std::string_view::npos) {
            return refused_input("$select: an identifier was expected; a name has no quotes, brackets or spaces.");
        }
        if (made.size() > 1024 || text::valid_utf8_prefix(name) != name.size()) {
            return refused_input("$select names more properties than an entity can have, or is not UTF-8.");
        }
    }
    return made;
}

/// Refuses options that no service supports: a response that ignored them would be wrong.
ENTITABLE_DECL result<void> refuse_unknown_options(server_work const& work) {
    for (std::string_view const name :
        {"$orderby", "$skip", "$skiptoken", "$count", "$inlinecount", "$expand", "$apply"}) {
        std::optional<std::string> found;
        static_cast<void>(read_option(work.address.url.query, name, found));
        if (found) {
            return refused(501, "NotImplemented",
                text::joined({"The requested operation is not implemented on the specified resource: ", name}));
        }
    }
    return {};
}

ENTITABLE_DECL result<void> answer_entity(server_work& work) {
    work.name = get_entity::name;
    if (auto permitted = check_rights(work.grant, work.address.table, {"r", {}, "o", true}); !permitted) {
        return permitted;
    }
    if (auto permitted = check_reach(work.grant, work.address.partition_key, work.address.row_key); !permitted) {
        return permitted;
    }
    if (is_hidden_partition(work.address.partition_key)) {
        return refused(404, "ResourceNotFound", "The specified resource does not exist.");
    }
    ENTITABLE_TRY(auto select, read_select(work));
    auto const show = [&](row_view const& entity, etag const& version, bool) -> result<void> {
        static_cast<void>(work.out.headers.add("ETag", version.to_string()));
        known_fields::add(work.out.headers, "Content-Type", content_type_of(work.style.metadata));
        append_answer_entity(work.out.body, entity, version, work.address.table, select, work.style);
        return {};
    };
    entity_visitor const visit{show};
    read_entity const asked{work.address.table, work.address.partition_key, work.address.row_key, &visit};
    auto const read = work.account->store.execute(asked, work.context);
    if (!read) { return refused_by_store(read.error()); }
    return {};
}

/// Restricts a filter to the bounds of a signature.
ENTITABLE_DECL void add_bounds(filter& condition, access_grant const& grant) {
    auto const add = [&](filter_operator beyond, filter_operator up_to, std::string const& partition,
                         std::optional<std::string> const& row) {
        auto const compare = [&](filter_operator operation, std::string_view name, std::string const& key) {
            condition.nodes.push_back({operation, std::string{name}, value{value_view{std::string_view{key}}}});
        };
        bool const first = condition.nodes.empty();
        if (row) { // beyond the partition, or in it and up to the row
            compare(beyond, "PartitionKey", partition);
            compare(filter_operator::equal, "PartitionKey", partition);
            compare(up_to, "RowKey", *row);
            condition.nodes.push_back({filter_operator::all_of, {}, {}});
            condition.nodes.push_back({filter_operator::any_of, {}, {}});
        } else {
            compare(up_to, "PartitionKey", partition);
        }
        if (!first) { condition.nodes.push_back({filter_operator::all_of, {}, {}}); }
    };
    if (grant.first_partition) {
        add(filter_operator::greater, filter_operator::greater_equal, *grant.first_partition, grant.first_row);
    }
    if (grant.last_partition) {
        add(filter_operator::less, filter_operator::less_equal, *grant.last_partition, grant.last_row);
    }
}

/// Joins adjacent ranges of one partition, so that one request reads them, because a page of one partition is one snapshot.
ENTITABLE_DECL void join_ranges_of_a_partition(ranges_of_filter& found) {
    std::size_t kept = 0;
    for (std::size_t index = 1; index < found.ranges.size(); ++index) {
        key_range& before = found.ranges[kept];
        key_range& each = found.ranges[index];
        if (each.partition.is_point() && before.partition == each.partition) { // disjoint and in order
            before.row.upper = std::move(each.row.upper);
            found.exact = false;
        } else if (++kept != index) {
            found.ranges[kept] = std::move(each);
        }
    }
    if (!found.ranges.empty()) { found.ranges.resize(kept + 1); }
}

/// The continuation of a query: the number of the key range, and the transport's token in it.
struct query_place {
    std::size_t range{};
    std::optional<std::string> continuation;
};

ENTITABLE_DECL result<query_place> read_place_of_query(server_work const& work, std::size_t ranges) {
    auto text = option_of(work, "NextPartitionKey");
    auto row = option_of(work, "NextRowKey");
    if (!text || !row) { return !text ? std::move(text).as_failure() : std::move(row).as_failure(); }
    query_place made;
    if (!*text && !*row) { return made; }
    auto const token = *text ? unwrapped_token(**text) : std::nullopt;
    std::string_view rest = token ? std::string_view{*token} : std::string_view{};
    auto const number = leading_number<std::size_t>(rest);
    if (!number || *number >= ranges || !(rest.starts_with('!') || rest == ".")) {
        return refused_input("The continuation token was not issued by this server.");
    }
    made.range = *number;
    if (rest.starts_with('!')) { made.continuation = rest.substr(1); }
    return made;
}

ENTITABLE_DECL result<void> answer_query(server_work& work) {
    work.name = query_entities::name;
    if (auto permitted = check_rights(work.grant, work.address.table, {"r", {}, "o", true}); !permitted) {
        return permitted;
    }
    if (auto good = refuse_unknown_options(work); !good) { return good; }
    auto text = option_of(work, "$filter");
    auto size = page_size_of(work);
    auto select = read_select(work);
    if (!text || !size || !select) {
        return !text ? std::move(text).as_failure()
            : !size  ? std::move(size).as_failure()
                     : std::move(select).as_failure();
    }
    odata_limits limits;
    limits.comparisons = work.engine.options().max_comparisons;
    auto condition = read_odata_filter(text->value_or(std::string{}), limits);
    if (!condition) { return std::move(condition).as_failure(); }
    add_bounds(*condition, work.grant);
    ranges_of_filter found = key_ranges_of(*condition);
    join_ranges_of_a_partition(found);
    if (found.ranges.empty()) { // the transport still checks whether the table exists
        found.ranges.emplace_back().partition.upper = key_bound::excluding({});
    }
    ENTITABLE_TRY(auto place, read_place_of_query(work, found.ranges.size()));
    page_cursor pages{query_entities{}};
    query_entities& asked = pages.request();
    asked.table = work.address.table;
    asked.filter = found.exact ? filter{} : *std::move(condition);
    asked.select = *select;
    asked.continuation = std::move(place.continuation);
    std::size_t at = place.range;
    std::uint32_t left = *size;
    std::string& body = work.out.body;
    append_list_start(body, work.address.table, *select, work.style);
    bool first = true;
    while (left != 0 && at < found.ranges.size()) {
        asked.range = found.ranges[at];
        asked.page_size = left;
        auto const page = pages.take(work.account->store.execute(asked, work.context));
        if (!page) { return refused_by_store(page.error()); }
        first =
            append_answer_page(body, page->rows, first, work.address.table, *select, work.style, system_row::policies);
        left -= static_cast<std::uint32_t>(page->rows.size());
        if (pages.more()) { break; }
        pages.restart();
        ++at;
    }
    body += "]}";
    if (*size != 0 && at < found.ranges.size()) {
        std::string const token = asked.continuation ? text::joined({std::to_string(at), "!", *asked.continuation})
                                                     : text::joined({std::to_string(at), "."});
        static_cast<void>(work.out.headers.add("x-ms-continuation-NextPartitionKey", wrapped_token(token)));
    }
    known_fields::add(work.out.headers, "Content-Type", content_type_of(work.style.metadata));
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
