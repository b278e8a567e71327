// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/dictionary.hpp>

#include <cstring>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::uint32_t hash_of(std::string_view bytes) noexcept {
    std::uint64_t hash = 0x9E3779B97F4A7C15U + bytes.size();
    while (bytes.size() >= sizeof hash) {
        std::uint64_t eight{};
        std::memcpy(&eight, bytes.data(), sizeof eight);
        hash = mixed(hash ^ eight);
        bytes.remove_prefix(sizeof eight);
    }
    std::uint64_t rest = 0;
    if (!bytes.empty()) { std::memcpy(&rest, bytes.data(), bytes.size()); }
    return static_cast<std::uint32_t>(mixed(hash ^ rest) >> 32U);
}

ENTITABLE_DECL std::size_t dictionary::place_of(std::string_view text, std::uint32_t hash) const noexcept {
    std::size_t const mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        slot const& there = slots_[at];
        if (there.number == none || (there.hash == hash && (*this)[there.number] == text)) { return at; }
    }
}

ENTITABLE_DECL std::uint32_t dictionary::find(std::string_view text) const noexcept {
    return slots_.empty() ? none : slots_[place_of(text, hash_of(text))].number;
}

ENTITABLE_DECL std::uint32_t dictionary::number_of(std::string_view text) {
    if (2 * (ends_.size() + 1) > slots_.size()) { grow(); }
    std::uint32_t const hash = hash_of(text);
    slot& there = slots_[place_of(text, hash)];
    if (there.number == none) {
        bytes_ += text;
        ends_.push_back(bytes_.size());
        there = {static_cast<std::uint32_t>(ends_.size() - 1), hash};
    }
    return there.number;
}

ENTITABLE_DECL void dictionary::grow() {
    std::vector<slot> wider(slots_.empty() ? 16 : 2 * slots_.size());
    std::size_t const mask = wider.size() - 1;
    for (slot const& each : slots_) {
        if (each.number != none) {
            std::size_t at = each.hash & mask;
            while (wider[at].number != none) { at = (at + 1) & mask; }
            wider[at] = each;
        }
    }
    slots_ = std::move(wider);
}

ENTITABLE_DECL pair_numbers::pair_numbers(std::size_t expected) {
    std::size_t slot_count = 16;
    while (slot_count < 2 * expected) { slot_count *= 2; }
    slots_.resize(slot_count);
}

ENTITABLE_DECL std::uint32_t pair_numbers::number_of(std::uint32_t first, std::uint32_t second) {
    std::uint64_t const pair = (std::uint64_t{first} << 32U) | second;
    std::size_t const mask = slots_.size() - 1;
    for (std::size_t at = mixed(pair) & mask;; at = (at + 1) & mask) {
        slot& there = slots_[at];
        if (there.number == dictionary::none) {
            there = {pair, size_++};
            return there.number;
        }
        if (there.pair == pair) { return there.number; }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
