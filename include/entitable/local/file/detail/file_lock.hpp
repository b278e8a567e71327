// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Locks a file against other processes and against other stores of this process. The locks are held on an empty file next to it (suffix
/// `-lock`), which is never removed.

#include <entitable/core/result.hpp>
#include <entitable/local/file/detail/own_process.hpp>
#include <entitable/local/file/detail/wait_budget.hpp>

#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Two locks. A store that writes or moves the log holds the writer lock. A store that has the file open holds the other lock shared; a
/// store that changes the journal or ends the log holds it exclusively.
///
/// The locks belong to the open `-lock` file, which each store opens separately. SQLite's locks belong to the process: they are lost as
/// soon as the process closes any descriptor of the file, for example a descriptor used to copy it. Children made by `fork` do not inherit them. One
/// thread at a time.
///
/// A third lock determines the next writer: a store that finds the writer lock taken holds the third lock until it gets the writer lock.
/// Other stores check the third lock every few attempts and let the next writer go first, but only for some milliseconds, because that
/// writer may have been stopped.
class file_lock {
public:
    /// Opens the lock. Returns false if the file system does not support such locks; then all later calls succeed.
    [[nodiscard]] result<bool> open(std::string const& path);
    [[nodiscard]] bool usable() const noexcept { return handle_.get() >= 0; }

    /// Takes the writer lock if it is free; returns whether it is held. If not, this store may become the next writer, until it has the
    /// lock or calls `unlock`.
    [[nodiscard]] result<bool> try_lock();
    void unlock() noexcept;
    [[nodiscard]] bool is_next() const noexcept { return is_next_; }

    /// The mode in which a store has a file open.
    enum class use : std::uint8_t { none, with_others, alone };
    /// Whether the new use is in effect; if not, the previous use continues.
    [[nodiscard]] bool try_use(use how) noexcept;

private:
    [[nodiscard]] result<void> reopen();
    [[nodiscard]] bool lets_next_go_first() noexcept;
    void be_next(bool wanted) noexcept;

    std::string path_;
    own_handle handle_;
    use used_{use::none};
    bool is_next_{};
    int ask_in_{};  ///< attempts left before checking for the next writer
    int yielded_{}; ///< consecutive times that another store went first
};

/// Waits for the writer lock.
[[nodiscard]] result<void> lock_within(file_lock& lock, wait_budget& waits);
/// Waits until other stores allow this use of the file; the message of StoreBusy reports that `what` needs this use.
[[nodiscard]] result<void> use_within(file_lock& lock, file_lock::use how, wait_budget& waits);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/file_lock.ipp>
#endif
