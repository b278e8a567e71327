// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What belongs to one process, and not to a child that it makes by `fork`: handles to which locks belong, which a child would
/// keep after its parent was killed, and objects with mutexes in them, which a thread may hold that the child does not have.

#include <entitable/core/process.hpp>

#include <memory>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A handle of an open file that is closed in every child made by `fork`. A process that is started by `exec` has to be kept from
/// having it by O_CLOEXEC. One thread at a time.
class own_handle {
public:
    own_handle() = default;
    /// As the system's `open`, whose error is left in errno.
    [[nodiscard]] static own_handle open(char const* path, int flags, unsigned mode);
    own_handle(own_handle&&) noexcept = default;
    own_handle& operator=(own_handle&& other) noexcept {
        std::swap(kept_, other.kept_);
        return *this;
    }
    ~own_handle() { close(); }

    /// -1 when there is none.
    [[nodiscard]] int get() const noexcept { return kept_ ? kept_->handle : -1; }
    void close() noexcept;

    struct kept {
        int handle;
        kept* previous;
        kept* next;
    };

private:
    std::unique_ptr<kept> kept_; ///< in the list of all that there are
};

/// An object that is destroyed in the process that made it only. A child leaves it as it is.
template <class T>
class own_object {
public:
    template <class... Arguments>
    explicit own_object(Arguments&&... arguments)
        : forks_(platform::forks()), object_(std::forward<Arguments>(arguments)...) {}
    own_object(own_object const&) = delete;
    own_object& operator=(own_object const&) = delete;
    ~own_object() {
        if (forks_ == platform::forks()) {
            object_.~T();
        }
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
#include <entitable/file/impl/own_process.ipp>
#endif
