// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A tracked entity: the object that a program changes, and the known state of its row.

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/tracking/detail/row_merge.hpp>
#include <entitable/work/tracking/tracking_options.hpp>

#include <array>
#include <memory>
#include <optional>
#include <span>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A request whose response was lost.
struct unsettled_save {
    std::vector<mutation> changes;
    error why; ///< includes the operation id, if there is one
};

/// The row as another writer has stored it.
struct row_conflict {
    std::optional<row> theirs; ///< nullopt if it was removed
    etag version;
    bool may_be_mine{}; ///< whether a write of this unit whose response was lost may have made it
};

/// The state of a tracked entity, without its type. It never moves.
class tracked_entity {
public:
    tracked_entity() = default;
    tracked_entity(tracked_entity const&) = delete;
    tracked_entity& operator=(tracked_entity const&) = delete;
    virtual ~tracked_entity() = default;

    /// Encodes the object as a row.
    [[nodiscard]] virtual result<void> encode(row& into) const = 0;
    /// Reads the object from a row; unchanged after an error.
    [[nodiscard]] virtual result<void> decode(row_view from, reading mode) = 0;
    /// Encodes another object that is read from this row.
    [[nodiscard]] virtual result<row> encoded_as_read(row_view from, reading mode) const = 0;
    /// The members declared with `formerly`.
    [[nodiscard]] virtual std::span<renamed_property const> renamed() const noexcept = 0;
    /// Sets the members declared with etag(...).
    virtual void take_version(row_view from) = 0;
    /// The object.
    [[nodiscard]] virtual void const* address() const noexcept = 0;
    /// Identifies its type.
    [[nodiscard]] virtual void const* type() const noexcept = 0;

    [[nodiscard]] std::string_view partition_key() const noexcept { return base.partition_key(); }
    [[nodiscard]] std::string_view row_key() const noexcept { return base.row_key(); }
    /// The object's encoding when it last equalled its row.
    [[nodiscard]] row_view own() const noexcept { return own_row.payload().empty() ? base.view() : own_row.view(); }

    row base;    ///< the row as last read or written; for an added entity only the keys are meaningful
    row own_row; ///< the value of `own()`, if the base has other bytes
    etag_condition version{any_etag}; ///< version of the base
    bool there{};                     ///< whether the row exists, as far as is known
    bool complete{};                  ///< whether the base has all properties of the row
    bool removed{};                   ///< whether the entity is to be removed
    entitable::removal sums{};        ///< whether a removed entity is still counted in sums
    bool replaces{};                  ///< removed and added again: the whole row is written
    bool must_read{};                 ///< the version is unknown
    bool came_late{};                 ///< a lost write of the entity may still be applied
    std::optional<row_conflict> conflict;
    std::shared_ptr<unsettled_save> unsettled; ///< the request that contained its last change
    std::size_t unsettled_at{};                ///< index of that change
    std::size_t place{};                       ///< index in the list of its tracker
};

/// Adds a member with a former name to a list.
template <class Entity, auto Member>
constexpr void add_rename([[maybe_unused]] renamed_property*& to, [[maybe_unused]] std::string_view name) noexcept {
    if constexpr (is_changed<Member> && parts_of_member<Member> == 2) { *to++ = {name, history_of<Member>::former}; }
}
template <class Entity, auto... Members>
[[nodiscard]] constexpr auto make_renames(members<0, Members...>) noexcept {
    constexpr std::size_t count = (std::size_t{0} + ... + (is_changed<Members> ? parts_of_member<Members> - 1 : 0U));
    std::array<renamed_property, count + 1> made{}; // the last element is empty
    [[maybe_unused]] renamed_property* to = made.data();
    [[maybe_unused]] std::size_t index = 1;
    (add_rename<Entity, Members>(to, mapping<Entity>::property_names[index++]), ...);
    return made;
}
/// The members of an entity with a former name, and one empty element.
template <class Entity>
inline constexpr auto renames_of = make_renames<Entity>(typename mapping<Entity>::properties{});

/// Identifies a type by its address.
template <class Entity>
inline constexpr char type_mark{};

/// A tracked entity with its object.
template <class Entity>
class tracked_object final : public tracked_entity {
public:
    tracked_object() = default;
    explicit tracked_object(Entity given) : object(std::move(given)) {}

    result<void> encode(row& into) const override { return to_row(object, into); }
    result<void> decode(row_view from, reading mode) override {
        Entity fresh{};
        auto read = from_row(from, fresh, mode);
        if (read) { object = std::move(fresh); }
        return read;
    }
    result<row> encoded_as_read(row_view from, reading mode) const override {
        Entity fresh{};
        ENTITABLE_CHECK(from_row(from, fresh, mode));
        return to_row(fresh);
    }
    std::span<renamed_property const> renamed() const noexcept override {
        return {renames_of<Entity>.data(), renames_of<Entity>.size() - 1};
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
