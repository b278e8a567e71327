// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companion_writer.hpp>
#include <entitable/client/detail/update_operation.hpp>
#include <entitable/client/mapping/detail/value_reader.hpp>
#include <entitable/client/update.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/row/detail/property_finder.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY update_options const& usual_update_options() noexcept {
    static update_options const usual;
    return usual;
}

/// Whether two payloads have the same descriptor: each names all properties of the other.
[[nodiscard]] inline bool has_same_properties(std::string_view one, std::string_view other) noexcept {
    if (other.size() < row_format::header_size) { return false; }
    std::size_t const size = row_format::load<std::uint32_t>(other.data() + 4);
    return size <= other.size() - row_format::header_size &&
        has_descriptor(one, other.substr(row_format::header_size, size));
}

ENTITABLE_LAZY_BODY row changed_row(row_view stored, row&& change) {
    return has_same_properties(stored.payload, change.payload()) ? std::move(change)
                                                                 : changed_row(stored, change.view());
}

ENTITABLE_LAZY_BODY row changed_row(row_view stored, row_view change) {
    if (has_same_properties(stored.payload, change.payload)) {
        return row{stored.partition_key, stored.row_key, change.payload};
    }
    row_builder builder{stored.partition_key, stored.row_key};
    property_finder changed{change};
    property_view each;
    for (property_cursor cursor{stored.payload}; cursor.next(each);) {
        if (each.present && changed.find(each.name) == nullptr) { builder.add(each.name, each.value); }
    }
    for (property_cursor cursor{change.payload}; cursor.next(each);) {
        if (each.present) { builder.add(each.name, each.value); }
    }
    return builder.build();
}

ENTITABLE_LAZY_BODY update_operation::update_operation(get_entity reading, row_change change, bool forced,
    bool under_id, std::uint32_t max_attempts, entitable::backoff const& delays, std::uint64_t seed,
    result<void> allowed)
    : max_attempts_(max_attempts),
      delays_(delays),
      random_(seed),
      change_(change),
      reading_(std::move(reading)),
      forced_(forced),
      under_id_(under_id) {
    writing_.table = reading_.table;
    if (!allowed) { outcome_.emplace(std::move(allowed).as_failure()); }
}

ENTITABLE_LAZY_BODY void update_operation::end_before_write(failure why) {
    if (under_id_) { why.error().effect = effect::unknown; }
    outcome_.emplace(std::move(why));
}

ENTITABLE_LAZY_BODY void update_operation::abandon(error const& reason) { end_before_write(failure{reason}); }

ENTITABLE_LAZY_BODY result<update_outcome> update_operation::finish() { return *std::move(outcome_); }

ENTITABLE_LAZY_BODY void update_operation::begin_after(result<written> done, steady_time now) {
    ++attempts_;
    answer(std::move(done), now);
}

ENTITABLE_LAZY_BODY void update_operation::answer(result<get_entity::response> found, steady_time) {
    ++attempts_;
    if (!found) {
        end_before_write(std::move(found).as_failure());
        return;
    }
    auto changed = change_(found->entity);
    if (!changed) {
        end_before_write(std::move(changed).as_failure());
        return;
    }
    version_ = std::move(found->etag);
    if (!*changed) {
        outcome_.emplace(update_outcome{std::move(version_), attempts_, false, false});
        return;
    }
    writing_.change = mutation::replace(
        std::move(**changed), forced_ ? etag_condition{any_etag} : etag_condition{std::move(version_)});
    writes_ = true;
}

ENTITABLE_LAZY_BODY void update_operation::answer(result<written> done, steady_time now) {
    writes_ = false;
    if (done) {
        outcome_.emplace(update_outcome{std::move(done->etag), attempts_, true, done->after_retry});
        return;
    }
    failure problem = std::move(done).as_failure();
    // Deleted after it was read: the next read returns that, or finds its successor.
    bool const beaten = problem.error().effect == effect::none && !forced_ &&
        was_beaten(problem.error(), rival_change::changed_or_removed);
    if (!beaten) {
        outcome_.emplace(std::move(problem));
        return;
    }
    if (attempts_ >= max_attempts_) {
        problem.error().message += text::joined({"; lost to other writers ", std::to_string(attempts_), " times"});
        problem.error().attempts = attempts_;
        outcome_.emplace(std::move(problem));
        return;
    }
    auto const wait = delays_.delay(attempts_, random_.unit());
    not_before_ = now + std::chrono::duration_cast<steady_time::duration>(wait);
}

/// Refuses a changed entity with other keys.
[[nodiscard]] inline result<void> has_keys_of(row_view stored, row const& made) {
    if (made.partition_key() != stored.partition_key || made.row_key() != stored.row_key) {
        return failure{error_code::invalid_input, "an update must not change the keys of an entity"};
    }
    return {};
}

ENTITABLE_LAZY_BODY result<std::optional<row>> changed_entity(row_view stored, result<row>&& made) {
    if (!made) { return std::move(made).as_failure(); }
    ENTITABLE_CHECK(has_keys_of(stored, *made));
    return std::optional<row>{changed_row(stored, *std::move(made))};
}

ENTITABLE_LAZY_BODY update_operation to_update(table_core const& table, result<std::string>& partition_key,
    result<std::string>& row_key, row_change change, bool forced, update_options const& options, clock& time) {
    std::uint64_t const seed =
        options.seed != 0 ? options.seed : static_cast<std::uint64_t>(time.steady().time_since_epoch().count());
    get_entity reading{table.name(), {}, {}, {}};
    auto allowed = table.check_operation_id();
    if (!partition_key) {
        allowed = std::move(partition_key).as_failure();
    } else if (!row_key) {
        allowed = std::move(row_key).as_failure();
    } else {
        reading.partition_key = *std::move(partition_key);
        reading.row_key = *std::move(row_key);
    }
    return update_operation{std::move(reading), change, forced, !table.options().operation_id.empty(),
        options.max_attempts, options.delays, seed, std::move(allowed)};
}

/// The first attempt of an update, without an operation id: the entity is read in place, and its row is copied only if it has properties
/// that the entity type does not declare. An update of one attempt is the usual case.
class first_attempt {
public:
    first_attempt(table_core const& table, entity_kind const& kind, updated_parts const& to) noexcept
        : table_(table), kind_(kind), to_(to) {}

    /// Reads the entity.
    ENTITABLE_LAZY [[nodiscard]] result<void> read(
        std::string_view partition_key, std::string_view row_key, call& context) {
        auto const take = [&](row_view const& stored, etag const& version, bool) -> result<void> {
            ENTITABLE_CHECK(kind_.read(stored, to_.entity, table_.options().reading));
            if (!has_descriptor(stored.payload, kind_.layout.descriptor) || stored.partition_key != partition_key ||
                stored.row_key != row_key) {
                copied_.emplace(stored.partition_key, stored.row_key, stored.payload);
            }
            to_.etag = version;
            return {};
        };
        entity_visitor const visit{take};
        return table_.store().execute(read_entity{table_.name(), partition_key, row_key, &visit}, context);
    }
    /// Writes the changed entity.
    ENTITABLE_LAZY [[nodiscard]] result<written> write(
        std::string_view partition_key, std::string_view row_key, bool forced, call& context) {
        write_entity request{
            table_.name(), {mutation_kind::replace, {}, forced ? etag_condition{any_etag} : etag_condition{to_.etag}}};
        row& made = request.change.entity;
        ENTITABLE_CHECK(kind_.write(to_.entity, made));
        row_view const stored{partition_key, row_key, {}};
        ENTITABLE_CHECK(has_keys_of(copied_ ? copied_->view() : stored, made));
        if (copied_) { made = changed_row(copied_->view(), std::move(made)); }
        return table_.store().execute(request, context);
    }

private:
    table_core const& table_;
    entity_kind const& kind_;
    updated_parts const& to_;
    std::optional<row> copied_;
};

ENTITABLE_LAZY_BODY result<void> update_entity(table_core const& table, entity_kind const& kind,
    key_source const* partition, key_source const* row, updated_parts const& to, entity_change change, bool forced,
    update_options const& options) {
    call context{table.options(), *options.time};
    context.location = read_location::primary;
    std::optional<result<written>> first;
    if (table.writer() == nullptr && table.options().operation_id.empty()) {
        std::string partition_buffer;
        std::string row_buffer;
        ENTITABLE_TRY(auto const partition_key,
            key_text(partition_buffer, key_part::partition, kind.layout.partition_layout, partition));
        ENTITABLE_TRY(auto const row_key, key_text(row_buffer, key_part::row, kind.layout.row_layout, row));
        first_attempt attempt{table, kind, to};
        ENTITABLE_CHECK(attempt.read(partition_key, row_key, context));
        to.attempts = 1;
        to.changed = change.call(change.change, to.entity);
        if (!to.changed) { return {}; }
        auto done = attempt.write(partition_key, row_key, forced, context);
        if (done) {
            to.etag = std::move(done->etag);
            to.after_retry = done->after_retry;
            return {};
        }
        first.emplace(std::move(done));
    }
    auto partition_key = write_key(kind.layout.partition_layout, partition);
    auto row_key = checked_row_key(write_key(kind.layout.row_layout, row));
    auto const change_row = [&](row_view stored) -> result<std::optional<entitable::row>> {
        kind.reset(to.entity);
        ENTITABLE_CHECK(kind.read(stored, to.entity, table.options().reading));
        if (!change.call(change.change, to.entity)) { return std::optional<entitable::row>{}; }
        result<entitable::row> made{std::in_place};
        ENTITABLE_CHECK(kind.write(to.entity, *made));
        return changed_entity(stored, std::move(made));
    };
    if (companion_writer const* const writer = table.writer()) {
        if (!partition_key) { return std::move(partition_key).as_failure(); }
        if (!row_key) { return std::move(row_key).as_failure(); }
        ENTITABLE_TRY(auto outcome, writer->update(*partition_key, *row_key, change_row, options));
        to.take(std::move(outcome));
        return {};
    }
    auto updating = to_update(table, partition_key, row_key, change_row, forced, options, *options.time);
    if (first) { updating.begin_after(*std::move(first), options.time->steady()); }
    auto const& through = table.store();
    ENTITABLE_TRY(auto done, run(updating, context, *options.time, through));
    to.take(std::move(done));
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
