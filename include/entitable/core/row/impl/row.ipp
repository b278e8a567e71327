// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/detail/payload.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/core/text.hpp>

#include <utility>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY property_cursor::property_cursor(std::string_view payload) noexcept {
    if (payload.size() < row_format::header_size || static_cast<unsigned char>(payload[0]) != row_format::version) {
        damaged_ = true;
        return;
    }
    left_ = row_format::load<std::uint16_t>(payload.data() + 2);
    std::size_t const size = row_format::load<std::uint32_t>(payload.data() + 4);
    payload.remove_prefix(row_format::header_size);
    if (size > payload.size()) {
        damaged_ = true;
        left_ = 0;
        return;
    }
    descriptor_ = payload.data();
    descriptor_end_ = values_ = descriptor_ + size;
    values_end_ = descriptor_ + payload.size();
}

ENTITABLE_LAZY_BODY bool property_cursor::next(property_view& out) noexcept {
    if (left_ == 0) {
        damaged_ = damaged_ || descriptor_ != descriptor_end_ || values_ != values_end_;
        return false;
    }
    auto const broken = [this] {
        left_ = 0;
        damaged_ = true;
        return false;
    };
    char const* const described = descriptor_;
    auto const described_size = static_cast<std::size_t>(descriptor_end_ - described);
    if (described_size < 3) { return broken(); }
    auto const kind = static_cast<unsigned char>(*described);
    auto const type = static_cast<edm_type>(kind & ~row_format::nullable_bit);
    std::size_t const name_size = row_format::load<std::uint16_t>(described + 1);
    if (type < edm_type::string || type > edm_type::binary || described_size < 3 + name_size) { return broken(); }
    char const* at = values_;
    auto rest = static_cast<std::size_t>(values_end_ - at);
    out.name = {described + 3, name_size};
    out.type = type;
    out.present = true;
    if ((kind & row_format::nullable_bit) != 0) {
        if (rest == 0) { return broken(); }
        out.present = *at != 0;
        ++at;
        --rest;
    }
    if (out.present) {
        std::size_t size = row_format::fixed_size(type);
        if (rest < size) { return broken(); }
        switch (type) {
            case edm_type::string:
            case edm_type::binary: {
                std::size_t const length = row_format::load<std::uint32_t>(at);
                if (rest - size < length) { return broken(); }
                out.value.assign(type, std::string_view{at + size, length});
                size += length;
                break;
            }
            case edm_type::guid: out.value.assign(type, std::string_view{at, size}); break;
            case edm_type::boolean: out.value.assign(type, *at != 0 ? 1 : 0); break;
            case edm_type::int32: out.value.assign(type, row_format::load<std::int32_t>(at)); break;
            default: out.value.assign(type, row_format::load<std::int64_t>(at)); break;
        }
        at += size;
    }
    descriptor_ = described + 3 + name_size;
    values_ = at;
    --left_;
    return true;
}

ENTITABLE_LAZY_BODY std::optional<value_view> row_view::find(std::string_view name) const noexcept {
    property_cursor cursor{payload};
    property_view property;
    while (cursor.next(property)) {
        if (property.name == name) { return property.present ? std::optional{property.value} : std::nullopt; }
    }
    return std::nullopt;
}

ENTITABLE_LAZY_BODY result<void> check_payload(std::string_view payload) {
    property_cursor cursor{payload};
    property_view property;
    while (cursor.next(property)) {}
    if (cursor.damaged()) {
        return failure{error_code::row_malformed, "the stored bytes are not a complete row of version 1"};
    }
    return {};
}

ENTITABLE_DECL row::row(row&& other) noexcept
    : block_(std::move(other.block_)),
      partition_key_size_(std::exchange(other.partition_key_size_, 0)),
      row_key_size_(std::exchange(other.row_key_size_, 0)),
      etag_size_(std::exchange(other.etag_size_, 0)) {
    other.block_.clear();
}

ENTITABLE_DECL row& row::operator=(row&& other) noexcept {
    if (this == &other) { return *this; }
    block_ = std::move(other.block_);
    other.block_.clear(); // it may hold the bytes of this row before
    partition_key_size_ = std::exchange(other.partition_key_size_, 0);
    row_key_size_ = std::exchange(other.row_key_size_, 0);
    etag_size_ = std::exchange(other.etag_size_, 0);
    return *this;
}

ENTITABLE_LAZY_BODY std::string row::release() && noexcept {
    partition_key_size_ = row_key_size_ = etag_size_ = 0;
    return std::exchange(block_, std::string{});
}

ENTITABLE_LAZY_BODY row::row(
    std::string_view partition_key, std::string_view row_key, std::string_view payload, std::string_view etag_text)
    : partition_key_size_(partition_key.size()), row_key_size_(row_key.size()), etag_size_(etag_text.size()) {
    block_.reserve(partition_key.size() + row_key.size() + payload.size() + etag_text.size());
    block_.append(partition_key).append(row_key).append(payload).append(etag_text);
}

namespace detail {

ENTITABLE_LAZY_BODY void append_descriptor(
    std::string& descriptor, std::string_view name, edm_type type, bool nullable) {
    char bytes[2];
    auto const kind = static_cast<unsigned char>(type);
    descriptor += static_cast<char>(nullable ? kind | row_format::nullable_bit : kind);
    name = name.substr(0, 0xFFFF); // still far above the limit of any service
    row_format::store(bytes, static_cast<std::uint16_t>(name.size()));
    descriptor.append(bytes, 2).append(name);
}

ENTITABLE_LAZY_BODY void append_stored_value(std::string& values, edm_type type, value_view const& value) {
    char bytes[8];
    std::string_view const content = value.bytes();
    switch (type) {
        case edm_type::boolean: values += static_cast<char>(value.as_boolean() ? 1 : 0); break;
        case edm_type::int32:
            row_format::store(bytes, value.as_int32());
            values.append(bytes, 4);
            break;
        case edm_type::string:
        case edm_type::binary:
            row_format::store(bytes, static_cast<std::uint32_t>(content.size()));
            values.append(bytes, 4).append(content);
            break;
        case edm_type::guid: values.append(content); break;
        default:
            row_format::store(bytes, value.bits());
            values.append(bytes, 8);
            break;
    }
}

ENTITABLE_LAZY_BODY void append_property(
    std::string& descriptor, std::string& values, property_view const& property, bool nullable) {
    append_descriptor(descriptor, property.name, property.type, nullable);
    if (nullable) { values += static_cast<char>(property.present ? 1 : 0); }
    if (property.present) { append_stored_value(values, property.type, property.value); }
}

/// Writes the bytes before the descriptor, all of which are 0, except the Timestamp.
inline void store_header(char* to, std::uint16_t count, std::size_t descriptor_size) noexcept {
    to[0] = static_cast<char>(row_format::version);
    row_format::store(to + 2, count);
    row_format::store(to + 4, static_cast<std::uint32_t>(descriptor_size));
}

ENTITABLE_LAZY_BODY void write_payload(
    std::string& payload, std::uint16_t count, std::string_view descriptor, std::string_view values) {
    payload.clear();
    payload.reserve(row_format::header_size + descriptor.size() + values.size());
    payload.resize(row_format::header_size);
    store_header(payload.data(), count, descriptor.size());
    payload.append(descriptor).append(values);
}

ENTITABLE_LAZY_BODY std::string make_payload(
    std::uint16_t count, std::string_view descriptor, std::string_view values) {
    std::string payload;
    write_payload(payload, count, descriptor, values);
    return payload;
}

} // namespace detail

ENTITABLE_LAZY_BODY void row_builder::add(std::string_view name, edm_type type, std::optional<value_view> value) {
    put(name, type, value ? &*value : nullptr, true);
}

ENTITABLE_LAZY_BODY void row_builder::put(
    std::string_view name, edm_type type, value_view const* value, bool nullable) {
    detail::append_property(
        descriptor_, values_, {name, type, value != nullptr, value ? *value : value_view{}}, nullable);
    ++count_;
}

ENTITABLE_LAZY_BODY row row_builder::build() const {
    row made;
    build(made);
    return made;
}

ENTITABLE_LAZY_BODY void row_builder::build(row& into) const {
    std::string& block = detail::row_filling::begin(into);
    std::size_t const keys = partition_key_.size() + row_key_.size();
    block.reserve(keys + row_format::header_size + descriptor_.size() + values_.size());
    block.append(partition_key_).append(row_key_).append(row_format::header_size, '\0');
    detail::store_header(block.data() + keys, count_, descriptor_.size());
    block.append(descriptor_).append(values_);
    detail::row_filling::end(into, partition_key_.size(), row_key_.size());
}

ENTITABLE_LAZY_BODY void row_builder::restart(std::string_view partition_key, std::string_view row_key) {
    partition_key_ = partition_key;
    row_key_ = row_key;
    descriptor_.clear();
    values_.clear();
    count_ = 0;
}

ENTITABLE_LAZY_BODY std::size_t service_size(row_view row) noexcept {
    auto const units = [](std::string_view utf8) { return text::utf16_length(utf8).value_or(utf8.size()); };
    std::size_t size = 4 + 2 * (units(row.partition_key) + units(row.row_key));
    property_cursor cursor{row.payload};
    property_view property;
    while (cursor.next(property)) {
        if (!property.present) { continue; }
        size += 8 + 2 * units(property.name);
        switch (property.type) {
            case edm_type::string: size += 4 + 2 * units(property.value.bytes()); break;
            case edm_type::binary: size += 4 + property.value.bytes().size(); break;
            default: size += row_format::fixed_size(property.type); break;
        }
    }
    return size;
}

ENTITABLE_END_NAMESPACE
