// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// An entity that is tracked: the object that a program changes, and what is known of its row.

#include <entitable/mapping/codec.hpp>
#include <entitable/request/requests.hpp>
#include <entitable/tracking/tracking_options.hpp>

#include <memory>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A request whose answer was lost.
struct unsettled_save {
    std::vector<mutation> changes;
    error why; ///< its operation id as well, where there is one
};

/// The row as another writer has left it.
struct row_conflict {
    std::optional<row> theirs; ///< nothing where it is gone
    etag version;
    bool may_be_mine{}; ///< a write of this unit whose answer was lost may have made it
};

/// What is known of a tracked entity, without its type. It never moves.
class tracked_entity {
public:
    tracked_entity() = default;
    tracked_entity(tracked_entity const&) = delete;
    tracked_entity& operator=(tracked_entity const&) = delete;
    virtual ~tracked_entity() = default;

    /// The row that the object is stored as.
    [[nodiscard]] virtual result<void> encode(row& into) const = 0;
    /// The object from a row; as it was after an error.
    [[nodiscard]] virtual result<void> decode(row_view from, reading mode) = 0;
    /// What another object, read from this row, is stored as.
    [[nodiscard]] virtual result<row> encoded_as_read(row_view from, reading mode) const = 0;
    /// Members that are filled by etag(...).
    virtual void take_version(row_view from) = 0;
    /// The object.
    [[nodiscard]] virtual void const* address() const noexcept = 0;
    /// Tells its type from others.
    [[nodiscard]] virtual void const* type() const noexcept = 0;

    [[nodiscard]] std::string_view partition_key() const noexcept { return base.partition_key(); }
    [[nodiscard]] std::string_view row_key() const noexcept { return base.row_key(); }
    /// What the object was stored as when it was as its row.
    [[nodiscard]] row_view own() const noexcept { return own_row.payload().empty() ? base.view() : own_row.view(); }

    row base;    ///< the row as it was read or written last; of one that is added only the keys count
    row own_row; ///< what `own()` is, where the base has other bytes
    etag_condition version{any_etag}; ///< of the base
    bool there{};                     ///< there is a row, as far as is known
    bool complete{};                  ///< the base has all properties of the row: it was read, or written whole
    bool removed{};                   ///< to be removed
    bool replaces{};                  ///< was removed and added again: the whole row is written
    bool must_read{};                 ///< its version is not known
    bool came_late{};                 ///< a lost write of it may still arrive
    std::optional<row_conflict> conflict;
    std::shared_ptr<unsettled_save> unsettled; ///< the request of which its last change was a part
    std::size_t unsettled_at{};                ///< which part
    std::size_t place{};                       ///< in the list of its tracker
};

/// Tells one type from another by its address.
template <class Entity>
inline constexpr char type_mark{};

/// With its object.
template <class Entity>
class tracked_object final : public tracked_entity {
public:
    tracked_object() = default;
    explicit tracked_object(Entity given) : object(std::move(given)) {}

    result<void> encode(row& into) const override { return to_row(object, into); }
    result<void> decode(row_view from, reading mode) override {
        Entity fresh{};
        auto read = from_row(from, fresh, mode);
        if (read) {
            object = std::move(fresh);
        }
        return read;
    }
    result<row> encoded_as_read(row_view from, reading mode) const override {
        Entity fresh{};
        if (auto read = from_row(from, fresh, mode); !read) {
            return std::move(read).as_failure();
        }
        return to_row(fresh);
    }
    void take_version(row_view from) override {
        decode_system(from, object, typename mapping<Entity>::system_members{});
    }
    void const* address() const noexcept override { return &object; }
    void const* type() const noexcept override { return &type_mark<Entity>; }

    Entity object{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
