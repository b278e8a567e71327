// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/mapping/key_layout.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY void key_writer::component_done() {
    bool const last = index_ + 1 == layout_.size();
    if (!layout_[index_].literal && !last) {
        std::size_t const end = text_.size();
        text_ += key_separator;
        // The first separator from the component's start must be the one just written.
        if (text_.find(key_separator, start_) != end && offender_ == max_key_components) {
            offender_ = index_;
        }
    }
    start_ = text_.size();
    ++index_;
}

ENTITABLE_LAZY_BODY result<std::string> key_writer::finish() && {
    if (offender_ != max_key_components) {
        failure refused{error_code::key_not_splittable,
            "the key component \"" + std::string{layout_[offender_].name} + "\" holds the separator \"" +
                std::string{key_separator} + "\" or ends with a part of it; the key could not be read back"};
        refused.error().detail = text::printable(text::shortened(text_));
        return refused;
    }
    return std::move(text_);
}

ENTITABLE_LAZY_BODY bool split_key(std::string_view key, key_layout layout, key_texts& texts) noexcept {
    for (std::size_t index = 0; index < layout.size(); ++index) {
        if (layout[index].literal) {
            if (!key.starts_with(layout[index].name)) {
                return false;
            }
            texts[index] = layout[index].name;
            key.remove_prefix(layout[index].name.size());
        } else if (index + 1 == layout.size()) {
            texts[index] = key;
            key = {};
        } else {
            std::size_t const end = key.find(key_separator);
            if (end == std::string_view::npos) {
                return false;
            }
            texts[index] = key.substr(0, end);
            key.remove_prefix(end + key_separator.size());
        }
    }
    return key.empty();
}

ENTITABLE_LAZY_BODY failure key_mismatch(std::string_view entity, key_part part, std::string_view key) {
    failure refused{error_code::row_mismatch,
        std::string{part == key_part::partition ? "the PartitionKey" : "the RowKey"} +
            " of a row is not one that the entity " + std::string{entity} + " writes"};
    refused.error().detail = text::printable(text::shortened(key));
    return refused;
}

ENTITABLE_END_NAMESPACE
