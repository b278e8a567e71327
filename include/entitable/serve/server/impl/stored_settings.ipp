// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/row.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/serve/server/detail/stored_settings.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::int32_t settings_version = 1;
inline constexpr std::string_view settings_partition = "service";
inline constexpr std::string_view settings_row = "settings";
inline constexpr std::size_t longest_setting = 32'000; ///< UTF-16 units of one property

ENTITABLE_DECL bool is_settings_table(std::string_view table) {
    return table.size() == settings_table.size() && text::ascii_lower(table) == text::ascii_lower(settings_table);
}

ENTITABLE_DECL bool is_hidden_partition(std::string_view partition_key) noexcept {
    return partition_key == system_row::policies;
}

/// Reads one row. Returns nullopt if it does not exist, or its table does not.
ENTITABLE_DECL result<std::optional<row>> read_settings_row(
    any_store const& store, get_entity const& asked, call& context) {
    auto found = store.execute(asked, context);
    if (!found) {
        error_code const code = found.error().code;
        if (code == error_code::resource_not_found || code == error_code::table_not_found) {
            return std::optional<row>{};
        }
        return std::move(found).as_failure();
    }
    auto const version = found->entity.view().find("Version");
    if (!version || version->type() != edm_type::int32 || version->as_int32() != settings_version) {
        return failure{error_code::not_supported, "the settings of the service are of a newer version"};
    }
    return std::optional{std::move(found->entity)};
}

/// Returns a String property; nullopt if it is absent.
ENTITABLE_DECL std::optional<std::string_view> setting_text(row const& from, std::string_view name) {
    auto const found = from.view().find(name);
    if (!found || found->type() != edm_type::string) { return std::nullopt; }
    return found->as_string();
}

ENTITABLE_DECL result<void> check_setting_size(std::string_view xml) {
    if (text::utf16_length(xml).value_or(longest_setting + 1) <= longest_setting) { return {}; }
    return failure{error_code::invalid_input, "the settings are too long, or not UTF-8"};
}

ENTITABLE_DECL result<std::vector<access_policy>> stored_policies(
    any_store const& store, std::string_view table, call& context) {
    std::string const key{system_row::policies};
    ENTITABLE_TRY(auto const found, read_settings_row(store, get_entity{std::string{table}, key, key, {}}, context));
    auto const xml = found ? setting_text(*found, "Policies") : std::nullopt;
    return xml ? read_policies(*xml) : result<std::vector<access_policy>>{std::vector<access_policy>{}};
}

ENTITABLE_DECL result<void> store_policies(
    any_store const& store, std::string_view table, std::vector<access_policy> const& policies, call& context) {
    ENTITABLE_TRY(auto const xml, write_xml(policies));
    ENTITABLE_CHECK(check_setting_size(xml));
    row_builder made{system_row::policies, system_row::policies};
    made.add("Version", value_view{settings_version});
    made.add("Policies", value_view{std::string_view{xml}});
    write_entity const write{std::string{table}, mutation::insert_or_replace(made.build())};
    auto done = store.execute(write, context);
    return done ? result<void>{} : std::move(done).as_failure();
}

/// The settings of the service, each stored in a property of its own, so that one write changes some of them.
struct setting_part {
    std::string_view name;
    bool (*has)(service_properties const& held);
    void (*take)(service_properties& to, service_properties&& from);
};
inline constexpr setting_part setting_parts[] = {
    {"Logging", [](service_properties const& held) { return held.logging.has_value(); },
        [](service_properties& to, service_properties&& from) { to.logging = std::move(from.logging); }},
    {"HourMetrics", [](service_properties const& held) { return held.hour_metrics.has_value(); },
        [](service_properties& to, service_properties&& from) { to.hour_metrics = std::move(from.hour_metrics); }},
    {"MinuteMetrics", [](service_properties const& held) { return held.minute_metrics.has_value(); },
        [](service_properties& to, service_properties&& from) { to.minute_metrics = std::move(from.minute_metrics); }},
    {"Cors", [](service_properties const& held) { return held.cors.has_value(); },
        [](service_properties& to, service_properties&& from) { to.cors = std::move(from.cors); }},
};

ENTITABLE_DECL result<service_properties> stored_properties(any_store const& store, call& context) {
    get_entity const asked{std::string{settings_table}, std::string{settings_partition}, std::string{settings_row}, {}};
    ENTITABLE_TRY(auto const found, read_settings_row(store, asked, context));
    service_properties made;
    for (setting_part const& part : setting_parts) {
        auto const xml = found ? setting_text(*found, part.name) : std::nullopt;
        if (!xml) { continue; }
        ENTITABLE_TRY(auto read, read_properties(*xml));
        part.take(made, std::move(read));
    }
    return made;
}

ENTITABLE_DECL result<void> store_properties(any_store const& store, service_properties const& changed, call& context) {
    row_builder made{settings_partition, settings_row};
    made.add("Version", value_view{settings_version});
    for (setting_part const& part : setting_parts) {
        if (!part.has(changed)) { continue; }
        service_properties alone;
        part.take(alone, service_properties{changed});
        ENTITABLE_TRY(auto const xml, write_xml(alone));
        ENTITABLE_CHECK(check_setting_size(xml));
        made.add(part.name, value_view{std::string_view{xml}});
    }
    write_entity const write{std::string{settings_table}, mutation::insert_or_merge(made.build())};
    auto done = store.execute(write, context);
    if (!done && done.error().code == error_code::table_not_found) {
        auto created = store.execute(create_table{std::string{settings_table}, true}, context);
        if (!created && created.error().code != error_code::table_already_exists) {
            return std::move(created).as_failure();
        }
        done = store.execute(write, context);
    }
    return done ? result<void>{} : std::move(done).as_failure();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
