// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/maintaining.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL maintaining::maintaining(shared<index_family> family)
    : below_(family->main.store()), family_(std::move(family)), writer_(shared<maintained_rows>::make(family_)) {}

ENTITABLE_DECL bool maintaining::is_own(std::string_view table, std::string_view row_key) const {
    return table == family_->main.name() && !system_row::is_one(row_key);
}

ENTITABLE_DECL bool maintaining::has_own(transact const& request) const {
    return std::ranges::any_of(
        request.changes, [&](mutation const& each) { return is_own(request.table, each.entity.row_key()); });
}

ENTITABLE_DECL entitable::profile maintaining::profile() const {
    entitable::profile limits = writer_->limits();
    limits.max_transaction_size = below_.profile().max_transaction_size; // callers measure what they send
    if (family_->log) { limits.max_transaction_size -= log_bytes(limits, limits.max_operations, family_->log->lanes); }
    return limits;
}

ENTITABLE_DECL result<written> maintaining::write(write_entity const& request) const {
    return writer_->write_one(mutation{request.change});
}

} // namespace detail
ENTITABLE_END_NAMESPACE
