// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/text.hpp>
#include <entitable/shards/map/virtual_shards.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::optional<std::uint32_t> virtual_shards::shard_of_other(std::string_view partition_key) const {
    std::string_view const first = partition_key.substr(0, partition_key.find("__"));
    if (auto const own = own_.find(first); own != own_.end()) { return own->second; }
    if ((way_ == way::hash || way_ == way::first_component) && number_ > 0) {
        return static_cast<std::uint32_t>(shard_hash(way_ == way::hash ? partition_key : first) % number_);
    }
    if (way_ == way::jump && number_ > 0) { return jump_hash(shard_hash(partition_key), number_); }
    if (way_ == way::ranges) {
        auto const above = std::upper_bound(bounds_.begin(), bounds_.end(), partition_key,
            [](std::string_view key, std::string const& bound) { return text::compare_utf16(key, bound) < 0; });
        return static_cast<std::uint32_t>(above - bounds_.begin());
    }
    auto const found = function_ ? function_(partition_key) : std::nullopt;
    if (found && *found < number_) { return found; }
    return otherwise_ && *otherwise_ < number_ ? otherwise_ : std::nullopt;
}

ENTITABLE_DECL std::uint64_t virtual_shards::fingerprint() const {
    detail::part_hash hash{static_cast<std::uint64_t>(shard_hash_version)};
    hash.add(std::uint64_t{number_});
    if (by_ranges()) {
        for (std::string const& each : bounds_) { hash.add(std::string_view{each}); }
        return hash.value();
    }
    auto const add = [&](std::string const& key) {
        auto const found = shard_of(key);
        hash.add(found ? std::uint64_t{*found} + 1 : std::uint64_t{});
    };
    for (int number = 0; number < 64; ++number) {
        std::string const digits = std::to_string(number);
        add(digits);
        add(text::joined({"key", digits}));
        add(text::joined({"tenant", digits, "__x"}));
        add(text::joined({"978000000", std::to_string(1000 + number * 7)}));
        add(text::joined({"2", std::to_string(100 + number), "-01-01"}));
    }
    if (otherwise_) { // the keys above may all have a shard
        hash.add(std::uint64_t{*otherwise_});
    }
    for (auto const& [tenant, shard] : own_) {
        hash.add(std::string_view{tenant});
        hash.add(std::uint64_t{shard});
    }
    add("978-8-1130-1024-6");
    add("155860832X");
    return hash.value();
}

ENTITABLE_END_NAMESPACE
