// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `index_family`: a table, its indexes and their known states, without types, for the engine.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/index/index_options.hpp>
#include <entitable/client/companions/index/intent.hpp>
#include <entitable/client/companions/log/detail/log_writer.hpp>
#include <entitable/client/mapping/key_pattern.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/shared.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A companion of the entities of a table: an index, sums, or the change log.
struct index_shape {
    std::string_view name;
    bool elsewhere{};           ///< its partitions differ from those of its entities (a global index)
    bool unique{};              ///< allows at most one entity per key
    std::uint64_t definition{}; ///< digest of its keys and properties
    type_pattern const* type{}; ///< distinguishes its rows from other rows; null for a log, whose rows are system rows
    type_pattern const* of{};   ///< distinguishes its entities; null for sums and logs, which may have several types
    /// Returns the keys of the entity of an index row.
    result<row_keys> (*owner_of)(row_view index_row, reading mode){};
    /// Returns the row with new, empty sums for the keys of a row of sums; null for an index.
    result<row> (*without_sums)(row_view sums, reading mode){};

    [[nodiscard]] bool is_sum() const noexcept { return without_sums != nullptr; }
    [[nodiscard]] bool is_log() const noexcept { return type == nullptr; }
    [[nodiscard]] bool is_index() const noexcept { return !is_sum() && !is_log(); }
    /// Whether a row belongs to it.
    [[nodiscard]] bool has(std::string_view partition_key, std::string_view row_key) const noexcept {
        return !is_log() && type->matches(partition_key, row_key);
    }
    /// Returns "the index by_age".
    [[nodiscard]] std::string described() const;
};

/// Returns the declaration of a change log. `feed_lanes`: 0 without announcements.
[[nodiscard]] index_shape shape_of_log(std::size_t lanes, std::size_t feed_lanes);

/// The rows of an entity in all indexes; nullopt if an optional component is absent.
using index_rows = std::vector<std::optional<row>>;
using derive_index_rows = result<void> (*)(row_view entity, reading mode, index_rows& made);

/// An entity that was read from its row, or none. Only its `entity_type` knows its type.
class decoded_entity {
public:
    decoded_entity() = default;
    /// Owns an entity, which `remove` deletes.
    decoded_entity(void* made, void (*remove)(void*)) noexcept : object_(made), remove_(remove) {}
    decoded_entity(decoded_entity&& other) noexcept
        : object_(std::exchange(other.object_, nullptr)), remove_(other.remove_) {}
    decoded_entity& operator=(decoded_entity&& other) noexcept {
        std::swap(object_, other.object_);
        std::swap(remove_, other.remove_);
        return *this;
    }
    ~decoded_entity() {
        if (object_ != nullptr) { remove_(object_); }
    }

    [[nodiscard]] void* get() const noexcept { return object_; } ///< null without an entity

private:
    void* object_{};
    void (*remove_)(void*){};
};

/// Counts the entities of one type in sums. `entity`: a decoded entity of that type; `stored`: its row.
struct counted_type {
    std::size_t companion{}; ///< position of the sums in the family
    /// Appends the row key of the sums in which an entity is counted. Errors: InvalidInput if they would be in another
    /// partition.
    result<void> (*key)(void const* entity, row_view stored, std::string& to){};
    /// Returns the row of these sums, without the sums.
    result<row> (*place)(void const* entity, row_view stored){};
    /// Returns a row of sums with one entity subtracted, and then another one added. Either may be null. Without `sums`, they are new.
    result<row> (*fold)(row_view const* sums, void const* less, void const* more, row_view stored, reading mode){};
    /// Whether one entity may take the place of another one in their row of sums without changing it.
    result<bool> (*alike)(void const* before, void const* after, row_view stored){};
};

/// An entity type of a family.
struct entity_type {
    type_pattern const* type{};
    bool indexed{};
    std::vector<counted_type> sums{};
    /// Decodes an entity.
    result<decoded_entity> (*decode)(row_view entity, reading mode){};
    /// Makes the rows of a decoded entity in its indexes. Stops at an error.
    result<void> (*derive)(void* entity, function_ref<result<void>(std::size_t index, row&& made)> take){};

    [[nodiscard]] bool maintained() const noexcept { return indexed || !sums.empty(); }
};

/// The index states that a table relies on until its lease ends. They do not change once they are shared.
struct index_states : counted {
    std::vector<index_state> states; ///< state of each index
    std::string unknown; ///< name of an index of these entities that others maintain and this table does not declare
    bool declared{};     ///< whether any index of these entities has a stored state
    guid log{};          ///< the declared log; a nil one without a log
    // The end of the lease by both clocks: the monotonic clock may stop while the computer is suspended.
    steady_time until{(steady_time::min)()};
    date_time until_date{};

    [[nodiscard]] bool has_lease(clock& time) const noexcept {
        return time.steady() < until && time.now() < until_date;
    }

    /// Whether a write that relies on one of two sets of states may also rely on the other set.
    [[nodiscard]] bool same_as(index_states const& other) const {
        return states == other.states && unknown == other.unknown && declared == other.declared && log == other.log;
    }
    [[nodiscard]] bool keeps(std::size_t index) const noexcept { return states[index] != index_state::retired; }
    [[nodiscard]] bool all_kept() const noexcept {
        for (index_state const each : states) {
            if (each == index_state::retired) { return false; }
        }
        return true;
    }
};

/// The states that families of one table know.
struct known_index_states : counted {
    std::mutex guard;
    shared<index_states> states;
};

/// A table and its indexes and sums. Safe to use from several threads.
class index_family : public counted {
public:
    index_family(table_core entities, std::vector<index_shape> indexes, std::vector<table_core> tables,
        derive_index_rows derived, std::vector<entity_type> of, table_options with, shared<log_of_table> logged = {})
        : main(std::move(entities)),
          shapes(std::move(indexes)),
          places(std::move(tables)),
          derive(derived),
          types(std::move(of)),
          options(std::move(with)),
          log(std::move(logged)),
          maintains_all(std::ranges::all_of(types, &entity_type::maintained)),
          seeded_(options.seed) {}

    table_core const main;
    std::vector<index_shape> const shapes;
    std::vector<table_core> const places; ///< the table of each index
    derive_index_rows const derive;
    std::vector<entity_type> const types; ///< the entity types
    table_options const options;
    shared<log_of_table> const log; ///< the change log; null without one
    bool const maintains_all;       ///< whether each entity type has an index or sums

    /// The stored state of an index, and the definition that the index was built from.
    struct stored_state {
        index_state state{};
        std::uint64_t definition{};
        bool names_entities{}; ///< whether it stores which entities it indexes
        guid log{};            ///< of a log: the log that it declares
        etag version;          ///< empty if there is no stored state
    };
    /// The stored declaration of the indexes of these entities.
    struct declaration {
        std::vector<stored_state> own; ///< stored state of each index
        std::string unknown;           ///< see `index_states`
        bool declared{};               ///< see `index_states`
    };

    /// Checks that the keys of indexes in one table can be distinguished. Errors: InvalidInput.
    [[nodiscard]] result<void> check_places() const;
    /// Returns the states, read again if the lease has ended. Errors: IndexDefinitionDiffers if an index was built from a different declaration.
    [[nodiscard]] result<shared<index_states>> states(call& context) const;
    /// Shares the known states with another family of the same table, before either is used by other threads.
    void share_states_of(index_family const& other) { known_ = other.known_; }
    /// Reads the states, even within the lease.
    [[nodiscard]] result<shared<index_states>> read_states(call& context) const;
    /// Reads the whole stored declaration.
    [[nodiscard]] result<declaration> read_declaration(call& context) const;
    /// Writes the state of an index under its previous version; drops the cached states.
    [[nodiscard]] result<void> set_state(
        std::size_t index, index_state state, stored_state const& before, call& context) const;
    /// Writes the state of an index that need not be declared here, and leaves the rest of its row unchanged.
    [[nodiscard]] result<void> set_word(
        row_keys const& of, std::string_view state, etag const& version, call& context) const;
    /// Writes the first state of all indexes, in one transaction. False if some already have a state.
    [[nodiscard]] result<bool> declare(index_state state, call& context) const;
    [[nodiscard]] result<stored_state> stored_state_of(std::size_t index, call& context) const;
    /// Returns an error if readers may not use an index yet, or may no longer use it.
    [[nodiscard]] result<void> check_ready(std::size_t index, call& context) const;
    /// Returns the states for a write. Errors: DeclarationDiffers or DeclarationMissing if the write would miss an index that others
    /// maintain.
    [[nodiscard]] result<shared<index_states>> states_to_write(call& context) const;
    /// Returns the type of an entity; null if no entity type of the family has these keys.
    [[nodiscard]] entity_type const* type_of(std::string_view partition_key, std::string_view row_key) const noexcept;

    /// Returns the rows of an entity in all indexes; no rows without an entity.
    [[nodiscard]] result<index_rows> rows_for(std::optional<row_view> const& entity) const;
    /// Whether the rows of an index are in partitions other than those of its entities.
    [[nodiscard]] bool has_rows_elsewhere() const noexcept;
    /// Returns the position of an index by its name.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
    /// Returns a random seed for a call.
    [[nodiscard]] std::uint64_t fresh_seed() const;
    /// Returns a seed for random ids of one call; 0 without a seed in the options.
    [[nodiscard]] std::uint64_t seed_of_ids() const { return options.seed == 0 ? 0 : fresh_seed(); }
    /// Returns a random id; with a seed, one that follows from it.
    [[nodiscard]] guid draw_guid() const;

private:
    [[nodiscard]] result<void> check_writable(index_states const& known) const;
    void forget() const;

    mutable random_source seeded_;
    shared<known_index_states> known_{shared<known_index_states>::make()};
};

/// Replaces the family of a moved-from table with indexes and sums: every request returns InvalidInput.
[[nodiscard]] shared<index_family> make_absent_family(std::size_t indexes);
/// Returns the family; after a move, a family of as many indexes that returns InvalidInput.
template <std::size_t Indexes>
[[nodiscard]] shared<index_family> const& family_or_absent(shared<index_family> const& family) {
    if (!family) {
        static shared<index_family> const absent = make_absent_family(Indexes);
        return absent;
    }
    return family; // NOLINT(bugprone-return-const-ref-from-parameter): refers to a member of the caller
}

/// Adds the name of the index to the error of a row that cannot be made.
[[nodiscard]] failure of_index(failure why, std::string_view name);
/// Returns the same family with other options for its calls.
[[nodiscard]] shared<index_family> with_options(index_family const& of, call_options options);
/// Returns the table of the entities of a family, whose writes maintain the indexes and sums.
[[nodiscard]] table_core core_of(shared<index_family> const& family);

/// Returns the keys of a row.
[[nodiscard]] inline row_keys row_keys_of(row_view of) {
    return {std::string{of.partition_key}, std::string{of.row_key}};
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/index_family.ipp>
#endif

#endif
