// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/system_row_kinds.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sync/detail/sync_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Bytes of each part of a stored payload: below the 64 KiB of a binary.
inline constexpr std::size_t synced_part = 60'000;

/// Adds a payload in parts: `name`, `name_1`, and so on.
inline void add_parts(row_builder& to, std::string_view name, std::string_view payload) {
    for (std::size_t part = 0; part == 0 || part * synced_part < payload.size(); ++part) {
        std::string_view const bytes = payload.substr(part * synced_part, synced_part);
        to.add(part == 0 ? std::string{name} : text::joined({name, "_", std::to_string(part)}),
            value_view{edm_type::binary, bytes});
    }
}
/// Returns the payload of these parts; nullopt without any.
inline std::optional<std::string> payload_of_parts(row_view stored, std::string_view name) {
    std::optional<std::string> payload;
    for (std::size_t part = 0;; ++part) {
        auto const bytes = stored.find(part == 0 ? std::string{name} : text::joined({name, "_", std::to_string(part)}));
        if (!bytes || bytes->type() != edm_type::binary) { return payload; }
        if (!payload) { payload.emplace(); }
        payload->append(bytes->bytes());
        if (bytes->bytes().size() < synced_part) { return payload; }
    }
}
inline std::string_view synced_text(row_view stored, std::string_view name) {
    auto const found = stored.find(name);
    return found && found->type() == edm_type::string ? found->as_string() : std::string_view{};
}
inline failure malformed_sync_row(row_view stored) {
    return failure{error_code::row_malformed,
        text::joined({"the row \"", stored.row_key, "\" was not written by this version of synchronize"})};
}

ENTITABLE_DECL std::string receipt_key(std::string_view device) { return text::joined({system_row::synced, device}); }
ENTITABLE_DECL bool is_receipt_key(std::string_view row_key) {
    constexpr std::size_t digits = 32;
    return row_key.starts_with(system_row::synced) && row_key.size() == system_row::synced.size() + digits;
}
ENTITABLE_DECL std::string expired_receipts_key() { return text::joined({system_row::synced, "expired"}); }

ENTITABLE_DECL row row_of_state(std::string_view partition_key, sync_state const& state) {
    row_builder made{partition_key, system_row::synced};
    made.add("Device", std::string_view{state.device});
    made.add("Receipt", std::string_view{state.receipt});
    made.add("Push", std::string_view{state.push});
    if (!state.seen.empty()) { made.add("Seen", std::string_view{state.seen}); }
    return made.build();
}
ENTITABLE_DECL result<sync_state> state_of_row(row_view stored) {
    sync_state read{std::string{synced_text(stored, "Device")}, std::string{synced_text(stored, "Receipt")},
        std::string{synced_text(stored, "Push")}, std::string{synced_text(stored, "Seen")}};
    if (read.device.empty()) { return malformed_sync_row(stored); }
    return read;
}

ENTITABLE_DECL row row_of_base(std::string_view partition_key, std::string_view row_key, base_row const& base) {
    row_builder made{partition_key, text::joined({system_row::base, row_key})};
    if (base.content) { add_parts(made, "Row", *base.content); }
    if (!base.push.empty()) {
        made.add("Push", std::string_view{base.push});
        if (base.pushed) { add_parts(made, "Pushed", *base.pushed); }
    }
    return made.build();
}
ENTITABLE_DECL result<base_row> base_of_row(row_view stored) {
    base_row read{
        payload_of_parts(stored, "Row"), std::string{synced_text(stored, "Push")}, payload_of_parts(stored, "Pushed")};
    for (auto const* payload : {&read.content, &read.pushed}) {
        if (*payload && !check_payload(**payload)) { return malformed_sync_row(stored); }
    }
    if (!read.content && read.push.empty()) { return malformed_sync_row(stored); }
    return read;
}

ENTITABLE_DECL row row_of_receipt(std::string_view partition_key, std::string_view device, std::string_view push) {
    row_builder made{partition_key, receipt_key(device)};
    made.add("Push", push);
    return made.build();
}
ENTITABLE_DECL std::string_view push_of_receipt(std::optional<row_view> const& receipt) {
    return receipt ? synced_text(*receipt, "Push") : std::string_view{};
}

ENTITABLE_DECL std::string content_of(row_view stored) {
    std::string payload{stored.payload};
    set_timestamp(payload, {});
    return payload;
}

ENTITABLE_DECL result<void> sort_rows(synced_rows& found, std::string_view state_key) {
    for (page const& each : found.pages) {
        for (std::size_t index = 0; index < each.size(); ++index) {
            row_view const stored = each[index];
            system_row::kind const* const kind = system_row::kind_of(stored.row_key);
            if (kind == nullptr) {
                found.rows.emplace(stored.row_key, stored);
            } else if (stored.row_key == state_key) {
                found.state = stored;
            } else if (kind->prefix == system_row::base) {
                ENTITABLE_TRY(base_row base, base_of_row(stored));
                found.bases.emplace(stored.row_key.substr(kind->prefix.size()), std::move(base));
            } else if (kind->changed == system_row::copying::refused) {
                found.foreign = stored;
            }
        }
    }
    return {};
}

ENTITABLE_DECL bool same_versions(synced_rows const& one, synced_rows const& other) {
    if (one.rows.size() != other.rows.size()) { return false; }
    auto beside = other.rows.begin();
    for (auto const& [key, stored] : one.rows) {
        if (key != beside->first || !(stored.etag() == beside->second.etag())) { return false; }
        ++beside;
    }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
