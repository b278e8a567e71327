// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `known_marks`: the marks of migrations that the queries of a table have found.

#include <entitable/core/shared.hpp>

#include <atomic>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The row keys of marks that queries of a table have found; a mark stays. Thread safety: safe to use from several threads.
class known_marks : public counted {
public:
    known_marks() = default;
    known_marks(known_marks const&) = delete;
    known_marks& operator=(known_marks const&) = delete;
    ~known_marks();

    ENTITABLE_LAZY void add(std::vector<std::string> const& found);
    ENTITABLE_LAZY [[nodiscard]] bool have(std::vector<std::string> const& wanted) const;

private:
    struct mark {
        std::string row_key;
        mark* next;
    };
    ENTITABLE_LAZY [[nodiscard]] bool has(std::string const& wanted) const;

    std::atomic<mark*> first_{nullptr};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
