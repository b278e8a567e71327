// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Results of a unit of work: its changes, their outcomes, conflicts, and the entities that a query found.

#include <entitable/work/tracking/detail/entity_tracker.hpp>

#include <iterator>
#include <optional>
#include <type_traits>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The object of a tracked entity.
template <class Entity>
[[nodiscard]] Entity& object_of(tracked_entity& of) noexcept {
    return static_cast<tracked_object<Entity>&>(of).object;
}

} // namespace detail

/// A change that a unit of work has not saved yet, or has tried to save. Valid until the entity is detached, or the
/// unit is cleared.
template <mapped_entity First, mapped_entity... More>
class tracked_change {
public:
    tracked_change(detail::tracked_entity& of, entity_state state) noexcept
        : of_(&of), state_(state) {} ///< made by the unit

    /// Kind of change: added, modified or removed; unknown if its response was lost.
    [[nodiscard]] entity_state state() const noexcept { return state_; }
    /// Returns the entity as an E; null if the entity has a different type: `as<order>()`.
    template <mapped_entity E>
    [[nodiscard]] E* as() const noexcept {
        static_assert(std::is_same_v<E, First> || (std::is_same_v<E, More> || ...),
            "this entity type does not belong to the unit of work");
        return of_->type() == &detail::type_mark<E> ? &detail::object_of<E>(*of_) : nullptr;
    }
    /// The entity, if the unit has one type.
    [[nodiscard]] First& entity() const noexcept
        requires(sizeof...(More) == 0)
    {
        return detail::object_of<First>(*of_);
    }
    /// First key of its row.
    [[nodiscard]] std::string_view partition_key() const noexcept { return of_->partition_key(); }
    /// Second key of its row.
    [[nodiscard]] std::string_view row_key() const noexcept { return of_->row_key(); }
    /// Whether it has a conflict: see `unit_of_work::conflict_of`.
    [[nodiscard]] bool in_conflict() const noexcept { return of_->conflict.has_value(); }

private:
    detail::tracked_entity* of_;
    entity_state state_;
};

/// The outcome of one change.
template <mapped_entity First, mapped_entity... More>
class change_outcome : public tracked_change<First, More...> {
public:
    /// Made by the unit of work.
    explicit change_outcome(
        detail::tracked_entity& of, entity_state state, save_outcome what, std::optional<entitable::error> why)
        : tracked_change<First, More...>(of, state), outcome(what), error(std::move(why)) {}

    save_outcome outcome; ///< whether it was saved, or the reason why not
    /// The error, if it was not saved. For a change that was not sent: why another change was refused, if known.
    std::optional<entitable::error> error;
};

/// The outcomes of all changes of a save.
template <mapped_entity First, mapped_entity... More>
struct saved_changes {
    std::vector<change_outcome<First, More...>> changes; ///< one outcome per change
    std::vector<change_outcome<First, More...>> failed;  ///< changes that were not saved, except dropped changes

    [[nodiscard]] bool good() const noexcept { return failed.empty(); } ///< whether no change failed
};

/// A conflict: two writers have changed the same entity.
template <mapped_entity Entity>
struct conflict {
    std::optional<Entity> original; ///< as last read or written here; absent if the entity was added here
    Entity mine{};                  ///< the version of this unit
    std::optional<Entity> theirs;   ///< as stored now; absent if the entity was removed
    /// Properties that both writers changed, to different values. Empty if the conflict is not about properties: another writer removed or
    /// inserted the entity, or this unit was to remove it, or the other writer changed different properties.
    std::vector<std::string> properties;
    /// Whether this unit may have written the stored row, by a request whose response was lost.
    bool may_be_mine{};
};

/// The entities that a query found: references that are valid until the entities are detached, or the unit is cleared.
template <mapped_entity Entity>
class tracked_entities {
public:
    /// Iterates over the entities.
    class iterator {
    public:
        using iterator_concept = std::random_access_iterator_tag;  ///< over an array of pointers
        using iterator_category = std::random_access_iterator_tag; ///< as above
        using value_type = Entity;                                 ///< the entity type
        using difference_type = std::ptrdiff_t;                    ///< type of index differences
        using pointer = Entity*;                                   ///< an entity
        using reference = Entity&;                                 ///< an entity

        iterator() = default;
        explicit iterator(Entity* const* at) noexcept : at_(at) {}         ///< used by `begin` and `end`
        [[nodiscard]] Entity& operator*() const noexcept { return **at_; } ///< the entity
        [[nodiscard]] Entity* operator->() const noexcept { return *at_; } ///< the entity
        [[nodiscard]] Entity& operator[](std::ptrdiff_t by) const noexcept {
            return *at_[by];
        } ///< the entity at that distance
        /// Moves to the next entity.
        iterator& operator++() noexcept { return *this += 1; }
        iterator operator++(int) noexcept { return iterator{at_++}; }
        /// Moves to the previous entity.
        iterator& operator--() noexcept { return *this -= 1; }
        iterator operator--(int) noexcept { return iterator{at_--}; }
        /// Moves by that distance.
        iterator& operator+=(std::ptrdiff_t by) noexcept {
            at_ += by;
            return *this;
        }
        iterator& operator-=(std::ptrdiff_t by) noexcept { return *this += -by; } ///< moves back by that distance
        /// Returns the iterator at that distance.
        [[nodiscard]] friend iterator operator+(iterator from, std::ptrdiff_t by) noexcept { return from += by; }
        [[nodiscard]] friend iterator operator+(std::ptrdiff_t by, iterator from) noexcept { return from += by; }
        /// Returns the iterator at that distance backwards, or the distance of two iterators.
        [[nodiscard]] friend iterator operator-(iterator from, std::ptrdiff_t by) noexcept { return from -= by; }
        [[nodiscard]] friend std::ptrdiff_t operator-(iterator one, iterator other) noexcept {
            return one.at_ - other.at_;
        }
        [[nodiscard]] auto operator<=>(iterator const&) const = default; ///< compares positions

    private:
        Entity* const* at_{};
    };

    tracked_entities() = default;
    explicit tracked_entities(std::vector<Entity*> all) noexcept : all_(std::move(all)) {} ///< made by the unit

    [[nodiscard]] iterator begin() const noexcept { return iterator{all_.data()}; }             ///< the first
    [[nodiscard]] iterator end() const noexcept { return iterator{all_.data() + all_.size()}; } ///< after the last
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }                     ///< number of entities
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); } ///< whether there are no entities
    /// Returns an entity; ends the program if there is none at `index`, by `ENTITABLE_ASSERT`.
    [[nodiscard]] Entity& operator[](std::size_t index) const {
        ENTITABLE_ASSERT(index < all_.size(), "index out of range: the query returned fewer entities",
            detail::misuse("check size() first"));
        return *all_[index];
    }

private:
    std::vector<Entity*> all_;
};

ENTITABLE_END_NAMESPACE
