// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_writer.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a row was refused for its content, regardless of other writers.
[[nodiscard]] inline bool is_of_content(error_code code) noexcept {
    return code == error_code::key_value_too_large || code == error_code::out_of_range_input ||
        code == error_code::invalid_input || code == error_code::property_value_too_large ||
        code == error_code::entity_too_large || code == error_code::too_many_properties ||
        code == error_code::row_mismatch || code == error_code::key_not_splittable || code == error_code::key_reserved;
}

ENTITABLE_DECL failure of_companion(failure why, std::string_view described, row_keys const& entity) {
    why.error().message = text::joined({described, ": ", why.error().message});
    if (why.error().effect == effect::none && is_of_content(why.error().code) && !entity.row_key.empty()) {
        why.error().detail = keys_text(entity.partition_key, entity.row_key);
    }
    return why;
}

ENTITABLE_DECL error index_writer::named(error refused, transact const& request) const {
    if (!refused.operation_index || *refused.operation_index >= request.changes.size()) { return refused; }
    row_view one = request.changes[*refused.operation_index].entity.view();
    if (std::binary_search(entities_.begin(), entities_.end(), one.row_key)) { return refused; }
    if (one.row_key.starts_with(system_row::sum)) { one.row_key.remove_prefix(system_row::sum.size()); }
    for (index_shape const& shape : family_.shapes) {
        if (!shape.has(one.partition_key, one.row_key)) { continue; }
        auto const owner =
            shape.is_sum() ? result<row_keys>{failure{refused}} : shape.owner_of(one, family_.main.options().reading);
        row_keys entity = owner ? *owner : row_keys{};
        if (!owner && entities_.size() == 1) { entity = {std::string{one.partition_key}, entities_.front()}; }
        failure made = of_companion(failure{std::move(refused)}, shape.described(), entity);
        return std::move(made.error());
    }
    return refused;
}

ENTITABLE_DECL result<void> index_writer::check_moves(profile const& limits) const {
    for (moved_entity const& each : moved_) {
        for (move const& one : each.moves) {
            if (!one.to) { continue; }
            auto good = validate(write_entity{family_.places[one.index].name(), mutation::insert(*one.to)}, limits);
            if (good) { continue; }
            return of_companion(std::move(good).as_failure(), family_.shapes[one.index].described(), each.told.entity);
        }
        auto good = validate(write_entity{family_.main.name(), mutation::insert(each.told.to_row())}, limits);
        if (good) { continue; }
        index_shape const& shape = family_.shapes[each.moves.front().index];
        return of_companion(
            std::move(good).as_failure(), text::joined({"the intent of ", shape.described()}), each.told.entity);
    }
    return {};
}

/// Counts the parts of a transaction, for limits and messages.
struct request_parts {
    std::size_t entities{};
    std::size_t index_rows{};
    std::size_t sums{}; ///< rows of sums, and their archive rows
    std::size_t intents{};
    std::size_t only_read{};
    std::size_t system_rows{};
    std::size_t log_rows{};
    std::size_t bytes{}; ///< a lower bound of what the service counts

    [[nodiscard]] std::size_t operations() const noexcept {
        return entities + index_rows + sums + intents + only_read + system_rows + log_rows;
    }
    /// Returns "40 entities, 80 index rows, 1 sum".
    [[nodiscard]] std::string words() const {
        std::string made;
        auto const add = [&](std::size_t number, std::string_view one, std::string_view several) {
            if (number == 0) { return; }
            made.append(made.empty() ? "" : ", ").append(std::to_string(number)).append(number == 1 ? one : several);
        };
        add(entities, " entity", " entities");
        add(index_rows, " index row", " index rows");
        add(sums, " sum", " sums");
        add(intents, " intent", " intents");
        add(only_read, " row that was only read", " rows that were only read");
        add(system_rows, " system row", " system rows");
        add(log_rows, " row of the change log", " rows of the change log");
        return made;
    }
    [[nodiscard]] failure too_many(profile const& limits) const {
        return failure{error_code::invalid_input,
            text::joined(
                {limit_text("the transaction", operations(), limits.max_operations, "operations"), ": ", words()})};
    }
};

ENTITABLE_DECL request_parts index_writer::parts_of(transaction_scope const& all, bool exact) const {
    request_parts made;
    std::string const& partition_key = all.rows.partition_key();
    all.rows.for_each_written([&](std::string const& row_key, mutation const* change) {
        if (change == nullptr) {
            ++made.only_read;
            return;
        }
        row const& one = change->entity;
        made.bytes += exact ? service_size(one) : row_key.size() + partition_key.size() + one.payload().size();
        bool const is_sum = row_key.starts_with(system_row::sum) ||
            std::any_of(family_.shapes.begin(), family_.shapes.end(),
                [&](index_shape const& shape) { return shape.is_sum() && shape.has(partition_key, row_key); });
        std::size_t& kind = std::binary_search(entities_.begin(), entities_.end(), row_key) ? made.entities
            : is_sum                                                                        ? made.sums
            : row_key.starts_with(system_row::intent)                                       ? made.intents
            : system_row::is_one(row_key)                                                   ? made.system_rows
                                                                                            : made.index_rows;
        ++kind;
    });
    return made;
}

ENTITABLE_DECL failure index_writer::too_many(transaction_scope& all) const {
    request_parts parts = parts_of(all, false);
    parts.log_rows = logs() ? log_->rows_for(entities_) : 0;
    return parts.too_many(all.store().profile());
}

ENTITABLE_DECL result<void> index_writer::check_limits(transaction_scope& all, bool announces) const {
    profile const limits = all.store().profile();
    ENTITABLE_CHECK(check_moves(limits));
    std::size_t most_sums = 0;
    for (counted_entity const& each : counted_) { most_sums += 2 * each.of->sums.size(); }
    request_parts made = parts_of(all, false);
    made.intents += moved_.size();
    made.log_rows = logs() ? log_->rows_for(entities_) : 0;
    made.system_rows += announces && all.rows.has_to_read(system_row::exclusive) ? 1U : 0U;
    bool const is_small = made.bytes <= limits.max_transaction_size / 4; // at least a quarter of the service's measure
    if (is_small && made.operations() + most_sums <= limits.max_operations) { return {}; }
    made.bytes = parts_of(all, true).bytes;
    for (moved_entity const& each : moved_) {
        made.bytes += service_size(each.removal ? each.told.to_row() : each.told.state_row(intent_state::applied));
    }
    std::set<std::string> places;
    auto const add = [&](std::string const& row_key, result<row> const& place) -> result<void> {
        if (!place) { return failure{place.error()}; }
        if (!places.insert(row_key).second) { return {}; }
        made.only_read -= all.rows.stored_at(row_key) && made.only_read > 0 ? 1U : 0U;
        ++made.sums;
        made.bytes += service_size(*place);
        return {};
    };
    for (counted_entity const& each : counted_) {
        for (counted_type const& how : each.of->sums) {
            if (!states_->keeps(how.companion)) { continue; }
            changed_places at;
            ENTITABLE_CHECK(find_places(each, how, at));
            auto const place = [&](decoded_entity const& of) { return how.place(of.get(), each.any_row()); };
            if (at.from) { ENTITABLE_CHECK(add(*at.from, place(each.before))); }
            if (at.from && each.rows.archived) {
                ENTITABLE_CHECK(add(text::joined({system_row::sum, *at.from}), place(each.before)));
            }
            if (at.to) { ENTITABLE_CHECK(add(*at.to, place(each.after))); }
        }
    }
    if (made.operations() > limits.max_operations) { return made.too_many(limits); }
    if (made.bytes > limits.max_transaction_size) {
        return failure{error_code::request_body_too_large,
            text::joined(
                {limit_text("the transaction", made.bytes, limits.max_transaction_size, "bytes"), ": ", made.words()})};
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
