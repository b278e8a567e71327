// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/account/service_settings.hpp>
#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/cloud/wire/detail/error_answer.hpp>
#include <entitable/cloud/wire/detail/http_date.hpp>
#include <entitable/cloud/wire/detail/xml.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view xml_head = R"(<?xml version="1.0" encoding="utf-8"?>)";

ENTITABLE_DECL std::string_view yes_or_no(bool yes) noexcept { return yes ? "true" : "false"; }

ENTITABLE_DECL failure bad_setting(std::initializer_list<std::string_view> why) {
    return failure{error_code::invalid_input, text::joined(why)};
}

ENTITABLE_DECL bool good_days(std::optional<std::uint32_t> days) noexcept {
    return !days || (*days >= 1 && *days <= 365);
}

ENTITABLE_DECL void append_retention(std::string& out, std::optional<std::uint32_t> days) {
    out += "<RetentionPolicy>";
    append_xml_element(out, "Enabled", yes_or_no(days.has_value()));
    if (days) { append_xml_element(out, "Days", std::to_string(*days)); }
    out += "</RetentionPolicy>";
}

ENTITABLE_DECL void append_metrics(
    std::string& out, std::string_view name, std::optional<metrics_settings> const& metrics) {
    if (!metrics) { return; }
    out.append("<").append(name).append("><Version>1.0</Version>");
    append_xml_element(out, "Enabled", yes_or_no(metrics->enabled));
    if (metrics->enabled) { append_xml_element(out, "IncludeAPIs", yes_or_no(metrics->include_apis)); }
    append_retention(out, metrics->retention_days);
    out.append("</").append(name) += '>';
}

ENTITABLE_DECL std::string list_text(std::vector<std::string> const& list) {
    std::string text;
    for (std::string const& each : list) { text.append(text.empty() ? "" : ",").append(each); }
    return text;
}

ENTITABLE_DECL std::vector<std::string> text_list(std::string_view joined) {
    std::vector<std::string> list;
    while (!joined.empty()) { list.emplace_back(trimmed(text::take_part(joined, ','))); }
    return list;
}

ENTITABLE_DECL result<std::string> write_xml(service_properties const& properties) {
    for (auto const* metrics : {&properties.hour_metrics, &properties.minute_metrics}) {
        if (*metrics && !good_days((*metrics)->retention_days)) {
            return bad_setting({"retention_days of metrics must be 1 to 365"});
        }
    }
    if (properties.logging && !good_days(properties.logging->retention_days)) {
        return bad_setting({"retention_days of logging must be 1 to 365"});
    }
    if (properties.cors && properties.cors->size() > 5) {
        return bad_setting({"cors has ", std::to_string(properties.cors->size()), " rules; the limit is 5"});
    }
    std::string out{xml_head};
    out += "<StorageServiceProperties>";
    if (auto const& logging = properties.logging) {
        out += "<Logging><Version>1.0</Version>";
        append_xml_element(out, "Delete", yes_or_no(logging->deletes));
        append_xml_element(out, "Read", yes_or_no(logging->reads));
        append_xml_element(out, "Write", yes_or_no(logging->writes));
        append_retention(out, logging->retention_days);
        out += "</Logging>";
    }
    append_metrics(out, "HourMetrics", properties.hour_metrics);
    append_metrics(out, "MinuteMetrics", properties.minute_metrics);
    if (properties.cors) {
        out += "<Cors>";
        for (cors_rule const& rule : *properties.cors) {
            out += "<CorsRule>";
            append_xml_element(out, "AllowedOrigins", list_text(rule.allowed_origins));
            append_xml_element(out, "AllowedMethods", list_text(rule.allowed_methods));
            append_xml_element(out, "MaxAgeInSeconds", std::to_string(rule.max_age.count()));
            append_xml_element(out, "ExposedHeaders", list_text(rule.exposed_headers));
            append_xml_element(out, "AllowedHeaders", list_text(rule.allowed_headers));
            out += "</CorsRule>";
        }
        out += "</Cors>";
    }
    return out + "</StorageServiceProperties>";
}

ENTITABLE_DECL result<std::string> write_xml(std::vector<access_policy> const& policies) {
    if (policies.size() > 5) {
        return bad_setting({"there are ", std::to_string(policies.size()), " access policies; the limit is 5"});
    }
    std::string out{xml_head};
    out += "<SignedIdentifiers>";
    for (access_policy const& policy : policies) {
        auto const units = text::utf16_length(policy.id);
        if (!units || *units < 1 || *units > 64) {
            return bad_setting({"the id of an access policy must have 1 to 64 characters"});
        }
        std::size_t at = 0;
        for (char const letter : policy.permissions) {
            at = std::string_view{"raud"}.find(letter, at);
            if (at == std::string_view::npos) {
                return bad_setting(
                    {"the permissions of an access policy must consist of the letters r, a, u and d, in this order"});
            }
            ++at;
        }
        for (auto const& time : {policy.start, policy.expiry}) {
            if (time && !time->is_valid()) { return bad_setting({"a time of an access policy is out of range"}); }
        }
        out += "<SignedIdentifier>";
        append_xml_element(out, "Id", policy.id);
        if (!policy.start && !policy.expiry && policy.permissions.empty()) {
            out += "<AccessPolicy /></SignedIdentifier>";
            continue;
        }
        out += "<AccessPolicy>";
        if (policy.start) { append_xml_element(out, "Start", policy.start->to_string()); }
        if (policy.expiry) { append_xml_element(out, "Expiry", policy.expiry->to_string()); }
        if (!policy.permissions.empty()) { append_xml_element(out, "Permission", policy.permissions); }
        out += "</AccessPolicy></SignedIdentifier>";
    }
    return out + "</SignedIdentifiers>";
}

/// Returns the part of `path` after `from` and a slash; nullopt if it does not begin that way.
ENTITABLE_DECL std::optional<std::string_view> below(std::string_view path, std::string_view from) noexcept {
    if (!path.starts_with(from) || path.size() <= from.size() || path[from.size()] != '/') { return std::nullopt; }
    return path.substr(from.size() + 1);
}

ENTITABLE_DECL bool read_days(std::string_view text, std::optional<std::uint32_t>& out) noexcept {
    out = leading_number<std::uint32_t>(text);
    return out && text.empty();
}

ENTITABLE_DECL bool read_metrics(std::string_view name, std::string_view content, metrics_settings& out) noexcept {
    if (name == "Enabled") {
        out.enabled = content == "true";
    } else if (name == "IncludeAPIs") {
        out.include_apis = content == "true";
    } else if (name == "RetentionPolicy/Days") {
        return read_days(content, out.retention_days);
    }
    return true;
}

ENTITABLE_DECL result<service_properties> read_properties(std::string_view xml) {
    constexpr std::string_view root = "StorageServiceProperties";
    service_properties made;
    bool good = true;
    bool const whole = read_xml(xml, [&](xml_event event, std::string_view path, std::string_view content) {
        auto const name = below(path, root);
        if (!name) {
            good = good && path == root;
            return;
        }
        if (event == xml_event::opens) {
            if (*name == "Logging") {
                made.logging.emplace();
            } else if (*name == "HourMetrics") {
                made.hour_metrics.emplace();
            } else if (*name == "MinuteMetrics") {
                made.minute_metrics.emplace();
            } else if (*name == "Cors") {
                made.cors.emplace();
            } else if (*name == "Cors/CorsRule") {
                made.cors->emplace_back();
            }
            return;
        }
        content = trimmed(content);
        if (auto const metrics = below(*name, "HourMetrics")) {
            good = read_metrics(*metrics, content, *made.hour_metrics) && good;
        } else if (auto const others = below(*name, "MinuteMetrics")) {
            good = read_metrics(*others, content, *made.minute_metrics) && good;
        } else if (auto const logged = below(*name, "Logging")) {
            if (*logged == "Read") {
                made.logging->reads = content == "true";
            } else if (*logged == "Write") {
                made.logging->writes = content == "true";
            } else if (*logged == "Delete") {
                made.logging->deletes = content == "true";
            } else if (*logged == "RetentionPolicy/Days") {
                good = read_days(content, made.logging->retention_days) && good;
            }
        } else if (auto const rule = below(*name, "Cors/CorsRule")) {
            cors_rule& last = made.cors->back();
            if (*rule == "AllowedOrigins") {
                last.allowed_origins = text_list(content);
            } else if (*rule == "AllowedMethods") {
                last.allowed_methods = text_list(content);
            } else if (*rule == "AllowedHeaders") {
                last.allowed_headers = text_list(content);
            } else if (*rule == "ExposedHeaders") {
                last.exposed_headers = text_list(content);
            } else if (*rule == "MaxAgeInSeconds") {
                auto const seconds = leading_number<std::int32_t>(content);
                good = good && seconds && content.empty();
                last.max_age = std::chrono::seconds{seconds.value_or(0)};
            }
        }
    });
    if (!whole || !good) { return unreadable({"it is not a valid XML document of service properties"}); }
    return made;
}

ENTITABLE_DECL result<service_statistics> read_statistics(std::string_view xml) {
    constexpr std::string_view names[] = {"live", "bootstrap", "unavailable"};
    service_statistics made;
    bool found = false;
    bool good = true;
    bool const whole = read_xml(xml, [&](xml_event event, std::string_view path, std::string_view content) {
        content = trimmed(content);
        if (event == xml_event::closes && path == "StorageServiceStats/GeoReplication/Status") {
            for (std::uint8_t index = 0; index < 3; ++index) {
                if (content == names[index]) {
                    made.replication = static_cast<service_statistics::state>(index);
                    found = true;
                }
            }
        } else if (event == xml_event::closes && path == "StorageServiceStats/GeoReplication/LastSyncTime" &&
            !content.empty()) {
            made.last_sync = parse_http_date(content);
            good = made.last_sync.has_value();
        }
    });
    if (!whole || !found || !good) { return unreadable({"it is not a valid XML document of service statistics"}); }
    return made;
}

/// Parses a time of a policy: a date, or a date and a time without seconds, with seconds, or with a fraction.
ENTITABLE_DECL std::optional<date_time> policy_time(std::string_view text) {
    std::string whole{text};
    if (whole.size() == 10) {
        whole += "T00:00:00Z";
    } else if (whole.size() == 17 && whole.back() == 'Z') {
        whole.insert(16, ":00");
    }
    return date_time::parse(whole);
}

ENTITABLE_DECL result<std::vector<access_policy>> read_policies(std::string_view xml) {
    constexpr std::string_view root = "SignedIdentifiers";
    std::vector<access_policy> made;
    bool good = true;
    bool const whole = read_xml(xml, [&](xml_event event, std::string_view path, std::string_view content) {
        auto const name = below(path, "SignedIdentifiers/SignedIdentifier");
        content = trimmed(content);
        if (event == xml_event::opens) {
            good = good && path.starts_with(root);
            if (path == "SignedIdentifiers/SignedIdentifier") { made.emplace_back(); }
        } else if (name == "Id") {
            made.back().id = content;
        } else if (name == "AccessPolicy/Permission") {
            made.back().permissions = content;
        } else if (name == "AccessPolicy/Start" || name == "AccessPolicy/Expiry") {
            // Earlier clients of .NET write an absent time as an empty element.
            auto const time = policy_time(content);
            good = good && (time || content.empty());
            (name == "AccessPolicy/Start" ? made.back().start : made.back().expiry) = time;
        }
    });
    if (!whole || !good) { return unreadable({"it is not a valid XML document of access policies"}); }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
