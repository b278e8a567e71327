// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `spoiled_backend`: the in-memory backend with one defect, chosen at construction.

#include "spoiled_pages.hpp"
#include <entitable/core/request/validate.hpp>
#include <entitable/core/transport/channel.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/contents.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace entitable_test {

/// A transport over a memory_backend. Safe to use from several threads. A copy shares the store, unless that is the defect.
class spoiled_backend {
public:
    using is_transport = void;
    using visits_entities = spoiled_backend;

    explicit spoiled_backend(defect what) : state_(std::make_shared<state>(what)), cache_(std::make_shared<cache>()) {}
    spoiled_backend(spoiled_backend const& other) : state_(other.state_), cache_(std::make_shared<cache>()) {
        if (is(defect::copies_are_stores_of_their_own)) { state_ = std::make_shared<state>(state_->what); }
    }
    spoiled_backend& operator=(spoiled_backend const&) = delete;

    [[nodiscard]] entitable::profile profile() const { return state_->promised(); }

    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& asked, call& context) const {
        std::unique_lock guard{state_->whole, std::defer_lock};
        if (has_own_etags()) { // they are stored next to the store
            guard.lock();
        }
        constexpr bool write = std::same_as<Request, write_entity>;
        constexpr bool transaction = std::same_as<Request, transact>;
        constexpr bool query = std::same_as<Request, query_entities>;
        constexpr bool of_tables = std::same_as<Request, create_table> || std::same_as<Request, delete_table> ||
            std::same_as<Request, list_tables>;
        bool const too_late = is(defect::cancellation_comes_after_the_write) && write;
        call below = context;
        if (too_late || (is(defect::cancellation_of_writes_is_ignored) && write) ||
            (is(defect::cancellation_of_transactions_is_ignored) && transaction) ||
            (is(defect::cancellation_of_queries_is_ignored) && query)) {
            below.cancellation = {};
        }
        if ((is(defect::deadline_of_reads_is_ignored) && std::same_as<Request, get_entity>) ||
            (is(defect::deadline_of_tables_is_ignored) && of_tables)) {
            below.deadline = no_deadline;
        }
        if (is(defect::deadline_is_a_time_of_day) && below.deadline != no_deadline) {
            auto const since_1970 =
                std::chrono::nanoseconds{(system_clock().now().ticks - date_time::unix_epoch) * 100};
            if (below.deadline.time_since_epoch() < since_1970) { below.deadline = steady_time{}; }
        }
        if (is(defect::attempts_are_not_counted)) { below.watch = nullptr; }
        auto response = answer(asked, below);
        context.attempts = is(defect::attempts_are_not_counted) ? context.attempts : below.attempts;
        if (is(defect::attempts_are_reported_twice) && context.watch != nullptr && below.attempts > 0) {
            attempt_record again;
            again.name = Request::name;
            context.watch->on_attempt(again);
        }
        if (too_late && context.cancellation.cancelled()) {
            return failure{error_code::cancelled, "the call was cancelled"};
        }
        if (!response && is(defect::refusals_have_an_unknown_effect) && (write || transaction)) {
            failure lost = std::move(response).as_failure();
            lost.error().effect = effect::unknown;
            return lost;
        }
        return response;
    }

    [[nodiscard]] result<void> execute(read_entity const& asked, call& context) const {
        call below = context;
        if (is(defect::shown_entity_is_not_cancelled)) { below.cancellation = {}; }
        get_entity const whole{
            std::string{asked.table}, std::string{asked.partition_key}, std::string{asked.row_key}, {}};
        auto found = execute(whole, below);
        context.attempts = below.attempts;
        if (!found) {
            if (is(defect::shown_entity_is_never_absent) && found.error().code == error_code::resource_not_found) {
                row const nothing = row_builder{asked.partition_key, asked.row_key}.build();
                return (*asked.visit)(nothing, etag{}, false);
            }
            return std::move(found).as_failure();
        }
        return (*asked.visit)(
            found->entity.view(), is(defect::shown_entity_has_no_version) ? etag{} : found->etag, found->stale);
    }

    [[nodiscard]] shared<channel> open(io_driver&) const;

private:
    using place = std::pair<std::string, std::pair<std::string, std::string>>;

    struct cache {
        std::mutex lock;
        std::map<place, get_entity::response> read;
    };

    struct state {
        explicit state(defect spoils) : what(spoils), inner(options()) {}

        /// The abilities of the store, which for some defects are fewer than it claims.
        [[nodiscard]] local_options options() const {
            local_options made;
            made.limits = promised();
            switch (what) {
                case defect::profile_lies_about_case_of_tables: made.limits.table_names_without_case = false; break;
                case defect::profile_promises_more_operations: made.limits.max_operations = 50; break;
                case defect::profile_promises_more_properties: made.limits.max_properties = 251; break;
                case defect::profile_promises_longer_names: made.limits.max_name_units = 254; break;
                case defect::profile_promises_longer_text: made.limits.max_string_units -= 1; break;
                case defect::profile_promises_larger_entities: made.limits.max_entity_size -= 1; break;
                case defect::profile_promises_longer_keys: made.limits.max_key_units = 511; break;
                case defect::large_transaction_is_refused: made.limits.max_transaction_size = 1 << 20; break;
                case defect::merged_entities_have_no_limit: made.limits.max_properties = 1000; break;
                case defect::empty_page_is_the_end: made.nasty.emplace(); break;
                case defect::pages_are_glued: made.page_examined = 3; break;
                case defect::profile_lies_about_order:
                    made.limits.ordered = false;
                    made.nasty.emplace().being_deleted = {};
                    break;
                default: break;
            }
            return made;
        }
        [[nodiscard]] static entitable::profile promised() { return local_profile(); }

        defect const what;
        memory_backend inner;
        std::mutex whole;                                      ///< held during a whole request, if necessary
        std::mutex lock;                                       ///< protects the following members
        std::map<std::string, std::vector<row>> dropped;       ///< rows of dropped tables
        std::map<place, std::pair<int, row>> versions;         ///< numbers that serve as ETags, with their rows
        std::map<place, date_time> first;                      ///< when an entity was first written
        std::set<std::pair<std::string, std::string>> emptied; ///< partitions that once had rows
        std::set<place> seen;                                  ///< first entities in transactions
    };

    [[nodiscard]] bool is(defect what) const { return state_->what == what; }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> pass(Request const& asked) const {
        call own;
        return state_->inner.execute(asked, own);
    }
    [[nodiscard]] static place place_of(std::string const& table, row_view keys) {
        return {text::ascii_lower(table), {std::string{keys.partition_key}, std::string{keys.row_key}}};
    }
    /// All rows of a table, as the store has them.
    [[nodiscard]] result<std::vector<row>> rows_of(std::string const& table) const {
        std::vector<row> rows;
        query_entities all;
        all.table = table;
        do {
            auto page = pass(all);
            if (!page) { return std::move(page).as_failure(); }
            for (std::size_t index = 0; index < page->rows.size(); ++index) { rows.emplace_back(page->rows[index]); }
            all.continuation = std::move(page->continuation);
        } while (all.continuation);
        return rows;
    }

    // ---- tables ----

    [[nodiscard]] result<create_table::response> answer(create_table const& asked, call& context) const {
        if (is(defect::device_names_are_refused) && (asked.table == "con" || asked.table == "nul")) {
            return failure{error_code::invalid_resource_name, "a device"};
        }
        auto made = state_->inner.execute(asked, context);
        if (!made) {
            if (is(defect::table_is_created_twice) && made.error().code == error_code::table_already_exists) {
                return create_table::response{};
            }
            if (is(defect::table_conflict_is_an_entity_conflict) &&
                made.error().code == error_code::table_already_exists) {
                return failure{error_code::entity_already_exists, "409"};
            }
            if (is(defect::table_names_without_a_rule) && made.error().code == error_code::invalid_resource_name) {
                return create_table::response{};
            }
            return made;
        }
        if (is(defect::dropped_table_keeps_its_rows)) {
            std::lock_guard const guard{state_->lock};
            for (row const& each : state_->dropped[text::ascii_lower(asked.table)]) {
                (void)pass(write_entity{asked.table, mutation::insert(each)});
            }
        }
        return made;
    }
    [[nodiscard]] result<delete_table::response> answer(delete_table const& asked, call& context) const {
        auto rows = rows_of(asked.table);
        auto gone = state_->inner.execute(asked, context);
        if (!gone && is(defect::deletion_of_no_table_succeeds) && gone.error().code == error_code::resource_not_found) {
            return delete_table::response{};
        }
        if (gone && rows && is(defect::dropped_table_keeps_its_rows)) {
            std::lock_guard const guard{state_->lock};
            state_->dropped[text::ascii_lower(asked.table)] = *std::move(rows);
        }
        if (gone && is(defect::deletion_hits_longer_names)) {
            auto const all = pass(list_tables{});
            for (std::string const& name : all ? all->tables : std::vector<std::string>{}) {
                if (name.starts_with(asked.table)) { (void)pass(delete_table{name}); }
            }
        }
        return gone;
    }
    [[nodiscard]] result<list_tables::response> answer(list_tables asked, call& context) const {
        if (is(defect::page_of_tables_is_too_large) && asked.page_size > 0 && asked.page_size < 1000) {
            ++asked.page_size;
        }
        if (is(defect::table_token_needs_its_table) && asked.continuation && asked.continuation->starts_with("n-")) {
            auto const all = pass(list_tables{});
            std::string const name = asked.continuation->substr(2);
            auto const at = std::find(all->tables.begin(), all->tables.end(), name);
            list_tables::response made;
            for (auto next = at; next != all->tables.end() && made.tables.size() < asked.page_size; ++next) {
                made.tables.push_back(*next);
                if (next + 1 != all->tables.end() && made.tables.size() == asked.page_size) {
                    made.continuation = "n-" + *(next + 1);
                }
            }
            return made;
        }
        auto page = state_->inner.execute(asked, context);
        if (!page) { return page; }
        if (is(defect::tables_are_listed_in_lower_case)) {
            for (std::string& name : page->tables) { name = text::ascii_lower(name); }
        }
        if (is(defect::last_table_of_a_page_is_lost) && page->continuation && page->tables.size() > 1) {
            page->tables.pop_back();
        }
        if (is(defect::tables_are_listed_without_end) && !page->continuation) {
            state_->lock.lock();
            state_->lock.unlock();
            list_tables first{std::nullopt, 1};
            auto again = pass(first);
            page->continuation = again ? again->continuation : std::nullopt;
        }
        if (is(defect::table_token_needs_its_table) && page->continuation) {
            auto const next = pass(list_tables{page->continuation, 1});
            page->continuation = "n-" + next->tables.front();
        }
        return page;
    }

    // ---- reads ----

    [[nodiscard]] result<get_entity::response> answer(get_entity asked, call& context) const {
        auto const keys = spoiled_keys(state_->what, asked.partition_key, asked.row_key);
        get_entity below{asked.table, keys.first, keys.second, asked.select};
        if (is(defect::projection_of_a_get_is_ignored)) { below.select.clear(); }
        if (is(defect::quotes_are_doubled)) { below.row_key = replaced(below.row_key, "'", "''"); }
        if (is(defect::copies_remember_what_they_read)) {
            std::lock_guard const guard{cache_->lock};
            auto const known = cache_->read.find({asked.table, keys});
            if (known != cache_->read.end() && asked.select.empty()) {
                return count_attempt(
                    asked, context, system_clock(), [&] { return result<get_entity::response>{known->second}; });
            }
        }
        auto found = state_->inner.execute(below, context);
        if (!found) { return missing(std::move(found)); }
        row const stored{found->entity};
        found->entity = shown(asked.table, stored);
        found->etag = found->entity.view().etag();
        if (is(defect::projection_loses_the_timestamp) && !asked.select.empty()) {
            found->entity = with_version(found->entity, {}, found->etag.to_string());
        }
        if (is(defect::entity_comes_without_keys)) {
            found->entity = row{"", "", found->entity.payload(), found->entity.view().etag_text};
        }
        found->stale = is(defect::read_of_the_primary_is_stale);
        if (is(defect::copies_remember_what_they_read) && asked.select.empty()) {
            std::lock_guard const guard{cache_->lock};
            cache_->read.insert_or_assign({asked.table, keys}, *found);
        }
        return found;
    }
    [[nodiscard]] bool has_own_pages() const {
        switch (state_->what) {
            case defect::none_own_pages:
            case defect::partition_is_a_prefix:
            case defect::empty_partition_is_any:
            case defect::keys_in_the_order_of_bytes:
            case defect::keys_in_the_order_of_a_language:
            case defect::results_in_reverse_order:
            case defect::lower_bound_loses_its_key:
            case defect::lower_bound_keeps_its_key:
            case defect::upper_bound_loses_its_key:
            case defect::upper_bound_keeps_its_key:
            case defect::row_bounds_in_one_partition_only:
            case defect::bound_at_the_empty_key_is_none:
            case defect::nan_equals_itself:
            case defect::absent_is_not_equal:
            case defect::absent_is_less:
            case defect::not_has_three_values:
            case defect::numbers_of_other_types_are_compared:
            case defect::filter_names_without_case:
            case defect::filtered_text_without_case:
            case defect::filtered_text_without_trailing_blanks:
            case defect::filtered_int64_through_a_double:
            case defect::filtered_int64_as_text:
            case defect::filtered_text_by_bytes:
            case defect::connectives_are_swapped:
            case defect::negation_is_lost:
            case defect::timestamp_filter_in_seconds:
            case defect::projection_comes_before_the_filter:
            case defect::filter_is_lost_on_page_two:
            case defect::row_at_the_edge_comes_twice:
            case defect::rows_come_twice:
            case defect::page_is_too_large:
            case defect::pages_end_with_their_partition:
            case defect::pages_have_no_end:
            case defect::tokens_of_other_queries_are_taken:
            case defect::damaged_tokens_are_taken:
            case defect::tokens_are_not_printable:
            case defect::tokens_count_rows:
            case defect::token_needs_the_last_row:
            case defect::token_needs_the_next_row: return true;
            default: return false;
        }
    }
    [[nodiscard]] result<query_entities::response> answer(query_entities asked, call& context) const {
        if (is(defect::missing_table_is_an_empty_one) && !pass(create_table{asked.table})) {
            // it exists
        } else if (is(defect::missing_table_is_an_empty_one)) {
            (void)pass(delete_table{asked.table});
            return query_entities::response{};
        }
        if (has_own_pages()) {
            if (auto allowed = check_call(context); !allowed) { return std::move(allowed).as_failure(); }
            if (auto good = validate(asked, profile()); !good) { return std::move(good).as_failure(); }
            return count_attempt(asked, context, system_clock(), [&]() -> result<query_entities::response> {
                auto rows = rows_of(asked.table);
                if (!rows) { return std::move(rows).as_failure(); }
                return spoiled_pages{state_->what}.answer(asked, *std::move(rows));
            });
        }
        if (is(defect::projection_is_ignored) || (is(defect::projection_is_lost_on_page_two) && asked.continuation)) {
            asked.select.clear();
        }
        if (is(defect::page_sizes_have_no_bounds)) {
            asked.page_size = asked.page_size == 0 || asked.page_size > 1000 ? 1000 : asked.page_size;
        }
        if (asked.range.partition.is_point() && asked.range.row.is_point()) {
            auto const keys = spoiled_keys(state_->what, asked.range.partition.lower.key, asked.range.row.lower.key);
            asked.range = {key_interval::only(keys.first), key_interval::only(keys.second)};
        }
        auto page = state_->inner.execute(asked, context);
        if (!page) {
            if (is(defect::malformed_filters_are_taken) && page.error().code == error_code::invalid_input &&
                !asked.filter.empty()) {
                return query_entities::response{};
            }
            if (is(defect::token_of_no_table_is_an_empty_page) && asked.continuation &&
                page.error().code == error_code::table_not_found) {
                return query_entities::response{};
            }
            return missing(std::move(page));
        }
        while (is(defect::pages_are_glued) && page->continuation && page->rows.size() < asked.page_size) {
            query_entities rest = asked;
            rest.continuation = page->continuation;
            rest.page_size = asked.page_size - static_cast<std::uint32_t>(page->rows.size());
            auto const next = state_->inner.execute(rest, context);
            if (!next) { return next; }
            for (std::size_t index = 0; index < next->rows.size(); ++index) { page->rows.append(next->rows[index]); }
            page->continuation = next->continuation;
        }
        entitable::page rows;
        for (std::size_t index = 0; index < page->rows.size(); ++index) {
            row each = shown(asked.table, page->rows[index]);
            if (is(defect::projection_loses_the_etag) && !asked.select.empty()) {
                each = with_version(each, each.view().timestamp(), "\"0\"");
            }
            bool const lost = is(defect::last_row_of_a_page_is_lost) && page->continuation &&
                page->rows.size() == asked.page_size && index + 1 == page->rows.size();
            if (!lost) { rows.append(each); }
        }
        if (is(defect::empty_partition_is_a_ghost_row) && !page->continuation) {
            std::lock_guard const guard{state_->lock};
            for (auto const& each : state_->emptied) {
                if (each.first == text::ascii_lower(asked.table) && asked.range.partition.contains(each.second)) {
                    rows.append(row_builder{each.second, ""}.build());
                }
            }
        }
        if (is(defect::empty_page_is_the_end) && rows.empty()) { page->continuation.reset(); }
        page->rows = std::move(rows);
        page->stale = is(defect::query_of_the_primary_is_stale);
        return page;
    }
    template <class Response>
    [[nodiscard]] result<Response> missing(result<Response> refused) const {
        if (is(defect::missing_table_is_a_missing_entity) && refused.error().code == error_code::table_not_found) {
            return failure{error_code::resource_not_found, "404"};
        }
        return refused;
    }

    // ---- versions ----

    [[nodiscard]] bool has_own_etags() const {
        return is(defect::none_own_etags) || is(defect::etag_kept_by_an_equal_replace) ||
            is(defect::etag_kept_by_an_equal_merge) || is(defect::etag_is_a_hash_of_the_content) ||
            is(defect::etag_counts_from_one_again) || is(defect::etag_has_whole_seconds);
    }
    /// The ETag that is returned for a stored row.
    [[nodiscard]] std::string own_etag(std::string const& table, row_view stored) const {
        if (is(defect::etag_is_a_hash_of_the_content)) {
            return "W/\"" + std::to_string(std::hash<std::string_view>{}(stored.payload.substr(16))) + "\"";
        }
        if (is(defect::etag_has_whole_seconds)) {
            return "W/\"" + std::to_string(stored.timestamp().ticks / date_time::ticks_per_second) + "\"";
        }
        std::lock_guard const guard{state_->lock};
        return "W/\"" + std::to_string(state_->versions[place_of(table, stored)].first) + "\"";
    }
    [[nodiscard]] row shown(std::string const& table, row_view stored) const {
        if (has_own_etags()) { return with_version(stored, stored.timestamp(), own_etag(table, whole(table, stored))); }
        if (is(defect::timestamp_is_of_the_first_write)) {
            std::lock_guard const guard{state_->lock};
            return with_version(stored, state_->first[place_of(table, stored)], stored.etag().to_string());
        }
        if (is(defect::timestamp_has_whole_seconds)) {
            std::int64_t const ticks = stored.timestamp().ticks;
            return with_version(
                stored, date_time{ticks - ticks % date_time::ticks_per_second}, stored.etag().to_string());
        }
        if (is(defect::timestamp_of_the_caller)) {
            std::lock_guard const guard{state_->lock};
            auto const given = state_->first.find(place_of(table, stored));
            if (given != state_->first.end() && given->second.ticks != 0) {
                return with_version(stored, given->second, stored.etag().to_string());
            }
        }
        return row{stored};
    }
    /// The stored row, with all its properties.
    [[nodiscard]] row whole(std::string const& table, row_view keys) const {
        auto found = pass(get_entity{table, std::string{keys.partition_key}, std::string{keys.row_key}, {}});
        return found ? std::move(found->entity) : row{keys};
    }
    /// The condition as the store needs it.
    [[nodiscard]] etag_condition stored_condition(std::string const& table, mutation const& change) const {
        if (!has_own_etags() || change.condition.any() || !change.condition.version().is_valid()) {
            return change.condition;
        }
        row const stored = whole(table, change.entity);
        return own_etag(table, stored) == change.condition.version().to_string()
            ? etag_condition{stored.view().etag()}
            : etag_condition{etag{"W/\"another\""}};
    }
    /// After a write: updates the additional data, and returns the visible ETag.
    [[nodiscard]] written noted(std::string const& table, mutation const& change, written done) const {
        bool const removed = change.kind == mutation_kind::remove;
        place const at = place_of(table, change.entity);
        {
            row const now = whole(table, change.entity);
            std::lock_guard const guard{state_->lock};
            auto& [count, content] = state_->versions[at];
            bool const equal =
                content.payload().size() >= 16 && content.payload().substr(16) == now.payload().substr(16);
            bool const kept = equal &&
                ((is(defect::etag_kept_by_an_equal_replace) && change.kind == mutation_kind::replace) ||
                    (is(defect::etag_kept_by_an_equal_merge) && change.kind == mutation_kind::merge));
            count += kept ? 0 : 1;
            content = now;
            if (removed && is(defect::etag_counts_from_one_again)) { state_->versions.erase(at); }
            if (is(defect::timestamp_of_the_caller)) {
                state_->first[at] = change.entity.view().timestamp();
            } else if (removed) {
                state_->first.erase(at);
            } else {
                state_->first.emplace(at, now.view().timestamp());
            }
        }
        if (removed) {
            if (is(defect::empty_partition_is_a_ghost_row)) {
                query_entities rest;
                rest.table = table;
                rest.range.partition = key_interval::only(std::string{change.entity.partition_key()});
                auto const left = pass(rest);
                if (left && left->rows.empty()) {
                    std::lock_guard const guard{state_->lock};
                    state_->emptied.emplace(text::ascii_lower(table), change.entity.partition_key());
                }
            }
            if (is(defect::removal_takes_its_neighbour)) {
                auto rows = rows_of(table);
                for (row const& each : *rows) {
                    if (each.partition_key() == change.entity.partition_key()) {
                        (void)pass(write_entity{table, mutation::remove(each, any_etag)});
                        break;
                    }
                }
            }
            done.etag = is(defect::removal_gives_an_etag) ? etag{"W/\"gone\""} : etag{};
            return done;
        }
        if (has_own_etags()) { done.etag = etag{own_etag(table, whole(table, change.entity))}; }
        if (is(defect::etag_of_another_write)) { done.etag = etag::of({1}); }
        if (is(defect::etag_without_its_prefix)) { done.etag = etag{done.etag.to_string().substr(2)}; }
        return done;
    }

    // ---- writes ----

    /// The change with the defect.
    [[nodiscard]] mutation spoiled(std::string const& table, mutation change) const {
        change.entity = spoiled_row(state_->what, change.entity);
        change.condition = stored_condition(table, change);
        auto const becomes = [&](defect what, mutation_kind from, mutation_kind to) {
            if (is(what) && change.kind == from && change.condition.any()) {
                change.kind = to;
                return true;
            }
            return false;
        };
        (void)(becomes(defect::insert_overwrites, mutation_kind::insert, mutation_kind::insert_or_replace) ||
            becomes(defect::replace_inserts, mutation_kind::replace, mutation_kind::insert_or_replace) ||
            becomes(defect::replace_is_merge, mutation_kind::replace, mutation_kind::merge) ||
            becomes(
                defect::insert_or_replace_is_merge, mutation_kind::insert_or_replace, mutation_kind::insert_or_merge) ||
            becomes(defect::merge_inserts, mutation_kind::merge, mutation_kind::insert_or_merge) ||
            becomes(defect::merge_is_replace, mutation_kind::merge, mutation_kind::replace) ||
            becomes(
                defect::insert_or_merge_is_replace, mutation_kind::insert_or_merge, mutation_kind::insert_or_replace));
        bool const valid = change.condition.any() || change.condition.version().is_valid();
        if ((is(defect::conditions_are_ignored) ||
                (is(defect::condition_of_removal_is_ignored) && change.kind == mutation_kind::remove)) &&
            valid) {
            change.condition = any_etag;
        }
        if (is(defect::merge_removes_what_is_absent) &&
            (change.kind == mutation_kind::merge || change.kind == mutation_kind::insert_or_merge)) {
            row const stored = whole(table, change.entity);
            row_builder made{change.entity.partition_key(), change.entity.row_key()};
            std::set<std::string> named;
            property_cursor cursor{change.entity.payload()};
            for (property_view property; cursor.next(property);) {
                named.emplace(property.name);
                if (property.present) { made.add(property.name, property.value); }
            }
            property_cursor old{stored.payload()};
            for (property_view property; old.next(property);) {
                if (property.present && named.count(std::string{property.name}) == 0) {
                    made.add(property.name, property.value);
                }
            }
            change.entity = made.build();
            change.kind =
                change.kind == mutation_kind::merge ? mutation_kind::replace : mutation_kind::insert_or_replace;
        }
        return change;
    }
    [[nodiscard]] result<written> answer(write_entity const& asked, call& context) const {
        if (auto stopped = before_a_write(asked.table, asked, context); !stopped) {
            return std::move(stopped).as_failure();
        }
        if (is(defect::empty_row_key_is_refused) && asked.change.entity.row_key().empty()) {
            return failure{error_code::properties_need_value, "RowKey is NULL"};
        }
        mutation const change = spoiled(asked.table, asked.change);
        auto done = conditional(asked.table, change, context);
        if (!done) {
            error_code const code = done.error().code;
            if (is(defect::write_makes_the_table) && code == error_code::table_not_found &&
                pass(create_table{asked.table})) {
                return pass(write_entity{asked.table, change});
            }
            if (is(defect::removal_of_nothing_succeeds) && change.kind == mutation_kind::remove &&
                code == error_code::resource_not_found) {
                return written{};
            }
            if (is(defect::malformed_etags_are_compared) && !change.condition.any() &&
                !change.condition.version().is_valid()) {
                return failure{error_code::update_condition_not_satisfied, "another version"};
            }
            if ((is(defect::forbidden_keys_are_taken) && code == error_code::out_of_range_input) ||
                (is(defect::bad_names_are_taken) && code == error_code::property_name_invalid)) {
                return written{etag::of({1}), false};
            }
            return missing(std::move(done));
        }
        return noted(asked.table, change, *std::move(done));
    }
    /// The checks before a write or a transaction.
    template <class Request>
    [[nodiscard]] result<void> before_a_write(
        std::string const& table, Request const& asked, call const& context) const {
        if (is(defect::table_is_looked_for_first)) {
            auto const there = pass(get_entity{table, "p", "r", {}});
            if (!there && there.error().code == error_code::table_not_found) { return failure{there.error()}; }
        }
        if (is(defect::merged_entities_have_no_limit)) {
            if (auto allowed = check_call(context); !allowed) { return allowed; }
            return validate(asked, profile());
        }
        return {};
    }
    /// Writes, for some defects in two steps.
    [[nodiscard]] result<written> conditional(std::string const& table, mutation const& change, call& context) const {
        bool const has_version = !change.condition.any() && change.condition.version().is_valid();
        bool const in_two_steps = (has_version &&
                                      (is(defect::condition_is_checked_by_a_read_of_its_own) ||
                                          is(defect::condition_is_checked_without_a_lock))) ||
            (is(defect::insert_looks_first) && change.kind == mutation_kind::insert) ||
            (is(defect::merge_reads_and_replaces) && change.kind == mutation_kind::insert_or_merge);
        if (!in_two_steps || !validate(write_entity{table, change}, profile()) || !check_call(context)) {
            return state_->inner.execute(write_entity{table, change}, context);
        }
        get_entity const read{
            table, std::string{change.entity.partition_key()}, std::string{change.entity.row_key()}, {}};
        if (is(defect::condition_is_checked_by_a_read_of_its_own)) {
            auto const stored = state_->inner.execute(read, context); // reported to the observer
            return checked(table, change, stored, context);
        }
        auto const stored = pass(read);
        std::this_thread::sleep_for(std::chrono::microseconds{50}); // as in a round trip, the other thread runs
        return checked(table, change, stored, context);
    }
    [[nodiscard]] result<written> checked(
        std::string const& table, mutation change, result<get_entity::response> const& stored, call& context) const {
        if (!stored) {
            if (stored.error().code == error_code::resource_not_found && change.kind == mutation_kind::insert) {
                change.kind = mutation_kind::insert_or_replace;
            }
            return state_->inner.execute(write_entity{table, std::move(change)}, context);
        }
        if (change.kind == mutation_kind::insert_or_merge) {
            std::string const payload = merged_payload(stored->entity.payload(), change.entity.payload());
            change.entity = row{change.entity.partition_key(), change.entity.row_key(), payload};
            change.kind = mutation_kind::insert_or_replace;
        } else if (change.kind != mutation_kind::insert && change.condition.accepts(stored->etag)) {
            change.condition = any_etag;
        }
        return state_->inner.execute(write_entity{table, std::move(change)}, context);
    }

    // ---- transactions ----

    [[nodiscard]] result<transact::response> answer(transact asked, call& context) const {
        if (auto stopped = before_a_write(asked.table, asked, context); !stopped) {
            return std::move(stopped).as_failure();
        }
        if (is(defect::transaction_is_used_up) &&
            !asked.changes.empty()) { // mistaken for a repetition that was answered before
            std::lock_guard const guard{state_->lock};
            if (!state_->seen.insert(place_of(asked.table, asked.changes.front().entity)).second) {
                asked.changes.clear();
            }
        }
        for (mutation& change : asked.changes) {
            change = spoiled(asked.table, std::move(change));
            if (is(defect::upserts_in_transactions_are_inserts) && change.kind == mutation_kind::insert_or_replace) {
                change.kind = mutation_kind::insert;
            }
            if (is(defect::conditions_in_transactions_are_ignored) &&
                (change.condition.any() || change.condition.version().is_valid())) {
                change.condition = any_etag;
            }
        }
        if (is(defect::hundred_are_too_many) && asked.changes.size() >= 100) {
            return failure{error_code::invalid_input, "99 operations are allowed"};
        }
        if (auto taken = more_than_allowed(asked)) { return *std::move(taken); }
        if (is(defect::transactions_are_not_atomic) && validate(asked, profile()) && check_call(context)) {
            return one_by_one(asked);
        }
        bool const only_upserts = std::all_of(asked.changes.begin(), asked.changes.end(),
            [](mutation const& change) { return change.kind == mutation_kind::insert_or_merge; });
        if (is(defect::half_a_transaction_is_seen) && only_upserts && validate(asked, profile()) &&
            check_call(context)) {
            ++context.attempts;
            return one_by_one(asked);
        }
        auto done = state_->inner.execute(asked, context);
        if (!done) {
            auto const index = done.error().operation_index;
            if (is(defect::removals_are_not_rolled_back) && index) {
                for (std::size_t at = 0; at < asked.changes.size(); ++at) {
                    if (asked.changes[at].kind == mutation_kind::remove && at != *index) {
                        (void)pass(write_entity{asked.table, asked.changes[at]});
                    }
                }
            }
            failure refused = std::move(missing(std::move(done))).as_failure();
            if (is(defect::index_counts_from_one) && index) { refused.error().operation_index = *index + 1; }
            if (is(defect::index_is_missing_for_etags) &&
                refused.error().code == error_code::update_condition_not_satisfied) {
                refused.error().operation_index.reset();
            }
            return refused;
        }
        for (std::size_t index = 0; index < done->results.size(); ++index) {
            done->results[index] = noted(asked.table, asked.changes[index], std::move(done->results[index]));
        }
        if (is(defect::results_in_reverse)) { std::reverse(done->results.begin(), done->results.end()); }
        if (is(defect::result_is_missing)) { done->results.pop_back(); }
        if (is(defect::results_have_one_etag)) {
            for (written& each : done->results) { each.etag = done->results.front().etag; }
        }
        return done;
    }
    /// Success instead of a refusal.
    [[nodiscard]] std::optional<result<transact::response>> more_than_allowed(transact const& asked) const {
        auto const refused = validate(asked, profile());
        if (refused) { return std::nullopt; }
        error_code const code = refused.error().code;
        bool const taken = (is(defect::empty_transaction_succeeds) && asked.changes.empty()) ||
            (is(defect::operation_too_many_is_taken) && asked.changes.size() > 100) ||
            (is(defect::partitions_are_mixed) && code == error_code::commands_in_batch_act_on_different_partitions) ||
            (is(defect::entity_twice_is_taken) && code == error_code::invalid_duplicate_row) ||
            (is(defect::transaction_has_no_size) && code == error_code::request_body_too_large);
        return taken ? std::optional{one_by_one(asked)} : std::nullopt;
    }
    [[nodiscard]] result<transact::response> one_by_one(transact const& asked) const {
        transact::response made;
        for (mutation const& change : asked.changes) {
            auto one = pass(write_entity{asked.table, change});
            if (!one) {
                failure stopped = std::move(one).as_failure();
                stopped.error().operation_index = made.results.size();
                return stopped;
            }
            made.results.push_back(*std::move(one));
            std::this_thread::sleep_for(std::chrono::microseconds{50}); // as in a round trip, the other thread runs
        }
        return made;
    }

    std::shared_ptr<state> state_;
    std::shared_ptr<cache> cache_;
};

/// Executes four at a time and spoils their answers.
class spoiled_channel final : public channel {
public:
    spoiled_channel(spoiled_backend through, bool swaps, bool drops)
        : through_(std::move(through)), swaps_(swaps), drops_(drops) {}

    void send(request_ref request, call& context, void* tag) override { sent_.push_back({request, &context, tag}); }
    void cancel(void*, error const&) override {}
    void poll(steady_time, completion_sink sink) override {
        std::vector<one> all = std::exchange(sent_, {});
        if (swaps_ && all.size() > 1) { std::swap(all[0].tag, all[1].tag); }
        for (one const& each : all) {
            each.request.visit([&]<class Request>(Request const& request) {
                auto answer = execute(through_, request, *each.context);
                if (answer || !drops_) {
                    completion done{request, answer, *each.context, each.tag, {}};
                    sink(done);
                }
            });
        }
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override {
        return sent_.empty() ? steady_time::max() : steady_time::min();
    }

private:
    struct one {
        request_ref request;
        call* context;
        void* tag;
    };
    spoiled_backend through_;
    bool swaps_;
    bool drops_;
    std::vector<one> sent_;
};

inline shared<channel> spoiled_backend::open(io_driver&) const {
    return shared<channel>{
        new spoiled_channel{*this, is(defect::many_answers_change_places), is(defect::many_failures_are_dropped)}};
}

} // namespace entitable_test
