// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/odata_reader.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/serve/server/detail/server_work.hpp>
#include <entitable/serve/server/detail/stored_settings.hpp>
#include <entitable/serve/server/impl/change_answers.ipp>
#include <entitable/serve/server/impl/query_answers.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether the name of a table satisfies a condition on TableName.
ENTITABLE_DECL bool table_satisfies(std::string_view table, filter const& condition) {
    row_builder as_row{{}, {}};
    as_row.add("TableName", value_view{table});
    row const made = as_row.build();
    return satisfies(made.view(), condition);
}

ENTITABLE_DECL result<void> answer_tables(server_work& work) {
    work.name = list_tables::name;
    if (auto permitted = check_rights(work.grant, {}, {"l", {}, "sc", false}); !permitted) { return permitted; }
    auto text = option_of(work, "$filter");
    auto size = page_size_of(work);
    auto token = option_of(work, "NextTableName");
    if (!text || !size || !token) {
        return !text ? std::move(text).as_failure()
            : !size  ? std::move(size).as_failure()
                     : std::move(token).as_failure();
    }
    auto const condition = read_odata_filter(text->value_or(std::string{}));
    if (!condition) { return failure{condition.error()}; }
    list_tables asked;
    asked.page_size = *size;
    if (*token) {
        asked.continuation = unwrapped_token(**token);
        if (!asked.continuation) { return refused_input("The continuation token was not issued by this server."); }
    }
    std::string& body = work.out.body;
    append_list_start(body, "Tables", {}, work.style);
    std::size_t shown = 0;
    constexpr int most_pages = 20; // any page may lack a table that satisfies the condition
    page_cursor pages{std::move(asked)};
    for (int page = 0; *size != 0 && page < most_pages && shown == 0 && pages.more(); ++page) {
        auto const found = pages.take(work.account->store.execute(pages.request(), work.context));
        if (!found) { return refused_by_store(found.error()); }
        for (std::string const& name : found->tables) {
            if (!is_settings_table(name) && table_satisfies(name, *condition)) {
                body += shown++ == 0 ? "" : ",";
                append_answer_table(body, name, work.style, false);
            }
        }
    }
    body += "]}";
    if (pages.more() && *size != 0) {
        static_cast<void>(
            work.out.headers.add("x-ms-continuation-NextTableName", wrapped_token(*pages.request().continuation)));
    }
    known_fields::add(work.out.headers, "Content-Type", content_type_of(work.style.metadata));
    return {};
}

ENTITABLE_DECL result<void> answer_create_table(server_work& work, entity_reader& reader) {
    work.name = create_table::name;
    if (auto permitted = check_rights(work.grant, {}, {"cw", {}, "c", false}); !permitted) { return permitted; }
    ENTITABLE_TRY(auto name, reader.read_table_name(work.request.body));
    if (is_settings_table(name)) {
        return refused(400, "InvalidResourceName", "The specified resource name is reserved for the server.");
    }
    auto const made = work.account->store.execute(create_table{name}, work.context);
    if (!made) { return refused_by_store(made.error()); }
    std::string const location = text::joined({work.style.base, "/Tables('", name, "')"});
    static_cast<void>(work.out.headers.add("Location", location));
    if (wants_no_content(work.request.headers.find("Prefer"))) {
        work.out.status = 204;
        static_cast<void>(work.out.headers.add("DataServiceId", location));
        known_fields::add(work.out.headers, "Preference-Applied: return-no-content", 1);
        return {};
    }
    work.out.status = 201;
    known_fields::add(work.out.headers, "Content-Type", content_type_of(work.style.metadata));
    append_answer_table(work.out.body, name, work.style, true);
    return {};
}

ENTITABLE_DECL result<void> answer_delete_table(server_work& work) {
    work.name = delete_table::name;
    if (auto permitted = check_rights(work.grant, work.address.table, {"d", {}, "c", false}); !permitted) {
        return permitted;
    }
    auto const gone = work.account->store.execute(delete_table{work.address.table}, work.context);
    if (!gone) { return refused_by_store(gone.error()); }
    work.out.status = 204;
    return {};
}

/// Returns the name with which a table was created. Errors: ResourceNotFound if the table does not exist.
ENTITABLE_DECL result<std::string> stored_table_name(server_work& work, std::string_view wanted) {
    std::string const folded = text::ascii_lower(wanted);
    page_cursor pages{list_tables{}};
    while (pages.more()) {
        auto const found = pages.take(work.account->store.execute(pages.request(), work.context));
        if (!found) { return refused_by_store(found.error()); }
        for (std::string const& name : found->tables) {
            if (text::ascii_lower(name) == folded) { return name; }
        }
    }
    return refused(404, "ResourceNotFound", "The specified resource does not exist.");
}

ENTITABLE_DECL result<void> answer_one_table(server_work& work) {
    work.name = list_tables::name;
    if (auto permitted = check_rights(work.grant, work.address.table, {"l", {}, "sc", false}); !permitted) {
        return permitted;
    }
    ENTITABLE_TRY(auto const name, stored_table_name(work, work.address.table));
    known_fields::add(work.out.headers, "Content-Type", content_type_of(work.style.metadata));
    append_answer_table(work.out.body, name, work.style, true);
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
