// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `resolve`: what became of a write whose effect was unknown, asked later; and the removal of operation rows.

#include <entitable/request/fate.hpp>
#include <entitable/request/operation_row.hpp>
#include <entitable/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads the entities of some changes until one of them settles what became of all.
class resolution {
public:
    using request = get_entity;

    /// The changes must outlive it.
    resolution(std::string table, std::span<mutation const> changes) : changes_(changes) {
        reading_.table = std::move(table);
        aim();
    }

    [[nodiscard]] next_step next() const noexcept {
        return at_ == changes_.size() || outcome_ ? next_step::done : next_step::send;
    }
    [[nodiscard]] steady_time wakes_at() const noexcept { return {}; }
    template <class Sender>
    void visit(Sender&& send) const {
        send(reading_);
    }
    void answer(result<get_entity::response> found) {
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

/// What became of a write that kept an operation row (`error::operation_id`). Ask once no try of it can be on its way any
/// more. An error is that of the read.
template <transport T>
[[nodiscard]] result<fate> resolve(
    T& through, std::string table, std::string partition_key, std::string_view operation_id, call& context) {
    auto found = execute(through,
        get_entity{std::move(table), std::move(partition_key), operation_row::row_key(operation_id), {}}, context);
    if (found) {
        return operation_row::is_one(found->entity) ? fate::applied : fate::unknown;
    }
    if (found.error().code == error_code::resource_not_found) {
        return fate::not_applied;
    }
    return std::move(found).as_failure();
}

/// What became of a write without one, by reading and comparing: an insert whose every property is there was applied; a write by
/// ETag was not when the ETag is still the one; a removal was applied when nothing is there, a write without condition when
/// all that it sent is there. Everything else is unknown: another writer may have been in between.
template <transport T>
[[nodiscard]] result<fate> resolve(T& through, write_entity const& lost, call& context) {
    detail::resolution reading{lost.table, {&lost.change, 1}};
    return run(reading, through, context);
}

/// The same for a transaction: the first of its changes that tells, tells of all. Removals and writes without condition tell
/// nothing here.
template <transport T>
[[nodiscard]] result<fate> resolve(T& through, transact const& lost, call& context) {
    detail::resolution reading{lost.table, lost.changes};
    return run(reading, through, context);
}

/// Removes the operation rows of a partition that were written before `before`; how many. Stops at the first error.
template <transport T>
[[nodiscard]] result<std::size_t> sweep_operation_rows(
    T& through, std::string const& table, std::string const& partition_key, date_time before, call& context) {
    query_entities query;
    query.table = table;
    query.range.partition = key_interval::only(partition_key);
    std::string behind{operation_row::row_key_prefix};
    ++behind.back();
    query.range.row = {key_bound::including(std::string{operation_row::row_key_prefix}), key_bound::excluding(behind)};
    query.filter.nodes.push_back({filter_operator::less, "Timestamp", value{value_view{before}}});
    std::size_t removed = 0;
    do {
        auto page = execute(through, query, context);
        if (!page) {
            return std::move(page).as_failure();
        }
        for (std::size_t index = 0; index < page->rows.size(); ++index) {
            row_view const each = page->rows[index];
            if (operation_row::is_one(each)) {
                auto gone = execute(through,
                    write_entity{table, mutation::remove(row{each.partition_key, each.row_key, {}}, any_etag)},
                    context);
                if (!gone && gone.error().code != error_code::resource_not_found) {
                    return std::move(gone).as_failure();
                }
                ++removed;
            }
        }
        query.continuation = std::move(page->continuation);
    } while (query.continuation);
    return removed;
}

ENTITABLE_END_NAMESPACE
