// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows of one partition that a move has copied.

#include <entitable/core/etag.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A row that was copied.
struct copied_row {
    etag source; ///< ETag of the copied version; empty if the row must be copied again
    etag target; ///< empty if the response to the batch was lost
    std::uint64_t content{};
    std::uint32_t seen{}; ///< the last pass that saw the row at the source
};

/// Rows by row key. Rows added in key order, as in the first pass, are stored consecutively without an allocation each, and are found in
/// order in constant time. References are valid until a row is added.
class copied_rows {
public:
    [[nodiscard]] std::size_t size() const noexcept { return in_order_.size() - gone_ + late_.size(); }
    /// Makes room for the first rows, which are about as many.
    void reserve(std::size_t rows) { in_order_.reserve(rows); }
    /// Returns null if the row is absent.
    [[nodiscard]] copied_row* find(std::string_view row_key) {
        std::size_t const at = place_of(row_key);
        if (at < in_order_.size()) { return in_order_[at].is_there ? &in_order_[at].row : nullptr; }
        auto const known = late_.find(row_key);
        return known == late_.end() ? nullptr : &known->second;
    }
    /// Returns the row; adds it if it is absent.
    [[nodiscard]] copied_row& at(std::string_view row_key) {
        std::size_t place = in_order_.size();
        if (in_order_.empty() || key_of(in_order_.back()) < row_key) {
            in_order_.push_back({keys_.size(), row_key.size(), true, {}});
            keys_ += row_key;
        } else if (place = place_of(row_key); place == in_order_.size()) {
            return late_.try_emplace(std::string{row_key}).first->second;
        }
        if (!in_order_[place].is_there) {
            in_order_[place].is_there = true;
            in_order_[place].row = {};
            --gone_;
        }
        return in_order_[place].row;
    }
    void erase(std::string_view row_key) {
        std::size_t const at = place_of(row_key);
        if (at == in_order_.size()) {
            late_.erase(std::string{row_key});
        } else if (in_order_[at].is_there) {
            in_order_[at].is_there = false;
            ++gone_;
        }
    }
    /// Calls `visit(row_key, row)` for each row, in no particular order.
    template <class Visit>
    void for_each(Visit const& visit) const {
        for (placed_row const& each : in_order_) {
            if (each.is_there) { visit(key_of(each), each.row); }
        }
        for (auto const& [row_key, row] : late_) { visit(std::string_view{row_key}, row); }
    }

private:
    struct placed_row {
        std::size_t key_at;
        std::size_t key_size;
        bool is_there;
        copied_row row;
    };
    [[nodiscard]] std::string_view key_of(placed_row const& of) const noexcept {
        return std::string_view{keys_}.substr(of.key_at, of.key_size);
    }
    /// Returns the index among the ordered rows; their number if absent.
    [[nodiscard]] std::size_t place_of(std::string_view row_key) noexcept {
        if (next_ < in_order_.size() && key_of(in_order_[next_]) == row_key) { return next_++; }
        auto const found = std::lower_bound(in_order_.begin(), in_order_.end(), row_key,
            [this](placed_row const& each, std::string_view key) { return key_of(each) < key; });
        if (found == in_order_.end() || key_of(*found) != row_key) { return in_order_.size(); }
        auto const at = static_cast<std::size_t>(found - in_order_.begin());
        next_ = at + 1;
        return at;
    }

    std::vector<placed_row> in_order_;
    std::string keys_; ///< keys of the ordered rows
    std::map<std::string, copied_row, std::less<>> late_;
    std::size_t gone_{};
    std::size_t next_{}; ///< the row most likely to be looked up next
};

} // namespace detail
ENTITABLE_END_NAMESPACE
