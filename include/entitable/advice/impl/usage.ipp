// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/usage.hpp>

#include <algorithm>
#include <new>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL bool writes_entities(std::string_view operation) noexcept {
    constexpr std::string_view names[] = {
        "insert", "insert_or_merge", "insert_or_replace", "merge", "remove", "replace", "transact"};
    return std::find(std::begin(names), std::end(names), operation) != std::end(names);
}

ENTITABLE_DECL void add_usage(operation_usage& to, operation_usage const& more) noexcept {
    to.transactions += more.transactions;
    to.failed += more.failed;
    to.entities += more.entities;
    to.bytes_sent += more.bytes_sent;
    to.bytes_received += more.bytes_received;
    to.request_units += more.request_units;
}

/// Returns the operation with this name, which it adds if needed.
ENTITABLE_DECL operation_usage& usage_of(std::vector<operation_usage>& all, std::string_view name) {
    auto const at = std::lower_bound(all.begin(), all.end(), name,
        [](operation_usage const& each, std::string_view other) { return each.name < other; });
    if (at != all.end() && at->name == name) { return *at; }
    operation_usage made;
    made.name = name;
    return *all.insert(at, std::move(made));
}

} // namespace detail

ENTITABLE_DECL operation_usage const* usage::find(std::string_view name) const noexcept {
    auto const at = std::find_if(
        operations.begin(), operations.end(), [&](operation_usage const& each) { return each.name == name; });
    return at == operations.end() ? nullptr : &*at;
}

ENTITABLE_DECL operation_usage usage::total() const {
    operation_usage sum;
    for (operation_usage const& each : operations) { detail::add_usage(sum, each); }
    return sum;
}

ENTITABLE_DECL operation_usage usage::writes() const {
    operation_usage sum;
    for (operation_usage const& each : operations) {
        if (detail::writes_entities(each.name)) { detail::add_usage(sum, each); }
    }
    return sum;
}

ENTITABLE_DECL std::string usage::to_string() const {
    using detail::figure;
    detail::text_table table{{"operation", "transactions", "failed", "entities", "sent", "received", "RU", "RU each"}};
    auto const add = [&](operation_usage const& each, std::string name) {
        auto const whole = [](std::uint64_t value) { return figure(static_cast<double>(value)); };
        double const units = each.transactions == 0 ? 0 : each.request_units / static_cast<double>(each.transactions);
        table.add({std::move(name), whole(each.transactions), whole(each.failed), whole(each.entities),
            detail::bytes_text(static_cast<double>(each.bytes_sent)),
            detail::bytes_text(static_cast<double>(each.bytes_received)), figure(each.request_units, 2),
            figure(units, 2)});
    };
    for (operation_usage const& each : operations) { add(each, each.name); }
    add(total(), "in total");
    return table.to_string();
}

ENTITABLE_DECL void usage_meter::on_attempt(attempt_record const& done) noexcept {
    auto const count = [&] {
        std::lock_guard const guard{lock_};
        operation_usage& to = detail::usage_of(all_.operations, done.name);
        ++to.transactions;
        to.bytes_sent += done.request_size;
        to.bytes_received += done.response_size;
        to.request_units += done.request_charge;
        if (done.outcome.error) {
            ++to.failed;
        } else if (done.outcome.rows) {
            to.entities += *done.outcome.rows;
        } else if (detail::writes_entities(done.name)) {
            to.entities += (std::max)(done.batch_size, std::size_t{1});
        }
    };
#if ENTITABLE_HAS_EXCEPTIONS
    try {
        count();
    } catch (std::bad_alloc const&) { static_cast<void>(0); } // the attempt is not measured
#else
    count();
#endif
}

ENTITABLE_DECL usage usage_meter::measured() const {
    std::lock_guard const guard{lock_};
    return all_;
}

ENTITABLE_DECL void usage_meter::clear() {
    std::lock_guard const guard{lock_};
    all_.operations.clear();
}

ENTITABLE_DECL result<ingest_request> measured_ingest(usage const& measured, ingest_request request) {
    operation_usage const written = measured.writes();
    if (written.entities == 0) {
        return failure{error_code::invalid_input, "no entity was written while the requests were measured"};
    }
    if (!(written.request_units > 0)) {
        return failure{error_code::invalid_input, "the service reported no charges for the measured writes"};
    }
    request.units_per_write = written.request_units / static_cast<double>(written.entities);
    return request;
}

ENTITABLE_DECL result<std::vector<charged_request>> measured_charges(usage const& measured, double seconds) {
    if (!(seconds > 0 && seconds <= 1e12)) {
        return failure{error_code::out_of_range_input, "the duration of a measurement must be positive"};
    }
    if (!(measured.total().request_units > 0)) {
        return failure{error_code::invalid_input, "the service reported no charges for the measured requests"};
    }
    result<std::vector<charged_request>> made{std::in_place};
    for (operation_usage const& each : measured.operations) {
        auto const number = static_cast<double>(each.transactions);
        made->push_back({each.name, each.request_units / number, number / seconds});
    }
    return made;
}

ENTITABLE_END_NAMESPACE
