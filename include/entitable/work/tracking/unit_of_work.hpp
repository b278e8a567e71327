// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `unit_of_work<E...>`: entities that are read once, changed as objects, and saved together.

#include <entitable/client/companions/several_types.hpp>
#include <entitable/client/detail/query_rows.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/tracking/detail/key_views.hpp>
#include <entitable/work/tracking/detail/saved_of.hpp>
#include <entitable/work/tracking/saved_changes.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Entities of a table that a program reads, changes and saves. The same keys give the same object, and its address stays valid until it is
/// detached or the unit is cleared. `save` detects changes by comparison; it sends only changed properties, under the ETag that was read:
/// if another writer has changed the entity, there is a conflict to resolve (`preserve_changes_silently` and `any_etag` overwrite).
///
///     unit_of_work<order> work{orders, {.merge = merge_option::preserve_changes}};
///     order& last = *work.find("ann", 17).value();
///     last.status = "paid";
///     auto saved = work.save().value(); // `save_all` returns an error unless everything was saved
///     for (auto& each : saved.failed) { work.resolve(each.entity(), keep::mine); }
///
/// Works with one type, over `table<E>`, or with several types, over `table<A, B, ...>`; with several types, functions
/// need the type if no argument determines it: `find<order>(...)`. The verbs (`add`, `attach`, `remove`, ...) send
/// nothing. If a verb fails (the entity is not tracked, or already tracked, or its keys cannot be encoded), the next
/// `save` returns the error and sends nothing.
///
/// After a move, functions that read or save return InvalidInput, and added entities are not saved.
///
/// Thread safety: one thread at a time. Each entity that was read stays in memory, with its row: use one unit per task.
template <mapped_entity First, mapped_entity... More>
class unit_of_work {
    static constexpr bool of_one_type = sizeof...(More) == 0;
    template <class E>
    static constexpr bool is_one = std::same_as<E, First> || (std::same_as<E, More> || ...);

public:
    using change = tracked_change<First, More...>; ///< an unsaved change
    using saved = saved_changes<First, More...>;   ///< result of `save`

    /// Makes a unit over a table, whose call options apply to each request; single entities are read from the primary location.
    explicit unit_of_work(table<First> const& of, unit_of_work_options options = {})
        requires of_one_type
        : all_(new detail::entity_tracker{detail::table_core{of.store(), of.name(), of.options()}}),
          merge_(options.merge),
          failed_(options.failed) {}
    /// Makes a unit over the entities of a table of several types.
    template <class Reader, class Partition>
    explicit unit_of_work(detail::shared_partition<Reader, Partition, detail::type_list<First, More...>> const& of,
        unit_of_work_options options = {})
        : all_(new detail::entity_tracker{of.sending_core()}), merge_(options.merge), failed_(options.failed) {}

    /// Does not compile: a reader cannot write.
    template <class Reader>
        requires detail::is_reader<Reader>
    explicit unit_of_work(Reader const&, unit_of_work_options = {}) {
        detail::refuse_reader<Reader>();
    }
    /// Does not compile: a unit of work saves entities that are stored in one row.
    template <class E>
    explicit unit_of_work(table<wide<E>> const&, unit_of_work_options = {}) {
        detail::refuse_wide<E>();
    }

    // ---- reading ----

    /// Reads the entity with these keys, and tracks it. If it is already tracked, the row is merged according to the unit's option. Null if
    /// the entity is to be removed here, or if there is no row; an entity that was added here, or whose write is not settled, is returned
    /// even then. Cost: always one request; `tracked` sends none.
    template <mapped_entity E = First, class... Keys>
    [[nodiscard]] result<E*> find(Keys const&... keys) {
        return find_as<E>(merge_, keys...);
    }
    /// Does the same with a different merge option: `find(merge_option::overwrite_changes, "ann", 17)`.
    template <mapped_entity E = First, class... Keys>
    [[nodiscard]] result<E*> find(merge_option how, Keys const&... keys) {
        return find_as<E>(how, keys...);
    }
    /// Returns the tracked entity with these keys, without a request; null if there is none, or if it is to be removed.
    template <mapped_entity E = First, class... Keys>
    [[nodiscard]] E* tracked(Keys const&... keys) const {
        check_type<E>();
        E* found = nullptr;
        (void)detail::with_keys<E>(
            [&](std::string_view partition_key, std::string_view row_key) {
                found = all_ ? detail::shown_object<E>(all_->at(partition_key, row_key)) : nullptr;
            },
            keys...);
        return found;
    }
    /// Runs a query of the table, and tracks the entities found; skips entities that are to be removed here. The query sees stored
    /// entities, not changes made here. After an error, the entities found before the error are tracked.
    template <class E, access_path Path, class Row>
    [[nodiscard]] result<tracked_entities<E>> track(query<E, Path, Row> const& asked) {
        return track(asked, merge_);
    }
    template <class E, access_path Path, class Row>
    [[nodiscard]] result<tracked_entities<E>> track(query<E, Path, Row> const& asked, merge_option how) {
        check_type<E>();
        static_assert(std::same_as<E, Row>, "track(...) needs a query of whole entities, without select");
        result<tracked_entities<E>> all{std::in_place};
        if (!all_) { return detail::moved_from(own_name); }
        if (detail::query_rows::table_of(asked) != all_->core().name()) {
            all = failure{error_code::invalid_input, "this query does not read the table of the unit of work"};
            return all;
        }
        ENTITABLE_TRY(auto walk, detail::query_rows::of(asked, false));
        std::vector<E*> found;
        for (;;) {
            ENTITABLE_TRY(auto next, walk->next());
            if (!next) {
                *all = tracked_entities<E>{std::move(found)};
                return all;
            }
            ENTITABLE_TRY(auto taken, all_->read(*next, next->etag(), how, maker<E>));
            if (E* const one = detail::shown_object<E>(taken)) { found.push_back(one); }
        }
    }
    /// Reads a tracked entity again; by default its changes are dropped. False if its row does not exist: then, with `overwrite_changes`,
    /// it is no longer tracked, unless it was added here.
    template <mapped_entity E>
    [[nodiscard]] result<bool> refresh(E const& entity, merge_option how = merge_option::overwrite_changes) {
        check_type<E>();
        if (!all_) { return detail::moved_from(own_name); }
        detail::tracked_entity* const of = known(entity);
        if (of == nullptr) { return failure{error_code::invalid_input, not_tracked}; }
        bool there = false;
        ENTITABLE_CHECK(read_row<E>(of->partition_key(), of->row_key(), how, there));
        return there;
    }

    // ---- verbs ----

    /// Adds an entity to be inserted, and returns the tracked object. If an entity with the same keys is to be removed, the new
    /// entity replaces it, under the version that was read.
    template <mapped_entity E = First>
    E& add(E entity) {
        check_type<E>();
        return detail::object_of<E>(tracker().add(std::make_unique<detail::tracked_object<E>>(std::move(entity))));
    }
    /// Tracks an entity without reading it: the caller guarantees that these values are stored, under this version or under any version.
    /// Later changes are saved under that condition; with `any_etag` regardless of other writers' changes.
    template <mapped_entity E = First>
    E& attach(E entity, etag_condition version) {
        check_type<E>();
        return detail::object_of<E>(
            tracker().attach(std::make_unique<detail::tracked_object<E>>(std::move(entity)), std::move(version)));
    }
    /// Stops tracking an entity and drops its changes; references to it become invalid. Does nothing if it is not tracked.
    template <mapped_entity E>
    void detach(E const& entity) {
        check_type<E>();
        if (detail::tracked_entity* const of = known(entity)) {
            last_ = {};
            all_->detach(*of);
        }
    }
    /// Marks an entity to be removed. An entity that was added and never sent is dropped. The argument may be a copy: its keys are used.
    /// `removal::archived`: see `table<A, B, ...>::remove`.
    template <mapped_entity E>
    void remove(E const& entity, removal how = {}) {
        check_type<E>();
        if (detail::tracked_entity* const of = known(entity)) {
            all_->remove(*of, how);
        } else {
            tracker().refuse(failure{error_code::invalid_input, not_tracked});
        }
    }
    /// Stops tracking all entities; all references become invalid.
    void clear() {
        last_ = {};
        tracker().clear();
    }

    // ---- state ----

    /// Returns the state of an entity; `detached` if it is not tracked. The argument may be a copy: its keys are used.
    template <mapped_entity E>
    [[nodiscard]] entity_state state_of(E const& entity) const {
        check_type<E>();
        detail::tracked_entity const* const of = known(entity);
        return of == nullptr ? entity_state::detached : all_->state(*of);
    }
    /// Number of tracked entities.
    [[nodiscard]] std::size_t size() const noexcept { return all_ ? all_->size() : 0; }
    /// Returns the changes that a save would send, and the changes whose response was lost.
    [[nodiscard]] std::vector<change> pending() const {
        std::vector<change> made;
        if (!all_) { return made; }
        for (auto const& each : all_->all()) {
            if (each) {
                if (entity_state const state = all_->state(*each); state != entity_state::unchanged) {
                    made.emplace_back(*each, state);
                }
            }
        }
        return made;
    }
    /// Returns the changes with conflicts.
    [[nodiscard]] std::vector<change> conflicts() const {
        std::vector<change> made;
        for (change const& each : pending()) {
            if (each.in_conflict()) { made.push_back(each); }
        }
        return made;
    }
    /// Returns the conflict of an entity, or nullopt. Errors: RowMismatch if the stored row does not fit the type.
    template <mapped_entity E>
    [[nodiscard]] result<std::optional<conflict<E>>> conflict_of(E const& entity) const {
        check_type<E>();
        result<std::optional<conflict<E>>> told{std::in_place};
        detail::tracked_entity const* const of = known(entity);
        if (of == nullptr || !of->conflict) { return told; }
        reading const mode = all_->core().options().reading;
        conflict<E>& made = told->emplace();
        made.mine = *static_cast<E const*>(of->address());
        made.may_be_mine = of->conflict->may_be_mine;
        auto const read = [&](row const& from, std::optional<E>& to) {
            auto decoded = from_row(from.view(), to.emplace(), mode);
            return decoded;
        };
        if (of->there) { ENTITABLE_CHECK(read(of->base, made.original)); }
        if (of->conflict->theirs) { ENTITABLE_CHECK(read(*of->conflict->theirs, made.theirs)); }
        if (auto const now = to_row(made.mine); now && of->there && of->conflict->theirs && !of->removed) {
            made.properties = detail::changed_by_both(
                detail::changes_between(of->own(), now->view()), of->base.view(), of->conflict->theirs->view());
        }
        return told;
    }
    /// Resolves a conflict: the entity is based on the stored row, with its ETag, and the changes made here are
    /// retained or dropped. A removed entity is added again (mine) or is no longer tracked (theirs). If there is no
    /// conflict, or the stored row does not fit its type, the next `save` returns that error, as for other verbs.
    template <mapped_entity E>
    void resolve(E const& entity, keep which) {
        end_conflict(entity, [&](detail::tracked_entity& of) { return all_->resolve(of, which); });
    }
    /// Does the same with values from the caller, which are saved in place of the stored values.
    template <mapped_entity E>
    void resolve(E& entity, std::type_identity_t<E> value) {
        end_conflict(entity, [&](detail::tracked_entity& of) {
            auto ended = all_->resolve_by_value(of);
            if (ended && *ended) { detail::object_of<E>(of) = std::move(value); }
            return ended;
        });
    }

    // ---- saving ----

    /// Sends the changes. First it settles changes whose response was lost. Unsaved changes are sent again by the next save,
    /// except conflicts (409 and 412), which it refuses without a request until `resolve` is called; `failed_changes::send_again` sends them, too.
    ///
    /// Errors: after an error, none of the changes was sent. InvalidInput or EntityAlreadyExists after a failed verb; InvalidInput if a
    /// partition has more changes than a transaction takes and `split` is not set, or if the table has an operation id. Cost: one request
    /// per change, or per transaction; plus one read for each conflict, for each version that a lost response left
    /// unknown, and for each attached entity from which an optional is removed.
    [[nodiscard]] result<saved> save(save_options how = {}) {
        if (!all_ || is_absent_) { return detail::moved_from(own_name); }
        return detail::saved_of<First, More...>(detail::save_run{*all_, how, failed_}.run());
    }
    [[nodiscard]] result<saved> save(save_mode mode) { return save(detail::in_mode(mode)); }
    /// Does the same as `save`, but returns an error unless every change was saved: the error of the first refused
    /// change. Its message contains the number of unsaved changes and of all changes, `detail` begins with the keys of
    /// the first unsaved change, and the effect is unknown if a response was lost. Saved changes stay saved:
    /// `last_report` contains all outcomes.
    [[nodiscard]] result<saved> save_all(save_options how = {}) {
        last_ = {};
        auto made = save(how);
        if (made && !made->good()) {
            last_ = *std::move(made);
            return detail::refusal_in(last_);
        }
        return made;
    }
    [[nodiscard]] result<saved> save_all(save_mode mode) { return save_all(detail::in_mode(mode)); }
    /// The outcomes of the last `save_all`, change by change, if it returned an error after it sent something; otherwise empty. Also
    /// emptied by `detach` and `clear`.
    [[nodiscard]] saved const& last_report() const noexcept { return last_; }

private:
    static constexpr char const* own_name = "unit of work";
    static constexpr char const* not_tracked = "this entity is not tracked by the unit of work";

    template <class E>
    static consteval void check_type() {
        static_assert(is_one<E>, "this entity type does not belong to the unit of work");
    }
    template <class E>
    static constexpr auto maker = [] { return detail::make_tracked<E>(); };

    template <class E>
    [[nodiscard]] detail::tracked_entity* known(E const& entity) const {
        return all_ ? all_->of(&entity, to_row(entity)) : nullptr;
    }
    template <class E, class... Keys>
    [[nodiscard]] result<E*> find_as(merge_option how, Keys const&... keys) {
        check_type<E>();
        result<E*> found{nullptr};
        auto made = detail::with_keys<E>(
            [&](std::string_view partition_key, std::string_view row_key) {
                bool there = false;
                auto read = read_row<E>(partition_key, row_key, how, there);
                if (read) {
                    found = detail::shown_object<E>(*read);
                } else {
                    found = std::move(read).as_failure();
                }
            },
            keys...);
        return made ? std::move(found) : std::move(made).as_failure();
    }
    /// Null if there is no row, unless the entity was added here, or its write is not settled.
    template <class E>
    [[nodiscard]] result<detail::tracked_entity*> read_row(
        std::string_view partition_key, std::string_view row_key, merge_option how, bool& there) {
        if (!all_) { return detail::moved_from(own_name); }
        detail::table_core const& core = all_->core();
        call context{core.options()};
        context.location = read_location::primary;
        auto found = core.store().execute(
            get_entity{core.name(), std::string{partition_key}, std::string{row_key}, {}}, context);
        there = found.has_value();
        if (found) { return all_->read(found->entity.view(), found->etag, how, maker<E>); }
        if (found.error().code != error_code::resource_not_found) { return std::move(found).as_failure(); }
        detail::tracked_entity* of = all_->at(partition_key, row_key);
        if (of != nullptr) {
            all_->gone(*of, how);
            bool const mine = !of->there || of->unsettled; // the row never existed, as far as is known
            of = mine && how != merge_option::no_tracking ? all_->at(partition_key, row_key) : nullptr;
        }
        return of;
    }
    template <class E, class End>
    void end_conflict(E const& entity, End const& end) {
        check_type<E>();
        detail::tracked_entity* const of = known(entity);
        auto ended = of == nullptr ? result<bool>{failure{error_code::invalid_input, not_tracked}} : end(*of);
        if (!ended) {
            tracker().refuse(std::move(ended).as_failure());
        } else if (!*ended) {
            tracker().refuse(failure{error_code::invalid_input, "this entity has no conflict"});
        }
    }

    /// After a move: a tracker that owns the objects of `add` and `attach`, which return references, and sends nothing.
    [[nodiscard]] detail::entity_tracker& tracker() {
        if (!all_) {
            all_ = detail::tracker_of(detail::moved_from_transport(own_name));
            is_absent_ = true;
        }
        return *all_;
    }

    std::unique_ptr<detail::entity_tracker> all_;
    merge_option merge_;
    failed_changes failed_;
    saved last_; ///< outcome of the last `save_all` that returned an error
    bool is_absent_{};
};

/// Unit of one type.
template <mapped_entity E>
unit_of_work(table<E> const&, unit_of_work_options = {}) -> unit_of_work<E>;
template <mapped_entity E>
unit_of_work(reader<E> const&, unit_of_work_options = {}) -> unit_of_work<E>;
template <class First, class Second, class... More>
unit_of_work(reader<First, Second, More...> const&, unit_of_work_options = {})
    -> unit_of_work<detail::type_of_listed<First>>;
template <mapped_entity E>
unit_of_work(table<wide<E>> const&, unit_of_work_options = {}) -> unit_of_work<E>;
/// Unit of several types.
template <class Reader, class Partition, class... Entities>
unit_of_work(detail::shared_partition<Reader, Partition, detail::type_list<Entities...>> const&,
    unit_of_work_options = {}) -> unit_of_work<Entities...>;

ENTITABLE_END_NAMESPACE
