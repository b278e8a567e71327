// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `resolve`: determines later whether a write of unknown effect was applied.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/sequential_requests.hpp>
#include <entitable/core/request/settling.hpp>
#include <entitable/core/transport/run.hpp>

#include <span>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads the entities of some changes until one of them shows the outcome of all.
template <transport T>
[[nodiscard]] result<write_outcome> resolve_by_reading(
    T& through, std::string const& table, std::span<mutation const> changes, call& context) {
    write_outcome told = write_outcome::unknown;
    std::size_t at = 0;
    auto const reading = [&] {
        row const& of = changes[at].entity;
        return get_entity{table, std::string{of.partition_key()}, std::string{of.row_key()}, {}};
    };
    auto const turn = [&](get_entity& asked, result<get_entity::response> found) -> result<bool> {
        if (!found && found.error().code != error_code::resource_not_found) { return std::move(found).as_failure(); }
        told = outcome_by_comparing(changes[at], found ? &*found : nullptr, changes.size() == 1);
        if (told != write_outcome::unknown || ++at == changes.size()) { return false; }
        asked = reading();
        return true;
    };
    if (changes.empty()) { return told; }
    sequential_requests<get_entity> asking{reading(), turn};
    auto asked = run(asking, context, system_clock(), through);
    return asked ? result<write_outcome>{told} : std::move(asked).as_failure();
}

} // namespace detail

/// Determines the final outcome of a write that has an operation row (`error::operation_id`): it was applied; or it was not and never will
/// be, because it is abandoned. It may be called immediately, even while an attempt may still be in flight, from any process, any number of
/// times, up to `operation_row::retention` after the first attempt. Unknown if the operation row was removed in the meantime. If nothing
/// was applied, it writes the operation row as void. Errors: those of the failed request; then call it again.
template <transport T>
[[nodiscard]] result<write_outcome> resolve(
    T& through, std::string table, std::string_view partition_key, std::string_view operation_id, call& context) {
    settling asking{std::move(table), partition_key, operation_id};
    return run(asking, context, system_clock(), through);
}

/// Determines the outcome of a write without an operation row, by reading and comparing. Applied: an insert or an unconditional replace
/// whose entity has exactly the properties sent, an unconditional merge whose properties are all present, a removal whose entity does not
/// exist; another writer's equal write counts as this write. Not applied: a write under an ETag that is still stored. Everything else is
/// unknown. Call it when no attempt can be in flight: an attempt in flight may be applied later.
template <transport T>
[[nodiscard]] result<write_outcome> resolve(T& through, write_entity const& lost, call& context) {
    return detail::resolve_by_reading(through, lost.table, {&lost.change, 1}, context);
}

/// Does the same for a transaction: the first change with a known outcome decides for all. Removals and unconditional writes decide nothing
/// here.
template <transport T>
[[nodiscard]] result<write_outcome> resolve(T& through, transact const& lost, call& context) {
    return detail::resolve_by_reading(through, lost.table, lost.changes, context);
}

ENTITABLE_END_NAMESPACE

#endif
