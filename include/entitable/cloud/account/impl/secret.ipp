// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/account/secret.hpp>

#include <cstring>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL secret::secret(std::string_view text)
    : bytes_(text.empty() ? nullptr : new char[text.size()]), size_(text.size()) {
    if (!text.empty()) { std::memcpy(bytes_, text.data(), text.size()); }
}

ENTITABLE_DECL secret::secret(secret&& other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}

ENTITABLE_DECL secret& secret::operator=(secret&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    return *this;
}

ENTITABLE_DECL secret::~secret() {
    wipe(bytes_, size_);
    delete[] bytes_;
}

ENTITABLE_END_NAMESPACE
