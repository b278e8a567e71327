// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_family.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

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

ENTITABLE_DECL entity_type const* index_family::type_of(
    std::string_view partition_key, std::string_view row_key) const noexcept {
    for (entity_type const& each : types) {
        if (each.type->matches(partition_key, row_key)) { return &each; }
    }
    return nullptr;
}

ENTITABLE_DECL std::optional<std::size_t> index_family::find(std::string_view name) const noexcept {
    for (std::size_t index = 0; index < shapes.size(); ++index) {
        if (shapes[index].name == name) { return index; }
    }
    return std::nullopt;
}

ENTITABLE_DECL bool index_family::has_rows_elsewhere() const noexcept {
    return std::ranges::any_of(shapes, &index_shape::elsewhere);
}

ENTITABLE_DECL std::uint64_t index_family::fresh_seed() const {
    if (options.seed != 0) {
        return seeded_.bits(); // differs for each call, because intent names are never reused
    }
    std::uint64_t seed = 0;
    guid const drawn = guid::random();
    for (std::size_t at = 0; at < 8; ++at) { seed = seed << 8U | (drawn.bytes[at] ^ drawn.bytes[at + 8]); }
    return seed;
}

ENTITABLE_DECL guid index_family::draw_guid() const {
    if (options.seed == 0) { return guid::random(); }
    guid made;
    for (unsigned char& each : made.bytes) { each = static_cast<unsigned char>(seeded_.bits() >> 32U); }
    return made;
}

ENTITABLE_DECL shared<index_family> make_absent_family(std::size_t indexes) {
    table_core const none{moved_from_transport("table"), {}, {}};
    auto const derive = [](row_view, reading, index_rows&) -> result<void> { return moved_from("table"); };
    static constexpr type_pattern any{};
    index_shape absent;
    absent.type = &any;
    return shared<index_family>::make(none, std::vector<index_shape>(indexes, absent),
        std::vector<table_core>(indexes, none), derive, std::vector<entity_type>(1, {&any, true, {}}), table_options{});
}

ENTITABLE_DECL failure of_index(failure why, std::string_view name) {
    why.error().message = text::joined({"the index ", name, ": ", why.error().message});
    return why;
}

ENTITABLE_DECL shared<index_family> with_options(index_family const& of, call_options options) {
    auto const changed = [&](table_core const& one) { return table_core{one.store(), one.name(), options}; };
    std::vector<table_core> places;
    for (table_core const& each : of.places) { places.push_back(changed(each)); }
    return shared<index_family>::make(
        changed(of.main), of.shapes, std::move(places), of.derive, of.types, of.options, of.log);
}

// ---- states -----------------------------------------------------------------------------------------

ENTITABLE_DECL std::string state_row_key(index_shape const& shape) {
    return text::joined({system_row::index, shape.name});
}

/// Reads a state of a newer version as "absent": the index is maintained and not used.
ENTITABLE_DECL index_family::stored_state read_state(row_view stored) {
    index_family::stored_state made;
    auto const state = stored.find("State");
    auto const definition = stored.find("Definition");
    if (state && state->type() == edm_type::string) {
        for (index_state const each : {index_state::fencing, index_state::building, index_state::ready,
                 index_state::retiring, index_state::retired}) {
            made.state = state->bytes() == to_string(each) ? each : made.state;
        }
    }
    if (definition && definition->type() == edm_type::int64) {
        made.definition = static_cast<std::uint64_t>(definition->bits());
    }
    made.names_entities = stored.find("Entities").has_value();
    if (auto const log = stored.find("Log"); log && log->type() == edm_type::guid) { made.log = log->as_guid(); }
    made.version = stored.etag();
    return made;
}

/// Whether a state may belong to an index or sums of these entities: row keys of other entities begin with a different literal.
ENTITABLE_DECL bool may_concern(row_view stored, std::vector<entity_type> const& types) {
    auto const of = stored.find("Entities");
    if (!of || of->type() != edm_type::string) {
        return true; // written by a version that did not store the entities
    }
    return std::ranges::any_of(types, [&](entity_type const& each) {
        std::string_view const literal = each.type->row.literal();
        return literal.starts_with(of->bytes()) || of->bytes().starts_with(literal);
    });
}

ENTITABLE_DECL std::string index_shape::described() const {
    return text::joined({is_sum() ? "the sum " : is_log() ? "the " : "the index ", name});
}

ENTITABLE_DECL index_shape shape_of_log(std::size_t lanes, std::size_t feed_lanes) {
    index_shape made;
    made.name = "change log"; // no type has this name
    made.definition = 0x6368616E6765ULL << 16U | feed_lanes << 8U | lanes;
    return made;
}

ENTITABLE_DECL failure differs(index_shape const& shape) {
    return failure{error_code::index_definition_differs,
        text::joined({shape.described(),
            " was built from a different declaration: run the program that has that declaration, or build it "
            "again"})};
}

ENTITABLE_DECL result<void> index_family::check_places() const {
    auto const same_table = [](table_core const& one, table_core const& other) {
        return std::ranges::equal(one.name(), other.name(), {}, &ascii_lower_case, &ascii_lower_case);
    };
    for (std::size_t index = 0; index < shapes.size() && !main.name().empty(); ++index) {
        if (shapes[index].is_log()) { continue; }
        type_pattern const& own = *shapes[index].type;
        std::string_view with;
        for (entity_type const& each : types) {
            if (same_table(places[index], main) && !own.differs_from(*each.type)) { with = "its entities"; }
        }
        for (std::size_t other = 0; other < index && with.empty(); ++other) {
            if (shapes[other].is_log()) { continue; }
            if (same_table(places[index], places[other]) && !own.differs_from(*shapes[other].type)) {
                with = shapes[other].name;
            }
        }
        if (!with.empty()) {
            return failure{error_code::invalid_input,
                text::joined({"the index ", shapes[index].name, " is in the table \"", places[index].name(),
                    "\" and cannot be distinguished from ", with,
                    ": begin their row keys with different literals, or put the index into a separate table"})};
        }
    }
    return {};
}

ENTITABLE_DECL result<index_family::declaration> index_family::read_declaration(call& context) const {
    ENTITABLE_CHECK(check_places());
    result<declaration> read{std::in_place};
    read->own.resize(shapes.size());
    query_entities asked;
    asked.table = main.name();
    asked.range.partition = key_interval::only(std::string{system_row::index});
    page_cursor pages{std::move(asked)};
    while (pages.more()) {
        call own = context;
        own.operation_id.clear();
        ENTITABLE_TRY(auto const found, pages.take(main.store().execute(pages.request(), own)));
        for (std::size_t at = 0; at < found.rows.size(); ++at) {
            row_view const each = found.rows[at];
            if (!each.row_key.starts_with(system_row::index)) { continue; }
            std::string_view const name = each.row_key.substr(system_row::index.size());
            stored_state stored = read_state(each);
            if (auto const index = find(name)) {
                read->own[*index] = std::move(stored);
                read->declared = true;
            } else if (may_concern(each, types)) {
                read->declared = true;
                if (stored.state != index_state::retired && read->unknown.empty()) { read->unknown = name; }
            }
        }
    }
    return read;
}

ENTITABLE_DECL result<shared<index_states>> index_family::read_states(call& context) const {
    auto read = shared<index_states>::make();
    read->until = options.time->steady() + std::chrono::duration_cast<steady_time::duration>(options.lease);
    read->until_date = {options.time->now().ticks + options.lease.count() / 100};
    ENTITABLE_TRY(auto found, read_declaration(context));
    read->unknown = std::move(found.unknown);
    read->declared = found.declared;
    for (std::size_t index = 0; index < shapes.size(); ++index) {
        stored_state const& stored = found.own[index];
        read->states.push_back(stored.state);
        bool const built = !stored.version.empty() && stored.state != index_state::retired;
        if (built && stored.definition != shapes[index].definition) { return differs(shapes[index]); }
        if (shapes[index].is_log()) { read->log = stored.log; }
    }
    std::lock_guard const lock{known_->guard};
    known_->states = read;
    return read;
}

ENTITABLE_DECL result<shared<index_states>> index_family::states(call& context) const {
    {
        std::lock_guard const lock{known_->guard};
        shared<index_states> const& known = known_->states;
        if (known && known->has_lease(*options.time)) { return known; }
    }
    return read_states(context);
}

ENTITABLE_DECL result<void> index_family::check_writable(index_states const& known) const {
    if (!known.unknown.empty()) {
        return failure{error_code::declaration_differs,
            text::joined({"the table \"", main.name(), "\" maintains ", known.unknown,
                ", which this program does not declare: run the program that declares it, or retire(\"", known.unknown,
                "\")"})};
    }
    if (!known.declared && !shapes.empty()) {
        return failure{error_code::declaration_missing,
            text::joined({"the table \"", main.name(),
                "\" has no declaration of its indexes and sums: call create_if_absent(), or adopt() if it has "
                "entities"})};
    }
    return {};
}

ENTITABLE_DECL result<index_family::stored_state> index_family::stored_state_of(
    std::size_t index, call& context) const {
    auto found = main.store().execute(
        get_entity{main.name(), std::string{system_row::index}, state_row_key(shapes[index]), {}}, context);
    if (found) {
        stored_state made = read_state(found->entity);
        made.version = std::move(found->etag);
        return made;
    }
    if (found.error().code == error_code::resource_not_found) { return stored_state{}; }
    return std::move(found).as_failure();
}

ENTITABLE_DECL result<shared<index_states>> index_family::states_to_write(call& context) const {
    auto known = states(context);
    if (known && !check_writable(**known)) { // the table may have become writable
        known = read_states(context);
    }
    if (known) { ENTITABLE_CHECK(check_writable(**known)); }
    return known;
}

/// `log`: of a log.
ENTITABLE_DECL row state_row(index_shape const& shape, index_state state, guid const& log) {
    row_builder made{system_row::index, state_row_key(shape)};
    made.add("State", value_view{to_string(state)});
    made.add("Definition", value_view{static_cast<std::int64_t>(shape.definition)});
    made.add("Entities", value_view{shape.of != nullptr ? shape.of->row.literal() : std::string_view{}});
    if (shape.is_sum()) { made.add("Kind", value_view{std::string_view{"sum"}}); }
    if (shape.is_log()) {
        made.add("Kind", value_view{std::string_view{"log"}});
        made.add("Log", value_of_guid(log));
    }
    return made.build();
}

ENTITABLE_DECL result<void> index_family::set_state(
    std::size_t index, index_state state, stored_state const& before, call& context) const {
    // Changes that are made while a log is retired are not in it: afterwards it is another log, which no position belongs to.
    bool const is_new = before.version.empty() || before.state == index_state::retired;
    row made = state_row(shapes[index], state, is_new ? draw_guid() : before.log);
    auto written =
        main.store().execute(write_entity{main.name(),
                                 before.version.empty() ? mutation::insert(std::move(made))
                                                        : mutation::replace(std::move(made), before.version)},
            context);
    forget();
    return written ? result<void>{} : std::move(written).as_failure();
}

ENTITABLE_DECL result<void> index_family::set_word(
    row_keys const& of, std::string_view state, etag const& version, call& context) const {
    row_builder made{of.partition_key, of.row_key};
    made.add("State", value_view{state});
    auto written = main.store().execute(write_entity{main.name(), mutation::merge(made.build(), version)}, context);
    forget();
    return written ? result<void>{} : std::move(written).as_failure();
}

ENTITABLE_DECL void index_family::forget() const {
    std::lock_guard const lock{known_->guard};
    known_->states = {};
}

ENTITABLE_DECL result<bool> index_family::declare(index_state state, call& context) const {
    transact request{main.name(), {}};
    for (index_shape const& each : shapes) {
        request.changes.push_back(mutation::insert(state_row(each, state, draw_guid())));
    }
    if (request.changes.empty()) { return true; }
    call own = context;
    own.operation_id.clear();
    auto made = main.store().execute(request, own);
    forget();
    if (!made && made.error().code != error_code::entity_already_exists) { return std::move(made).as_failure(); }
    return made.has_value();
}

ENTITABLE_DECL result<void> index_family::check_ready(std::size_t index, call& context) const {
    auto known = states(context);
    if (known && (*known)->states[index] != index_state::ready) { // the index may have become ready
        known = read_states(context);
    }
    if (!known) { return std::move(known).as_failure(); }
    index_state const state = (*known)->states[index];
    if (state == index_state::ready) { return {}; }
    return failure{error_code::index_not_ready,
        text::joined({shapes[index].described(), " is not ready (", to_string(state), "): build<", shapes[index].name,
            ">() makes it ready"})};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
