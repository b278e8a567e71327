// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/detail/name_table.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY std::uint32_t name_table::hash_of(std::string_view name, std::uint64_t seed) noexcept {
    std::uint64_t hash = seed ^ name.size();
    auto const mix = [&hash](std::uint64_t eight) {
        hash = (hash ^ eight) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32U;
    };
    std::uint64_t eight = 0;
    for (; name.size() >= sizeof eight; name.remove_prefix(sizeof eight)) {
        std::memcpy(&eight, name.data(), sizeof eight);
        mix(eight);
    }
    eight = 0;
    for (char const character : name) { eight = eight << 8U | static_cast<unsigned char>(character); }
    mix(eight);
    return static_cast<std::uint32_t>(hash);
}

ENTITABLE_LAZY_BODY void name_table::reserve(std::size_t names) {
    std::size_t capacity = 16;
    while (capacity < 2 * names) { capacity *= 2; }
    if (names > few) {
        ::operator delete(more_);
        more_ = nullptr;
        more_ = ::operator new(names * sizeof(entry) + capacity * sizeof(std::uint32_t));
        entries_ = static_cast<entry*>(more_);
        slots_ = reinterpret_cast<std::uint32_t*>(entries_ + names);
    } else {
        entries_ = few_entries_;
        slots_ = few_slots_;
    }
    std::memset(slots_, 0, capacity * sizeof *slots_);
    mask_ = capacity - 1;
}

ENTITABLE_LAZY_BODY std::size_t name_table::slot_of(std::string_view name, std::uint32_t hash) noexcept {
    steps_left_ += steps_for_each;
    for (std::size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
        if (slots_[slot] == 0) { return slot; }
        entry const& there = entries_[slots_[slot] - 1];
        if (there.hash == hash && there.text() == name) { return slot; }
        --steps_left_;
    }
}

ENTITABLE_LAZY_BODY std::uint32_t name_table::hash_for_search(std::string_view name) noexcept {
    if (steps_left_ < 0) {
        // An attacker who chooses names does not know the table's address in memory.
        seed_ = (seed_ ^ reinterpret_cast<std::uintptr_t>(entries_)) * 0xD1342543DE82EF95U + 1;
        seed_ ^= seed_ >> 29U;
        std::memset(slots_, 0, (mask_ + 1) * sizeof *slots_);
        steps_left_ = steps_at_first;
        for (std::uint32_t number = 1; number <= count_; ++number) {
            entry& each = entries_[number - 1];
            each.hash = hash_of(each.text(), seed_);
            slots_[slot_of(each.text(), each.hash)] = number;
        }
    }
    return hash_of(name, seed_);
}

ENTITABLE_LAZY_BODY name_table::entry* name_table::find(std::string_view name) noexcept {
    std::uint32_t const at = slots_[slot_of(name, hash_for_search(name))];
    return at == 0 ? nullptr : entries_ + at - 1;
}

ENTITABLE_LAZY_BODY name_table::entry* name_table::add(std::string_view name, std::size_t number) noexcept {
    std::uint32_t const hash = hash_for_search(name);
    std::uint32_t& at = slots_[slot_of(name, hash)];
    if (at != 0) { return entries_ + at - 1; }
    entries_[count_] = {name.data(), number, static_cast<std::uint32_t>(name.size()), hash};
    at = ++count_;
    return nullptr;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
