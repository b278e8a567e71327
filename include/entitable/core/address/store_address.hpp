// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `store_address`: the address of a store as text, parsed: which component opens it, where it is, and its options.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/chrono.hpp>
#include <entitable/core/result.hpp>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The components whose stores have addresses.
enum class store_component : std::uint8_t {
    memory,   ///< `memory:NAME`
    file,     ///< `file:PATH`, or a path that ends in `.db`
    postgres, ///< `postgres://...`, `postgresql://...`
    azure,    ///< `https://...`, `http://...`, a connection string
    shards,   ///< `shards:CATALOGUE/MAP`
};

/// An address of a store. It may contain a password, a key or a signature: it is never part of an error. Thread safety: one thread at a
/// time.
class store_address {
public:
    /// Parses an address. `env:NAME` stands for the address in that environment variable.
    ///
    /// Errors: InvalidInput for text of no known form, an environment variable that is not set or contains `env:` again, an option without
    /// a name or given twice, a `%` without two hexadecimal digits. No error contains a part of the address other than the names of options
    /// and of the environment variable.
    [[nodiscard]] static result<store_address> parse(std::string_view text);

    /// Returns the component that opens the store.
    [[nodiscard]] store_component component() const noexcept { return component_; }
    /// Returns the text after the scheme, without options: a path, a name, `CATALOGUE/MAP`; the whole text for `postgres` and `azure`.
    [[nodiscard]] std::string const& place() const noexcept { return place_; }

    /// Returns an option and marks it as known: whether it is `true`. Absent: `otherwise`. Errors: InvalidInput for other values than `true`
    /// and `false`.
    [[nodiscard]] result<bool> flag(std::string_view name, bool otherwise);
    /// Returns an option and marks it as known: the position of its value in `values`. Absent: nullopt. Errors: InvalidInput names the
    /// accepted values.
    [[nodiscard]] result<std::optional<std::size_t>> one_of(
        std::string_view name, std::initializer_list<std::string_view> values);
    /// Returns an option and marks it as known: a number from `least` to `most`. Absent: nullopt. Errors: InvalidInput names the limits.
    [[nodiscard]] result<std::optional<std::size_t>> number(std::string_view name, std::size_t least, std::size_t most);
    /// Returns an option and marks it as known. Absent: nullopt.
    [[nodiscard]] std::optional<std::string> text(std::string_view name);
    /// Checks that each option is known. Errors: InvalidInput names the first unknown option and the known ones.
    [[nodiscard]] result<void> check_options() const;

    /// Removes an option from the text of an address in which the rest of the query belongs to somebody else (`postgres`, `azure`), so that
    /// the functions above find it. Errors: InvalidInput if it is given twice.
    [[nodiscard]] result<void> take_from_query(std::string_view name);

private:
    struct option {
        std::string name;
        std::string value;
    };
    [[nodiscard]] result<void> add_options(std::string_view query);
    [[nodiscard]] result<void> add_option(std::string_view pair);
    [[nodiscard]] option const* find(std::string_view name);

    store_component component_{store_component::memory};
    std::string place_;
    std::vector<option> options_;
    std::vector<std::string> known_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/address/impl/store_address.ipp>
#endif

#endif
