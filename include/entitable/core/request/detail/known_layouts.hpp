// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `known_layouts`: the descriptors of rows that passed validation under the limits of one store.

#include <entitable/core/atomic.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A program writes few layouts, and each of them many times: a store compares the bytes of a descriptor instead of checking each name
/// again. Holds the first few and no more. Thread safety: safe to use from several threads.
class known_layouts {
public:
    known_layouts() = default;
    known_layouts(known_layouts const&) = delete;
    known_layouts& operator=(known_layouts const&) = delete;
    ~known_layouts() {
        for (layout* each = first_.load(memory_order::acquire); each != nullptr;) {
            delete std::exchange(each, each->next);
        }
    }

    [[nodiscard]] bool has(std::string_view descriptor) const noexcept {
        for (layout const* each = first_.load(memory_order::acquire); each != nullptr; each = each->next) {
            if (each->descriptor == descriptor) { return true; }
        }
        return false;
    }
    ENTITABLE_LAZY void add(std::string_view descriptor);

private:
    static constexpr std::size_t most = 16;

    struct layout {
        std::string descriptor;
        layout* next;
    };

    atomic<layout*> first_{nullptr};
    atomic<std::size_t> number_{0};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
