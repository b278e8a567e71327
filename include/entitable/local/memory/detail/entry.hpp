// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entry`: a key and its bytes, in one heap block.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The head of the block; the key follows it, then the value at the next multiple of 8, so that a value can hold an object. Key and value
/// are each below 4 GiB; larger sizes are treated as out of memory. The code that makes an entry destroys it.
struct alignas(8) entry {
    std::uint32_t key_size;
    std::uint32_t value_size;

    [[nodiscard]] static entry* make(std::string_view key, std::size_t value_size) {
        constexpr std::size_t most = ~std::uint32_t{0};
        std::size_t const size = key.size() <= most && value_size <= most
            ? sizeof(entry) + aligned(key.size()) + value_size
            : ~std::size_t{0} / 2; // more is never available
        void* const block = ::operator new(size);
        auto* const made =
            ::new (block) entry{static_cast<std::uint32_t>(key.size()), static_cast<std::uint32_t>(value_size)};
        if (!key.empty()) { std::memcpy(made->bytes(), key.data(), key.size()); }
        return made;
    }
    [[nodiscard]] static entry* make(std::string_view key, std::string_view value) {
        entry* const made = make(key, value.size());
        if (!value.empty()) { std::memcpy(made->value_bytes(), value.data(), value.size()); }
        return made;
    }
    static void destroy(entry* block) noexcept { ::operator delete(static_cast<void*>(block)); }

    [[nodiscard]] std::string_view key() const noexcept { return {const_cast<entry*>(this)->bytes(), key_size}; }
    [[nodiscard]] std::string_view value() const noexcept {
        return {const_cast<entry*>(this)->value_bytes(), value_size};
    }
    [[nodiscard]] char* value_bytes() noexcept { return bytes() + aligned(key_size); }

private:
    [[nodiscard]] static constexpr std::size_t aligned(std::size_t size) noexcept { return (size + 7) / 8 * 8; }
    [[nodiscard]] char* bytes() noexcept { return reinterpret_cast<char*>(this + 1); }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
