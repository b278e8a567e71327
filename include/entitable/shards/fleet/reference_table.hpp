// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `reference_table<E>`: a table that is fully copied to every store, so that its rows can be read in the same store as
/// a shard: currencies, products, settings.
///
///     reference_table<currency> currencies{all, "currencies", catalogue};
///     currencies.source().insert({"EUR", 100}).value();           // like any table; not visible yet
///     currencies.publish().value();                               // to every store, as one version
///     auto euro = currencies.beside("customer-42")->get("EUR").value();
///     euro.value; euro.version;

#include <entitable/client/mapping/macro.hpp>
#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/fleet.hpp>
#include <entitable/shards/fleet/rows_content.hpp>
#include <entitable/shards/map/store_attributes.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The copy of a reference table that a store serves, as stored. Format: docs/stored_formats.md.
struct reference_pointer {
    std::string reference{"reference"}; ///< the partition
    std::string who;                    ///< "master" at the source, "copy" in a store
    std::int64_t version{};             ///< 0: none yet
    std::string stored;                 ///< the table that contains the rows
    std::int64_t rows{};                ///< number of rows
    std::int64_t digest{};              ///< digest of the rows: `rows_content`
    std::string making;                 ///< "a;b": tables that are being filled
    std::string retired;                ///< "a;b": tables that were served before
    std::string dropping;               ///< "a;b": tables no longer used
};
ENTITABLE(reference_pointer, partition_key(reference), row_key(who),
    properties(version, stored, rows, digest, making, retired, dropping))

namespace detail {

/// A reference table in one store.
struct reference_place {
    any_store store;
    std::string name; ///< the reference table's name
    std::string who;  ///< process named in the pointer
};

/// Reads the pointer; returns a pointer with version 0 if it is absent.
[[nodiscard]] result<reference_pointer> read_pointer(reference_place const& at);

/// Publishes the source as a new version, if its content has changed. Returns the version. The source is read twice:
/// UpdateConditionNotSatisfied if it changes in between, or if another process publishes concurrently.
[[nodiscard]] result<reference_pointer> make_version(
    any_store const& source, std::string const& source_table, std::string const& name, clock& time);
/// Brings a store to the published version; with `from_scratch` the version is copied even if the store has it. Returns the version of the
/// store.
[[nodiscard]] result<std::int64_t> fill_reference(
    any_store const& source, std::string const& name, any_store const& there, bool from_scratch, clock& time);
/// Whether a store serves the rows of the published version.
struct reference_state {
    std::int64_t version{}; ///< the version that the store serves; 0: none
    bool is_current{};      ///< whether this is the published version
    bool is_sound{};        ///< the rows of the copy have the digest recorded when they were written
};
[[nodiscard]] result<reference_state> check_reference(
    any_store const& source, std::string const& name, any_store const& there);

} // namespace detail

/// A value read from a reference table, and its version.
template <class T>
struct versioned {
    T value;                ///< the value
    std::int64_t version{}; ///< version of the reference table's content
};

/// A full copy of a reference table in one store. A copy never changes: a later version is a new copy. Publishing a
/// version drops the last copy but one; reads of that copy then return TableNotFound, and the caller gets a new copy
/// from the reference table.
///
/// Thread safety: safe to use from several threads.
template <mapped_entity Entity>
class reference_copy {
public:
    reference_copy(table<Entity> rows, std::int64_t version)
        : rows_(std::move(rows)), version_(version) {} ///< used by `at`

    [[nodiscard]] std::int64_t version() const noexcept {
        return version_;
    } ///< returns the version of the reference table
    /// Returns the entity with these keys. Errors: ResourceNotFound if it does not exist.
    template <class... Keys>
    [[nodiscard]] result<versioned<Entity>> get(Keys const&... keys) const {
        ENTITABLE_TRY(auto found, rows_.get(keys...));
        return versioned<Entity>{std::move(found), version_};
    }
    /// Queries like `table::where`.
    template <class Predicate>
    [[nodiscard]] auto where(Predicate const& condition) const {
        return rows_.where(condition);
    }
    [[nodiscard]] auto scan_table() const { return rows_.scan_table(); } ///< all entities

private:
    table<Entity> rows_;
    std::int64_t version_;
};

/// The state of a reference table in one store.
using reference_health = detail::reference_state;

/// A table with one source, and a full copy in every store. A cheap handle.
///
/// A copy is filled in its own table, read back, and then activated by a change of one row. A reader therefore sees a
/// version completely or not at all, even if a publisher is killed at any point. Versions increase by one, and no store
/// returns to an earlier version. During a publication, stores serve different versions; each read returns its version.
///
/// Thread safety: safe to use from several threads.
template <mapped_entity Entity>
class reference_table {
public:
    /// `name`: name of the source table, 3 to 20 letters; `source`: the store that contains it and the published
    /// versions.
    reference_table(fleet of, std::string name, any_store source)
        : fleet_(std::move(of)), name_(std::move(name)), source_(std::move(source)) {}

    /// Returns the table to write to. Its changes are invisible before `publish`.
    [[nodiscard]] table<Entity> source() const { return {source_, name_}; }

    /// Makes a version of the source, if it has changed, and copies it to every store, including stores that receive shards while it runs.
    /// The result of each store is the version that it serves now. After an error or a crash the same call resumes, from any process;
    /// `resume` and `fill` do so for single stores.
    ///
    /// Errors: those of the source, before any request to a store; UpdateConditionNotSatisfied if the source is changed or published
    /// in the meantime.
    [[nodiscard]] result<fleet_outcomes<std::int64_t>> publish() const {
        ENTITABLE_CHECK(detail::make_version(source_, name_, name_, time()));
        auto outcomes = fleet_.each([this](std::string_view, any_store const& there) { return fill(there, false); });
        while (outcomes) {
            auto const names = fleet_.stores(); // a shard may have moved to another store in the meantime
            if (!names) { return failure{names.error()}; }
            if (!fill_others(*names, *outcomes)) { break; }
        }
        return outcomes;
    }
    /// Copies again to the stores that failed, and updates their results.
    void resume(fleet_outcomes<std::int64_t>& outcomes) const {
        fleet_.resume(outcomes, [this](std::string_view, any_store const& there) { return fill(there, false); });
    }
    /// Brings one store to the published version. Call it before the first shard moves to the store: see `rebalance_options::prepare`.
    ///
    /// Errors: ReferenceMissing if no version was published; those of the source and of the store.
    [[nodiscard]] result<void> fill(std::string_view store) const {
        return at_store(store, [this](any_store const& there) { return nothing_of(fill(there, false)); });
    }
    /// Replaces the copy of one store with a new copy of the published version, whatever the store contains. Errors:
    /// those of `fill`.
    [[nodiscard]] result<void> repair(std::string_view store) const {
        return at_store(store, [this](any_store const& there) { return nothing_of(fill(there, true)); });
    }
    /// Reads every copy and compares it with the published version. Returns a result for each store.
    [[nodiscard]] result<fleet_outcomes<reference_health>>(verify)() const {
        return fleet_.each([this](std::string_view, any_store const& there) {
            return detail::check_reference(source_, name_, there);
        });
    }

    /// Returns the copy that a store serves. Errors: ReferenceMissing if it has no complete copy; those of the store.
    [[nodiscard]] result<reference_copy<Entity>> at(std::string_view store) const {
        return at_store(store, [&](any_store const& there) -> result<reference_copy<Entity>> {
            ENTITABLE_TRY(auto pointer, detail::read_pointer({there, name_, "copy"}));
            if (pointer.version == 0) {
                return failure{error_code::reference_missing,
                    text::joined({"the store ", store, " has no complete copy of the reference table ", name_})};
            }
            return reference_copy<Entity>{table<Entity>{there, pointer.stored}, pointer.version};
        });
    }
    /// Returns the copy in the nearest store: stores of the first region come first (`store_attributes::region`), then those of the second, and so
    /// on, others last; in each group stores outside their maintenance windows first. A store without a complete copy, or one that does not
    /// respond, is passed over. Errors: that of the nearest store if none has a copy.
    [[nodiscard]] result<reference_copy<Entity>> nearest(std::vector<std::string> const& regions) const {
        ENTITABLE_TRY(auto names, fleet_.stores());
        ENTITABLE_TRY(auto const attributes, attributes_of(fleet_.cloud().map()));
        result<reference_copy<Entity>> first = failure{error_code::reference_missing, "the map has no stores"};
        bool tried = false;
        for (std::string const& each : attributes.nearest_first(std::move(names), regions, time().now())) {
            auto copy = at(each);
            if (copy || !tried) { first = std::move(copy); }
            tried = true;
            if (first) { break; }
        }
        return first;
    }
    /// Returns the copy in the store that holds a partition of the sharded tables. Errors: those of `at` and of the map.
    [[nodiscard]] result<reference_copy<Entity>> beside(std::string_view partition_key) const {
        auto& map = fleet_.cloud().map().state();
        ENTITABLE_TRY(auto const known, map.current({}, map.now()));
        ENTITABLE_TRY(auto const place, map.place_of(*known, partition_key));
        return at(place->row.store);
    }

private:
    [[nodiscard]] clock& time() const noexcept { return *fleet_.options().time; }
    [[nodiscard]] result<std::int64_t> fill(any_store const& there, bool from_scratch) const {
        return detail::fill_reference(source_, name_, there, from_scratch, time());
    }
    /// Fills stores that have no result yet; false if there are none.
    [[nodiscard]] bool fill_others(
        std::vector<std::string> const& names, fleet_outcomes<std::int64_t>& outcomes) const {
        auto& all = outcomes.stores();
        std::size_t const before = all.size();
        for (std::string const& name : names) {
            auto const at = std::lower_bound(all.begin(), all.end(), name,
                [](store_outcome<std::int64_t> const& each, std::string const& other) { return each.store < other; });
            if (at == all.end() || at->store != name) {
                all.insert(at, {name, at_store(name, [this](any_store const& there) { return fill(there, false); })});
            }
        }
        return all.size() != before;
    }
    [[nodiscard]] static result<void> nothing_of(result<std::int64_t> done) {
        return done ? result<void>{} : std::move(done).as_failure();
    }
    template <class Use>
    [[nodiscard]] std::invoke_result_t<Use const&, any_store const&> at_store(
        std::string_view name, Use const& use) const {
        ENTITABLE_TRY(auto const there, fleet_.store(name));
        return use(there);
    }

    fleet fleet_;
    std::string name_;
    any_store source_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/reference_core.ipp>
#endif
