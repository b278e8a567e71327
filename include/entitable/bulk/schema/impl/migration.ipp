// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/detail/beyond_queries.hpp>
#include <entitable/bulk/schema/migrate.hpp>
#include <entitable/core/row/detail/row_digest.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<bool> is_of_new_type(row_view stored, declared_properties before, declared_properties after) {
    std::string_view old_one;
    std::string_view new_one;
    property_cursor cursor{stored.payload};
    for (property_view each; cursor.next(each);) {
        if (!each.present) { continue; }
        bool const in_old = before.find(each.name) != before.count;
        bool const in_new = after.find(each.name) != after.count;
        if (in_old && !in_new && old_one.empty()) { old_one = each.name; }
        if (in_new && !in_old && new_one.empty()) { new_one = each.name; }
    }
    if (!old_one.empty() && !new_one.empty()) {
        return failure{error_code::row_mismatch,
            text::joined(
                {"the row has the property \"", old_one, "\" of ", before.entity, " and the property \"", new_one,
                    "\" of ", after.entity, ": a program with the old declaration changed it after it was rewritten"})};
    }
    return !new_one.empty();
}

ENTITABLE_DECL result<std::optional<row>> migrated_row(
    row_view stored, row_view made, declared_properties before, declared_properties after) {
    if (made.partition_key != stored.partition_key || made.row_key != stored.row_key) {
        return failure{error_code::invalid_input,
            "a migration must not change the keys of an entity: copy it into another table with bulk_copy"};
    }
    row_builder builder{stored.partition_key, stored.row_key};
    property_view each;
    for (property_cursor cursor{made.payload}; cursor.next(each);) {
        if (each.present) { builder.add(each.name, each.value); }
    }
    for (property_cursor cursor{stored.payload}; cursor.next(each);) {
        bool const declared = before.find(each.name) != before.count || after.find(each.name) != after.count;
        if (each.present && !declared) { builder.add(each.name, each.value); }
    }
    row whole = builder.build();
    quick_digests digests;
    if (digests.of(whole) == digests.of(stored)) { return std::optional<row>{}; }
    return std::optional<row>{std::move(whole)};
}

/// The steps of a migration.
class migration_run {
public:
    migration_run(any_store const& through, std::string const& table, call_options const& calls, bulk_change convert,
        bulk_options options)
        : through_(through),
          table_(table),
          calls_(calls),
          convert_(convert),
          options_(std::move(options)),
          deadline_(options_.timeout == no_timeout ? no_timeout
                                                   : options_.timeout + options_.time->steady().time_since_epoch()) {
        options_.window = (std::max)(options_.window, std::size_t{1});
        if (options_.dry_run) { options_.checkpoint = {}; }
    }

    [[nodiscard]] result<bulk_report> run(migration_start start) {
        ENTITABLE_TRY(auto token, load());
        bool const resumed = token.has_value();
        auto begun = start(std::move(token));
        if (!begun) {
            if (resumed && begun.error().code == error_code::continuation_invalid) {
                return failure{
                    error_code::checkpoint_invalid, "the checkpoint belongs to a migration of a different query"};
            }
            return std::move(begun).as_failure();
        }
        walk_ = *std::move(begun);
        while (!ended_) {
            ENTITABLE_CHECK(run_step());
            if (!ended_ && options_.checkpoint) { ENTITABLE_CHECK(save()); }
        }
        if (options_.checkpoint) { ENTITABLE_CHECK(options_.checkpoint.clear()); }
        done_.ended = true;
        done_.total = done_.read;
        return std::move(done_);
    }

private:
    /// Reads the checkpoint; returns the token to continue from, if there is one.
    [[nodiscard]] result<std::optional<std::string>> load() {
        if (!options_.checkpoint) { return std::optional<std::string>{}; }
        ENTITABLE_TRY(auto const kept, options_.checkpoint.load());
        if (!kept) { return std::optional<std::string>{}; }
        ENTITABLE_TRY(auto position, read_migration_position(*kept, table_, options_.input));
        done_.read = position.read;
        done_.written = position.counts.written;
        done_.already_there = position.counts.already_there;
        done_.refused = position.counts.refused;
        done_.bytes = position.counts.bytes;
        return std::optional{std::move(position.token)};
    }
    [[nodiscard]] result<void> save() const {
        migration_position const at{
            *token_, done_.read, {done_.written, done_.already_there, 0, done_.refused, done_.bytes}};
        return options_.checkpoint.save(at.text(table_, options_.input));
    }

    /// Gives the next row to a step, which ends with a page.
    [[nodiscard]] bulk_input next(bulk_item& item) {
        if (at_ == walk_->size()) {
            if (in_step_ >= options_.window) { return bulk_input::end; }
            auto more = walk_->next_page();
            if (!more) {
                item.why.emplace(more.error());
                return bulk_input::stopped;
            }
            at_ = 0;
            token_ = *more ? walk_->token() : std::nullopt;
            if (!*more) {
                ended_ = true;
                return bulk_input::end;
            }
        }
        row_view const stored = walk_->rows()[at_++];
        ++in_step_;
        auto whole = check_not_wide(stored, table_, "migrate it with table<wide<E>>");
        auto made = whole ? convert_(stored) : result<std::optional<row>>{std::move(whole).as_failure()};
        if (!made) {
            item.change = mutation::remove(row{stored.partition_key, stored.row_key, {}}, stored.etag());
            item.why.emplace(made.error());
            return bulk_input::barred;
        }
        if (!*made) { return bulk_input::passed; }
        item.change = mutation::replace(**std::move(made), stored.etag());
        return bulk_input::row;
    }

    /// Options of a step, whose reports continue those of the steps before it.
    [[nodiscard]] bulk_options options_of_step() const {
        bulk_options step = options_;
        step.checkpoint = {};
        step.total.reset();
        step.keep_refused = options_.keep_refused - (std::min)(options_.keep_refused, done_.refusals.size());
        step.max_refused = options_.max_refused - (std::min)(options_.max_refused, done_.refused);
        if (deadline_ != no_timeout) { step.timeout = deadline_ - options_.time->steady().time_since_epoch(); }
        if (options_.on_refused) {
            step.on_refused = [this](refused_row const& each) {
                refused_row moved = each;
                moved.index += done_.read;
                options_.on_refused(moved);
            };
        }
        if (options_.watch) {
            step.watch = [this](bulk_progress const& of_step) {
                bulk_progress whole = done_;
                add(whole, of_step);
                whole.ended = of_step.ended && ended_;
                whole.total = options_.total;
                options_.watch(whole);
            };
        }
        return step;
    }
    static void add(bulk_progress& to, bulk_progress const& step) {
        to.read += step.read;
        to.written += step.written;
        to.already_there += step.already_there;
        to.superseded += step.superseded;
        to.refused += step.refused;
        to.held = step.held;
        to.transactions += step.transactions;
        to.retried += step.retried;
        to.bytes += step.bytes;
        to.in_flight = step.in_flight;
        to.rows_a_second = step.rows_a_second;
        to.elapsed += step.elapsed;
    }
    [[nodiscard]] result<void> run_step() {
        in_step_ = 0;
        auto const source = [this](bulk_item& item) { return next(item); };
        bulk_run load{through_, table_, calls_, bulk_mode::update, source, &convert_, options_of_step()};
        ENTITABLE_TRY(auto step, load.run());
        for (refused_row& each : step.refusals) {
            each.index += done_.read;
            done_.refusals.push_back(std::move(each));
        }
        add(done_, step);
        ended_ = ended_ || !token_;
        return {};
    }

    any_store const& through_;
    std::string const& table_;
    call_options const& calls_;
    bulk_change convert_;
    bulk_options options_;
    std::chrono::nanoseconds deadline_; ///< by the clock of the load; `no_timeout` if there is none
    shared<row_walk> walk_;
    std::size_t at_{};                 ///< next row of the page
    std::size_t in_step_{};            ///< rows read in this step
    std::optional<std::string> token_; ///< token of the next page
    bool ended_{};
    bulk_report done_; ///< the steps that are completed
};

ENTITABLE_DECL result<bulk_report> run_migration(query_source const& found, any_store const& through,
    std::string const& table, call_options const& calls, bulk_change convert, migration_start start,
    bulk_options options) {
    if (found.table != table) {
        return failure{error_code::invalid_input, "the query must read the table of the call"};
    }
    ENTITABLE_CHECK(check_found_by_queries(found.through, found.table, found.options, *options.time));
    ENTITABLE_CHECK(check_without_companions(found.through, found.table, found.options, *options.time));
    return migration_run{through, table, calls, convert, std::move(options)}.run(start);
}

ENTITABLE_DECL result<void> mark_migrated(any_store const& through, std::string const& table, call_options const& calls,
    declared_properties of, key_layout row_layout, clock& time) {
    for (std::size_t index = 0; index < of.count; ++index) {
        declared_property const& each = of[index];
        if (each.former == nullptr || each.is_former_name) { continue; }
        call context{calls, time};
        context.operation_id.clear(); // the id identifies one write
        row mark = row_builder{system_row::migrated, mark_row_key(each.name, *each.former, row_layout)}.build();
        ENTITABLE_CHECK(through.execute(write_entity{table, mutation::insert_or_replace(std::move(mark))}, context));
    }
    return {};
}

ENTITABLE_DECL result<bool> has_marks(any_store const& through, std::string const& table, call_options const& calls,
    declared_properties of, key_layout row_layout, clock& time) {
    former_watch watch;
    for (std::size_t index = 0; index < of.count; ++index) {
        declared_property const& each = of[index];
        if (each.former == nullptr || each.is_former_name) { continue; }
        watch.wanted.push_back(mark_row_key(each.name, *each.former, row_layout));
    }
    call context{calls, time};
    ENTITABLE_TRY(auto const found, through.execute(marks_request(table), context));
    return watch.all_in(found.rows);
}

ENTITABLE_DECL result<bulk_report> run_passes(function_ref<result<bulk_report>(bulk_options const&)> pass,
    function_ref<result<void>()> mark, bulk_options const& options) {
    constexpr int most = 5; // with the first
    bool resumed = false;
    if (options.checkpoint && !options.dry_run) {
        ENTITABLE_TRY(auto const kept, options.checkpoint.load());
        resumed = kept.has_value();
    }
    ENTITABLE_TRY(auto report, pass(options));
    if (options.dry_run || report.refused != 0) { return report; }
    bool clean = report.written == 0 && !resumed;
    for (int passes = 1; !clean && passes < most; ++passes) {
        bulk_options again = options;
        again.checkpoint = {};
        again.total.reset();
        ENTITABLE_TRY(auto more, pass(again));
        report.written += more.written;
        report.retried += more.retried;
        report.transactions += more.transactions;
        report.bytes += more.bytes;
        if (more.refused != 0) {
            report.refused = more.refused;
            report.refusals = std::move(more.refusals);
            return report;
        }
        clean = more.written == 0;
    }
    if (!clean) {
        return failure{error_code::update_condition_not_satisfied,
            "programs with the former declaration are still writing to the table: stop them, and run the migration "
            "again"};
    }
    ENTITABLE_CHECK(mark());
    return report;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
