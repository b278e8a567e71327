// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Objects that belong to one process, and not to a child made by `fork`: handles with locks, which a child would hold after its parent was
/// killed, and objects with mutexes, which may be locked by a thread that does not exist in the child.

#include <entitable/core/process.hpp>

#include <memory>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A handle of an open file that is closed in every child made by `fork`. Use O_CLOEXEC against inheritance by `exec`. One thread at a
/// time.
class own_handle {
public:
    own_handle() = default;
    /// Like the system's `open`, with its error in errno.
    [[nodiscard]] static own_handle open(char const* path, int flags, unsigned mode);
    own_handle(own_handle&&) noexcept = default;
    own_handle& operator=(own_handle&& other) noexcept {
        std::swap(kept_, other.kept_);
        return *this;
    }
    ~own_handle() { close(); }

    /// Returns the handle; -1 if there is none.
    [[nodiscard]] int get() const noexcept { return kept_ ? kept_->handle : -1; }
    void close() noexcept;

    struct kept {
        int handle;
        kept* previous;
        kept* next;
    };

private:
    std::unique_ptr<kept> kept_; ///< entry in the list of all handles
};

/// An object that is destroyed only in the process that made it. A child process leaves it unchanged.
template <class T>
class own_object {
public:
    template <class... Arguments>
    explicit own_object(Arguments&&... arguments)
        : forks_(platform::forks()), object_(std::forward<Arguments>(arguments)...) {}
    own_object(own_object const&) = delete;
    own_object& operator=(own_object const&) = delete;
    ~own_object() {
        if (forks_ == platform::forks()) { object_.~T(); }
    }
    [[nodiscard]] T* operator->() noexcept { return &object_; }
    [[nodiscard]] T& operator*() noexcept { return object_; }

private:
    std::uint64_t forks_;
    union {
        T object_;
    };
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/own_process.ipp>
#endif
