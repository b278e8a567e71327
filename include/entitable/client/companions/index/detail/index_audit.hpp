// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `audit_table`: compares the entities of a table with the rows of its indexes, by a few thousand checksums per index. It scans each table
/// once, in little memory for any number of rows. If checksums differ, the rows are read again and compared one by one,
/// tens of thousands at a time.

#include <entitable/client/companions/index/detail/index_family.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::size_t audit_sums = 4096;

/// An index row that is stored or expected.
struct audited_row {
    std::size_t index;
    row_keys keys;
    auto operator<=>(audited_row const&) const = default;
};

/// An entity whose index row is missing or different; or an index row whose entity does not have it.
struct suspect {
    index_fault fault;
    audited_row at;
    row_keys entity;
};

/// Counts of audited entities and rows.
struct audit_counts {
    std::uint64_t entities{};
    std::uint64_t index_rows{};
};

/// Maximum number of rows held in memory at a time if checksums differ.
inline constexpr std::uint64_t audited_at_once = 65'536;

/// Checksum of the rows whose keys hash to one slot.
struct audit_sum {
    std::uint64_t sum{};  ///< checksum of the expected rows, minus the stored rows
    std::uint64_t rows{}; ///< number of expected and stored rows
    bool chosen{};        ///< set while its rows are compared one by one
};

/// The checksums of some indexes.
class audit_table {
public:
    audit_table(index_family const& family, std::vector<std::size_t> indexes)
        : family_(family), indexes_(std::move(indexes)), sums_(family.shapes.size() * audit_sums) {}

    [[nodiscard]] result<audit_counts> add_all();
    /// Chooses differing checksums, as many as fit into the row limit. False if no checksum is left.
    [[nodiscard]] bool choose();
    /// Compares the rows of the chosen checksums.
    [[nodiscard]] result<std::vector<suspect>> compare();

private:
    [[nodiscard]] audit_sum& at(std::size_t index, row_view of);
    [[nodiscard]] audit_sum& at(std::size_t index, std::uint64_t digest);

    index_family const& family_;
    std::vector<std::size_t> indexes_;
    std::vector<audit_sum> sums_;
    std::size_t next_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/index_audit.ipp>
#endif
