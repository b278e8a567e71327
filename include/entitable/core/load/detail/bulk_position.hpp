// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `bulk_position`: the settled part of an input, and its text form.

#include <entitable/core/result.hpp>
#include <entitable/core/row/detail/row_digest.hpp>

#include <deque>
#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Identifies the load that a checkpoint belongs to.
struct bulk_identity {
    std::string table; ///< table name, spelled as the profile compares names
    std::string mode;  ///< "insert", ...
    std::string input; ///< name set by the caller
};

/// Number of rows per outcome.
struct bulk_counts {
    std::uint64_t written{};
    std::uint64_t already_there{};
    std::uint64_t superseded{};
    std::uint64_t refused{};
    std::uint64_t bytes{};
};

/// The settled rows of the input: all rows before a position, and some rows after it. Rows are read in order and settled in any order.
class bulk_position {
public:
    /// Number of rows between two stored digests.
    static constexpr std::uint64_t stride = 1024;

    /// Records that a row was read, with the digest of all rows up to it; returns its index.
    std::uint64_t read(std::uint64_t digest) {
        std::uint64_t const index = read_++;
        digest_ = digest;
        if (read_ % stride == 0) { digests_.push_back(digest); }
        if (64 * static_cast<std::uint64_t>(settled_.size()) < read_ - from_) { settled_.push_back(0); }
        return index;
    }
    void settle(std::uint64_t index) {
        std::uint64_t const at = index - from_;
        settled_[static_cast<std::size_t>(at / 64)] |= std::uint64_t{1} << (at % 64);
        drop_settled();
    }
    /// Number of rows read.
    [[nodiscard]] std::uint64_t rows() const noexcept { return read_; }
    /// Number of rows from the position on, which are stored as one bit per row.
    [[nodiscard]] std::uint64_t span() const noexcept { return read_ - from_; }

    /// Formats the checkpoint: version 1 in docs/stored_formats.md.
    [[nodiscard]] std::string text(bulk_identity const& load, bulk_counts const& counts) const;

private:
    /// Advances the position over complete strides that are settled.
    void drop_settled() {
        constexpr std::size_t words = stride / 64;
        while (!digests_.empty()) {
            for (std::size_t at = 0; at < words; ++at) {
                if (settled_[at] != ~std::uint64_t{0}) { return; }
            }
            settled_.erase(settled_.begin(), settled_.begin() + static_cast<std::ptrdiff_t>(words));
            from_ += stride;
            from_digest_ = digests_.front();
            digests_.pop_front();
        }
    }

    std::uint64_t from_{}; ///< a multiple of the stride; all rows before it are settled
    std::uint64_t from_digest_{row_digest{}.value()};
    std::uint64_t read_{};
    std::uint64_t digest_{row_digest{}.value()}; ///< digest of all rows read
    std::deque<std::uint64_t> digests_;          ///< digests at the ends of the complete strides that were read
    std::deque<std::uint64_t> settled_;          ///< a bit for each row from `from_` on
};

/// Content of a checkpoint.
struct bulk_resume {
    std::uint64_t from{};        ///< position before which all rows are settled
    std::uint64_t from_digest{}; ///< digest of all rows before `from`
    std::uint64_t read{};        ///< position from which on no row was sent
    std::uint64_t read_digest{}; ///< digest of all rows before `read`
    std::string settled;         ///< a bit for each row from `from` to `read`, in hexadecimal digits
    bulk_counts counts;

    [[nodiscard]] bool is_settled(std::uint64_t index) const noexcept;
};

/// Parses a checkpoint. Errors: CheckpointInvalid if it is damaged, newer, or belongs to a different load.
[[nodiscard]] result<bulk_resume> read_bulk_position(std::string_view text, bulk_identity const& load);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/load/impl/bulk_position.ipp>
#endif
