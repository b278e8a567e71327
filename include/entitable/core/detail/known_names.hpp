// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `known_names`: a set of names that only grows, shared by threads.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/atomic.hpp>
#include <entitable/core/shared.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A few names; searched one by one. Thread safety: safe to use from several threads.
class known_names : public counted {
public:
    known_names() = default;
    known_names(known_names const&) = delete;
    known_names& operator=(known_names const&) = delete;
    ~known_names();

    ENTITABLE_LAZY void add(std::vector<std::string> const& found);
    /// Whether all of these were added.
    ENTITABLE_LAZY [[nodiscard]] bool have(std::vector<std::string> const& wanted) const;

private:
    struct known_name {
        std::string text;
        known_name* next;
    };
    ENTITABLE_LAZY [[nodiscard]] bool has(std::string const& wanted) const;

    atomic<known_name*> first_{nullptr};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/known_names.ipp>
#endif

#endif
