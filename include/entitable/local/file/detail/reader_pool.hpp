// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Connections for readers, one for each active reader; some idle connections are reused.

#include <entitable/local/file/detail/connection.hpp>
#include <entitable/local/file/detail/quiet_read.hpp>

#include <list>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Thread safety: `borrow` may be called from several threads.
class reader_pool {
public:
    /// `quiet`: for a file that cannot be written, see `quiet_read`.
    reader_pool(file_place place, file_options const& options, bool quiet)
        : options_(options), quiet_(quiet), place_(std::move(place)) {}
    reader_pool(reader_pool const&) = delete;
    reader_pool& operator=(reader_pool const&) = delete;

    /// Lends a connection, which its destructor returns unless it is broken.
    class borrowed {
    public:
        borrowed(reader_pool& from, std::list<connection> one, std::optional<quiet_read> quiet, bool shared) noexcept
            : from_(&from), quiet_(std::move(quiet)), one_(std::move(one)), shared_(shared) {}
        borrowed(borrowed&&) noexcept = default;
        borrowed& operator=(borrowed&&) = delete;
        ~borrowed() {
            if (!one_.empty() && shared_) { from_->give_back(one_, quiet_); }
        }
        [[nodiscard]] connection& operator*() noexcept { return one_.front(); }
        [[nodiscard]] connection* operator->() noexcept { return &one_.front(); }
        /// Checks that the data read so far is valid; returns StoreBusy if a writer appeared while the file was read without a log.
        [[nodiscard]] result<void> still() const { return quiet_ ? quiet_->still() : result<void>{}; }

    private:
        reader_pool* from_;
        std::optional<quiet_read> quiet_; ///< ends after the connection
        std::list<connection> one_;       ///< in a list, so that returning it needs no allocation
        bool shared_;
    };

    [[nodiscard]] result<borrowed> borrow(wait_budget& waits);
    /// Opens a connection that is not shared.
    [[nodiscard]] result<borrowed> open_another(wait_budget& waits);
    /// Checks that the file has not been replaced.
    [[nodiscard]] result<void> check_file() const { return place_.same_file(); }

private:
    [[nodiscard]] result<std::optional<quiet_read>> begin_quiet(wait_budget& waits) const;
    [[nodiscard]] connection::access access() const noexcept {
        return quiet_ ? connection::access::read_quiet : connection::access::write;
    }
    void give_back(std::list<connection>& one, std::optional<quiet_read> const& quiet) noexcept;

    file_options const& options_;
    bool const quiet_;
    std::mutex mutex_;
    file_place place_;           ///< guarded: the time of the last check
    std::list<connection> idle_; ///< guarded
    file_stamp idle_stamp_;      ///< guarded: the state that idle connections have read, of a read-only file
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/reader_pool.ipp>
#endif
