// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `resolve`: what became of a write whose effect was unknown, asked later.

#include <entitable/request/settling.hpp>
#include <entitable/transport/run.hpp>

#include <optional>
#include <span>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads the entities of some changes until one of them settles what became of all.
class resolution {
public:
    /// The changes must outlive it.
    resolution(std::string table, std::span<mutation const> changes) : changes_(changes) {
        reading_.table = std::move(table);
        aim();
    }

    [[nodiscard]] operation_step next() const noexcept {
        return at_ == changes_.size() || outcome_ ? operation_step{} : operation_step{reading_};
    }
    void answer(result<get_entity::response> found, steady_time) {
        if (!found && found.error().code != error_code::resource_not_found) {
            outcome_.emplace(std::move(found).as_failure());
            return;
        }
        fate const told = fate_by_comparing(changes_[at_], found ? &*found : nullptr, changes_.size() == 1);
        if (told != fate::unknown) {
            outcome_.emplace(told);
            return;
        }
        ++at_;
        aim();
    }
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    [[nodiscard]] result<fate> finish() { return outcome_ ? *std::move(outcome_) : result<fate>{fate::unknown}; }

private:
    void aim() {
        if (at_ < changes_.size()) {
            reading_.partition_key = changes_[at_].entity.partition_key();
            reading_.row_key = changes_[at_].entity.row_key();
        }
    }

    std::span<mutation const> changes_;
    std::size_t at_{};
    get_entity reading_;
    std::optional<result<fate>> outcome_;
};

} // namespace detail

/// Settles what became of a write that keeps an operation row (`error::operation_id`), for good: it was applied; or it was not, and
/// never will be, since it is given up. So it may be asked at once, while a sending is still on its way, from any process, as often
/// as wanted, up to `operation_row::retention` after the first sending. Unknown where the operation row was removed meanwhile. Where
/// nothing was applied it writes: the operation row, void. An error is that of the request that failed; then ask again.
template <transport T>
[[nodiscard]] result<fate> resolve(
    T& through, std::string table, std::string_view partition_key, std::string_view operation_id, call& context) {
    settling asking{std::move(table), partition_key, operation_id};
    return run(asking, context, system_clock(), through);
}

/// What became of a write without one, by reading and comparing: an insert whose every property is there was applied; a write by
/// ETag was not when the ETag is still the one; a removal was applied when nothing is there, a write without condition when
/// all that it sent is there. Everything else is unknown: another writer may have been in between. Ask once no sending can be on its way
/// any more: one that was not applied so far may be applied later.
template <transport T>
[[nodiscard]] result<fate> resolve(T& through, write_entity const& lost, call& context) {
    detail::resolution reading{lost.table, {&lost.change, 1}};
    return run(reading, context, system_clock(), through);
}

/// The same for a transaction: the first of its changes that tells, tells of all. Removals and writes without condition tell
/// nothing here.
template <transport T>
[[nodiscard]] result<fate> resolve(T& through, transact const& lost, call& context) {
    detail::resolution reading{lost.table, lost.changes};
    return run(reading, context, system_clock(), through);
}

ENTITABLE_END_NAMESPACE
