// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `known_layouts`: the descriptors of rows that passed validation under the limits of one store.

#include <entitable/core/atomic.hpp>
#include <entitable/core/edm_type.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A program writes few layouts, and each of them many times: a store compares the bytes of a descriptor instead of checking each name
/// again. Holds the first few and no more. Thread safety: safe to use from several threads.
class known_layouts {
public:
    /// A value that is validated in each row of a layout, or whose size differs from row to row.
    struct checked_value {
        std::size_t before; ///< bytes of the values between the checked value before and this one
        edm_type type;
        bool nullable;
    };
    /// One layout.
    struct layout {
        std::string descriptor;
        std::vector<checked_value> values{};
        std::size_t after{};      ///< bytes of the values after the last checked value
        std::size_t properties{}; ///< number of properties
        std::size_t name_bytes{}; ///< bytes of all names
        layout* next{};
    };

    known_layouts() = default;
    known_layouts(known_layouts const&) = delete;
    known_layouts& operator=(known_layouts const&) = delete;
    ~known_layouts() {
        for (layout* each = first_.load(memory_order::acquire); each != nullptr;) {
            delete std::exchange(each, each->next);
        }
    }

    /// Returns the layout with this descriptor; null if it is not known.
    [[nodiscard]] layout const* find(std::string_view descriptor) const noexcept {
        layout const* each = first_.load(memory_order::acquire);
        while (each != nullptr && each->descriptor != descriptor) { each = each->next; }
        return each;
    }
    /// Adds the descriptor of a row that passed the whole validation.
    ENTITABLE_LAZY void add(std::string_view descriptor);

private:
    static constexpr std::size_t most = 16;

    atomic<layout*> first_{nullptr};
    atomic<std::size_t> number_{0};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
