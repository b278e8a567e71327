// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/characters.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/impl/known_layouts.ipp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/row/detail/name_table.hpp>
#include <entitable/core/text.hpp>

#include <optional>
#include <span>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The classes of each byte. Every written entity is checked byte by byte, so the check is a table lookup.
struct byte_classes {
    bool in_key[256]{};  ///< a single-byte character allowed in keys
    bool in_name[256]{}; ///< a single-byte character allowed in property names: letters, digits, _
};

constexpr byte_classes make_byte_classes() noexcept {
    byte_classes made;
    for (unsigned byte = 0; byte < 0x80; ++byte) {
        auto const character = static_cast<char>(byte);
        made.in_name[byte] = is_letter(character) || is_decimal(character) || character == '_';
        made.in_key[byte] = byte >= 0x20 && byte != 0x7F && character != '/' && character != '\\' && character != '#' &&
            character != '?';
    }
    return made;
}

inline constexpr byte_classes byte_class = make_byte_classes();

/// Returns the number of consecutive bytes of a class from `at`.
ENTITABLE_LAZY std::size_t run_of(bool const (&members)[256], std::string_view text, std::size_t at) noexcept {
    std::size_t const start = at;
    while (at < text.size() && members[static_cast<unsigned char>(text[at])]) { ++at; }
    return at - start;
}

/// Whether all of eight bytes are allowed in a key, by `byte_classes::in_key`. Each sum sets the highest bit of a byte if one condition
/// holds; a carry into the next byte starts only at a byte that is not ASCII, and then the result is false anyway.
inline bool are_in_key(std::uint64_t eight) noexcept {
    constexpr std::uint64_t each = 0x0101010101010101U;
    std::uint64_t const no_control = (eight + 0x60 * each) & ~(eight + each);
    std::uint64_t const no_slash_or_question_mark = ((eight | 0x10 * each) ^ '?' * each) + 0x7F * each;
    std::uint64_t const no_hash_or_backslash = (((eight ^ '#' * each) + each) & 0x7E * each) + 0x7F * each;
    std::uint64_t const good = no_control & no_slash_or_question_mark & no_hash_or_backslash & ~eight;
    return (good & 0x80 * each) == 0x80 * each;
}

/// Whether a key is valid, found in the usual case. May be false for a valid key, which then needs the full check.
inline bool is_usual_key(std::string_view key, profile const& limits) noexcept {
    bool const limited_in_bytes = (limits.max_partition_key_size | limits.max_row_key_size) != 0;
    return !key.empty() && key.size() <= limits.max_key_units && !limited_in_bytes &&
        text::all_eights(key, [](std::uint64_t eight) { return are_in_key(eight); });
}

/// Whether all of eight bytes are letters or digits. A carry into the next byte starts only at a byte that is not ASCII, and then the result
/// is false anyway.
inline bool are_letters_or_digits(std::uint64_t eight) noexcept {
    constexpr std::uint64_t each = 0x0101010101010101U;
    std::uint64_t const lower = eight | 0x20 * each; // of letters; other characters below 'a' or above 'z' stay outside
    std::uint64_t const letter = (lower + (0x80 - 'a') * each) & ~(lower + (0x7F - 'z') * each);
    std::uint64_t const digit = (eight + (0x80 - '0') * each) & ~(eight + (0x7F - '9') * each);
    return ((letter | digit) & ~eight & 0x80 * each) == 0x80 * each;
}

/// Checks ASCII only; the service decides which other letters a C# identifier may have.
ENTITABLE_LAZY bool is_property_name(std::string_view name) noexcept {
    if (name.empty() || is_decimal(name.front())) { return false; }
    std::size_t at = run_of(byte_class.in_name, name, 0);
    for (std::size_t rest = at; rest < name.size(); ++rest) {
        auto const byte = static_cast<unsigned char>(name[rest]);
        if (byte < 0x80 && !byte_class.in_name[byte]) { return false; }
    }
    return at == name.size() || text::valid_utf8_prefix(name) == name.size();
}

ENTITABLE_LAZY bool is_system_property(std::string_view name) noexcept {
    return name == "PartitionKey" || name == "RowKey" || name == "Timestamp";
}

ENTITABLE_LAZY result<void> validate_property_name(std::string_view name, profile const& limits) {
    if (name.size() > limits.max_name_units) { // units never exceed bytes
        std::size_t const units = text::utf16_length(name).value_or(0);
        if (units > limits.max_name_units) {
            return refusal(error_code::property_name_too_long,
                limit_text("a property name", units, limits.max_name_units, "UTF-16 units"), name);
        }
    }
    bool const reserved = is_system_property(name) ||
        (limits.kind == service::cosmos &&
            (name == "ID" || name == "id" || name == "rid" || name == "ResourceId" || name == "Etag"));
    if (!is_property_name(name) || reserved) {
        return refusal(error_code::property_name_invalid,
            text::joined({"the property name \"", text::printable(text::shortened(name)),
                "\" is not an identifier, or is reserved"}));
    }
    return {};
}

ENTITABLE_LAZY result<void> validate_property(property_view const& property, profile const& limits) {
    auto const named = [&] { return text::joined({"property \"", property.name, "\""}); };
    std::string_view const bytes = property.value.bytes();
    switch (property.type) {
        case edm_type::string: {
            // Counts units only if bytes could exceed the limit or the text could be invalid.
            std::size_t const valid = text::valid_utf8_prefix(bytes);
            if (valid != bytes.size()) {
                return refusal(error_code::invalid_input,
                    text::joined({named(), " is not valid UTF-8 at byte ", std::to_string(valid)}),
                    bytes.substr(valid));
            }
            if (bytes.size() > limits.max_string_units) {
                std::size_t const units = *text::utf16_length(bytes);
                if (units > limits.max_string_units) {
                    return refusal(error_code::property_value_too_large,
                        text::joined({limit_text(named(), units, limits.max_string_units, "UTF-16 units"),
                            "; a member chunked(", property.name, ") can be larger"}));
                }
            }
            return {};
        }
        case edm_type::binary:
            if (bytes.size() > limits.max_binary_size) {
                return refusal(error_code::property_value_too_large,
                    text::joined({limit_text(named(), bytes.size(), limits.max_binary_size, "bytes"),
                        "; a member chunked(", property.name, ") can be larger"}));
            }
            return {};
        case edm_type::date_time:
            if (!property.value.as_date_time().is_valid()) {
                return refusal(error_code::out_of_range_input,
                    text::joined({named(), " is a time outside the years 1601 to 9999"}));
            }
            return {};
        default: return {};
    }
}

/// Finds names that occur twice in one row. Most rows need only a filter that accepts each name it has seen, and only a few other names (B. Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970); after the first
/// possible duplicate a table replaces it.
class names_seen {
public:
    /// Starts for a row that is being walked and has at most `names` properties.
    names_seen(std::string_view payload, std::size_t names) noexcept : payload_(payload), names_(names) {}

    /// Adds the next property of the walk.
    ENTITABLE_LAZY void add(property_view const& property) {
        ++count_;
        if (!has_table_) {
            std::uint32_t const hash = name_table::hash_of(property.name, name_table::first_seed);
            std::uint64_t& word = filter_[hash / 64 % 16];
            std::uint64_t const bit = std::uint64_t{1} << (hash % 64);
            if ((word & bit) == 0) {
                word |= bit;
                return;
            }
            make_table();
        }
        note(property);
    }

    /// Whether the name of that property appeared before, including absent properties.
    [[nodiscard]] bool name_twice() const noexcept { return name_twice_; }
    /// Whether that property and an earlier one of the same name both have values.
    [[nodiscard]] bool value_twice() const noexcept { return value_twice_; }

private:
    /// Makes the table, with all properties before the current one.
    ENTITABLE_LAZY void make_table() {
        has_table_ = true;
        table_.reserve((std::min)(names_, payload_.size() / 3)); // each descriptor has three bytes or more
        property_cursor cursor{payload_};
        property_view each;
        for (std::size_t left = count_ - 1; left > 0 && cursor.next(each); --left) { note(each); }
    }
    ENTITABLE_LAZY void note(property_view const& property) noexcept {
        name_table::entry* const before = table_.add(property.name, property.present ? 1 : 0);
        name_twice_ = before != nullptr;
        value_twice_ = name_twice_ && property.present && before->number == 1;
        if (name_twice_ && property.present) { before->number = 1; }
    }

    std::string_view payload_;
    std::size_t names_;
    std::size_t count_{};
    std::uint64_t filter_[16]{};
    bool has_table_{};
    bool name_twice_{};
    bool value_twice_{};
    name_table table_; // number 1 if the name has a value
};

/// Validates any key, unit by unit.
ENTITABLE_LAZY result<void> validate_units_of_key(
    std::string_view key, std::string_view which, std::size_t max_units, std::size_t max_size) {
    std::size_t units = 0;
    for (std::size_t at = 0;;) {
        std::size_t const plain = run_of(byte_class.in_key, key, at);
        units += plain;
        at += plain;
        if (at == key.size()) { break; }
        std::size_t size = 1;
        bool forbidden = true;
        if (static_cast<unsigned char>(key[at]) >= 0x80) {
            auto const point = text::first_code_point(key.substr(at));
            if (point.size == 0) {
                return refusal(error_code::invalid_input,
                    text::joined({"the ", which, " is not valid UTF-8 at byte ", std::to_string(at)}), key);
            }
            size = point.size;
            forbidden = point.value <= 0x9F;
            units += point.size == 4 ? 1U : 0U;
        }
        if (forbidden) {
            return refusal(error_code::out_of_range_input,
                text::joined({"the ", which, " holds \"", text::printable(key.substr(at, size)), "\" at byte ",
                    std::to_string(at), "; / \\ # ? and control characters are not allowed in keys"}),
                key);
        }
        ++units;
        at += size;
    }
    if (units > max_units) {
        return refusal(error_code::key_value_too_large,
            limit_text(text::joined({"the ", which}), units, max_units, "UTF-16 units"), key);
    }
    if (max_size != 0 && key.size() > max_size) {
        return refusal(error_code::key_value_too_large,
            limit_text(text::joined({"the ", which}), key.size(), max_size, "bytes"), key);
    }
    return {};
}

ENTITABLE_LAZY result<void> validate_keys(
    std::string_view partition_key, std::string_view row_key, profile const& limits) {
    if (auto checked = validate_key(partition_key, "PartitionKey", limits); !checked) { return checked; }
    return validate_key(row_key, "RowKey", limits);
}

/// Returns the descriptor of a payload (`row_format`); empty if the payload is too short.
ENTITABLE_LAZY std::string_view descriptor_in(std::string_view payload) noexcept {
    if (payload.size() < row_format::header_size) { return {}; }
    std::size_t const size = row_format::load<std::uint32_t>(payload.data() + 4);
    payload.remove_prefix(row_format::header_size);
    return size <= payload.size() ? payload.substr(0, size) : std::string_view{};
}

/// Whether a row with the descriptor of a valid row is valid, so that only its values are checked. May be false for a valid row, which then
/// needs the full check.
ENTITABLE_LAZY bool has_good_values(row_view entity, std::string_view descriptor, profile const& limits) noexcept {
    char const* described = descriptor.data();
    char const* const described_end = described + descriptor.size();
    char const* at = described_end;
    char const* const end = entity.payload.data() + entity.payload.size();
    std::size_t all = 0;
    std::size_t count = 0;
    std::size_t bytes = 4 + 2 * (entity.partition_key.size() + entity.row_key.size());
    for (; described != described_end; ++all) {
        auto const kind = static_cast<unsigned char>(*described);
        auto const type = static_cast<edm_type>(kind & ~row_format::nullable_bit);
        std::size_t const name_size = row_format::load<std::uint16_t>(described + 1);
        described += 3 + name_size;
        if ((kind & row_format::nullable_bit) != 0) {
            if (at == end) { return false; }
            if (*at++ == 0) { continue; }
        }
        std::size_t size = row_format::fixed_size(type);
        auto const left = static_cast<std::size_t>(end - at);
        if (left < size) { return false; }
        if (row_format::has_length(type)) {
            std::string_view const content{at + size, row_format::load<std::uint32_t>(at)};
            bool const good = left - size >= content.size() &&
                (type == edm_type::binary ? content.size() <= limits.max_binary_size
                                          : content.size() <= limits.max_string_units &&
                            text::valid_utf8_prefix(content) == content.size());
            if (!good) { return false; }
            size += content.size();
        } else if (type == edm_type::date_time && !date_time{row_format::load<std::int64_t>(at)}.is_valid()) {
            return false;
        }
        at += size;
        bytes += 32 + 2 * (name_size + size); // an upper bound of the size as the service measures it
        ++count;
    }
    return at == end && static_cast<unsigned char>(entity.payload[0]) == row_format::version &&
        row_format::load<std::uint16_t>(entity.payload.data() + 2) == all && count <= limits.max_properties &&
        bytes <= limits.max_entity_size;
}

ENTITABLE_LAZY_BODY result<void> validate_entity(row_view entity, profile const& limits, known_good& known) {
    bool const same_partition = !entity.partition_key.empty() && entity.partition_key == known.partition_key;
    if (!same_partition && !is_usual_key(entity.partition_key, limits)) { // nothing is known at first
        if (auto checked = validate_key(entity.partition_key, "PartitionKey", limits); !checked) { return checked; }
    }
    if (!is_usual_key(entity.row_key, limits)) {
        if (auto checked = validate_key(entity.row_key, "RowKey", limits); !checked) { return checked; }
    }
    std::string_view const descriptor = descriptor_in(entity.payload);
    known_layouts::layout const* layout = known.layout;
    if (known.layouts != nullptr && (layout == nullptr || layout->descriptor != descriptor)) {
        layout = known.layouts->find(descriptor);
    }
    bool const is_good = layout != nullptr
        ? has_good_values(entity, *layout, limits)
        : !descriptor.empty() && descriptor == known.descriptor && has_good_values(entity, descriptor, limits);
    if (is_good) {
        known.partition_key = entity.partition_key;
        known.descriptor = descriptor;
        known.layout = layout;
        return {};
    }
    bool all_good = true; // names, including those of absent properties
    property_cursor cursor{entity.payload};
    property_view property;
    names_seen names{entity.payload, cursor.left()};
    std::size_t count = 0;
    std::size_t bytes = 0; // a cheap upper bound of the size that the service measures
    while (cursor.next(property)) {
        names.add(property);
        auto named = validate_property_name(property.name, limits);
        all_good = all_good && !names.name_twice() && named;
        if (names.value_twice()) {
            return refusal(error_code::duplicate_properties_specified,
                text::joined({"the entity has the property \"", property.name, "\" twice"}));
        }
        if (property.present && !named) { return named; }
        if (!property.present) { continue; }
        ++count;
        bytes += 32 + 2 * (property.name.size() + property.value.bytes().size());
        if (auto checked = validate_property(property, limits); !checked) { return checked; }
    }
    if (cursor.damaged()) { return refusal(error_code::row_malformed, "the entity is not a row of version 1"); }
    if (count > limits.max_properties) {
        return refusal(
            error_code::too_many_properties, limit_text("the entity", count, limits.max_properties, "properties"));
    }
    bytes += 4 + 2 * (entity.partition_key.size() + entity.row_key.size());
    if (bytes > limits.max_entity_size) {
        std::size_t const size = service_size(entity);
        if (size > limits.max_entity_size) {
            return refusal(
                error_code::entity_too_large, limit_text("the entity", size, limits.max_entity_size, "bytes"));
        }
    }
    known.partition_key = entity.partition_key;
    if (all_good) { known.descriptor = descriptor; }
    if (all_good && known.layouts != nullptr) { known.layouts->add(descriptor); }
    return {};
}

ENTITABLE_LAZY result<void> validate_mutation(mutation const& change, profile const& limits, known_good& known) {
    if (change.needs_existing() && !change.condition.any() && !change.condition.version().is_valid()) {
        return refusal(error_code::invalid_input,
            "the ETag of the condition must be \"...\" or W/\"...\" with at most 1024 printable ASCII characters; use "
            "the ETag that was read, or any_etag",
            change.condition.version().to_string());
    }
    if (change.kind == mutation_kind::remove) {
        return validate_keys(change.entity.partition_key(), change.entity.row_key(), limits);
    }
    return validate_entity(change.entity, limits, known);
}

} // namespace detail

ENTITABLE_LAZY_BODY result<void> validate_table_name(std::string_view name) {
    if (name.size() < 3 || name.size() > 63) {
        return detail::refusal(error_code::out_of_range_input,
            text::joined({"the table name has ", std::to_string(name.size()), " characters; 3 to 63 are allowed"}),
            name);
    }
    bool const good = detail::is_letter(name.front()) &&
        text::all_eights(name, [](std::uint64_t eight) { return detail::are_letters_or_digits(eight); });
    if (!good || (name.size() == 6 && (name.front() | 0x20) == 't' && text::ascii_lower(name) == "tables")) {
        return detail::refusal(error_code::invalid_resource_name,
            text::joined({"the table name \"", text::printable(name),
                "\" must consist of letters and digits, start with a letter, and not be the reserved word "
                "\"tables\""}));
    }
    return {};
}

ENTITABLE_LAZY_BODY result<void> validate_key(std::string_view key, std::string_view which, profile const& limits) {
    if (key.empty() && !limits.empty_keys) {
        return detail::refusal(error_code::properties_need_value,
            text::joined({"the ", which, " is empty; this service requires a non-empty key"}));
    }
    if (detail::is_usual_key(key, limits)) { return {}; }
    std::size_t const max_size = which == "RowKey" ? limits.max_row_key_size : limits.max_partition_key_size;
    return detail::validate_units_of_key(key, which, limits.max_key_units, max_size);
}

ENTITABLE_LAZY_BODY result<void> validate_entity(row_view entity, profile const& limits) {
    detail::known_good known;
    return detail::validate_entity(entity, limits, known);
}

ENTITABLE_LAZY_BODY result<void> validate_filter(
    filter const& condition, key_range const& range, profile const& limits) {
    for (key_bound const* bound :
        {&range.partition.lower, &range.partition.upper, &range.row.lower, &range.row.upper}) {
        // A bound, such as the successor of a prefix, may contain forbidden characters.
        if (std::size_t const valid = text::valid_utf8_prefix(bound->key); valid != bound->key.size()) {
            return detail::refusal(error_code::invalid_input,
                text::joined({"a bound of the key range is not valid UTF-8 at byte ", std::to_string(valid)}),
                bound->key);
        }
    }
    std::size_t depth = 0;
    for (auto const& node : condition.nodes) {
        if (node.operation > filter_operator::negation) {
            return detail::refusal(error_code::invalid_input, "malformed filter: unknown operator");
        }
        bool const connective = node.operation == filter_operator::all_of || node.operation == filter_operator::any_of;
        std::size_t const needed = connective ? 2 : node.operation == filter_operator::negation ? 1 : 0;
        if (depth < needed) {
            return detail::refusal(error_code::invalid_input, "malformed filter: an operator lacks an operand");
        }
        depth -= connective ? 1U : 0U;
        if (is_comparison(node.operation)) {
            ++depth;
            if (!detail::is_system_property(node.name)) {
                if (auto checked = detail::validate_property_name(node.name, limits); !checked) { return checked; }
            }
            if (auto checked =
                    detail::validate_property({node.name, node.operand.type(), true, node.operand.view()}, limits);
                !checked) {
                return checked;
            }
        }
    }
    if (depth > 1) { return detail::refusal(error_code::invalid_input, "malformed filter: an operator is missing"); }
    std::size_t const comparisons = condition.comparisons() + range.comparisons();
    if (limits.max_comparisons != 0 && comparisons > limits.max_comparisons) {
        return detail::refusal(error_code::invalid_input,
            detail::limit_text("the query", comparisons, limits.max_comparisons, "comparisons"));
    }
    return {};
}

ENTITABLE_LAZY_BODY result<void> validate(create_table const& request, profile const&) {
    return validate_table_name(request.table);
}

ENTITABLE_LAZY_BODY result<void> validate(delete_table const& request, profile const&) {
    return validate_table_name(request.table);
}

ENTITABLE_LAZY_BODY result<void> validate(list_tables const& request, profile const& limits) {
    if (request.page_size == 0 || request.page_size > limits.max_page_size) {
        return detail::refusal(error_code::invalid_input,
            text::joined({"page_size is ", std::to_string(request.page_size), "; 1 to ",
                std::to_string(limits.max_page_size), " are allowed"}));
    }
    return {};
}

ENTITABLE_LAZY_BODY result<void> validate(read_entity const& request, profile const& limits) {
    if (auto checked = validate_table_name(request.table); !checked) { return checked; }
    return detail::validate_keys(request.partition_key, request.row_key, limits);
}

ENTITABLE_LAZY_BODY result<void> validate(get_entity const& request, profile const& limits) {
    return validate(read_entity{request.table, request.partition_key, request.row_key}, limits);
}

ENTITABLE_LAZY_BODY result<void> validate(query_entities const& request, profile const& limits) {
    if (auto checked = validate_table_name(request.table); !checked) { return checked; }
    if (request.page_size == 0 || request.page_size > limits.max_page_size) {
        return detail::refusal(error_code::invalid_input,
            text::joined({"page_size is ", std::to_string(request.page_size), "; 1 to ",
                std::to_string(limits.max_page_size), " are allowed"}));
    }
    return validate_filter(request.filter, request.range, limits);
}

ENTITABLE_LAZY_BODY result<void> validate(read_entities const& request, profile const& limits) {
    return validate(*request.asked, limits);
}

ENTITABLE_LAZY_BODY result<void> validate(write_entity const& request, profile const& limits) {
    detail::known_good known;
    return detail::validate_write(request, limits, known);
}

ENTITABLE_LAZY_BODY result<void> validate(transact const& request, profile const& limits) {
    detail::known_good known;
    return detail::validate_write(request, limits, known);
}

namespace detail {

ENTITABLE_LAZY_BODY result<void> validate_write(write_entity const& request, profile const& limits, known_good& known) {
    if (auto checked = validate_table_name(request.table); !checked) { return checked; }
    return validate_mutation(request.change, limits, known);
}

/// Finds row keys that occur twice. Keys in ascending order need one comparison each, and few keys a comparison with each other; only many
/// keys in another order need a table.
class row_keys_seen {
public:
    explicit row_keys_seen(std::span<mutation const> changes) noexcept : changes_(changes) {}

    /// Adds the row key of the next change; returns the number of the earlier change that has it.
    ENTITABLE_LAZY [[nodiscard]] std::optional<std::size_t> add(std::size_t index) {
        std::string_view const key = key_of(index);
        if (index == 0 || key_of(greatest_).compare(key) < 0) {
            greatest_ = index;
            if (table_) { (void)table_->add(key, index); }
            return std::nullopt;
        }
        constexpr std::size_t few = 8;
        if (index < few) {
            for (std::size_t before = 0; before < index; ++before) {
                if (key_of(before) == key) { return before; }
            }
            return std::nullopt;
        }
        if (!table_) {
            table_.emplace().reserve(changes_.size());
            for (std::size_t before = 0; before < index; ++before) { (void)table_->add(key_of(before), before); }
        }
        auto const* const before = table_->add(key, index);
        return before != nullptr ? std::optional{before->number} : std::nullopt;
    }

private:
    [[nodiscard]] std::string_view key_of(std::size_t index) const noexcept { return changes_[index].entity.row_key(); }

    std::span<mutation const> changes_;
    std::size_t greatest_{};
    std::optional<name_table> table_;
};

ENTITABLE_LAZY_BODY result<void> validate_write(transact const& request, profile const& limits, known_good& known) {
    if (auto checked = validate_table_name(request.table); !checked) { return checked; }
    if (request.changes.empty()) { return refusal(error_code::invalid_input, "the batch is empty"); }
    if (request.changes.size() > limits.max_operations) {
        return refusal(error_code::invalid_input,
            limit_text("the batch", request.changes.size(), limits.max_operations, "operations"));
    }
    auto const at_operation = [](failure refused, std::size_t index) {
        refused.error().operation_index = index;
        return refused;
    };
    // Four times the bytes is at least the service's measure: the exact measure is needed only for large transactions.
    std::size_t bytes = 0;
    for (mutation const& change : request.changes) {
        bytes += change.entity.partition_key().size() + change.entity.row_key().size() + change.entity.payload().size();
    }
    bool const large = bytes > limits.max_transaction_size / 4;
    row_keys_seen row_keys{request.changes};
    std::size_t size = 0;
    for (std::size_t index = 0; index < request.changes.size(); ++index) {
        mutation const& change = request.changes[index];
        if (auto checked = validate_mutation(change, limits, known); !checked) {
            return at_operation(std::move(checked).as_failure(), index);
        }
        if (change.entity.partition_key() != request.changes.front().entity.partition_key()) {
            return at_operation(
                refusal(error_code::commands_in_batch_act_on_different_partitions,
                    "the batch has entities from more than one partition", change.entity.partition_key()),
                index);
        }
        std::string_view const key = change.entity.row_key();
        if (auto const before = row_keys.add(index)) {
            return at_operation(refusal(error_code::invalid_duplicate_row,
                                    text::joined({"an entity appears twice in the batch, first as operation ",
                                        std::to_string(*before)}),
                                    key),
                index);
        }
        size += large ? service_size(change.entity) : 0U;
        if (size > limits.max_transaction_size) {
            return at_operation(
                refusal(error_code::request_body_too_large,
                    text::joined({"the batch is larger than ", std::to_string(limits.max_transaction_size), " bytes"})),
                index);
        }
    }
    return {};
}

#if defined(ENTITABLE_SEPARATE_COMPILATION)
template written instantiated_entity<written>::take(result<written>& from);
template void instantiated_entity<written>::drop(result<written>& from) noexcept;
#endif

} // namespace detail
ENTITABLE_END_NAMESPACE
