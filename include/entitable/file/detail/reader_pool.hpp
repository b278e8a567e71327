// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Connections for readers, one for each that reads at the moment; some are kept for the next.

#include <entitable/file/detail/connection.hpp>

#include <memory>
#include <mutex>
#include <vector>

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
        borrowed(reader_pool& from, std::unique_ptr<connection> on) noexcept : from_(&from), on_(std::move(on)) {}
        borrowed(borrowed&&) noexcept = default;
        borrowed& operator=(borrowed&&) = delete;
        ~borrowed() {
            if (on_) {
                from_->give_back(std::move(on_));
            }
        }
        [[nodiscard]] connection& operator*() const noexcept { return *on_; }
        [[nodiscard]] connection* operator->() const noexcept { return on_.get(); }

    private:
        reader_pool* from_;
        std::unique_ptr<connection> on_;
    };

    [[nodiscard]] result<borrowed> borrow(patience& waits);
    /// One that nobody else gets.
    [[nodiscard]] result<connection> open_another(patience& waits);

private:
    void give_back(std::unique_ptr<connection> on) noexcept;

    file_options const& options_;
    std::mutex mutex_;
    file_place place_;                              ///< guarded
    std::vector<std::unique_ptr<connection>> idle_; ///< guarded
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/reader_pool.ipp>
#endif
