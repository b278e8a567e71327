// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/detail/local_rules.hpp>
#include <entitable/local/impl/selected_payload.ipp>

#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY std::string quoted_table(std::string_view table) { return text::joined({"the table \"", table, "\""}); }

/// Returns the error of one entity, with its keys in the detail, where user data belongs.
ENTITABLE_LAZY failure refused_entity(
    error_code code, std::string text, std::string_view partition_key, std::string_view row_key) {
    failure refused{code, std::move(text)};
    refused.error().detail = text::joined({"PartitionKey \"", text::printable(text::shortened(partition_key)),
        "\", RowKey \"", text::printable(text::shortened(row_key)), "\""});
    return refused;
}

ENTITABLE_LAZY_BODY row selected_row(row_view stored, projection const& names) {
    if (names.empty()) { return row{stored}; }
    return row{stored.partition_key, stored.row_key, selected_payload(stored.payload, names)};
}

ENTITABLE_LAZY_BODY row_write write_of(mutation const& change) noexcept {
    constexpr std::int64_t no_such_version = (std::numeric_limits<std::int64_t>::min)();
    row_write made{row_write::change::put, std::nullopt, change.entity.payload()};
    switch (change.kind) {
        case mutation_kind::insert: made.kind = row_write::change::insert; break;
        case mutation_kind::replace: made.kind = row_write::change::replace; break;
        case mutation_kind::remove: made.kind = row_write::change::erase; break;
        default: break;
    }
    if (change.needs_existing() && !change.condition.any()) {
        etag const& version = change.condition.version();
        made.version = version.is_of_timestamp() ? version.timestamp().ticks : no_such_version;
    }
    return made;
}

ENTITABLE_LAZY_BODY failure local_state::no_table(std::string_view name) const {
    return failure{
        options_.limits.kind == service::cosmos ? error_code::resource_not_found : error_code::table_not_found,
        text::joined({quoted_table(name), " does not exist; create it first, for example with create_if_absent()"})};
}

ENTITABLE_LAZY_BODY failure local_state::no_entity(
    std::string_view table, std::string_view partition_key, std::string_view row_key) const {
    return refused_entity(error_code::resource_not_found,
        text::joined({quoted_table(table), " has no entity with this key"}), partition_key, row_key);
}

// ---- tables -----------------------------------------------------------------------------------------

ENTITABLE_LAZY_BODY result<void> local_state::create(
    std::string_view name, std::string_view key, function_ref<result<bool>()> create) {
    std::optional<exclusive_guard> guard;
    if (options_.nasty) {
        guard.emplace(gone_lock_);
        steady_time const now = options_.time->steady();
        std::vector<gone_table> still_gone;
        for (gone_table& each : gone_) {
            if (now < each.until) {
                if (each.key == key) {
                    return failure{error_code::table_being_deleted,
                        text::joined({quoted_table(name),
                            " was deleted recently, and its name cannot be reused yet; try again later"})};
                }
                still_gone.push_back(std::move(each));
            }
        }
        gone_ = std::move(still_gone);
    }
    ENTITABLE_TRY(auto created, create());
    if (!created) {
        return failure{error_code::table_already_exists, text::joined({quoted_table(name), " already exists"})};
    }
    return {};
}

ENTITABLE_LAZY_BODY result<void> local_state::remove(
    std::string_view name, std::string_view key, function_ref<result<bool>()> remove) {
    std::optional<exclusive_guard> guard;
    bool const lingers = options_.nasty && options_.nasty->being_deleted.count() > 0;
    if (lingers) {
        guard.emplace(gone_lock_);
        gone_.reserve(gone_.size() + 1); // no step can fail after the table is removed
    }
    gone_table gone{std::string{key}, options_.time->steady()};
    ENTITABLE_TRY(auto removed, remove());
    if (!removed) {
        return failure{error_code::resource_not_found, text::joined({"the table \"", name, "\" does not exist"})};
    }
    if (lingers) {
        gone.until += std::chrono::duration_cast<steady_time::duration>(options_.nasty->being_deleted);
        gone_.push_back(std::move(gone));
    }
    return {};
}

// ---- writing ----------------------------------------------------------------------------------------

ENTITABLE_LAZY_BODY date_time local_state::next_timestamp(std::int64_t least) noexcept {
    std::int64_t const now = options_.time->now().ticks;
    std::int64_t last = last_timestamp_.load(memory_order::relaxed);
    std::int64_t next = 0;
    do {
        next = now > last ? now : last + 1;
        next = next > least ? next : least + 1;
    } while (!last_timestamp_.compare_exchange_weak(last, next, memory_order::relaxed, memory_order::relaxed));
    return {next};
}

ENTITABLE_LAZY_BODY failure local_state::refused_write(
    mutation const& change, std::string_view table, row_written::outcome why) const {
    if (why == row_written::outcome::no_table) { return no_table(table); }
    row_view const entity = change.entity.view();
    bool const inserts = change.kind == mutation_kind::insert;
    auto const code = why == row_written::outcome::no_row ? error_code::resource_not_found
        : inserts                                         ? error_code::entity_already_exists
                                                          : error_code::update_condition_not_satisfied;
    std::string_view const words = why == row_written::outcome::no_row ? " has no entity with this key"
        : inserts                                                      ? " already has an entity with this key"
                  : " has a different version of this entity: it was changed since its ETag was read";
    return refused_entity(code, text::joined({quoted_table(table), words}), entity.partition_key, entity.row_key);
}

ENTITABLE_LAZY_BODY result<date_time> local_state::replaced_version(
    mutation const& change, std::string_view const* stored, std::string_view table) const {
    if (stored != nullptr && stored->size() < row_format::header_size) {
        return refused_entity(error_code::row_malformed,
            text::joined({quoted_table(table), " is stored as a truncated row"}), change.entity.partition_key(),
            change.entity.row_key());
    }
    if (stored != nullptr && change.kind == mutation_kind::insert) {
        return refused_write(change, table, row_written::outcome::differs);
    }
    if (stored == nullptr && change.needs_existing()) {
        return refused_write(change, table, row_written::outcome::no_row);
    }
    date_time const replaced = stored != nullptr ? row_view{{}, {}, *stored}.timestamp() : date_time{};
    if (change.needs_existing() && !change.condition.accepts(replaced)) {
        return refused_write(change, table, row_written::outcome::differs);
    }
    return replaced;
}

ENTITABLE_LAZY_BODY result<void> local_state::merge_into(
    std::string& payload, mutation const& change, std::string_view stored) {
    row_view const entity = change.entity.view();
    payload = merged_payload(stored, entity.payload);
    // Each part was within the limits; the merged entity may not be.
    known_good known{{}, {}, &layouts_};
    return validate_entity({entity.partition_key, entity.row_key, payload}, options_.limits, known);
}

ENTITABLE_LAZY_BODY row_update local_state::decide(mutation const& change, std::string_view const* stored,
    std::string_view table, std::string& merged, result<written>& outcome) {
    if (!outcome) { outcome = result<written>{std::in_place}; } // this is not the first decision
    auto const replaced = replaced_version(change, stored, table);
    if (!replaced) {
        outcome = failure{replaced.error()};
        return {};
    }
    if (change.kind == mutation_kind::remove) { return {row_update::change::erase}; }
    std::string_view bytes = change.entity.payload();
    if (stored != nullptr && merges(change)) {
        if (auto checked = merge_into(merged, change, *stored); !checked) {
            outcome = std::move(checked).as_failure();
            return {};
        }
        bytes = merged;
    }
    date_time const timestamp = next_timestamp(replaced->ticks);
    outcome->etag = etag::of(timestamp);
    return {row_update::change::put, bytes, timestamp.ticks};
}

ENTITABLE_LAZY_BODY result<written> local_state::prepare(mutation const& change, std::string_view const* stored,
    std::string_view table, std::string& payload, std::int64_t* last_version, std::optional<std::int64_t> drawn) {
    ENTITABLE_TRY(auto const replaced, replaced_version(change, stored, table));
    if (change.kind == mutation_kind::remove) { return written{}; }
    if (stored != nullptr && merges(change)) {
        ENTITABLE_CHECK(merge_into(payload, change, *stored));
    } else {
        payload = change.entity.payload();
    }
    bool const remembered = last_version != nullptr && *last_version > replaced.ticks;
    date_time const timestamp = drawn ? date_time{*drawn} : next_timestamp(remembered ? *last_version : replaced.ticks);
    if (last_version != nullptr) { *last_version = timestamp.ticks; }
    set_timestamp(payload, timestamp);
    return written{etag::of(timestamp), false};
}

// ---- pages ------------------------------------------------------------------------------------------

/// SplitMix64, G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators" (2014).
ENTITABLE_LAZY_BODY std::uint64_t local_state::next_random() noexcept {
    std::uint64_t number = random_.fetch_add(0x9E3779B97F4A7C15U, memory_order::relaxed);
    number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9U;
    number = (number ^ (number >> 27U)) * 0x94D049BB133111EBU;
    return number ^ (number >> 31U);
}

ENTITABLE_LAZY_BODY page_limits local_state::next_page(std::uint32_t rows) {
    page_limits limits{rows, options_.page_bytes, options_.page_examined, options_.time,
        options_.time->steady() + std::chrono::duration_cast<steady_time::duration>(options_.page_time)};
    if (options_.nasty) {
        std::uint64_t const random = next_random();
        if (options_.nasty->random_pages) {
            // Small sizes are as frequent as large sizes, and every fourth page is empty.
            std::size_t const most = std::size_t{1} << (random % 11);
            std::size_t const size = random % 4 == 0 ? 0 : 1 + (random >> 8U) % most;
            limits.rows = size < rows ? size : rows;
            limits.behind_last = (random >> 20U) % 2 == 0;
        }
        limits.with_partition = options_.nasty->partition_tokens && (random >> 21U) % 2 == 0;
        limits.shuffled_by = options_.nasty->random_order && !options_.limits.ordered ? random | 1U : 0U;
    }
    return limits;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
