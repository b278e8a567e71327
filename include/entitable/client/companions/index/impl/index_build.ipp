// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_build.hpp>
#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/client/companions/index/detail/sum_audit.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a table contains a row of a type.
ENTITABLE_DECL result<bool> has_rows(table_core const& in, type_pattern const& type, call& context) {
    query_entities asked;
    asked.table = in.name();
    asked.range.row = type.row.interval();
    page_cursor pages{std::move(asked)};
    while (pages.more()) {
        call own = context;
        ENTITABLE_TRY(auto const found, pages.take(in.store().execute(pages.request(), own)));
        for (std::size_t at = 0; at < found.rows.size(); ++at) {
            row_view const each = found.rows[at];
            if (!system_row::is_one(each.row_key) && type.matches(each.partition_key, each.row_key)) { return true; }
        }
    }
    return false;
}

/// The table of the announcements of a change log, if it has any.
ENTITABLE_DECL std::optional<table_core> announcements_of(index_family const& family) {
    if (!family.log || family.log->feed_lanes == 0) { return std::nullopt; }
    return table_core{family.main.store(), feed_table_name(family.main.name()), family.main.options()};
}

/// Creates the tables; returns whether the table of the entities is new.
ENTITABLE_DECL result<bool> create_tables(index_family const& family) {
    ENTITABLE_CHECK(family.check_places());
    ENTITABLE_TRY(bool const made, family.main.create_if_absent());
    if (auto const announcements = announcements_of(family)) { ENTITABLE_CHECK(announcements->create_if_absent()); }
    for (std::size_t index = 0; index < family.shapes.size(); ++index) {
        if (family.shapes[index].elsewhere) { ENTITABLE_CHECK(family.places[index].create_if_absent()); }
    }
    return made;
}

ENTITABLE_DECL result<bool> create_indexed(index_family const& family) {
    ENTITABLE_TRY(bool const made, create_tables(family));
    call context{family.main.options(), *family.options.time};
    context.location = read_location::primary;
    ENTITABLE_TRY(auto const stored, family.read_declaration(context));
    if (!stored.declared) {
        // Programs write entities only after there is a declaration, so a table without entities has complete indexes.
        // This is also checked if this call seems to have created the table, because a lost response leaves that
        // uncertain.
        bool some = false;
        for (entity_type const& each : family.types) {
            if (!each.maintained() || some) { continue; }
            ENTITABLE_TRY(some, has_rows(family.main, *each.type, context));
        }
        if (!some) {
            ENTITABLE_CHECK(family.declare(index_state::ready, context)); // or another program has declared them
        }
        return made;
    }
    for (std::size_t index = 0; index < family.shapes.size(); ++index) {
        index_family::stored_state const& own = stored.own[index];
        if (!own.version.empty() && !own.names_entities && own.definition == family.shapes[index].definition) {
            // The state was written before states stored which entities an index covers; another program may add them
            // first.
            auto const named = family.set_state(index, own.state, own, context);
            if (!named && named.error().code != error_code::update_condition_not_satisfied) {
                return failure{named.error()};
            }
        }
    }
    return made;
}

ENTITABLE_DECL result<void> drop_indexed(index_family const& family) {
    ENTITABLE_CHECK(family.main.drop());
    if (auto const announcements = announcements_of(family)) { ENTITABLE_CHECK(announcements->drop_if_present()); }
    for (std::size_t index = 0; index < family.shapes.size(); ++index) {
        if (family.shapes[index].elsewhere) { ENTITABLE_CHECK(family.places[index].drop_if_present()); }
    }
    return {};
}

/// Waits until no program relies on the previous state.
ENTITABLE_DECL result<void> wait_for_leases(index_family const& family, call& context) {
    clock& time = *family.options.time;
    auto const wait = family.options.lease + family.options.longest_request;
    return wait_until(time.steady() + std::chrono::duration_cast<steady_time::duration>(wait), context, time);
}

/// Purpose of a build.
enum class build_kind : std::uint8_t {
    named,    ///< companions named by the caller; ready companions are corrected
    missing,  ///< companions that are not ready
    adoption, ///< the same, in a table that other programs have written, perhaps with the rows of companions
};

/// Writes the rows of a companion that are missing or wrong. `some`: most rows may be correct.
ENTITABLE_DECL result<index_repair> fill_companion(
    index_family const& family, std::size_t index, bool some, bool ready) {
    if (family.shapes[index].is_log()) { return index_repair{}; } // begins with the next write
    if (!family.shapes[index].is_sum()) { return some ? repair_index(family, index) : fill_index(family, index); }
    ENTITABLE_TRY(auto const mended, audit_all_sums(family, index, true, 0, !ready));
    index_repair done;
    done.written = mended.different;
    return done;
}

ENTITABLE_DECL void add_repair(index_repair& to, index_repair&& more) {
    to.intents += more.intents;
    to.foreign_intents += more.foreign_intents;
    to.written += more.written;
    to.removed += more.removed;
    to.found.entities = (std::max)(to.found.entities, more.found.entities);
    to.found.index_rows += more.found.index_rows;
    to.found.missing += more.found.missing;
    to.found.dangling += more.found.dangling;
    to.found.different += more.found.different;
    to.found.violations += more.found.violations;
    for (index_difference& each : more.found.samples) { to.found.samples.push_back(std::move(each)); }
}

/// Fills companions that are building or ready, and makes them ready.
ENTITABLE_DECL result<void> fill_companions(index_family const& family, std::vector<std::size_t> const& wanted,
    index_family::declaration const& all, build_kind kind, index_repair& done, call& context) {
    if (kind == build_kind::adoption) { ENTITABLE_CHECK(apply_intents(family, done)); }
    for (std::size_t const index : wanted) {
        index_shape const& shape = family.shapes[index];
        bool const ready = all.own[index].state == index_state::ready;
        if (ready && kind != build_kind::named) { continue; }
        bool some = ready;
        if (kind == build_kind::adoption && !shape.is_log()) {
            ENTITABLE_TRY(some, has_rows(family.places[index], *shape.type, context));
        }
        ENTITABLE_TRY(index_repair filled, fill_companion(family, index, some, ready));
        add_repair(done, std::move(filled));
        if (ready) { continue; }
        auto const next = family.set_state(index, index_state::ready, all.own[index], context);
        if (next) { continue; }
        if (!was_beaten(next.error(), rival_change::changed_or_inserted)) { return failure{next.error()}; }
        ENTITABLE_TRY(auto const now, family.stored_state_of(index, context));
        if (now.state != index_state::ready || now.definition != shape.definition) { // no other build has made it ready
            return failure{error_code::update_condition_not_satisfied,
                text::joined({"the state of ", shape.described(), " changed to ", to_string(now.state),
                    " while it was built: build it again"})};
        }
    }
    return {};
}

ENTITABLE_DECL result<index_repair> build_companions(
    index_family const& family, std::vector<std::size_t> const& wanted, build_kind kind) {
    call context{family.main.options(), *family.options.time};
    context.location = read_location::primary;
    if (auto const announcements = announcements_of(family)) { ENTITABLE_CHECK(announcements->create_if_absent()); }
    result<index_repair> done{std::in_place};
    for (std::uint32_t steps = 0; steps < family.options.max_attempts + 10; ++steps) {
        ENTITABLE_TRY(auto const all, family.read_declaration(context));
        if (!all.declared) {
            // No program that needs the declaration writes, and no program has a lease: only an adoption waits for other
            // programs. All indexes are declared, so that a program with fewer of them cannot write while the next
            // index is built.
            ENTITABLE_CHECK(
                family.declare(kind == build_kind::adoption ? index_state::fencing : index_state::building, context));
            continue;
        }
        auto const is = [&](std::size_t index, index_state state) {
            return all.own[index].state == state && all.own[index].definition == family.shapes[index].definition;
        };
        auto const write_state = [&](std::size_t index, index_state state) -> result<void> {
            auto const next = family.set_state(index, state, all.own[index], context);
            return next || was_beaten(next.error(), rival_change::changed_or_inserted)
                ? result<void>{}
                : result<void>{failure{next.error()}};
        };
        // All are fenced first, so that one wait is enough.
        bool changed = false;
        for (std::size_t const index : wanted) {
            if (is(index, index_state::fencing) || is(index, index_state::building) || is(index, index_state::ready)) {
                continue;
            }
            ENTITABLE_CHECK(write_state(index, index_state::fencing));
            changed = true;
        }
        if (changed) { continue; }
        for (std::size_t const index : wanted) {
            if (!is(index, index_state::fencing)) { continue; }
            // Waits even if another build wrote the state, because the time of that write is not known.
            if (!changed) { ENTITABLE_CHECK(wait_for_leases(family, context)); }
            ENTITABLE_CHECK(write_state(index, index_state::building));
            changed = true;
        }
        if (changed) { continue; }
        ENTITABLE_CHECK(fill_companions(family, wanted, all, kind, *done, context));
        return done;
    }
    return failure{error_code::update_condition_not_satisfied,
        text::joined({"other programs are changing the states of indexes or sums of the table \"", family.main.name(),
            "\" while they are built"})};
}

[[nodiscard]] inline std::vector<std::size_t> all_companions(index_family const& family) {
    std::vector<std::size_t> all(family.shapes.size());
    for (std::size_t index = 0; index < all.size(); ++index) { all[index] = index; }
    return all;
}

ENTITABLE_DECL result<index_repair> build_index(index_family const& family, std::size_t index) {
    return build_companions(family, {index}, build_kind::named);
}

ENTITABLE_DECL result<index_repair> build_missing(index_family const& family) {
    return build_companions(family, all_companions(family), build_kind::missing);
}

ENTITABLE_DECL result<index_repair> adopt_indexed(index_family const& family) {
    ENTITABLE_CHECK(create_tables(family));
    return build_companions(family, all_companions(family), build_kind::adoption);
}

ENTITABLE_DECL result<void> retire_index(index_family const& family, std::string_view name) {
    call context{family.main.options(), *family.options.time};
    context.location = read_location::primary;
    row_keys const keys{std::string{system_row::index}, text::joined({system_row::index, name})};
    for (std::uint32_t steps = 0; steps < family.options.max_attempts + 10; ++steps) {
        call own = context;
        auto found =
            family.main.store().execute(get_entity{family.main.name(), keys.partition_key, keys.row_key, {}}, own);
        bool const is_there = found.has_value();
        if (!is_there && found.error().code != error_code::resource_not_found) { return std::move(found).as_failure(); }
        auto const index = family.find(name);
        if (!is_there && !index) {
            return failure{error_code::resource_not_found,
                text::joined({"the table \"", family.main.name(), "\" has no index and no sum called ", name})};
        }
        auto const state = is_there ? found->entity.view().find("State") : std::nullopt;
        std::string const word{state && state->type() == edm_type::string ? state->bytes() : std::string_view{}};
        if (word == to_string(index_state::retired)) { return {}; }
        bool const waits = word == to_string(index_state::retiring);
        if (waits) { // waits even if another program wrote the state, at an unknown time
            ENTITABLE_CHECK(wait_for_leases(family, context));
        }
        index_state const next = waits ? index_state::retired : index_state::retiring;
        auto const written = is_there ? family.set_word(keys, to_string(next), found->etag, context)
                                      : family.set_state(*index, next, {}, context);
        if (!written && !was_beaten(written.error(), rival_change::changed_or_inserted)) {
            return failure{written.error()};
        }
    }
    return failure{error_code::update_condition_not_satisfied,
        text::joined({"other programs are changing the state of the index ", name, " while it is retired"})};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
