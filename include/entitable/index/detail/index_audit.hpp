// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `audit_table`: compares the entities of a table with the rows of its indexes, by sums over the digests of rows, a few thousand of them an
/// index: one scan of each, and little memory whatever their number. Where sums differ, the rows that went into them are read again and
/// compared one by one, some ten thousand at a time.

#include <entitable/index/detail/index_family.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::size_t audit_sums = 4096;

/// A row of an index as it is or ought to be.
struct audited_row {
    std::size_t index;
    row_keys keys;
    auto operator<=>(audited_row const&) const = default;
};

/// An entity that has no row under its key, or whose row differs; or a row, without an entity that has it.
struct suspect {
    index_fault fault;
    audited_row at;
    row_keys entity;
};

/// What was looked at.
struct audit_counts {
    std::uint64_t entities{};
    std::uint64_t index_rows{};
};

/// Rows that are held at a time where sums differ.
inline constexpr std::uint64_t audited_at_once = 65'536;

/// The rows whose keys fall to one of the sums.
struct audit_sum {
    std::uint64_t sum{};  ///< of those that there ought to be, without those that are there
    std::uint64_t rows{}; ///< of both
    bool chosen{};        ///< they are compared one by one, now
};

/// The sums of some indexes.
class audit_table {
public:
    audit_table(index_family const& family, std::vector<std::size_t> indexes)
        : family_(family), indexes_(std::move(indexes)), sums_(family.shapes.size() * audit_sums) {}

    [[nodiscard]] result<audit_counts> add_all();
    /// Chooses sums that differ, for as many rows as are held at a time. False where none is left.
    [[nodiscard]] bool choose();
    /// Compares the rows of the chosen ones.
    [[nodiscard]] result<std::vector<suspect>> compare();

private:
    [[nodiscard]] audit_sum& at(std::size_t index, row_view of);

    index_family const& family_;
    std::vector<std::size_t> indexes_;
    std::vector<audit_sum> sums_;
    std::size_t next_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/index/impl/index_audit.ipp>
#endif
