// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/guid.hpp>
#include <entitable/core/text.hpp>
#include <entitable/index/detail/index_family.hpp>
#include <entitable/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<index_rows> index_family::rows_for(std::optional<row_view> const& entity) const {
    result<index_rows> made{std::in_place};
    if (!entity) {
        made->resize(shapes.size());
    } else if (auto derived = derive(*entity, main.options().reading, *made); !derived) {
        made = std::move(derived).as_failure();
    }
    return made;
}

ENTITABLE_DECL std::optional<std::size_t> index_family::find(std::string_view name) const noexcept {
    for (std::size_t index = 0; index < shapes.size(); ++index) {
        if (shapes[index].name == name) {
            return index;
        }
    }
    return std::nullopt;
}

ENTITABLE_DECL std::uint64_t index_family::fresh_seed() const {
    if (options.seed != 0) {
        return seeded_.bits(); // another one for each call: an intent's name is never used twice
    }
    std::uint64_t seed = 0;
    guid const drawn = guid::random();
    for (std::size_t at = 0; at < 8; ++at) {
        seed = seed << 8U | (drawn.bytes[at] ^ drawn.bytes[at + 8]);
    }
    return seed;
}

ENTITABLE_DECL shared<index_family> make_absent_family(std::size_t indexes) {
    table_core const none{moved_from_transport("indexed table"), {}, {}};
    auto const derive = [](row_view, reading, index_rows&) -> result<void> { return moved_from("indexed table"); };
    return shared<index_family>::make(none, std::vector<index_shape>(indexes), std::vector<table_core>(indexes, none),
        derive, key_interval{}, index_options{});
}

// ---- states -----------------------------------------------------------------------------------------

ENTITABLE_DECL std::string state_row_key(index_shape const& shape) {
    return text::joined({system_row::index, shape.name});
}

ENTITABLE_DECL index_family::stored_state read_state(row_view stored) {
    index_family::stored_state made;
    auto const state = stored.find("State");
    auto const definition = stored.find("Definition");
    if (state && state->type() == edm_type::string) {
        for (index_state const each : {index_state::building, index_state::ready, index_state::retired}) {
            made.state = state->bytes() == to_string(each) ? each : made.state;
        }
    }
    if (definition && definition->type() == edm_type::int64) {
        made.definition = static_cast<std::uint64_t>(definition->bits());
    }
    made.version = stored.etag();
    return made;
}

ENTITABLE_DECL failure differs(index_shape const& shape) {
    return failure{error_code::index_definition_differs,
        text::joined({"the index ", shape.name,
            " was built from another declaration of it: run the program that has that one, or build it anew"})};
}

ENTITABLE_DECL result<index_states> index_family::read_states(call& context) const {
    result<index_states> read{std::in_place};
    read->states.resize(shapes.size());
    read->until = options.time->steady() + std::chrono::duration_cast<steady_time::duration>(options.lease);
    query_entities asked;
    asked.table = main.name();
    asked.range.partition = key_interval::only(std::string{system_row::index});
    do {
        call own = context;
        own.operation_id.clear();
        auto found = main.transport().execute(asked, own);
        if (!found) {
            return std::move(found).as_failure();
        }
        for (std::size_t at = 0; at < found->rows.size(); ++at) {
            row_view const each = found->rows[at];
            if (!each.row_key.starts_with(system_row::index)) {
                continue;
            }
            auto const index = find(each.row_key.substr(system_row::index.size()));
            if (!index) {
                continue;
            }
            stored_state const stored = read_state(each);
            read->states[*index] = stored.state;
            if (stored.state != index_state::retired && stored.definition != shapes[*index].definition) {
                return differs(shapes[*index]);
            }
        }
        asked.continuation = std::move(found->continuation);
    } while (asked.continuation);
    std::lock_guard const lock{guard_};
    known_ = *read;
    return read;
}

ENTITABLE_DECL result<index_states> index_family::states(call& context) const {
    {
        std::lock_guard const lock{guard_};
        if (!known_.states.empty() && options.time->steady() < known_.until) {
            return known_;
        }
    }
    return read_states(context);
}

ENTITABLE_DECL result<index_family::stored_state> index_family::stored_state_of(
    std::size_t index, call& context) const {
    auto found = main.transport().execute(
        get_entity{main.name(), std::string{system_row::index}, state_row_key(shapes[index]), {}}, context);
    if (found) {
        stored_state made = read_state(found->entity);
        made.version = std::move(found->etag);
        return made;
    }
    if (found.error().code == error_code::resource_not_found) {
        return stored_state{};
    }
    return std::move(found).as_failure();
}

ENTITABLE_DECL result<void> index_family::set_state(std::size_t index, index_state state, call& context) const {
    auto before = stored_state_of(index, context);
    if (!before) {
        return std::move(before).as_failure();
    }
    row_builder made{system_row::index, state_row_key(shapes[index])};
    made.add("State", value_view{to_string(state)});
    made.add("Definition", value_view{static_cast<std::int64_t>(shapes[index].definition)});
    auto written =
        main.transport().execute(write_entity{main.name(),
                                     before->version.empty() ? mutation::insert(made.build())
                                                             : mutation::replace(made.build(), before->version)},
            context);
    std::lock_guard const lock{guard_};
    known_ = {};
    return written ? result<void>{} : std::move(written).as_failure();
}

ENTITABLE_DECL result<void> index_family::check_ready(std::size_t index, call& context) const {
    auto known = states(context);
    if (known && known->states[index] != index_state::ready) { // it may have become so
        known = read_states(context);
    }
    if (!known) {
        return std::move(known).as_failure();
    }
    index_state const state = known->states[index];
    if (state == index_state::ready) {
        return {};
    }
    return failure{error_code::index_not_ready,
        text::joined({"the index ", shapes[index].name, " is not ready (", to_string(state), "): build<",
            shapes[index].name, ">() makes it so"})};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
