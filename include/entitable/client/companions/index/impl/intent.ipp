// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/intent.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::size_t intent_id_size = 32;

/// Returns the name of the property that stores a part of a move.
ENTITABLE_LAZY std::string move_property(std::string_view what, std::size_t number) {
    return text::joined({what, std::to_string(number)});
}

ENTITABLE_LAZY std::optional<row_keys> keys_in(row_view stored, std::string_view end, std::size_t number) {
    auto const partition = stored.find(move_property(text::joined({end, "Partition"}), number));
    auto const row = stored.find(move_property(text::joined({end, "Row"}), number));
    if (!partition || !row) { return std::nullopt; }
    return row_keys{std::string{partition->bytes()}, std::string{row->bytes()}};
}

ENTITABLE_LAZY void add_keys(
    row_builder& to, std::string_view end, std::size_t number, std::optional<row_keys> const& keys) {
    if (keys) {
        to.add(move_property(text::joined({end, "Partition"}), number), value_view{keys->partition_key});
        to.add(move_property(text::joined({end, "Row"}), number), value_view{keys->row_key});
    }
}

} // namespace detail

ENTITABLE_LAZY_BODY std::string intent::row_key_of(std::string_view entity_row_key, std::string_view id) {
    return text::joined({system_row::intent, entity_row_key, "!", id});
}

ENTITABLE_LAZY_BODY key_interval intent::rows_of(std::string_view entity_row_key) {
    // '"' is the character after '!'.
    return {key_bound::including(text::joined({system_row::intent, entity_row_key, "!"})),
        key_bound::excluding(text::joined({system_row::intent, entity_row_key, "\""}))};
}

ENTITABLE_LAZY_BODY key_interval intent::rows() {
    std::string end{system_row::intent};
    end.back() = '"';
    return {key_bound::including(std::string{system_row::intent}), key_bound::excluding(std::move(end))};
}

ENTITABLE_LAZY_BODY row intent::to_row() const {
    row_builder made{entity.partition_key, row_key_of(entity.row_key, id)};
    made.add("State", value_view{static_cast<std::int32_t>(state)});
    made.add("Moves", value_view{static_cast<std::int32_t>(moves.size())});
    for (std::size_t number = 0; number < moves.size(); ++number) {
        made.add(detail::move_property("Index", number), value_view{moves[number].index});
        detail::add_keys(made, "From", number, moves[number].from);
        detail::add_keys(made, "To", number, moves[number].to);
    }
    return made.build();
}

ENTITABLE_LAZY_BODY row intent::state_row(intent_state next) const {
    row_builder made{entity.partition_key, row_key_of(entity.row_key, id)};
    made.add("State", value_view{static_cast<std::int32_t>(next)});
    return made.build();
}

ENTITABLE_LAZY_BODY result<intent> intent::read(row_view stored) {
    failure malformed{error_code::row_malformed, "this row is not an intent of a known version"};
    std::string_view const key = stored.row_key;
    auto const state = stored.find("State");
    auto const moves = stored.find("Moves");
    bool const good = key.size() > system_row::intent.size() + detail::intent_id_size &&
        key[key.size() - detail::intent_id_size - 1] == '!' && state && state->type() == edm_type::int32 && moves &&
        moves->type() == edm_type::int32;
    if (!good || state->bits() < 1 || state->bits() > 3 || moves->bits() < 0 || moves->bits() > 100) {
        return malformed;
    }
    result<intent> made{std::in_place};
    made->id = key.substr(key.size() - detail::intent_id_size);
    made->entity.partition_key = stored.partition_key;
    made->entity.row_key =
        key.substr(system_row::intent.size(), key.size() - detail::intent_id_size - 1 - system_row::intent.size());
    made->version = stored.etag();
    made->state = static_cast<intent_state>(state->bits());
    for (std::size_t number = 0; number < static_cast<std::size_t>(moves->bits()); ++number) {
        auto const index = stored.find(detail::move_property("Index", number));
        if (!index || index->type() != edm_type::string) { return malformed; }
        made->moves.push_back({std::string{index->bytes()}, detail::keys_in(stored, "From", number),
            detail::keys_in(stored, "To", number)});
    }
    return made;
}

ENTITABLE_LAZY_BODY bool intent::wants(std::string_view index, row_keys const& keys) const {
    if (state != intent_state::pending) { return false; }
    for (move const& each : moves) {
        if (each.index == index && each.to == keys) { return true; }
    }
    return false;
}

ENTITABLE_END_NAMESPACE
