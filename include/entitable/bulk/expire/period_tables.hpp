// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `period_tables<E>`: a table for each hour, day, month or year, which is dropped as a whole when it is old.

#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>

#include <mutex>
#include <set>

ENTITABLE_BEGIN_NAMESPACE

/// The period that one table covers, in UTC.
enum class period : std::uint8_t {
    hour,  ///< for example "readings2026030215"
    day,   ///< for example "readings20260302"
    month, ///< for example "readings202603"
    year,  ///< for example "readings2026"
};

/// Options of `period_tables`.
struct period_options {
    period length{period::day};      ///< period of one table; part of the names of tables, so never change it
    std::chrono::nanoseconds keep{}; ///< time after the end of its period at which a table is dropped
    clock* time{&system_clock()};    ///< determines when a period has ended; must outlive the tables
};

/// The time that one table covers.
struct time_span {
    date_time begin; ///< first tick of the period
    date_time end;   ///< first tick after the period
};

namespace detail {

/// The names of the tables of periods, and which of them exist.
class period_names {
public:
    period_names(table_core core, period_options how);

    /// Returns the period of a time. Errors: OutOfRangeInput for a time outside the years 1601 to 9999.
    [[nodiscard]] result<time_span> span_of(date_time when) const;
    /// Returns the name of the table for a time. Errors: OutOfRangeInput as above, and for a period older than `period_options::keep`.
    [[nodiscard]] result<std::string> name_of(date_time when) const;
    /// Does the same; creates the table if it does not exist.
    [[nodiscard]] result<std::string> made(date_time when) const;
    /// Returns the existing tables that `wanted` accepts, oldest first.
    [[nodiscard]] result<std::vector<std::string>> there(function_ref<bool(time_span const&)> wanted) const;
    /// Drops tables that are too old, and returns their names.
    [[nodiscard]] result<std::vector<std::string>> drop_old() const;

    [[nodiscard]] table_core of(std::string name) const { return {core_.store(), std::move(name), core_.options()}; }

private:
    struct known_tables : counted {
        std::mutex guard;
        std::set<std::string> names;
    };
    [[nodiscard]] std::string digits_of(date_time when) const;
    [[nodiscard]] std::optional<time_span> span_of_digits(std::string_view digits) const;

    table_core core_;
    period_options how_;
    shared<known_tables> known_;
};

} // namespace detail

/// Entities of one type in a table for each period: removing a million of them takes one request, without an index or queue of expired
/// entities. Suits logs and readings, whose time determines the table.
///
///     period_tables<reading> readings{store, "readings", {.length = period::day, .keep = std::chrono::days{30}}};
///     readings.at(now).value().insert({"hall", now, 21.5});                   // into "readings20260302", created if absent
///     for (auto const& day : readings.between(from, until).value()) { day.where(...); }
///     readings.drop_old();                                                      // once a day, by any program
///
/// The name of a table that was dropped is never used again: a period older than `period_options::keep` is refused (OutOfRangeInput), and
/// `drop_old` drops its table a minute later, because clocks differ.
///
/// Thread safety: safe to use from several threads. Copies are cheap.
template <mapped_entity Entity>
class period_tables {
public:
    using value_type = Entity; ///< entity type

    /// `name` and the digits of a period form the name of a table: 3 to 63 characters together. Sends nothing.
    period_tables(any_store through, std::string name, period_options how, call_options options = {})
        : names_(detail::table_core{std::move(through), std::move(name), std::move(options)}, how) {}

    /// Returns the table of the period of a time, created if it does not exist.
    ///
    /// Errors: OutOfRangeInput for a period older than `period_options::keep`, or a time outside the years 1601 to 9999. Cost: one request
    /// for the first call of this object or its copies with the period.
    [[nodiscard]] result<table<Entity>> at(date_time when) const {
        ENTITABLE_TRY(std::string name, names_.made(when));
        return opened(std::move(name));
    }
    /// Returns the existing tables for times from `from` up to but not including `until`, oldest first. Cost: one request for each 1,000
    /// tables of the store.
    [[nodiscard]] result<std::vector<table<Entity>>> between(date_time from, date_time until) const {
        ENTITABLE_TRY(std::vector<std::string> names,
            names_.there([&](time_span const& each) { return each.begin < until && each.end > from; }));
        std::vector<table<Entity>> made;
        for (std::string& each : names) { made.push_back(opened(std::move(each))); }
        return made;
    }
    /// Returns the period of a time. Errors: OutOfRangeInput for a time outside the years 1601 to 9999.
    [[nodiscard]] result<time_span> span_of(date_time when) const { return names_.span_of(when); }
    /// Drops the tables whose period ended longer ago than `period_options::keep` and a minute, and returns their names. Cost: as for
    /// `between`, and one request for each dropped table.
    [[nodiscard]] result<std::vector<std::string>> drop_old() const { return names_.drop_old(); }

private:
    [[nodiscard]] table<Entity> opened(std::string name) const {
        detail::table_core const core = names_.of(std::move(name));
        return table<Entity>{core.store(), core.name(), core.options()};
    }

    detail::period_names names_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/expire/impl/period_tables.ipp>
#endif
