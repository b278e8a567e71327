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
    entitable::profile limits = below_.profile();
    std::size_t most = 1; // operations for a changed entity: its own, and a removal and an addition for each companion
    for (entity_type const& each : family_->types) {
        std::size_t operations = 1 + 2 * each.sums.size();
        for (index_shape const& shape : family_->shapes) { operations += shape.of == each.type ? 2U : 0U; }
        most = (std::max)(most, operations);
    }
    limits.operation_ids = false; // the id of a request is not the id of the transaction
    std::size_t changes = limits.max_operations / most;
    if (family_->log) {
        auto const operations = [&](std::size_t entities) {
            return entities * most + 2 * (std::min)(entities, family_->log->lanes);
        };
        while (changes > 1 && operations(changes) > limits.max_operations) { --changes; }
        limits.max_transaction_size -= limits.max_transaction_size / 16; // for the entries
    }
    limits.max_operations = (std::max)(std::size_t{1}, changes);
    return limits;
}

ENTITABLE_DECL result<written> maintaining::write(write_entity const& request) const {
    return writer_->write_one(mutation{request.change});
}

} // namespace detail
ENTITABLE_END_NAMESPACE
