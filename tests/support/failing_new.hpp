// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Makes the allocations of this thread fail, for programs that link a file with `failing_new_definitions.hpp`.

#include <cstddef>

namespace entitable_test {

/// Counts the allocations of this thread; the one after `allowed` of them fails, and so do all later ones.
class allocation_limit {
public:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    explicit allocation_limit(std::size_t allowed = none) noexcept;
    ~allocation_limit();
    allocation_limit(allocation_limit const&) = delete;
    allocation_limit& operator=(allocation_limit const&) = delete;

    /// The number of allocations so far, including failed ones.
    [[nodiscard]] std::size_t count() const noexcept;
};

/// The number of blocks that the whole program has allocated and not freed.
[[nodiscard]] std::size_t blocks_in_use() noexcept;

} // namespace entitable_test
