// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY failure refusal(error_code code, std::string message, std::string_view offender) {
    failure refused{code, std::move(message)};
    refused.error().detail = text::printable(text::shortened(offender));
    return refused;
}

ENTITABLE_LAZY_BODY std::string limit_text(
    std::string_view what, std::size_t found, std::size_t limit, std::string_view unit) {
    return text::joined({what, " has ", std::to_string(found), " ", unit, "; the limit is ", std::to_string(limit)});
}

ENTITABLE_LAZY_BODY std::string keys_text(std::string_view partition_key, std::string_view row_key) {
    return text::joined({"PartitionKey \"", text::printable(text::shortened(partition_key)), "\", RowKey \"",
        text::printable(text::shortened(row_key)), "\""});
}

ENTITABLE_LAZY_BODY void name_keys(error& of, std::string_view partition_key, std::string_view row_key) {
    std::string keys = keys_text(partition_key, row_key);
    if (of.detail.find(keys) == std::string::npos) {
        of.detail = of.detail.empty() ? std::move(keys) : text::joined({keys, ": ", of.detail});
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
