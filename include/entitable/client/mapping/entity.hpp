// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entity`: keys and a set of typed properties, for tables without a fixed schema. A property may have different types
/// in two entities of the same table.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/property_type.hpp>
#include <entitable/core/row/row.hpp>

#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A property of an `entity`.
struct property {
    std::string name;       ///< property name as stored
    entitable::value value; ///< value with its stored type

    friend bool operator==(property const&, property const&) = default;
};

/// An entity whose properties are known at run time. Properties are in the order in which they were set; names are unique.
/// Thread safety: one thread at a time; several threads may read if none changes the entity.
class entity {
public:
    entity() = default;
    /// Makes an entity without properties.
    entity(std::string partition_key, std::string row_key)
        : partition_key_(std::move(partition_key)), row_key_(std::move(row_key)) {}
    /// Copies a row, including its ETag and Timestamp. Check a row from another source with `check_payload`.
    ENTITABLE_LAZY explicit entity(row_view row);

    [[nodiscard]] std::string const& partition_key() const noexcept { return partition_key_; } ///< the first key
    [[nodiscard]] std::string const& row_key() const noexcept { return row_key_; }             ///< the second key
    /// The version that was read; empty if the entity was not read.
    [[nodiscard]] entitable::etag const& etag() const noexcept { return etag_; }
    /// Time of its latest write, by the service's clock; 1601 if the entity was not read.
    [[nodiscard]] date_time timestamp() const noexcept { return timestamp_; }

    /// Properties in the order in which they were set.
    [[nodiscard]] std::vector<property> const& properties() const noexcept { return properties_; }
    /// Returns the value of a property, by its exact name; null if there is none.
    ENTITABLE_LAZY [[nodiscard]] value const* find(std::string_view name) const noexcept;

    /// Sets a property, with the stored type of T; an absent optional removes it.
    template <property_value T>
    entity& set(std::string_view name, T const& given) {
        using shape = detail::property_shape<T>;
        if constexpr (shape::optional) {
            if (!given) {
                erase(name);
                return *this;
            }
            return set_value(name, property_type<typename shape::value_type>::view(*given));
        } else {
            return set_value(name, property_type<T>::view(given));
        }
    }
    entity& set(std::string_view name, std::string_view text) { return set_value(name, value_view{text}); }
    entity& set(std::string_view name, char const* text) { return set(name, std::string_view{text}); }
    /// Sets a property to a value whose type is known at run time.
    ENTITABLE_LAZY entity& set_value(std::string_view name, value_view given);
    /// Removes a property; returns whether it existed.
    ENTITABLE_LAZY bool erase(std::string_view name);

    /// Returns the value of a property as a T. Errors: ResourceNotFound if there is none, RowMismatch if it has a different type, or a
    /// value that T cannot hold. An Int32 can be read as std::int64_t. A `std::optional` is empty if there is no value.
    template <property_value T>
    [[nodiscard]] result<T> get(std::string_view name) const {
        using shape = detail::property_shape<T>;
        value const* const found = find(name);
        result<T> read{std::in_place};
        if (found == nullptr) {
            return shape::optional ? std::move(read) : no_property(name, error_code::resource_not_found);
        }
        bool fits = false;
        if constexpr (shape::optional) {
            fits = property_type<typename shape::value_type>::assign(read->emplace(), found->view());
        } else {
            fits = property_type<T>::assign(*read, found->view());
        }
        return fits ? std::move(read) : no_property(name, error_code::row_mismatch);
    }

    /// Converts the entity to its stored row.
    ENTITABLE_LAZY [[nodiscard]] row to_row() const;

private:
    ENTITABLE_LAZY [[nodiscard]] static failure no_property(std::string_view name, error_code why);

    std::string partition_key_;
    std::string row_key_;
    std::vector<property> properties_;
    entitable::etag etag_;
    date_time timestamp_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/mapping/impl/entity.ipp>
#endif

#endif
