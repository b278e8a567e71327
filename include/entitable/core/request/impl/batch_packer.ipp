// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Sets the highest bit of each byte that is a control character, a quote or a backslash; perhaps also of others. Other bits have no meaning.
[[nodiscard]] ENTITABLE_DECL std::uint64_t may_be_escaped(std::uint64_t bytes) noexcept {
    constexpr std::uint64_t each = 0x0101010101010101U;
    return ((bytes - each * 0x20) | ((bytes ^ each * '"') - each) | ((bytes ^ each * '\\') - each)) & ~bytes;
}

/// Returns the maximum size of a text as a JSON string. Measures 32 bytes at a time, because values may have 64 kB.
ENTITABLE_DECL std::size_t json_size(std::string_view text) noexcept {
    constexpr std::size_t word = sizeof(std::uint64_t);
    constexpr std::size_t block = 4 * word;
    std::size_t size = 2;
    auto const add = [&size](std::string_view bytes) {
        for (char const each : bytes) {
            size += static_cast<unsigned char>(each) < 0x20 ? 6U : each == '"' || each == '\\' ? 2U : 1U;
        }
    };
    for (; text.size() >= block; text.remove_prefix(block)) {
        std::uint64_t bits = 0;
        for (std::size_t at = 0; at < block; at += word) {
            bits |= may_be_escaped(row_format::load<std::uint64_t>(text.data() + at));
        }
        if ((bits & 0x8080808080808080U) == 0) {
            size += block;
        } else {
            add(text.substr(0, block));
        }
    }
    add(text);
    return size;
}

ENTITABLE_DECL std::size_t transaction_size(std::string_view table, mutation const& change) {
    constexpr std::size_t fixed = 1024; // the boundary and the header fields of a part, and the address of the service
    constexpr std::size_t escaped = 6;  // a quote in the path of an address is %27%27
    constexpr std::size_t annotated = 64; // upper bound for a type annotation plus a number, time or GUID
    row_view const entity = change.entity;
    std::size_t size = fixed + table.size() + escaped * (entity.partition_key.size() + entity.row_key.size());
    if (!change.condition.any()) { size += change.condition.version().to_string().size(); }
    if (change.kind == mutation_kind::remove) { return size; }
    size += json_size(entity.partition_key) + json_size(entity.row_key);
    property_cursor cursor{entity.payload};
    property_view property;
    while (cursor.next(property)) {
        if (property.present) {
            std::size_t const name = json_size(property.name);
            switch (property.type) {
                case edm_type::string: size += 2 + name + json_size(property.value.bytes()); break;
                case edm_type::binary: size += annotated + 2 * name + property.value.bytes().size() / 3 * 4 + 4; break;
                default: size += annotated + 2 * name; break;
            }
        }
    }
    return (std::max)(size, service_size(entity));
}

} // namespace detail

ENTITABLE_DECL batch_packer::batch_packer(std::string table, profile const& limits)
    : table_(std::move(table)), limits_(limits) {}

namespace detail {

/// Returns a cheap upper bound of `transaction_size` and `service_size`: most rows are far below every limit.
[[nodiscard]] ENTITABLE_DECL std::size_t transaction_size_bound(
    std::string_view table, row_view const& entity) noexcept {
    constexpr std::size_t fixed = 1024 + 64;
    constexpr std::size_t each_property = 80; // punctuation, an annotation and a number, the quotes of both names
    constexpr std::size_t each_byte = 12;     // allows six bytes for an escaped byte; names may appear twice
    std::size_t const properties = entity.payload.size() < row_format::header_size
        ? 0
        : row_format::load<std::uint16_t>(entity.payload.data() + 2);
    return fixed + table.size() + each_property * properties +
        each_byte * (entity.partition_key.size() + entity.row_key.size() + entity.payload.size());
}

[[nodiscard]] ENTITABLE_DECL std::uint64_t row_key_number(std::string_view key) noexcept {
    std::uint64_t made = key.size();
    for (; key.size() >= 8; key.remove_prefix(8)) {
        made = (made ^ row_format::load<std::uint64_t>(key.data())) * 0x9E3779B97F4A7C15U;
    }
    for (char const each : key) { made = (made ^ static_cast<unsigned char>(each)) * 0x9E3779B97F4A7C15U; }
    return made;
}

/// The place of a hash among the 1,024 bits of a batch.
[[nodiscard]] ENTITABLE_DECL std::size_t word_of(std::uint64_t hash) noexcept { return hash >> 60U; }
[[nodiscard]] ENTITABLE_DECL std::uint64_t bit_of(std::uint64_t hash) noexcept {
    return std::uint64_t{1} << (hash >> 54U & 63U);
}

} // namespace detail

ENTITABLE_DECL bool batch_packer::has(open_batch const& batch, mutation const& change, std::uint64_t key) const {
    if ((batch.seen[detail::word_of(key)] & detail::bit_of(key)) == 0) { return false; }
    for (std::size_t at = 0; at < batch.known.size(); ++at) {
        if (batch.known[at].key == key && batch.changes[at].entity.row_key() == change.entity.row_key()) {
            return true;
        }
    }
    return false;
}

/// Measures exact sizes only if the bounds do not fit. `size` is the bound of the change, and may become its exact size.
ENTITABLE_DECL bool batch_packer::has_room(open_batch& batch, mutation const& change, std::size_t& size) const {
    auto const fits = [&] {
        return batch.size <= limits_.max_transaction_size && size <= limits_.max_transaction_size - batch.size;
    };
    if (fits()) { return true; }
    for (; batch.measured < batch.changes.size(); ++batch.measured) {
        std::size_t& counted = batch.known[batch.measured].size;
        std::size_t const exact = detail::transaction_size(table_, batch.changes[batch.measured]);
        batch.size -= counted - exact;
        counted = exact;
    }
    size = detail::transaction_size(table_, change);
    return fits();
}

ENTITABLE_DECL result<void> batch_packer::add(mutation&& change, std::uint64_t tag) {
    row_view const entity = change.entity;
    auto const refused = [&](error_code code, std::string_view what, std::size_t size, std::size_t limit) {
        failure made{code, detail::limit_text(what, size, limit, "bytes")};
        made.error().detail = detail::keys_text(entity.partition_key, entity.row_key);
        return made;
    };
    std::size_t size = detail::transaction_size_bound(table_, entity);
    bool const may_break_rules =
        size > limits_.max_entity_size || detail::transaction_frame + size > limits_.max_transaction_size;
    if (may_break_rules || !change.condition.any()) { // an ETag may have any length
        if (change.kind != mutation_kind::remove) {
            if (std::size_t const own = service_size(entity); own > limits_.max_entity_size) {
                return refused(error_code::entity_too_large, "the entity", own, limits_.max_entity_size);
            }
        }
        size = detail::transaction_size(table_, change);
        if (detail::transaction_frame + size > limits_.max_transaction_size) {
            return refused(error_code::request_body_too_large, "a batch with this entity alone",
                detail::transaction_frame + size, limits_.max_transaction_size);
        }
    }
    std::uint64_t const key = detail::row_key_number(entity.row_key);
    auto at = open_.find(entity.partition_key);
    if (at == open_.end()) {
        at = open_.try_emplace(std::string{entity.partition_key}).first;
    } else if (has(at->second, change, key) || !has_room(at->second, change, size)) {
        full_.push_back(std::exchange(at->second, {}));
    }
    open_batch& batch = at->second;
    if (constexpr std::size_t some = 16; batch.changes.size() == some && some < limits_.max_operations) {
        batch.changes.reserve(limits_.max_operations); // rows are dear to move
    }
    batch.changes.push_back(std::move(change));
    batch.tags.push_back(tag);
    batch.known.push_back({key, size});
    batch.seen[detail::word_of(key)] |= detail::bit_of(key);
    batch.size += size;
    ++held_;
    if (batch.changes.size() >= limits_.max_operations) {
        full_.push_back(std::move(batch));
        open_.erase(at);
    }
    return {};
}

ENTITABLE_DECL transact batch_packer::give(open_batch&& batch, std::vector<std::uint64_t>* tags) {
    held_ -= batch.changes.size();
    if (tags != nullptr) { *tags = std::move(batch.tags); }
    return {table_, std::move(batch.changes)};
}

ENTITABLE_DECL std::optional<transact> batch_packer::take_full(std::vector<std::uint64_t>* tags) {
    if (taken_ == full_.size()) { return std::nullopt; }
    transact next = give(std::move(full_[taken_]), tags);
    if (++taken_ == full_.size()) {
        full_.clear();
        taken_ = 0;
    }
    return next;
}

ENTITABLE_DECL std::optional<transact> batch_packer::take(std::vector<std::uint64_t>* tags) {
    if (auto full = take_full(tags)) { return full; }
    if (open_.empty()) { return std::nullopt; }
    transact next = give(std::move(open_.begin()->second), tags);
    open_.erase(open_.begin());
    return next;
}

ENTITABLE_END_NAMESPACE
