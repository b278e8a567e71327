// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Connections for readers, one for each that reads at the moment; some are kept for the next.

#include <entitable/file/detail/connection.hpp>

#include <list>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Thread-safety: `borrow` from several threads.
class reader_pool {
public:
    reader_pool(file_place place, file_options const& options) : options_(options), place_(std::move(place)) {}
    reader_pool(reader_pool const&) = delete;
    reader_pool& operator=(reader_pool const&) = delete;

    /// A connection while this lives. Goes back afterwards, unless it is broken.
    class borrowed {
    public:
        borrowed(reader_pool& from, std::list<connection> one) noexcept : from_(&from), one_(std::move(one)) {}
        borrowed(borrowed&&) noexcept = default;
        borrowed& operator=(borrowed&&) = delete;
        ~borrowed() {
            if (!one_.empty()) {
                from_->give_back(one_);
            }
        }
        [[nodiscard]] connection& operator*() noexcept { return one_.front(); }
        [[nodiscard]] connection* operator->() noexcept { return &one_.front(); }

    private:
        reader_pool* from_;
        std::list<connection> one_; ///< a list, so that it goes back without an allocation
    };

    [[nodiscard]] result<borrowed> borrow(patience& waits);
    /// One that nobody else gets.
    [[nodiscard]] result<connection> open_another(patience& waits);
    /// Whether the file is still the one it was.
    [[nodiscard]] result<void> check_file() const { return place_.same_file(); }

private:
    void give_back(std::list<connection>& one) noexcept;

    file_options const& options_;
    std::mutex mutex_;
    file_place place_;           ///< when it was checked last is guarded
    std::list<connection> idle_; ///< guarded
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/reader_pool.ipp>
#endif
