// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `async_table<A, B, ...>`: a table of several types whose calls are awaited.

#include <entitable/async/async_table.hpp>
#include <entitable/async/detail/listed_place.hpp>
#include <entitable/async/listed_query.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A table of several types in a loop: the calls of `table<A, B, ...>`, to be awaited, with the same semantics and errors. Reads of one entity
/// are those of `async_table<E>`. All other calls return a task that runs the blocking call on its own stack (`on_own_stack`): entities
/// and the rows that the table maintains for them are written by the same code.
///
///     async_table<counter, invoice, by_customer, daily_sales> books{loop, cloud, "books"};
///     ENTITABLE_CO_TRY(auto bills, co_await books.by<by_customer>().where(c::tenant == "ACME").to());
///
/// Arguments are copied into the task, or moved from temporaries. Copies are cheap, and a move copies. The loop must outlive the table.
/// Thread safety: only the loop's thread.
template <class First, class Second, class... More>
class async_table<First, Second, More...>
    : public detail::listed_partition<detail::listed_place<First, Second, More...>,
          typename detail::partition_of_first<detail::entities_of<First, Second, More...>>::type> {
    using place = detail::listed_place<First, Second, More...>;
    using base = detail::listed_partition<place,
        typename detail::partition_of_first<detail::entities_of<First, Second, More...>>::type>;
    using base::at_;
    using entities = detail::entities_of<First, Second, More...>;
    using only = typename detail::only_entity<entities>::type;
    template <class E>
    static constexpr bool is_entity = detail::is_in_list<E, entities>;
    template <class E>
    static constexpr bool is_wide = detail::is_wide_in<E, First, Second, More...>;
    template <class E>
    using written_of = detail::written_of<std::remove_cvref_t<E>, First, Second, More...>;
    template <class E>
    using updated_of = detail::updated_of<E, First, Second, More...>;

public:
    /// One of the entity types, or an `entity` for any other row.
    using any_entity = typename table<First, Second, More...>::any_entity;

    /// Uses any transport. A table for each index elsewhere follows the name: `in_table<by_club>{cloud, "clubs"}`. Sends nothing.
    template <class... Indexes>
    async_table(event_loop& loop, any_store through, std::string name, in_table<Indexes>... places)
        : async_table(loop, std::move(through), std::move(name), table_options{}, std::move(places)...) {}
    /// Does the same with options for its calls.
    template <class... Indexes>
    async_table(
        event_loop& loop, any_store through, std::string name, call_options options, in_table<Indexes>... places)
        : async_table(loop, std::move(through), std::move(name), table_options{.calls = std::move(options)},
              std::move(places)...) {}
    /// Does the same with options for indexes and sums; `table_options::time` is ignored.
    template <class... Indexes>
    async_table(event_loop& loop, any_store through, std::string name, table_options how, in_table<Indexes>... places)
        : base(shared<place>::make(loop.core(), std::move(through), std::move(name), std::move(how), places...)) {}
    async_table(async_table const&) = default;            ///< copies and moves share the place in the loop
    async_table& operator=(async_table const&) = default; ///< copies and moves share the place in the loop
    ~async_table() = default;

    [[nodiscard]] std::string const& name() const noexcept { return at_.at->rows->table.name(); } ///< the table's name
    /// Returns its transport.
    [[nodiscard]] any_store const& store() const noexcept { return at_.at->rows->table.store(); }
    /// Returns the options of its calls.
    [[nodiscard]] call_options const& options() const noexcept { return at_.at->rows->table.options(); }
    /// Returns the same table with other options for its calls.
    [[nodiscard]] async_table with(call_options options) const {
        return async_table{shared<place>::make(*at_.at, std::move(options))};
    }
    /// Returns the same table for blocking code on stacks of the loop: `unit_of_work work{books.blocking()}` in a function for
    /// `on_own_stack`.
    [[nodiscard]] table<First, Second, More...> const& blocking() const noexcept { return at_.at->books; }
    /// Like `table::of`, for blocking code on stacks of the loop: `bulk_insert(books.of<invoice>(), rows, {.time = &loop_clock(loop)})`.
    template <class E>
    [[nodiscard]] table<E> of() const {
        return at_.at->books.template of<E>();
    }
    /// Like `table::unmaintained`.
    template <class E>
    [[nodiscard]] async_table<E> unmaintained() const {
        return at_.at->template rows_of<E>();
    }

    // ---- the table itself ----

    /// Like `table::create`.
    [[nodiscard]] task<result<void>> create() const {
        return at_.template later<result<void>>([](auto const& books) { return books.create(); });
    }
    /// Like `table::create_if_absent`.
    [[nodiscard]] task<result<bool>> create_if_absent() const {
        return at_.template later<result<bool>>([](auto const& books) { return books.create_if_absent(); });
    }
    /// Like `table::drop`.
    [[nodiscard]] task<result<void>> drop() const {
        return at_.template later<result<void>>([](auto const& books) { return books.drop(); });
    }
    /// Like `table::drop_if_present`.
    [[nodiscard]] task<result<bool>> drop_if_present() const {
        return at_.template later<result<bool>>([](auto const& books) { return books.drop_if_present(); });
    }

    // ---- reads ----

    /// Like `table::get`: `get<invoice>("ACME", 7)`.
    template <class E = only, class... Keys>
    [[nodiscard]] auto get(Keys const&... keys) const {
        if constexpr (is_entity<E>) {
            return at_.at->template rows_of<E>().get(keys...);
        } else {
            return at_.template later<result<E>>(
                [](auto const& books, auto&... each) { return books.template get<E>(each...); }, keys...);
        }
    }
    /// Like `table::get` of a reference.
    template <class E>
    [[nodiscard]] auto get(reference<E> const& named) const {
        return get<E, reference<E>>(named);
    }
    /// Like `table::find`.
    template <class E = only, class... Keys>
    [[nodiscard]] auto find(Keys const&... keys) const {
        if constexpr (is_entity<E>) {
            return at_.at->template rows_of<E>().find(keys...);
        } else {
            return at_.template later<result<std::optional<E>>>(
                [](auto const& books, auto&... each) { return books.template find<E>(each...); }, keys...);
        }
    }
    /// Like `table::find` of a reference.
    template <class E>
    [[nodiscard]] auto find(reference<E> const& named) const {
        return find<E, reference<E>>(named);
    }
    /// Like `table::get_stored`.
    template <class E = only, class... Keys>
    [[nodiscard]] auto get_stored(Keys const&... keys) const {
        if constexpr (is_entity<E>) {
            return at_.at->template rows_of<E>().get_stored(keys...);
        } else {
            return at_.template later<result<stored<E>>>(
                [](auto const& books, auto&... each) { return books.template get_stored<E>(each...); }, keys...);
        }
    }
    /// See `table::reference_to`.
    template <class E = only, class... Keys>
    [[nodiscard]] static result<reference<E>> reference_to(Keys const&... keys) {
        return table<First, Second, More...>::template reference_to<E>(keys...);
    }
    /// Like `table::where`. The fields, of an entity or of sums, determine the type.
    template <class Condition>
    [[nodiscard]] auto where(Condition condition) const {
        return listed_query{at_, [condition](auto const& books) { return books.where(condition); }};
    }
    /// Like `table::scan_table`: `scan_table<invoice>()`.
    template <class E = only>
    [[nodiscard]] auto scan_table() const {
        return listed_query{at_, [](auto const& books) { return books.template scan_table<E>(); }};
    }
    /// Like `table::scan_table`.
    template <class E, shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto scan_table(predicate<E, Shapes, Negated> condition) const {
        return listed_query{at_, [condition](auto const& books) { return books.scan_table(condition); }};
    }
    /// Like `table::by`: `books.by<by_customer>().where(...)`, `scan_index()`.
    template <class Index>
    [[nodiscard]] auto by() const {
        return listed_index<place, Index>{at_};
    }
    /// Like `table::sum`.
    template <class Sums>
    [[nodiscard]] task<result<Sums>> sum(Sums const& of) const {
        return at_.template later<result<Sums>>([](auto const& books, auto& each) { return books.sum(each); }, of);
    }
    /// Like `table::partitions`.
    [[nodiscard]] task<result<std::vector<std::string>>> partitions() const {
        return at_.template later<result<std::vector<std::string>>>(
            [](auto const& books) { return books.partitions(); });
    }
    /// See `table::read`.
    [[nodiscard]] result<any_entity> read(row_view row) const { return at_.at->books.read(row); }
    /// Like `table::for_each_in_partition`. The function is called on the stack: it may use `blocking()`.
    template <class Function>
    [[nodiscard]] task<result<void>> for_each_in_partition(std::string partition_key, Function function) const {
        return at_.template later<result<void>>(
            [](auto const& books, auto&... each) { return books.for_each_in_partition(each...); },
            std::move(partition_key), std::move(function));
    }

    // ---- writes ----

    /// Like `table::insert`.
    template <class E>
    [[nodiscard]] task<result<written_of<E>>> insert(E&& entity) const {
        return at_.template later<result<written_of<E>>>(
            [](auto const& books, auto& one) { return books.insert(one); }, std::forward<E>(entity));
    }
    /// Like `table::replace`.
    template <class E, class... Condition>
    [[nodiscard]] task<result<written_of<E>>> replace(E&& entity, Condition&&... condition) const {
        return at_.template later<result<written_of<E>>>(
            [](auto const& books, auto&... each) { return books.replace(each...); }, std::forward<E>(entity),
            std::forward<Condition>(condition)...);
    }
    /// Like `table::merge`.
    template <class E, class... Condition>
    [[nodiscard]] task<result<written>> merge(E&& entity, Condition&&... condition) const {
        if constexpr (sizeof...(Condition) == 1 && detail::replaced_by_merge<std::remove_cvref_t<E>>) {
            static_cast<void>(detail::allow_write<std::remove_cvref_t<E>, entities, First, Second, More...>());
            detail::change_list alone;
            alone.add_removing(detail::row_without_former_names(entity), std::forward<Condition>(condition)...);
            return at_.template later<result<written>>(
                [time = stack_time()](
                    auto const& books, auto& change) { return change.submit_one(books.core(), *time); },
                std::move(alone));
        } else {
            return at_.template later<result<written>>(
                [](auto const& books, auto&... each) { return books.merge(each...); }, std::forward<E>(entity),
                std::forward<Condition>(condition)...);
        }
    }
    /// Like `table::merge` of some members: `merge(at("ACME"), c::last = 7, any_etag)`.
    template <class... Values, class... ChangesAndCondition>
    [[nodiscard]] task<result<written>> merge(
        keys_at<Values...> const& keys, ChangesAndCondition const&... changes_and_condition) const {
        using E = detail::entity_of_changes<detail::type_of_listed<First>, ChangesAndCondition...>;
        static_cast<void>(detail::allow_write<E, entities, First, Second, More...>());
        auto made = detail::partial_merge<E>(keys, changes_and_condition...);
        if constexpr (detail::removes_members<ChangesAndCondition...>) {
            detail::change_list alone;
            alone.add_removing(std::move(made.entity), std::move(made.condition));
            return at_.template later<result<written>>(
                [time = stack_time()](
                    auto const& books, auto& change) { return change.submit_one(books.core(), *time); },
                std::move(alone));
        } else {
            return at_.template later<result<written>>(
                [](auto const& books, auto& row, auto& condition) {
                    return books.core().write(mutation_kind::merge, std::move(row), condition);
                },
                std::move(made.entity), std::move(made.condition));
        }
    }
    /// Like `table::insert_or_replace`.
    template <class E>
    [[nodiscard]] task<result<written_of<E>>> insert_or_replace(E&& entity) const {
        return at_.template later<result<written_of<E>>>(
            [](auto const& books, auto& one) { return books.insert_or_replace(one); }, std::forward<E>(entity));
    }
    /// Like `table::upsert`.
    template <class E>
    [[nodiscard]] task<result<written_of<E>>> upsert(E&& entity) const {
        return insert_or_replace(std::forward<E>(entity));
    }
    /// Like `table::insert_or_merge`.
    template <class E>
    [[nodiscard]] task<result<written>> insert_or_merge(E&& entity) const {
        return at_.template later<result<written>>(
            [](auto const& books, auto& one) { return books.insert_or_merge(one); }, std::forward<E>(entity));
    }
    /// Like `table::remove` of an entity.
    template <class E, class... Condition>
        requires(is_entity<std::remove_cvref_t<E>> || is_wide<std::remove_cvref_t<E>>)
    [[nodiscard]] task<result<written_of<E>>> remove(E&& entity, Condition&&... condition) const {
        return at_.template later<result<written_of<E>>>(
            [](auto const& books, auto&... each) { return books.remove(each...); }, std::forward<E>(entity),
            std::forward<Condition>(condition)...);
    }
    /// Like `table::remove` by keys: `remove<invoice>("ACME", 7, any_etag)`.
    template <class E = only, class FirstKey, class... KeysAndCondition>
        requires(!is_entity<std::remove_cvref_t<FirstKey>> && !is_wide<std::remove_cvref_t<FirstKey>>)
    [[nodiscard]] task<result<written_of<E>>> remove(FirstKey&& first, KeysAndCondition&&... keys_and_condition) const {
        return at_.template later<result<written_of<E>>>(
            [](auto const& books, auto&... each) { return books.template remove<E>(each...); },
            std::forward<FirstKey>(first), std::forward<KeysAndCondition>(keys_and_condition)...);
    }
    /// Like `table::remove_if_present`.
    template <class E = only, class... KeysAndCondition>
    [[nodiscard]] task<result<std::optional<written_of<E>>>> remove_if_present(
        KeysAndCondition&&... keys_and_condition) const {
        return at_.template later<result<std::optional<written_of<E>>>>(
            [](auto const& books, auto&... each) { return books.template remove_if_present<E>(each...); },
            std::forward<KeysAndCondition>(keys_and_condition)...);
    }
    /// Like `table::update`. The change is called on the stack; `update_options::time` is ignored.
    template <class E = only, class... KeysAndChange>
    [[nodiscard]] task<result<updated_of<E>>> update(KeysAndChange&&... keys_and_change) const {
        return at_.template with_clock<result<updated_of<E>>, std::conditional_t<is_wide<E>, void, update_options>>(
            [](auto const& books, auto&... each) { return books.template update<E>(each...); },
            std::forward<KeysAndChange>(keys_and_change)...);
    }
    /// Like `table::update_if_present`.
    template <class E = only, class... KeysAndChange>
    [[nodiscard]] task<result<std::optional<updated_of<E>>>> update_if_present(
        KeysAndChange&&... keys_and_change) const {
        return at_.template with_clock<result<std::optional<updated_of<E>>>,
            std::conditional_t<is_wide<E>, void, update_options>>(
            [](auto const& books, auto&... each) { return books.template update_if_present<E>(each...); },
            std::forward<KeysAndChange>(keys_and_change)...);
    }
    /// Returns an empty batch; it is sent by `submit`.
    [[nodiscard]] auto batch() const { return at_.at->books.batch(); }
    /// Like `batch::submit`, for a batch of any types. The task keeps a copy; `submit(std::move(changes))` copies nothing.
    template <class... Entities>
    [[nodiscard]] task<result<std::vector<written>>> submit(entitable::batch<Entities...> changes) const {
        return at_.template later<result<std::vector<written>>>(
            [time = stack_time()](auto const& books, auto& all) { return all.submit(books.core(), *time); },
            std::move(changes).changes());
    }

    /// Like `table::rekey`.
    template <class E = only>
    [[nodiscard]] task<result<transacted>> rekey(E from, E to) const {
        return at_.template later<result<transacted>>(
            [](auto const& books, auto& before, auto& after) { return books.template rekey<E>(before, after); },
            std::move(from), std::move(to));
    }

    // ---- care of indexes and sums ----

    /// Like `table::verify`.
    [[nodiscard]] task<result<table_verification>>(verify)(std::size_t max_samples = 10) const {
        return at_.template later<result<table_verification>>(
            [](auto const& books, auto& most) { return (books.verify)(most); }, max_samples);
    }
    /// Like `table::repair`.
    [[nodiscard]] task<result<index_repair>> repair() const {
        return at_.template later<result<index_repair>>([](auto const& books) { return books.repair(); });
    }
    /// Like `table::build`.
    template <class... Companion>
    [[nodiscard]] task<result<index_repair>> build() const {
        return at_.template later<result<index_repair>>(
            [](auto const& books) { return books.template build<Companion...>(); });
    }
    /// Like `table::adopt`.
    [[nodiscard]] task<result<index_repair>> adopt() const {
        return at_.template later<result<index_repair>>([](auto const& books) { return books.adopt(); });
    }
    /// Like `table::apply_pending`.
    [[nodiscard]] task<result<index_repair>> apply_pending() const {
        return at_.template later<result<index_repair>>([](auto const& books) { return books.apply_pending(); });
    }
    /// Like `table::verify` of the sums of one partition.
    template <class Sums, class... Keys>
    [[nodiscard]] task<result<table_verification>>(verify)(Keys... partition) const {
        return at_.template later<result<table_verification>>(
            [](auto const& books, auto&... keys) { return (books.template verify<Sums>)(keys...); },
            std::move(partition)...);
    }
    /// Like `table::rebuild`.
    template <class Sums, class... Keys>
    [[nodiscard]] task<result<table_verification>> rebuild(Keys... partition) const {
        return at_.template later<result<table_verification>>(
            [](auto const& books, auto&... keys) { return books.template rebuild<Sums>(keys...); },
            std::move(partition)...);
    }
    /// Like `table::violations`.
    template <class E = only>
    [[nodiscard]] task<result<std::vector<index_violation<E>>>> violations() const {
        return at_.template later<result<std::vector<index_violation<E>>>>(
            [](auto const& books) { return books.template violations<E>(); });
    }
    /// Like `table::resolve_violation`.
    template <class E = only>
    [[nodiscard]] task<result<std::uint64_t>> resolve_violation(index_violation<E> which, reference<E> keep) const {
        return at_.template later<result<std::uint64_t>>(
            [](auto const& books, auto& of, auto& one) { return books.template resolve_violation<E>(of, one); },
            std::move(which), std::move(keep));
    }
    /// Like `table::retire`.
    template <class Companion>
    [[nodiscard]] task<result<void>> retire() const {
        return at_.template later<result<void>>([](auto const& books) { return books.template retire<Companion>(); });
    }
    /// Like `table::retire` by name.
    [[nodiscard]] task<result<void>> retire(std::string companion) const {
        return at_.template later<result<void>>(
            [](auto const& books, auto& name) { return books.retire(name); }, std::move(companion));
    }
    /// Like `table::state`.
    template <class Companion>
    [[nodiscard]] task<result<index_state>> state() const {
        return at_.template later<result<index_state>>(
            [](auto const& books) { return books.template state<Companion>(); });
    }

private:
    explicit async_table(shared<place> at) : base(std::move(at)) {}
    /// The clock of the stack below, which outlives a call.
    [[nodiscard]] clock* stack_time() const { return &detail::stack_clock_of(at_.at->core); }
};

ENTITABLE_END_NAMESPACE
