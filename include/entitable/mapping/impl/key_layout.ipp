// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/mapping/key_layout.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY result<std::string> write_key(key_layout layout, key_source const* values) {
    std::string key;
    std::string text;
    for (std::size_t index = 0; index < layout.size(); ++index) {
        key_component const& component = layout[index];
        if (component.literal()) {
            key += component.name;
            continue;
        }
        text.clear();
        if (!values->append(text, values->value)) {
            return failure{error_code::out_of_range_input,
                text::joined({"the key component \"", component.name, "\" has a value with no text in a key"})};
        }
        if (component.is == key_component::kind::bucket) {
            append_bucket(key, text, component.buckets);
            key += key_separator;
            continue; // the component itself comes next
        }
        ++values;
        bool const last = index + 1 == layout.size();
        if (!last) {
            // The first separator must be the one at the text's end.
            std::size_t const size = text.size();
            text += component.separator();
            if (text.find(component.separator()) != size) {
                failure refused{error_code::key_not_splittable,
                    text::joined({"the key component \"", component.name, "\" holds the separator \"",
                        component.separator(), "\" or ends with a part of it; the key could not be read back"})};
                refused.error().detail = text::printable(text::shortened(text));
                return refused;
            }
        }
        key += text;
    }
    return key;
}

ENTITABLE_LAZY_BODY bool split_key(std::string_view key, key_layout layout, key_texts& texts) noexcept {
    for (std::size_t index = 0; index < layout.size(); ++index) {
        key_component const& component = layout[index];
        if (component.literal()) {
            if (!key.starts_with(component.name)) {
                return false;
            }
            texts[index] = component.name;
            key.remove_prefix(component.name.size());
        } else if (index + 1 == layout.size()) {
            texts[index] = key;
            key = {};
        } else {
            std::size_t const end = key.find(component.separator());
            if (end == std::string_view::npos) {
                return false;
            }
            texts[index] = key.substr(0, end);
            key.remove_prefix(end + component.separator().size());
        }
    }
    return key.empty();
}

ENTITABLE_LAZY_BODY bool read_key(std::string_view key, key_layout layout, key_target const* values) {
    key_texts texts;
    if (!split_key(key, layout, texts)) {
        return false;
    }
    for (std::size_t index = 0; index < layout.size(); ++index) {
        if (layout[index].is == key_component::kind::bucket) {
            std::string bucket;
            append_bucket(bucket, texts[index + 1], layout[index].buckets);
            if (texts[index] != bucket) {
                return false;
            }
        } else if (layout[index].is == key_component::kind::member) {
            if (!values->parse(texts[index], values->value)) {
                return false;
            }
            ++values;
        }
    }
    return true;
}

ENTITABLE_LAZY_BODY failure key_mismatch(std::string_view entity, key_part part, std::string_view key) {
    failure refused{error_code::row_mismatch,
        text::joined({part == key_part::partition ? "the PartitionKey" : "the RowKey",
            " of a row is not one that the entity ", entity, " writes"})};
    refused.error().detail = text::printable(text::shortened(key));
    return refused;
}

ENTITABLE_LAZY_BODY void append_bucket_number(std::string& out, std::size_t bucket, std::size_t buckets) {
    std::size_t width = 1;
    for (std::size_t last = buckets - 1; last >= 10; last /= 10) {
        ++width;
    }
    text::append_decimal(out, bucket, width);
}

ENTITABLE_LAZY_BODY void append_bucket(std::string& out, std::string_view text, std::size_t buckets) {
    std::uint32_t hash = 2166136261U; // FNV-1a, 32 bits
    for (char const character : text) {
        hash = (hash ^ static_cast<unsigned char>(character)) * 16777619U;
    }
    append_bucket_number(out, hash % buckets, buckets);
}

ENTITABLE_END_NAMESPACE
