// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `shared<T>`: a reference-counted owner, for the handles of this library. std::shared_ptr would require `<memory>` in every user's file.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/atomic.hpp>
#include <entitable/core/config.hpp>

#include <cstddef>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE

/// Base of the objects that `shared` owns: holds the number of owners.
class counted {
protected:
    counted() = default;
    ~counted() = default;

private:
    template <class T>
    friend class shared;
    atomic<std::size_t> owners_{1};

public:
    counted(counted const&) = delete;
    counted& operator=(counted const&) = delete;
};

/// Shares ownership of a `T` with its copies; empty by default. Thread safety: copies may be used from several threads.
template <class T>
class shared {
public:
    shared() = default;
    /// Takes ownership of an object just made with `new`.
    explicit shared(T* made) noexcept : object_(made) {}
    /// Makes a `T` and owns it.
    template <class... Arguments>
    [[nodiscard]] static shared make(Arguments&&... arguments) {
        return shared{new T(std::forward<Arguments>(arguments)...)};
    }

    /// Adds an owner.
    shared(shared const& other) noexcept : object_(other.object_) {
        if (object_ != nullptr) { object_->owners_.fetch_add(1, memory_order::relaxed); }
    }
    shared(shared&& other) noexcept : object_(other.object_) { other.object_ = nullptr; } ///< takes ownership
    /// Releases its object and becomes an owner of the object of `other`.
    shared& operator=(shared other) noexcept {
        T* const owned = object_;
        object_ = other.object_;
        other.object_ = owned;
        return *this;
    }
    ~shared() {
        if (object_ != nullptr && object_->owners_.fetch_sub(1, memory_order::acq_rel) == 1) { delete object_; }
    }

    explicit operator bool() const noexcept { return object_ != nullptr; } ///< whether this owns an object
    [[nodiscard]] T* get() const noexcept { return object_; }              ///< null when empty
    [[nodiscard]] T& operator*() const noexcept { return *object_; }       ///< undefined when empty
    [[nodiscard]] T* operator->() const noexcept { return object_; }       ///< undefined when empty

private:
    T* object_{};
};

ENTITABLE_END_NAMESPACE

#endif
