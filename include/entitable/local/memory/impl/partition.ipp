// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/local/memory/detail/partition.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL partition::owner partition::make(shared<memory_table> table, std::string_view key) {
    static_assert(alignof(partition) == alignof(entry) && sizeof(entry) % alignof(partition) == 0);
    std::size_t const before = padding(key.size());
    entry* const name = entry::make(key, before + sizeof(partition));
    char* const place = name->value_bytes() + before;
    auto const behind_name = static_cast<std::uint32_t>(place - reinterpret_cast<char*>(name));
    return owner{*::new (static_cast<void*>(place)) partition(behind_name, std::move(table))};
}

ENTITABLE_DECL partition::~partition() {
    for (auto at = rows.lower_bound({}); entry* const row = at.get(); at.next()) { entry::destroy(row); }
}

ENTITABLE_DECL void partition::destroy(partition* last) noexcept {
    entry* const name = last->name();
    last->~partition();
    entry::destroy(name);
}

ENTITABLE_DECL std::uint64_t partition_map::hash_of(std::string_view table, std::string_view key) noexcept {
    // Hashes eight bytes at a time; the last step is the finalizer of MurmurHash3 (A. Appleby), so that all bits may be used.
    std::uint64_t hash = table.size() + (std::uint64_t{key.size()} << 32U);
    auto const add_word = [&hash](char const* from, std::size_t size) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, size);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32U;
    };
    auto const add = [&add_word](std::string_view bytes) {
        std::size_t at = 0;
        for (; at + 8 <= bytes.size(); at += 8) { add_word(bytes.data() + at, 8); }
        if (at < bytes.size() &&
            bytes.size() >= 8) { // the last eight bytes overlap: faster than copying a variable number
            add_word(bytes.data() + bytes.size() - 8, 8);
        } else if (at < bytes.size()) {
            add_word(bytes.data(), bytes.size());
        }
    };
    add(table);
    add(key);
    hash = (hash ^ hash >> 33U) * 0xFF51AFD7ED558CCDU;
    hash = (hash ^ hash >> 33U) * 0xC4CEB9FE1A85EC53U;
    return hash ^ hash >> 33U;
}

ENTITABLE_DECL partition* partition_map::shard::find(
    std::uint64_t hash, std::string_view table, std::string_view key) noexcept {
    if (all_slots.empty()) { return nullptr; }
    std::size_t const mask = all_slots.size() - 1;
    for (std::size_t index = hash & mask; all_slots[index].held; index = (index + 1) & mask) {
        partition* const candidate = all_slots[index].held.get();
        if (all_slots[index].hash == hash && candidate->key() == key && candidate->table->key == table &&
            !candidate->table->dropped.load(memory_order::acquire)) {
            return candidate;
        }
    }
    return nullptr;
}

ENTITABLE_DECL void partition_map::shard::insert(std::uint64_t hash, partition::owner fresh) noexcept {
    std::size_t const mask = all_slots.size() - 1;
    std::size_t index = hash & mask;
    while (all_slots[index].held) { index = (index + 1) & mask; }
    all_slots[index].hash = hash;
    all_slots[index].held = std::move(fresh);
    ++used;
}

ENTITABLE_DECL void partition_map::shard::reserve_one() {
    if ((used + 1) * 8 > all_slots.size() * 7) {
        std::vector<slot> old(all_slots.empty() ? 4 : all_slots.size() * 2);
        all_slots.swap(old);
        used = 0;
        for (slot& each : old) {
            if (each.held) { insert(each.hash, std::move(each.held)); }
        }
    }
}

ENTITABLE_DECL partition::owner partition_map::shard::take(std::uint64_t hash, partition& gone) noexcept {
    if (all_slots.empty()) { return {}; }
    std::size_t const mask = all_slots.size() - 1;
    std::size_t hole = hash & mask;
    while (all_slots[hole].held.get() != &gone) {
        if (!all_slots[hole].held) { return {}; }
        hole = (hole + 1) & mask;
    }
    partition::owner taken = std::move(all_slots[hole].held);
    --used;
    // A later entry moves up if its slot is the hole or a slot before it.
    for (std::size_t index = (hole + 1) & mask; all_slots[index].held; index = (index + 1) & mask) {
        std::size_t const wanted = all_slots[index].hash & mask;
        if (((index - wanted) & mask) >= ((index - hole) & mask)) {
            all_slots[hole].hash = all_slots[index].hash;
            all_slots[hole].held = std::move(all_slots[index].held);
            hole = index;
        }
    }
    return taken;
}

ENTITABLE_DECL partition::reading partition_map::read(
    std::uint64_t hash, std::string_view table, std::string_view key) noexcept {
    shard& place = shard_of(hash);
    shared_guard const guard{place.lock};
    return partition::reading{place.find(hash, table, key)};
}

ENTITABLE_DECL partition::writing partition_map::write(
    std::uint64_t hash, std::string_view table, std::string_view key) noexcept {
    shard& place = shard_of(hash);
    shared_guard const guard{place.lock};
    return partition::writing{place.find(hash, table, key)};
}

ENTITABLE_DECL partition::writing partition_map::add(std::uint64_t hash, partition& fresh) {
    shard& place = shard_of(hash);
    exclusive_guard const guard{place.lock};
    partition* found = place.find(hash, fresh.table->key, fresh.key());
    if (found == nullptr) {
        place.reserve_one();
        place.insert(hash, partition::owner{fresh});
        found = &fresh;
    }
    return partition::writing{found};
}

ENTITABLE_DECL void partition_map::remove(partition& gone) noexcept {
    partition::owner last; // declared before the lock, so that the rows are freed after the lock is released
    std::uint64_t const hash = hash_of(gone.table->key, gone.key());
    shard& place = shard_of(hash);
    exclusive_guard const guard{place.lock};
    last = place.take(hash, gone);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
