// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `secret`: text that is wiped from memory when it is no longer needed, and that cannot be printed.

#include <entitable/core/wipe.hpp>

#include <cstddef>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Owns a copy of a text; overwrites it before its memory is freed. Thread safety: one thread at a time.
class secret {
public:
    secret() = default;
    explicit secret(std::string_view text);     ///< copies the text
    secret(secret&& other) noexcept;            ///< leaves `other` empty
    secret& operator=(secret&& other) noexcept; ///< overwrites its old text
    ~secret();

    /// Returns the text, for code that signs or sends it; valid for the lifetime of this object.
    [[nodiscard]] std::string_view reveal() const noexcept { return {bytes_, size_}; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; } ///< whether there is no text

private:
    char* bytes_{};
    std::size_t size_{};
};

namespace detail {

/// Wipes a text at the end of a block, even if an exception ends the block. The text must not grow in the meantime.
class wiped_at_end {
public:
    explicit wiped_at_end(std::string& text) noexcept : text_(text) {}
    wiped_at_end(wiped_at_end const&) = delete;
    wiped_at_end& operator=(wiped_at_end const&) = delete;
    ~wiped_at_end() { wipe(text_.data(), text_.size()); }

private:
    std::string& text_;
};

} // namespace detail

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/account/impl/secret.ipp>
#endif
