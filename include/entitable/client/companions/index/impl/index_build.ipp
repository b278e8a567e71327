// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_build.hpp>
#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/client/companions/index/detail/sum_audit.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether the table has an entity of a type.
ENTITABLE_DECL result<bool> has_entities(index_family const& family, type_pattern const& type, call& context) {
    query_entities asked;
    asked.table = family.main.name();
    asked.range.row = type.row.interval();
    do {
        call own = context;
        ENTITABLE_TRY(auto found, family.main.transport().execute(asked, own));
        for (std::size_t at = 0; at < found.rows.size(); ++at) {
            row_view const each = found.rows[at];
            if (!system_row::is_one(each.row_key) && type.matches(each.partition_key, each.row_key)) { return true; }
        }
        asked.continuation = std::move(found.continuation);
    } while (asked.continuation);
    return false;
}

ENTITABLE_DECL result<bool> create_indexed(index_family const& family) {
    ENTITABLE_CHECK(family.check_places());
    ENTITABLE_TRY(bool const made, family.main.create_if_absent());
    for (std::size_t index = 0; index < family.shapes.size(); ++index) {
        if (family.shapes[index].elsewhere) { ENTITABLE_CHECK(family.places[index].create_if_absent()); }
    }
    call context{family.main.options(), *family.options.time};
    context.location = read_location::primary;
    ENTITABLE_TRY(auto const stored, family.read_declaration(context));
    if (!stored.declared) {
        // Programs write entities only after there is a declaration, so a table without entities has complete indexes. Also checked if this
        // call has created the table: after a lost response that is a guess.
        bool some = false;
        for (entity_type const& each : family.types) {
            if (!each.maintained() || some) { continue; }
            ENTITABLE_TRY(some, has_entities(family, *each.type, context));
        }
        if (!some) {
            ENTITABLE_CHECK(family.declare(index_state::ready, context)); // or another program was faster
        }
        return made;
    }
    for (std::size_t index = 0; index < family.shapes.size(); ++index) {
        index_family::stored_state const& own = stored.own[index];
        if (!own.version.empty() && !own.names_entities && own.definition == family.shapes[index].definition) {
            // Written before states stored which entities an index covers; another program may be faster.
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

/// Whether a step failed because the state has changed meanwhile.
[[nodiscard]] inline bool was_overtaken(error const& refused) noexcept {
    return refused.code == error_code::update_condition_not_satisfied ||
        refused.code == error_code::entity_already_exists;
}

/// Writes the rows of a companion that are missing or wrong.
ENTITABLE_DECL result<index_repair> fill_companion(index_family const& family, std::size_t index, bool ready) {
    if (!family.shapes[index].is_sum()) { return ready ? repair_index(family, index) : fill_index(family, index); }
    ENTITABLE_TRY(auto const mended, audit_all_sums(family, index, true, 0));
    index_repair done;
    done.written = mended.different;
    return done;
}

ENTITABLE_DECL result<index_repair> build_index(index_family const& family, std::size_t index) {
    call context{family.main.options(), *family.options.time};
    context.location = read_location::primary;
    index_shape const& shape = family.shapes[index];
    result<index_repair> done{std::in_place};
    for (std::uint32_t steps = 0; steps < family.options.max_attempts + 10; ++steps) {
        ENTITABLE_TRY(auto const all, family.read_declaration(context));
        if (!all.declared) {
            // No program writes, and none has a lease, so there is no wait. All indexes are declared, so that a program with fewer of them
            // cannot write while the next one is built.
            ENTITABLE_CHECK(family.declare(index_state::building, context));
            continue;
        }
        auto const& stored = all.own[index];
        bool const ours = stored.definition == shape.definition;
        if (ours && stored.state == index_state::fencing) {
            // Even if another build has written it: its time is not known.
            ENTITABLE_CHECK(wait_for_leases(family, context));
            auto const next = family.set_state(index, index_state::building, stored, context);
            if (!next && !was_overtaken(next.error())) { return failure{next.error()}; }
        } else if (ours && stored.state == index_state::building) {
            ENTITABLE_TRY(done, fill_companion(family, index, false));
            auto const next = family.set_state(index, index_state::ready, stored, context);
            if (next) { return done; }
            if (!was_overtaken(next.error())) { return failure{next.error()}; }
            ENTITABLE_TRY(auto const now, family.stored_state_of(index, context));
            if (now.state == index_state::ready && now.definition == shape.definition) {
                return done; // by another build
            }
            return failure{error_code::update_condition_not_satisfied,
                text::joined({"the state of the index ", shape.name, " changed to ", to_string(now.state),
                    " while it was built: build it again"})};
        } else if (ours && stored.state == index_state::ready) {
            return fill_companion(family, index, true);
        } else {
            auto const next = family.set_state(index, index_state::fencing, stored, context);
            if (!next && !was_overtaken(next.error())) { return failure{next.error()}; }
        }
    }
    return failure{error_code::update_condition_not_satisfied,
        text::joined({"other programs are changing the state of the index ", shape.name, " while it is built"})};
}

ENTITABLE_DECL result<void> retire_index(index_family const& family, std::string_view name) {
    call context{family.main.options(), *family.options.time};
    context.location = read_location::primary;
    row_keys const keys{std::string{system_row::index}, text::joined({system_row::index, name})};
    for (std::uint32_t steps = 0; steps < family.options.max_attempts + 10; ++steps) {
        call own = context;
        auto found =
            family.main.transport().execute(get_entity{family.main.name(), keys.partition_key, keys.row_key, {}}, own);
        bool const is_there = found.has_value();
        if (!is_there && found.error().code != error_code::resource_not_found) { return std::move(found).as_failure(); }
        auto const index = family.find(name);
        if (!is_there && !index) {
            return failure{error_code::resource_not_found,
                text::joined({"the table \"", family.main.name(), "\" has no index ", name})};
        }
        auto const state = is_there ? found->entity.view().find("State") : std::nullopt;
        std::string const word{state && state->type() == edm_type::string ? state->bytes() : std::string_view{}};
        if (word == to_string(index_state::retired)) { return {}; }
        bool const waits = word == to_string(index_state::retiring);
        if (waits) { // even if another program has written it: its time is not known
            ENTITABLE_CHECK(wait_for_leases(family, context));
        }
        index_state const next = waits ? index_state::retired : index_state::retiring;
        auto const written = is_there ? family.set_word(keys, to_string(next), found->etag, context)
                                      : family.set_state(*index, next, {}, context);
        if (!written && !was_overtaken(written.error())) { return failure{written.error()}; }
    }
    return failure{error_code::update_condition_not_satisfied,
        text::joined({"other programs are changing the state of the index ", name, " while it is retired"})};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
