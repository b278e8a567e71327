// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `group_index`: the groups of `group_by` in key order, of a type known only to `group_by`. Only files that call `group_by` compile a
/// map.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/shared.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Owns groups and finds them by key, in O(log n). Used by one thread at a time.
class group_index {
public:
    using less = bool (*)(void const* left, void const* right);
    using removal = void (*)(void* group) noexcept;

    ENTITABLE_LAZY group_index(less before, removal remove);
    group_index(group_index const&) = delete;
    group_index& operator=(group_index const&) = delete;
    ~group_index();

    /// Returns the group; null if there is none.
    ENTITABLE_LAZY [[nodiscard]] void* find(void const* key) const;
    /// Takes ownership of a group with a new key, which the group contains.
    ENTITABLE_LAZY void add(void const* key, void* group);
    /// Visits the groups in key order.
    ENTITABLE_LAZY void each(function_ref<void(void* group)> visit) const;

private:
    struct groups;
    shared<groups> groups_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/group_index.ipp>
#endif

#endif
