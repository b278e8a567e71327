// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The locks that processes, and the stores of one process, have on a file: on an empty file `-lock` beside it, which stays.

#include <entitable/core/result.hpp>
#include <entitable/file/detail/own_process.hpp>
#include <entitable/file/detail/patience.hpp>

#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Two locks. A store that writes or moves the log holds the writer lock. A store that has the file open shares the other one; whoever
/// changes its journal or ends its log holds it alone.
///
/// They belong to the open `-lock` file, of which each store has one of its own. Those of SQLite belong to the process: they are gone
/// as soon as it closes any descriptor of the file, one with which somebody copied it for example. No child made by `fork` keeps
/// them. One thread at a time.
///
/// A third one says who is the next to write: whoever finds the writer lock taken holds it until it has got that. Others ask for it
/// every few times, and let the next one go first; for some milliseconds only, because it may have been stopped.
class file_lock {
public:
    /// False where the file system has no such locks; then all that follow succeed.
    [[nodiscard]] result<bool> open(std::string const& path);
    [[nodiscard]] bool usable() const noexcept { return handle_.get() >= 0; }

    /// Whether the writer lock was free, and is held now. Where not, this one may be the next, until it has the lock or `unlock`.
    [[nodiscard]] result<bool> try_lock();
    void unlock() noexcept;
    [[nodiscard]] bool is_next() const noexcept { return is_next_; }

    /// How a store has a file open.
    enum class use : std::uint8_t { none, with_others, alone };
    /// Whether the file is used so from now on; else it is used as before.
    [[nodiscard]] bool try_use(use how) noexcept;

private:
    [[nodiscard]] result<void> reopen();
    [[nodiscard]] bool lets_next_go_first() noexcept;
    void be_next(bool wanted) noexcept;

    std::string path_;
    own_handle handle_;
    use used_{use::none};
    bool is_next_{};
    int ask_in_{};  ///< so many times the lock is taken without asking who is the next
    int yielded_{}; ///< so often in a row another one was let go first
};

/// Waits for the writer lock.
[[nodiscard]] result<void> lock_patiently(file_lock& lock, patience& waits);
/// Waits for others to let the file be used so; StoreBusy says that `what` needs it.
[[nodiscard]] result<void> use_patiently(file_lock& lock, file_lock::use how, patience& waits);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/file_lock.ipp>
#endif
