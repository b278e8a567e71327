// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/detail/parts.hpp>
#include <entitable/client/mapping/impl/value_reader.ipp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Capacity of a chunk: bytes of a binary, UTF-16 units of a text.
inline constexpr std::size_t chunk_bytes = std::size_t{64} * 1024;
inline constexpr std::size_t chunk_units = chunk_bytes / 2;
/// Maximum size of an entity, by the service's measure.
inline constexpr std::size_t chunked_entity_bytes = std::size_t{1024} * 1024;

/// Returns the number of bytes of a text for its first chunk: no character is split.
ENTITABLE_LAZY std::size_t size_of_chunk(std::string_view text) noexcept {
    if (text.size() <= chunk_units) {
        return text.size(); // units never exceed bytes
    }
    std::size_t units = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        auto const lead = static_cast<unsigned char>(text[at]);
        std::size_t const size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        units += size == 4 ? 2U : 1U;
        if (units > chunk_units) { break; }
        at += size;
    }
    return at < text.size() ? at : text.size();
}

ENTITABLE_LAZY_BODY result<void> put_chunks(
    nullable_view* to, std::string_view name, edm_type type, std::optional<std::string_view> whole) {
    for (std::size_t index = 0; index <= max_chunks; ++index) { to[index] = {{}, true, false}; }
    if (!whole) { return {}; }
    std::string_view rest = *whole;
    std::size_t count = 0;
    do {
        if (count == max_chunks) {
            return failure{error_code::property_value_too_large,
                text::joined({"the member \"", name, "\" has ", std::to_string(whole->size()), " bytes: chunked(", name,
                    ") holds at most 15 chunks of ",
                    (type == edm_type::string ? "32768 UTF-16 units" : "65536 bytes")})};
        }
        std::size_t const size = type == edm_type::string ? size_of_chunk(rest)
            : rest.size() < chunk_bytes                   ? rest.size()
                                                          : chunk_bytes;
        to[count] = {value_view{type, rest.substr(0, size)}, true, true};
        rest.remove_prefix(size);
        ++count;
    } while (!rest.empty());
    to[max_chunks] = {value_view{static_cast<std::int32_t>(count)}, true, true};
    return {};
}

ENTITABLE_LAZY_BODY result<void> check_size_of_chunked(row_view row, std::string_view entity,
    nullable_view const* values, std::string_view const* names, std::size_t count) {
    if (row.payload.size() < chunked_entity_bytes / 4) {
        return {}; // small enough: the measured size is less than twice the bytes of the values plus a bounded size for all names
    }
    std::size_t const size = service_size(row);
    if (size <= chunked_entity_bytes) { return {}; }
    std::string_view largest;
    std::size_t bytes = 0;
    std::size_t most = 0;
    for (std::size_t index = 0; index < count; ++index) {
        bytes = index != 0 && names[index] == names[index - 1] ? bytes : 0;
        value_view const& value = values[index].value; // counts UTF-16 units of text, like `service_size`
        std::size_t const own = value.type() == edm_type::string
            ? 2 * text::utf16_length(value.bytes()).value_or(value.bytes().size())
            : value.bytes().size();
        bytes += values[index].present ? own : 0;
        if (bytes > most) {
            most = bytes;
            largest = names[index];
        }
    }
    return failure{error_code::entity_too_large,
        text::joined({"the entity ", entity, " has ", std::to_string(size), " bytes; the limit is ",
            std::to_string(chunked_entity_bytes), "; its largest member, \"", largest, "\", has ",
            std::to_string(most)})};
}

ENTITABLE_LAZY_BODY std::optional<value_view> part_reader::find(std::string_view name, std::string_view suffix) {
    buffer_.assign(name).append(suffix);
    auto value = row_.value(buffer_);
    found_ += value ? 1U : 0U;
    return value;
}

ENTITABLE_LAZY_BODY void part_reader::complain(std::string_view name, std::string_view suffix, bool is_absent) {
    if (offender_.empty()) {
        offender_.assign(name).append(suffix);
        offender_absent_ = is_absent;
    }
}

ENTITABLE_LAZY_BODY std::size_t part_reader::chunks(
    std::string_view name, edm_type type, bool may_be_absent, std::string_view (&to)[max_chunks]) {
    std::optional<value_view> values[max_chunks + 1];
    for (std::size_t index = 0; index <= max_chunks; ++index) { values[index] = find(name, chunk_suffixes[index]); }
    auto const& counted = values[max_chunks];
    std::size_t count = values[0] ? 1 : 0; // a writer without chunks uses this form
    if (counted) {
        bool const good = counted->type() == edm_type::int32 && counted->as_int32() >= 1 &&
            counted->as_int32() <= static_cast<std::int32_t>(max_chunks);
        if (!good) {
            complain(name, chunk_suffixes[max_chunks], false);
            return 0;
        }
        count = static_cast<std::size_t>(counted->as_int32());
    }
    if (count == 0 && !may_be_absent && mode_ != reading::lenient) { complain(name, {}, true); }
    for (std::size_t index = 0; index < count; ++index) {
        if (!values[index] || values[index]->type() != type) {
            complain(name, chunk_suffixes[index], !values[index]);
            return 0;
        }
        to[index] = values[index]->bytes();
    }
    return count;
}

ENTITABLE_LAZY_BODY bool part_reader::keys(std::string_view name, bool may_be_absent, std::string_view (&to)[2]) {
    std::optional<value_view> const values[2] = {find(name, reference_suffixes[0]), find(name, reference_suffixes[1])};
    if (!values[0] && !values[1]) {
        if (!may_be_absent && mode_ != reading::lenient) { complain(name, reference_suffixes[0], true); }
        return false;
    }
    for (std::size_t index = 0; index < 2; ++index) {
        if (!values[index] || values[index]->type() != edm_type::string) {
            complain(name, reference_suffixes[index], !values[index]);
            return false;
        }
        to[index] = values[index]->as_string();
    }
    return true;
}

ENTITABLE_LAZY_BODY std::string_view name_in_row(property_finder& row, std::string_view name, std::string_view former) {
    return !former.empty() && !row.value(name) && row.value(former) ? former : name;
}

ENTITABLE_LAZY_BODY std::string_view part_reader::present_name(std::string_view name, std::string_view former) {
    if (former.empty()) { return name; }
    bool const current = row_.value(name).has_value();
    bool const earlier = row_.value(former).has_value();
    found_ += current && earlier ? 1U : 0U; // the other one is counted by its name
    return earlier && !current ? former : name;
}

ENTITABLE_LAZY_BODY result<void> part_reader::finish(std::string_view entity) const {
    return offender_.empty() ? result<void>{} : property_mismatch(entity, offender_, offender_absent_);
}

ENTITABLE_LAZY_BODY void append_chunk(std::string& bytes, std::string_view chunk) { bytes.append(chunk); }

ENTITABLE_LAZY_BODY void append_chunk(binary& bytes, std::string_view chunk) {
    auto const* const first = reinterpret_cast<std::byte const*>(chunk.data());
    bytes.insert(bytes.end(), first, first + chunk.size());
}

} // namespace detail
ENTITABLE_END_NAMESPACE
