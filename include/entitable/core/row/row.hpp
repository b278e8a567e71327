// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `row_view`: one entity in stored form, with keys and typed properties by reference; `row`: the same, owned, in one block of memory.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/date_time.hpp>
#include <entitable/core/etag.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/row/format.hpp>
#include <entitable/core/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {
class property_finder;
} // namespace detail

/// One property of a row: its name and, unless it is absent, its value.
struct property_view {
    std::string_view name; ///< name as stored
    edm_type type{};       ///< the EDM type, even if the property is absent
    bool present{true};    ///< whether it has a value
    value_view value;      ///< value of the property; meaningless when absent
};

/// Iterates over the properties of a row in their stored order. Never reads outside the given bytes.
class property_cursor {
public:
    /// Starts before the first property of a payload, whose bytes must outlive it.
    ENTITABLE_LAZY explicit property_cursor(std::string_view payload) noexcept;

    /// Reads the next property into `out`; false at the end, or if the bytes are damaged (then `damaged()`).
    ENTITABLE_LAZY [[nodiscard]] bool next(property_view& out) noexcept;
    /// Whether the bytes read so far are malformed or of an unknown version.
    [[nodiscard]] bool damaged() const noexcept { return damaged_; }
    /// Number of properties left, including absent ones.
    [[nodiscard]] std::size_t left() const noexcept { return left_; }

private:
    friend class detail::property_finder;

    // Uses pointers, because the bounds of views would be checked a second time.
    char const* descriptor_{};
    char const* descriptor_end_{};
    char const* values_{};
    char const* values_end_{};
    std::size_t left_{};
    bool damaged_{};
};

/// An entity by reference: keys, and properties in the stored form. Valid as long as the bytes it refers to.
struct row_view {
    std::string_view partition_key; ///< the first key
    std::string_view row_key;       ///< the second key
    std::string_view payload;       ///< properties in the stored form: `row_format`
    std::string_view etag_text{};   ///< the ETag as the service returned it; empty if it follows from the Timestamp

    /// The Timestamp; 1601 if the payload is too short to contain a Timestamp.
    [[nodiscard]] date_time timestamp() const noexcept {
        return payload.size() < row_format::header_size
            ? date_time{}
            : date_time{row_format::load<std::int64_t>(payload.data() + row_format::timestamp_offset)};
    }
    /// The version: the service's ETag, or the ETag made from the Timestamp.
    [[nodiscard]] entitable::etag etag() const {
        return etag_text.empty() ? entitable::etag::of(timestamp()) : entitable::etag{etag_text};
    }

    /// Returns the value of a property, by its exact name; nullopt if it is absent.
    ENTITABLE_LAZY [[nodiscard]] std::optional<value_view> find(std::string_view name) const noexcept;
};

/// Checks that `payload` is a complete row of a known version. Errors: RowMalformed.
ENTITABLE_LAZY [[nodiscard]] result<void> check_payload(std::string_view payload);

namespace detail {
struct row_filling;
} // namespace detail

/// An entity that owns its bytes: keys, payload, and the ETag unless it follows from the Timestamp, in one block.
class row {
public:
    row() = default;
    /// Copies the parts.
    ENTITABLE_LAZY row(std::string_view partition_key, std::string_view row_key, std::string_view payload,
        std::string_view etag_text = {});
    row(row const&) = default; ///< copies the bytes
    /// Moves; leaves an empty row behind.
    row(row&& other) noexcept;
    row& operator=(row const&) = default; ///< copies the bytes
    /// Moves; leaves an empty row behind.
    row& operator=(row&& other) noexcept;
    ~row() = default;
    /// Copies a row.
    explicit row(row_view view) : row(view.partition_key, view.row_key, view.payload, view.etag_text) {}
    /// Takes a block: both keys and the payload, concatenated.
    row(std::string block, std::size_t partition_key_size, std::size_t row_key_size) noexcept
        : block_(static_cast<std::string&&>(block)),
          partition_key_size_(partition_key_size),
          row_key_size_(row_key_size) {}
    /// Releases the block for reuse; leaves this row empty.
    ENTITABLE_LAZY [[nodiscard]] std::string release() && noexcept;

    /// Returns a view of this row, valid until the row changes.
    [[nodiscard]] row_view view() const noexcept {
        return {partition_key(), row_key(), payload(), std::string_view{block_}.substr(block_.size() - etag_size_)};
    }
    operator row_view() const noexcept { return view(); } ///< same as `view()`

    /// The first key.
    [[nodiscard]] std::string_view partition_key() const noexcept { return {block_.data(), partition_key_size_}; }
    /// The second key.
    [[nodiscard]] std::string_view row_key() const noexcept {
        return {block_.data() + partition_key_size_, row_key_size_};
    }
    /// The properties in the stored form.
    [[nodiscard]] std::string_view payload() const noexcept {
        std::size_t const keys = partition_key_size_ + row_key_size_;
        return {block_.data() + keys, block_.size() - keys - etag_size_};
    }

private:
    friend struct detail::row_filling;

    std::string block_;
    std::size_t partition_key_size_{};
    std::size_t row_key_size_{};
    std::size_t etag_size_{};
};

namespace detail {

/// Fills a row in place.
struct row_filling {
    /// Empties a row. Returns its block, to which both keys and the payload are appended before `end`.
    [[nodiscard]] static std::string& begin(row& one) noexcept {
        one.block_.clear();
        one.partition_key_size_ = one.row_key_size_ = one.etag_size_ = 0;
        return one.block_;
    }
    static void end(row& one, std::size_t partition_key_size, std::size_t row_key_size) noexcept {
        one.partition_key_size_ = partition_key_size;
        one.row_key_size_ = row_key_size;
    }
};

} // namespace detail

/// Builds a row from named values; absent values (an empty optional) have an entry in the descriptor.
class row_builder {
public:
    /// Starts without properties.
    row_builder(std::string_view partition_key, std::string_view row_key)
        : partition_key_(partition_key), row_key_(row_key) {}

    /// Appends a property. A property with an explicit type may be absent and still has an entry in the descriptor. Add each name once.
    void add(std::string_view name, value_view value) { put(name, value.type(), &value, false); }
    ENTITABLE_LAZY void add(std::string_view name, edm_type type, std::optional<value_view> value);
    /// Builds the row, without Timestamp and ETag. The builder stays usable.
    ENTITABLE_LAZY [[nodiscard]] row build() const;
    /// Does the same into a row whose memory is reused.
    ENTITABLE_LAZY void build(row& into) const;
    /// Starts again without properties, for another row. The memory is reused.
    ENTITABLE_LAZY void restart(std::string_view partition_key, std::string_view row_key);

private:
    ENTITABLE_LAZY void put(std::string_view name, edm_type type, value_view const* value, bool nullable);

    std::string partition_key_;
    std::string row_key_;
    std::string descriptor_;
    std::string values_;
    std::uint16_t count_{};
};

/// Merges the properties of `change` into those of `base`, as Merge stores them. A property that is absent in `change` retains its old
/// value (source: "Merge Entity": null is ignored).
ENTITABLE_LAZY [[nodiscard]] std::string merged_payload(std::string_view base, std::string_view change);

/// Writes the Timestamp into a payload.
inline void set_timestamp(std::string& payload, date_time timestamp) noexcept {
    row_format::store(payload.data() + row_format::timestamp_offset, timestamp.ticks);
}

/// Size of an entity as the service measures it, which must not exceed 1 MiB: 4 + 2 * key units + for each property 8 + 2 * name units +
/// the value (source: the storage team's note on the size of an entity, 2011).
ENTITABLE_LAZY [[nodiscard]] std::size_t service_size(row_view row) noexcept;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/row/detail/property_finder.hpp>
#include <entitable/core/row/impl/row.ipp>
#endif

#endif
