// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/group_index.hpp>

#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct group_index::groups : counted {
    groups(less before, removal with) : by_key(before), remove(with) {}
    ~groups() {
        for (auto const& [key, group] : by_key) { remove(group); }
    }

    std::map<void const*, void*, less> by_key;
    removal remove;
};

ENTITABLE_LAZY_BODY group_index::group_index(less before, removal remove)
    : groups_(shared<groups>::make(before, remove)) {}

ENTITABLE_DECL group_index::~group_index() = default;

ENTITABLE_LAZY_BODY void* group_index::find(void const* key) const {
    auto const at = groups_->by_key.find(key);
    return at != groups_->by_key.end() ? at->second : nullptr;
}

ENTITABLE_LAZY_BODY void group_index::add(void const* key, void* group) {
    struct guard {
        groups& of;
        void* unkept;
        ~guard() {
            if (unkept != nullptr) { of.remove(unkept); }
        }
    } until_kept{*groups_, group};
    groups_->by_key.emplace(key, group);
    until_kept.unkept = nullptr;
}

ENTITABLE_LAZY_BODY void group_index::each(function_ref<void(void* group)> visit) const {
    for (auto const& [key, group] : groups_->by_key) { visit(group); }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
