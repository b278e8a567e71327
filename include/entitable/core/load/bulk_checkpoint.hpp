// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Storage of a bulk load's progress: in a file, in a row of a table, or in your own store.

#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Stores one text. `save` must be atomic and durable: after a crash at any time `load` returns the text of the last completed `save`, or
/// of the interrupted `save`. Used by one process at a time.
template <class T>
concept checkpoint_place = std::copy_constructible<T> && requires(T const& place, std::string_view text) {
    { place.load() } -> std::same_as<result<std::optional<std::string>>>; // absent if nothing is stored
    { place.save(text) } -> std::same_as<result<void>>;
    { place.clear() } -> std::same_as<result<void>>; // succeeds if nothing is stored
};

/// Any storage of a checkpoint, or none. Copies share it.
class bulk_checkpoint {
public:
    bulk_checkpoint() = default; ///< no checkpoint
    /// Copies the storage object.
    template <class T>
        requires(!std::same_as<T, bulk_checkpoint> && checkpoint_place<T>)
    bulk_checkpoint(T place) : place_(new model<T>(std::move(place))) {}

    explicit operator bool() const noexcept { return static_cast<bool>(place_); } ///< whether there is storage
    /// Returns the stored text. Errors: InvalidInput without storage, or after a move; the same for `save` and `clear`.
    [[nodiscard]] result<std::optional<std::string>> load() const { return place_ ? place_->load() : no_place(); }
    /// Stores this text.
    [[nodiscard]] result<void> save(std::string_view text) const { return place_ ? place_->save(text) : no_place(); }
    [[nodiscard]] result<void> clear() const {
        return place_ ? place_->clear() : no_place();
    } ///< removes the stored text

private:
    [[nodiscard]] static failure no_place() {
        return failure{error_code::invalid_input, "this checkpoint has no storage, or was moved from"};
    }
    struct keeper : counted {
        virtual ~keeper() = default;
        virtual result<std::optional<std::string>> load() const = 0;
        virtual result<void> save(std::string_view text) const = 0;
        virtual result<void> clear() const = 0;
    };
    template <class T>
    struct model final : keeper {
        explicit model(T kept) : place(std::move(kept)) {}
        result<std::optional<std::string>> load() const override { return place.load(); }
        result<void> save(std::string_view text) const override { return place.save(text); }
        result<void> clear() const override { return place.clear(); }
        T place;
    };

    shared<keeper> place_;
};

/// A checkpoint in a file: written to a file with ".new" added to the name, flushed to the disk, then renamed. If a rename cannot replace a
/// file (Windows), a crash between removal and renaming leaves only the ".new" file. Errors: StoreFailed, StoreFull.
class file_checkpoint {
public:
    /// Opens nothing. `path` is in UTF-8 if the system supports that.
    explicit file_checkpoint(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] result<std::optional<std::string>> load() const; ///< reads the file
    [[nodiscard]] result<void> save(std::string_view text) const;  ///< replaces the file
    [[nodiscard]] result<void> clear() const;                      ///< removes the file

private:
    std::string path_;
};

/// A checkpoint in a system row of an existing table: RowKey "~!bulk!" and a name. Suits programs that move between machines. Errors: those
/// of the transport; EntityTooLarge for a window of millions of rows.
class row_checkpoint {
public:
    /// `name` distinguishes loads whose checkpoints are in one partition.
    row_checkpoint(any_store through, std::string table, std::string partition_key, std::string name)
        : through_(std::move(through)),
          table_(std::move(table)),
          partition_key_(std::move(partition_key)),
          row_key_(std::move(name)) {
        row_key_.insert(0, system_row::bulk);
    }

    [[nodiscard]] result<std::optional<std::string>> load() const; ///< reads the row
    [[nodiscard]] result<void> save(std::string_view text) const;  ///< replaces the row
    [[nodiscard]] result<void> clear() const;                      ///< removes the row

private:
    any_store through_;
    std::string table_;
    std::string partition_key_;
    std::string row_key_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/load/impl/bulk_checkpoint.ipp>
#endif
