// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Keys made from columns: `event+distance`, `bib:10`, `'BIB:'+bib:5`.

#include <entitable/client/mapping/key_layout.hpp>
#include <entitable/core/function_ref.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// A key as an expression of columns. Components are separated by `+`, and in the key by "__", as in keys that ENTITABLE declares:
///
///     NAME           the text of a column
///     NAME:WIDTH     a whole number, padded with zeros to WIDTH digits, 1 to 19
///     NAME:escaped   any text, also with characters that keys refuse
///     'TEXT'         constant text, without a separator after it
class key_expression {
public:
    /// Parses an expression. Errors: InvalidInput says what is wrong.
    [[nodiscard]] static entitable::result<key_expression> parse(std::string_view given);

    /// The key of a single column, unchanged.
    [[nodiscard]] static key_expression column(std::string name);

    /// Names of the columns, in their order in the key.
    [[nodiscard]] std::vector<std::string> const& columns() const noexcept { return columns_; }

    /// Finds the text of the column `columns()[at]` in a record; nullopt if it is absent.
    using find_text = entitable::function_ref<std::optional<std::string_view>(std::size_t at)>;
    /// Appends the key of a record. Errors: InvalidInput names the column without a value, or the number that is too long;
    /// KeyNotSplittable names the column whose text contains the separator.
    [[nodiscard]] entitable::result<void> append(std::string& key, find_text const& find) const;

private:
    struct part {
        std::string text; ///< a literal, or the name of a column
        bool literal{};
        bool escaped{};
        std::size_t width{};
    };

    std::vector<part> parts_;
    std::vector<std::string> columns_;
    bool plain_{}; ///< one column, unchanged

    [[nodiscard]] entitable::result<void> append_padded(std::string& key, part const& one, std::string_view text) const;
};

} // namespace tool
