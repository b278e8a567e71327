// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A checkpoint in memory, which copies share.

#include <entitable/core/result.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace entitable_test {

/// A checkpoint in memory.
struct held_checkpoint {
    std::shared_ptr<std::optional<std::string>> text = std::make_shared<std::optional<std::string>>();
    [[nodiscard]] entitable::result<std::optional<std::string>> load() const { return *text; }
    [[nodiscard]] entitable::result<void> save(std::string_view given) const {
        text->emplace(given);
        return {};
    }
    [[nodiscard]] entitable::result<void> clear() const {
        text->reset();
        return {};
    }
};

} // namespace entitable_test
