// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The entity of the benchmarks in a hand-written format: a timestamp and its properties, one after the other.

#include "business.hpp"

#include <cstring>
#include <string>

namespace measure {
namespace by_hand_bytes {

inline void put(std::string& out, std::string const& text) {
    auto const size = static_cast<std::uint32_t>(text.size());
    out.append(reinterpret_cast<char const*>(&size), sizeof size).append(text);
}
template <class T>
void put(std::string& out, T const& value) {
    out.append(reinterpret_cast<char const*>(&value), sizeof value);
}
inline void take(char const*& from, std::string& text) {
    std::uint32_t size = 0;
    std::memcpy(&size, from, sizeof size);
    text.assign(from + sizeof size, size);
    from += sizeof size + size;
}
template <class T>
void take(char const*& from, T& value) {
    std::memcpy(&value, from, sizeof value);
    from += sizeof value;
}

/// The properties one after the other, in an order that both sides know.
template <class Entity, class Each>
void properties(Entity& made, Each const& each) {
    each(made.name);
    each(made.description);
    each(made.city);
    each(made.category);
    each(made.employees);
    each(made.founded);
    each(made.rating);
    each(made.turnover);
    each(made.open);
    each(made.visits);
    each(made.changed);
    each(made.owner);
}

} // namespace by_hand_bytes

inline void put_business(std::string& out, business const& made) {
    by_hand_bytes::put(out, entitable::system_clock().now());
    by_hand_bytes::properties(made, [&](auto const& value) { by_hand_bytes::put(out, value); });
}
/// Everything except its keys.
inline void take_business(char const* from, business& out) {
    entitable::date_time timestamp;
    by_hand_bytes::take(from, timestamp);
    by_hand_bytes::properties(out, [&](auto& value) { by_hand_bytes::take(from, value); });
}

} // namespace measure
