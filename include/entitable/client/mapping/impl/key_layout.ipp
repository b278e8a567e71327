// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/key_layout.hpp>
#include <entitable/core/text.hpp>

#include <utility>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY result<std::string> write_key(key_layout layout, key_source const* values) {
    result<std::string> made{std::in_place};
    if (auto appended = append_key(*made, layout, values); !appended) { made = std::move(appended).as_failure(); }
    return made;
}

ENTITABLE_LAZY_BODY result<void> append_key(std::string& key, key_layout layout, key_source const* values) {
    for (std::size_t index = 0; index < layout.size(); ++index) {
        key_component const& component = layout[index];
        if (component.literal()) {
            key += component.name;
            continue;
        }
        std::size_t const start = key.size();
        if (!values->append(key, values->value)) {
            return failure{error_code::out_of_range_input,
                text::joined({"the key component \"", component.name,
                    "\" has a value that cannot be written into a key: a negative number or one with too many digits "
                    "for its width, a value outside of the member's type, or an enumerator without a name"})};
        }
        if (component.is == key_component::kind::bucket) {
            std::string const text = key.substr(start);
            key.resize(start);
            append_bucket(key, text, component.buckets);
            key += key_separator;
            continue; // the component follows in the next step
        }
        ++values;
        if (index + 1 < layout.size()) {
            key += component.separator();
            if (!splits_at_end(std::string_view{key}.substr(start), component.separator())) {
                failure refused{error_code::key_not_splittable,
                    text::joined({"the key component \"", component.name, "\" contains the separator \"",
                        component.separator(), "\" or ends with part of it, so the key could not be split again"})};
                refused.error().detail = text::printable(text::shortened(std::string_view{key}.substr(start)));
                return refused;
            }
        }
    }
    return {};
}

ENTITABLE_LAZY_BODY failure key_reserved(std::string_view row_key) {
    failure refused{error_code::key_reserved,
        text::joined({"the row key begins with \"", system_row::prefix, "\", which is reserved for the library"})};
    refused.error().detail = text::printable(text::shortened(row_key));
    return refused;
}

ENTITABLE_LAZY_BODY result<std::string> checked_row_key(result<std::string> row_key) {
    if (row_key && system_row::is_one(*row_key)) { row_key = key_reserved(*row_key); }
    return row_key;
}

namespace detail {

/// Takes the text of component `index` off the front of a key; false if it is missing.
ENTITABLE_LAZY bool take_component(
    std::string_view& key, key_layout layout, std::size_t index, std::string_view& text) noexcept {
    key_component const& component = layout[index];
    if (component.literal()) {
        text = component.name;
        bool const there = key.starts_with(text);
        key.remove_prefix(there ? text.size() : 0);
        return there;
    }
    bool const last = index + 1 == layout.size();
    std::size_t const end = last ? key.size() : key.find(component.separator());
    if (end == std::string_view::npos) { return false; }
    text = key.substr(0, end);
    key.remove_prefix(last ? end : end + component.separator().size());
    return true;
}

} // namespace detail

ENTITABLE_LAZY_BODY bool split_key(std::string_view key, key_layout layout, key_texts& texts) noexcept {
    for (std::size_t index = 0; index < layout.size(); ++index) {
        if (!detail::take_component(key, layout, index, texts[index])) { return false; }
    }
    return key.empty();
}

ENTITABLE_LAZY_BODY bool read_key(std::string_view key, key_layout layout, key_target const* values) {
    std::string_view text;
    std::string_view bucket; // bucket of the component after it
    std::size_t buckets = 0;
    for (std::size_t index = 0; index < layout.size(); ++index) {
        if (!detail::take_component(key, layout, index, text)) { return false; }
        if (layout[index].is == key_component::kind::bucket) {
            bucket = text;
            buckets = layout[index].buckets;
            continue;
        }
        if (buckets != 0) {
            std::string wanted;
            append_bucket(wanted, text, std::exchange(buckets, 0));
            if (wanted != bucket) { return false; }
        }
        if (layout[index].is == key_component::kind::member) {
            if (!values->parse(text, values->value)) { return false; }
            ++values;
        }
    }
    return key.empty();
}

ENTITABLE_LAZY_BODY failure key_mismatch(std::string_view entity, key_part part, std::string_view key) {
    failure refused{error_code::row_mismatch,
        text::joined({part == key_part::partition ? "the PartitionKey" : "the RowKey",
            " of a row is not in the format that the entity ", entity, " writes"})};
    refused.error().detail = text::printable(text::shortened(key));
    return refused;
}

ENTITABLE_LAZY_BODY void append_bucket_number(std::string& out, std::size_t bucket, std::size_t buckets) {
    std::size_t width = 1;
    for (std::size_t last = buckets - 1; last >= 10; last /= 10) { ++width; }
    text::append_decimal(out, bucket, width);
}

ENTITABLE_LAZY_BODY void append_bucket(std::string& out, std::string_view text, std::size_t buckets) {
    std::uint32_t hash = 2166136261U; // FNV-1a, 32 bits
    for (char const character : text) { hash = (hash ^ static_cast<unsigned char>(character)) * 16777619U; }
    append_bucket_number(out, hash % buckets, buckets);
}

ENTITABLE_END_NAMESPACE
