// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/format.hpp>
#include <entitable/local/detail/row_filter.hpp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY bool row_filter::learn(std::size_t properties) {
    steps_.clear();
    places_.assign(condition_->nodes.size(), place{});
    for (std::size_t index = 0; index < places_.size(); ++index) {
        std::string_view const name = condition_->nodes[index].name;
        bool const in_keys = name == "PartitionKey" || name == "RowKey" || name == "Timestamp";
        places_[index].is = in_keys ? place::where::in_keys : place::where::nowhere;
    }
    std::string_view rest = descriptor_;
    std::size_t before = 0;
    for (; properties > 0; --properties) {
        if (rest.size() < 3) { return false; }
        auto const kind = static_cast<unsigned char>(rest.front());
        auto const type = static_cast<edm_type>(kind & ~row_format::nullable_bit);
        std::size_t const name_size = row_format::load<std::uint16_t>(rest.data() + 1);
        rest.remove_prefix(3);
        if (type < edm_type::string || type > edm_type::binary || rest.size() < name_size) { return false; }
        std::string_view const name = rest.substr(0, name_size);
        rest.remove_prefix(name_size);
        bool const nullable = (kind & row_format::nullable_bit) != 0;
        for (std::size_t index = 0; index < places_.size(); ++index) {
            place& at = places_[index];
            if (at.is == place::where::nowhere && condition_->nodes[index].name == name) { // the first of this name
                at = {place::where::in_payload, nullable, type, steps_.size(), before};
            }
        }
        if (nullable || row_format::has_length(type)) {
            steps_.push_back({before, row_format::fixed_size(type), row_format::has_length(type), nullable});
            before = 0;
        } else {
            before += row_format::fixed_size(type);
        }
    }
    return true;
}

ENTITABLE_LAZY_BODY bool row_filter::knows_layout(std::string_view payload) {
    if (payload.size() < row_format::header_size || static_cast<unsigned char>(payload[0]) != row_format::version) {
        return false;
    }
    std::uint64_t head = 0;
    std::memcpy(&head, payload.data(), sizeof head);
    std::size_t const size = row_format::load<std::uint32_t>(payload.data() + 4);
    char const* const descriptor = payload.data() + row_format::header_size;
    if (size > payload.size() - row_format::header_size) { return false; }
    if (head != head_ || descriptor_.size() != size ||
        (size != 0 && std::memcmp(descriptor_.data(), descriptor, size) != 0)) {
        descriptor_.assign(descriptor, size);
        head_ = head;
        state_ = layout::seen_once; // a layout of one row is not worth learning
        return false;
    }
    if (state_ == layout::seen_once) {
        bool const good = learn(row_format::load<std::uint16_t>(payload.data() + 2));
        state_ = good ? layout::learned : layout::refused;
    }
    return state_ == layout::learned;
}

ENTITABLE_LAZY_BODY bool row_filter::satisfies_at(
    row_view const& row, filter_node const& node, place const& at) const noexcept {
    if (at.is == place::where::in_keys) { return satisfies(row, node.operation, node.name, node.operand); }
    if (at.is == place::where::nowhere || at.type != node.operand.type()) { return false; }
    char const* value = row.payload.data() + row_format::header_size + descriptor_.size();
    auto left = static_cast<std::size_t>(row.payload.data() + row.payload.size() - value);
    auto const pass = [&](std::size_t bytes) {
        if (left < bytes) { return false; }
        value += bytes;
        left -= bytes;
        return true;
    };
    for (std::size_t index = 0; index < at.steps; ++index) {
        step const& each = steps_[index];
        if (each.nullable) {
            if (!pass(each.before + 1)) { return false; }
            if (value[-1] == 0) { continue; }
        }
        if (!pass(each.nullable ? each.size : each.before + each.size)) { return false; }
        if (each.has_length && !pass(row_format::load<std::uint32_t>(value - 4))) { return false; }
    }
    std::size_t size = row_format::fixed_size(at.type);
    if (!pass(at.before + (at.nullable ? 1U : 0U)) || (at.nullable && value[-1] == 0) || left < size) { return false; }
    value_view stored;
    if (row_format::has_length(at.type)) {
        std::size_t const length = row_format::load<std::uint32_t>(value);
        if (left - size < length) { return false; }
        stored.assign(at.type, std::string_view{value + size, length});
    } else if (at.type == edm_type::guid) {
        stored.assign(at.type, std::string_view{value, size});
    } else if (at.type == edm_type::boolean) {
        stored.assign(at.type, *value != 0 ? 1 : 0);
    } else if (at.type == edm_type::int32) {
        stored.assign(at.type, row_format::load<std::int32_t>(value));
    } else {
        stored.assign(at.type, row_format::load<std::int64_t>(value));
    }
    return holds(node.operation, compare_values(stored, node.operand));
}

ENTITABLE_LAZY_BODY bool row_filter::accepts(row_view const& row) {
    if (!knows_layout(row.payload)) { return satisfies(row, *condition_); }
    filter_node const* const first = condition_->nodes.data();
    if (places_.size() == 1) { return satisfies_at(row, *first, places_.front()); }
    return evaluate_postfix(condition_->nodes, [&](filter_node const& node) {
        return satisfies_at(row, node, places_[static_cast<std::size_t>(&node - first)]);
    });
}

} // namespace detail
ENTITABLE_END_NAMESPACE
