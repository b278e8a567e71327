// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The definitions for `failing_new.hpp`, and the operators. Included by one file of a program; not with a sanitizer of
/// Clang, whose runtime has operators of its own.

#include <support/failing_new.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

namespace entitable_test {
namespace {

thread_local std::size_t allowed_allocations = allocation_limit::none;
thread_local std::size_t counted_allocations = 0;
std::atomic<std::size_t> used_blocks{0};

void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (++counted_allocations > allowed_allocations) { return nullptr; }
    std::size_t const whole = (size + alignment - 1) / alignment * alignment;
    void* const block = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
    used_blocks += block != nullptr ? 1 : 0;
    return block;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
    void* const block = allocate(size, alignment);
    if (block == nullptr) { throw std::bad_alloc{}; }
    return block;
}

void release(void* block) noexcept {
    used_blocks -= block != nullptr ? 1 : 0;
    std::free(block);
}

} // namespace

allocation_limit::allocation_limit(std::size_t allowed) noexcept {
    counted_allocations = 0;
    allowed_allocations = allowed;
}
allocation_limit::~allocation_limit() { allowed_allocations = none; }
std::size_t allocation_limit::count() const noexcept { return counted_allocations; }
std::size_t blocks_in_use() noexcept { return used_blocks; }

} // namespace entitable_test

void* operator new(std::size_t size) {
    return entitable_test::allocate_or_throw(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return entitable_test::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
    return entitable_test::allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void operator delete(void* block) noexcept { entitable_test::release(block); }
void operator delete(void* block, std::size_t) noexcept { entitable_test::release(block); }
void operator delete(void* block, std::align_val_t) noexcept { entitable_test::release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { entitable_test::release(block); }
void operator delete(void* block, std::nothrow_t const&) noexcept { entitable_test::release(block); }
