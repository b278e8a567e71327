// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/sample.hpp>
#include <entitable/core/row/system_rows.hpp>

#include <cmath>
#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] ENTITABLE_DECL bool has_bytes(edm_type type) noexcept {
    return type == edm_type::string || type == edm_type::binary || type == edm_type::guid;
}

/// Returns the keys of rows without a type.
[[nodiscard]] ENTITABLE_DECL key_declaration untyped_keys() {
    key_declaration made;
    made.entity = "entity";
    made.partition.resize(1);
    made.partition[0].member = "PartitionKey";
    made.partition[0].text = true;
    made.row.resize(1);
    made.row[0].member = "RowKey";
    made.row[0].text = true;
    return made;
}

/// Writes the dictionary key of a value: its type, then its bytes.
ENTITABLE_DECL void put_value(std::string& out, value_view value) {
    out.assign(1, static_cast<char>(value.type()));
    if (has_bytes(value.type())) {
        out += value.bytes();
    } else {
        std::int64_t const bits = value.bits();
        char raw[sizeof bits];
        std::memcpy(raw, &bits, sizeof bits);
        out.append(raw, sizeof bits);
    }
}

} // namespace detail

ENTITABLE_DECL value_view sample_column::value(std::uint32_t code) const noexcept {
    std::string_view const stored = values[code];
    auto const type = static_cast<edm_type>(stored[0]);
    if (detail::has_bytes(type)) { return value_view{type, stored.substr(1)}; }
    std::int64_t bits{};
    std::memcpy(&bits, stored.data() + 1, sizeof bits);
    return value_view{type, bits};
}

ENTITABLE_DECL std::size_t sample_column::distinct() const noexcept {
    std::size_t found = 0;
    for (std::uint32_t const count : counts) { found += count > 0 ? 1U : 0U; }
    return found;
}

ENTITABLE_DECL std::size_t sample_column::absent_rows() const noexcept {
    std::size_t present = 0;
    for (std::uint32_t const count : counts) { present += count; }
    return codes.size() - present;
}

ENTITABLE_DECL double table_sample::error_of(double share) const noexcept {
    if (size() < 2 || rows_ < 2) { return whole() ? 0 : 1; }
    double const kept = static_cast<double>(size());
    double const left = (static_cast<double>(rows_) - kept) / (static_cast<double>(rows_) - 1);
    // A share of 0 or 1 in the sample is known only with an error of 3 in n ("rule of three").
    double const spread = 1.96 * std::sqrt(share * (1 - share) / kept * left);
    return left == 0 ? 0 : spread > 3 / kept ? spread : 3 / kept;
}

ENTITABLE_DECL sample_column const* table_sample::find(std::string_view name) const noexcept {
    for (sample_column const& each : columns_) {
        if (each.name == name) { return &each; }
    }
    return nullptr;
}

ENTITABLE_DECL sample_builder::sample_builder(sample_options const& options)
    : sample_builder(detail::untyped_keys(), {}, {}, options) {}

ENTITABLE_DECL sample_builder::sample_builder(
    key_declaration declared, key_layout partition, key_layout row, sample_options const& options)
    : options_(options), partition_layout_(partition), row_layout_(row), random_(options.seed) {
    made_.declared_ = std::move(declared);
    constexpr std::uint64_t most = 1'000'000'000; // values are numbered in 32 bits
    options_.rows = options_.rows < 1 ? 1 : options_.rows > most ? most : options_.rows;
}

ENTITABLE_DECL void sample_builder::add(row_view row) {
    if (system_row::is_one(row.row_key)) { return; }
    std::uint64_t const number = made_.rows_++;
    std::uint32_t const partition = made_.partition_keys_.number_of(row.partition_key);
    if (partition == made_.partitions_.size()) { made_.partitions_.emplace_back(); }
    std::size_t const bytes = service_size(row);
    made_.bytes_ += bytes;
    made_.partitions_[partition].rows += 1;
    made_.partitions_[partition].bytes += bytes;

    // J. Vitter, "Random sampling with a reservoir" (1985), algorithm R.
    std::size_t slot = made_.times_.size();
    if (number >= options_.rows) {
        random_ += 0x9E3779B97F4A7C15U;
        std::uint64_t const drawn = detail::mixed(random_) % (number + 1);
        if (drawn >= options_.rows) { return; }
        slot = static_cast<std::size_t>(drawn);
        for (sample_column& each : made_.columns_) { each.codes[slot] = sample_column::absent; }
    } else {
        made_.times_.emplace_back();
        for (sample_column& each : made_.columns_) { each.codes.push_back(sample_column::absent); }
    }
    keep(row, slot);
    std::int64_t const written = row.timestamp().ticks;
    made_.times_[slot] = written != 0 || !options_.arrival_order ? written : static_cast<std::int64_t>(number + 1);
}

ENTITABLE_DECL void sample_builder::keep(row_view row, std::size_t slot) {
    using place = sample_column::place;
    next_column_ = 0;
    put("PartitionKey", place::key, value_view{row.partition_key}, slot);
    if (row_layout_.empty()) {
        put("RowKey", place::key, value_view{row.row_key}, slot);
    } else {
        take_components(row.partition_key, partition_layout_, place::partition, slot);
        take_components(row.row_key, row_layout_, place::row, slot);
    }
    property_cursor cursor{row.payload};
    for (property_view each; cursor.next(each);) {
        if (each.present) { put(each.name, place::property, each.value, slot); }
    }
}

ENTITABLE_DECL void sample_builder::take_components(
    std::string_view key, key_layout layout, sample_column::place at, std::size_t slot) {
    key_texts texts;
    bool const split = split_key(key, layout, texts);
    for (std::size_t index = 0; split && index < layout.size(); ++index) {
        key_component const& each = layout[index];
        if (each.is == key_component::kind::member && !(each.optional && texts[index] == absent_key_text)) {
            put(each.name, at, value_view{texts[index]}, slot);
        }
    }
}

ENTITABLE_DECL void sample_builder::put(
    std::string_view name, sample_column::place at, value_view value, std::size_t slot) {
    auto& columns = made_.columns_;
    std::size_t found = next_column_ < columns.size() && columns[next_column_].name == name ? next_column_ : 0;
    while (found < columns.size() && columns[found].name != name) { ++found; }
    if (found == columns.size()) {
        columns.emplace_back();
        columns.back().name = name;
        columns.back().at = at;
        columns.back().codes.assign(made_.times_.size(), sample_column::absent);
    }
    next_column_ = found + 1;
    detail::put_value(bytes_, value);
    columns[found].codes[slot] = columns[found].values.number_of(bytes_);
}

ENTITABLE_DECL table_sample sample_builder::finish(bool cut_short) && {
    made_.cut_short_ = cut_short;
    for (sample_column& each : made_.columns_) {
        each.counts.assign(each.values.size(), 0);
        for (std::uint32_t const code : each.codes) {
            if (code != sample_column::absent) { ++each.counts[code]; }
        }
    }
    return std::move(made_);
}

ENTITABLE_END_NAMESPACE
