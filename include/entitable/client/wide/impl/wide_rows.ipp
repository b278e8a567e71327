// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/wide/detail/wide_rows.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The name of a part has two digits.
inline constexpr std::size_t most_wide_parts = 100;

ENTITABLE_DECL std::string wide_part_prefix(std::string_view row_key) {
    return text::joined({system_row::wide, row_key, "!"});
}

ENTITABLE_DECL std::string wide_part_key(std::string_view prefix, std::size_t number) {
    std::string key{prefix};
    key += static_cast<char>('0' + number / 10);
    key += static_cast<char>('0' + number % 10);
    return key;
}

/// Returns the size of a property by the service's measure.
ENTITABLE_DECL std::size_t service_size_of(property_view const& property) noexcept {
    auto const units = [](std::string_view utf8) { return text::utf16_length(utf8).value_or(utf8.size()); };
    std::size_t const name = 8 + 2 * units(property.name);
    std::string_view const content = property.value.bytes();
    switch (property.type) {
        case edm_type::string: return name + 4 + 2 * units(content);
        case edm_type::binary: return name + 4 + content.size();
        default: return name + row_format::fixed_size(property.type);
    }
}

ENTITABLE_DECL result<std::vector<row>> split_wide(
    row_view whole, std::int64_t generation, std::string_view entity, profile const& limits) {
    std::string const prefix = wide_part_prefix(whole.row_key);
    std::vector<row_builder> parts;
    auto const begin = [&] {
        row_builder& part = parts.emplace_back(whole.partition_key, wide_part_key(prefix, parts.size()));
        part.add(wide_generation, value_view{generation});
        return service_size(part.build());
    };
    std::size_t size = begin();
    std::size_t count = 1;
    std::size_t total = 0;
    property_cursor cursor{whole.payload};
    property_view property;
    while (cursor.next(property)) {
        if (!property.present) { continue; }
        if (property.name == wide_generation || property.name == wide_parts) {
            return failure{error_code::invalid_input,
                text::joined({"the entity ", entity, " has a property \"", property.name,
                    "\", a name that the rows of wide entities use"})};
        }
        std::size_t const more = service_size_of(property);
        if (count == limits.max_properties || size + more > limits.max_entity_size) {
            total += size;
            if (parts.size() + 1 > (std::min)(limits.max_operations - 1, most_wide_parts)) {
                return failure{error_code::entity_too_large,
                    text::joined({"the entity ", entity, " needs more than ",
                        std::to_string((std::min)(limits.max_operations - 1, most_wide_parts)),
                        " rows in addition to its main row, the limit of one transaction"})};
            }
            size = begin();
            count = 1;
        }
        parts.back().add(property.name, property.value);
        size += more;
        ++count;
    }
    row_builder head{whole.partition_key, whole.row_key};
    head.add(wide_generation, value_view{generation});
    head.add(wide_parts, value_view{static_cast<std::int32_t>(parts.size())});
    result<std::vector<row>> made{std::in_place};
    for (row_builder const& part : parts) { made->push_back(part.build()); }
    made->push_back(head.build());
    total += size + service_size(made->back());
    if (total > limits.max_transaction_size) {
        return failure{error_code::request_body_too_large,
            text::joined({"the entity ", entity, " has ", std::to_string(total),
                " bytes in all its rows; the limit of one transaction is ",
                std::to_string(limits.max_transaction_size)})};
    }
    return made;
}

ENTITABLE_DECL result<wide_head> wide_head_of(row_view main, std::string_view entity) {
    auto const parts = main.find(wide_parts);
    auto const generation = main.find(wide_generation);
    if (!parts || parts->type() != edm_type::int32 || parts->as_int32() < 1 || parts->as_int32() > 100 || !generation ||
        generation->type() != edm_type::int64) {
        return failure{error_code::row_mismatch,
            text::joined({"a row does not fit the wide entity ", entity, ": it was not written as a wide entity"})};
    }
    return wide_head{static_cast<std::size_t>(parts->as_int32()), generation->as_int64()};
}

/// Returns the error if the stored version does not satisfy the condition.
ENTITABLE_DECL result<void> check_wide_version(bool there, etag const& version, etag_condition const& condition) {
    if (!there) { return failure{error_code::resource_not_found, "the entity does not exist"}; }
    if (!condition.accepts(version)) {
        return failure{error_code::update_condition_not_satisfied, "the entity was changed since it was read"};
    }
    return {};
}

ENTITABLE_DECL result<wide_written> write_wide(table_core const& core, mutation_kind kind, result<row> const& whole,
    etag_condition const& condition, std::string_view entity, wide_options const& options) {
    if (!whole) { return failure{whole.error()}; }
    if (kind == mutation_kind::merge || kind == mutation_kind::insert_or_merge) {
        return failure{error_code::not_supported, "a wide entity is written as a whole"};
    }
    std::uint64_t const seed = options.seed != 0 ? options.seed : random_seed();
    random_source random{seed};
    profile const limits = core.store().profile();
    std::string const row_key{whole->row_key()};
    std::string const prefix = wide_part_prefix(row_key);
    if (kind != mutation_kind::remove) {
        ENTITABLE_CHECK(split_wide(whole->view(), 0, entity, limits)); // checks before anything is read
    }
    wide_written told;
    bool there = false;
    auto const body = [&](transaction_scope& all) -> result<void> {
        ENTITABLE_TRY(auto const stored, all.find(row_key));
        there = stored.has_value();
        std::size_t before = 0;
        if (there) {
            ENTITABLE_TRY(wide_head const head, wide_head_of(*stored, entity));
            before = head.parts;
        }
        if (kind == mutation_kind::insert && there) {
            return failure{error_code::entity_already_exists, "an entity with these keys exists"};
        }
        if (kind == mutation_kind::replace || kind == mutation_kind::remove) {
            ENTITABLE_CHECK(check_wide_version(there, all.version_of(row_key), condition));
        }
        told.parts = 0;
        if (kind == mutation_kind::remove) {
            all.change(mutation_kind::remove, row{whole->partition_key(), row_key, {}}, false);
        } else {
            // A number unique to each write: it distinguishes parts of two writes, even if the entity was removed in between.
            auto const generation = static_cast<std::int64_t>(random.bits());
            ENTITABLE_TRY(std::vector<row> rows, split_wide(whole->view(), generation, entity, limits));
            told.parts = rows.size() - 1;
            all.change(there ? mutation_kind::replace : mutation_kind::insert, std::move(rows.back()), false);
            rows.pop_back();
            for (row& part : rows) { all.change(mutation_kind::insert_or_replace, std::move(part), true); }
        }
        for (std::size_t gone = told.parts; gone < before; ++gone) {
            all.change(mutation_kind::remove, row{whole->partition_key(), wide_part_key(prefix, gone), {}}, true);
        }
        return {};
    };
    auto const send = [&](transaction_scope& all, bool announces) {
        sent_transaction sent = send_transaction(all, announces);
        if (sent.made && kind != mutation_kind::remove && !sent.made->results.empty()) {
            // Changes under an exact version come first in the request, and inserts come last.
            told.etag = there ? sent.made->results.front().etag : sent.made->results.back().etag;
        }
        return sent;
    };
    transaction_options how{options.max_attempts, options.delays, options.time, random.bits()};
    ENTITABLE_TRY(transacted const done, run_transaction(core, std::string{whole->partition_key()}, how, body, send));
    told.attempts = done.attempts;
    return told;
}

/// Reads an entity once; nullopt if a writer has changed it in between.
ENTITABLE_DECL result<std::optional<wide_found>> look_at_wide(table_core const& core, std::string const& partition_key,
    std::string const& row_key, std::string_view entity, std::optional<std::int64_t>& in_vain) {
    wide_found found;
    wide_head head;
    ENTITABLE_CHECK(core.read(std::string_view{partition_key}, std::string_view{row_key},
        [&](row_view const& main, etag const& version, bool) -> result<void> {
            ENTITABLE_TRY(head, wide_head_of(main, entity));
            found.version = version;
            found.timestamp = main.timestamp();
            return {};
        }));
    if (in_vain == head.generation) {
        return failure{error_code::row_malformed,
            text::joined({"a wide entity ", entity, " is incomplete: its main row names parts that do not exist"})};
    }
    std::string const prefix = wide_part_prefix(row_key);
    row_builder whole{partition_key, row_key};
    std::size_t parts = 0;
    bool good = true;
    auto const take = [&](row_view part) {
        if (!good || part.row_key.size() != prefix.size() + 2) {
            return; // the row belongs to another entity, whose row key begins like a part of this entity
        }
        auto const generation = part.find(wide_generation);
        good = parts < head.parts && part.row_key == wide_part_key(prefix, parts) && generation &&
            generation->type() == edm_type::int64 && generation->as_int64() == head.generation;
        ++parts;
        property_cursor cursor{part.payload};
        property_view property;
        while (good && cursor.next(property)) {
            if (property.present && property.name != wide_generation) { whole.add(property.name, property.value); }
        }
    };
    key_range range{key_interval::only(partition_key),
        {key_bound::including(wide_part_key(prefix, 0)), key_bound::including(wide_part_key(prefix, head.parts - 1))}};
    ENTITABLE_CHECK(core.for_each_row(range, {}, true, take));
    if (!good || parts != head.parts) {
        in_vain = head.generation;
        return std::optional<wide_found>{};
    }
    found.whole = whole.build();
    return std::optional{std::move(found)};
}

/// Waits for another attempt.
ENTITABLE_DECL result<void> wait_for_wide(
    table_core const& core, wide_options const& options, contention& rivals, random_source& random) {
    call const context{core.options(), *options.time};
    return rivals.wait(random.unit(), context, *options.time);
}

ENTITABLE_DECL result<wide_found> read_wide(table_core const& core, result<std::string> const& partition_key,
    result<std::string> const& row_key, std::string_view entity, wide_options const& options) {
    if (!partition_key || !row_key) { return failure{!partition_key ? partition_key.error() : row_key.error()}; }
    random_source random{options.seed != 0 ? options.seed : random_seed()};
    std::optional<std::int64_t> in_vain;
    for (contention rivals{options.max_attempts, options.delays};;) {
        ENTITABLE_TRY(auto found, look_at_wide(core, *partition_key, *row_key, entity, in_vain));
        if (found) {
            found->attempts = rivals.attempt();
            return *std::move(found);
        }
        if (rivals.is_last()) {
            failure beaten{error_code::update_condition_not_satisfied,
                text::joined({"the entity ", entity, " was written during the read, ", std::to_string(rivals.attempt()),
                    " times"})};
            beaten.error().attempts = rivals.attempt();
            return beaten;
        }
        ENTITABLE_CHECK(wait_for_wide(core, options, rivals, random));
    }
}

ENTITABLE_DECL result<wide_written> update_wide(table_core const& core, result<std::string> const& partition_key,
    result<std::string> const& row_key, function_ref<result<std::optional<row>>(row_view)> change,
    std::string_view entity, wide_options const& options) {
    random_source random{options.seed != 0 ? options.seed : random_seed()};
    for (contention rivals{options.max_attempts, options.delays};;) {
        ENTITABLE_TRY(wide_found const found, read_wide(core, partition_key, row_key, entity, options));
        ENTITABLE_TRY(std::optional<row> const changed, change(found.whole.view()));
        if (!changed) { return wide_written{found.version, 0, rivals.attempt()}; }
        if (changed->partition_key() != found.whole.partition_key() || changed->row_key() != found.whole.row_key()) {
            return failure{error_code::invalid_input, "an update must not change the keys of an entity"};
        }
        wide_options once = options;
        once.max_attempts = 1;
        once.seed = random.bits();
        auto written = write_wide(core, mutation_kind::replace, *changed, etag_condition{found.version}, entity, once);
        bool const beaten = !written && written.error().effect == effect::none &&
            was_beaten(written.error(), rival_change::changed_or_inserted);
        if (written) { written->attempts = rivals.attempt(); }
        if (!beaten || rivals.is_last()) { return written; }
        ENTITABLE_CHECK(wait_for_wide(core, options, rivals, random));
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
