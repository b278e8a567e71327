// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `secret`: text that is wiped from memory when it is no longer needed, and that nothing prints.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Owns a copy of some text; overwrites it before the memory is given back. One thread at a time.
class secret {
public:
    secret() = default;
    explicit secret(std::string_view text);     ///< copies the text
    secret(secret&& other) noexcept;            ///< leaves nothing behind
    secret& operator=(secret&& other) noexcept; ///< overwrites what it had
    ~secret();

    /// The text itself, for whoever signs or sends it; valid as long as this object.
    [[nodiscard]] std::string_view reveal() const noexcept { return {bytes_, size_}; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; } ///< whether there is no text

private:
    char* bytes_{};
    std::size_t size_{};
};

/// Overwrites what `text` points to, in a way that no optimizer leaves out.
void wipe(char* text, std::size_t size) noexcept;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/rest/impl/secret.ipp>
#endif
