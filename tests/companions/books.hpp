// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Books with every kind of companion: an index, a unique one, one elsewhere, sums, salted sums of two entity types, and an entity without any.

#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

#include <map>
#include <set>

namespace companion_tests {

using namespace entitable;

struct counter {
    std::string tenant;
    std::int64_t last{};
};
ENTITABLE(counter, partition_key(tenant), row_key(literal("COUNTER")), properties(last))

struct invoice {
    std::string tenant;
    std::int32_t number{};
    std::string customer;
    std::optional<std::string> reference;
    std::string account;
    std::string day;
    std::int64_t cents{};
};
ENTITABLE(invoice, partition_key(tenant), row_key(number), properties(customer, reference, account, day, cents))

struct refund {
    std::string tenant;
    std::int32_t number{};
    std::string day;
    std::int64_t cents{};
};
ENTITABLE(refund, partition_key(tenant), row_key(literal("REFUND:"), number), properties(day, cents))

struct by_customer : invoice {};
ENTITABLE(by_customer, partition_key(tenant), row_key(literal("CUSTOMER:"), escaped(customer), number), properties(cents))

struct by_reference : invoice {};
ENTITABLE(by_reference, partition_key(tenant), row_key(literal("REFERENCE:"), width(cents, 9)), properties(number))

struct by_account : invoice {};
ENTITABLE(by_account, partition_key(account), row_key(escaped(tenant), number), properties(cents))

struct daily_sales {
    std::string tenant;
    std::string day;
    std::int64_t cents{};
    std::int64_t invoices{};
    static daily_sales key(invoice const& of) { return {of.tenant, of.day}; }
    void add(invoice const& one) { cents += one.cents, ++invoices; }
    void subtract(invoice const& one) { cents -= one.cents, --invoices; }
};
ENTITABLE(daily_sales, partition_key(tenant), row_key(literal("SALES:"), day), properties(cents, invoices))

struct balance {
    std::string tenant;
    std::int32_t part{};
    std::int64_t cents{};
    static balance key(invoice const& of) { return {of.tenant}; }
    static balance key(refund const& of) { return {of.tenant}; }
    void add(invoice const& one) { cents += one.cents; }
    void subtract(invoice const& one) { cents -= one.cents; }
    void add(refund const& one) { cents -= one.cents; }
    void subtract(refund const& one) { cents += one.cents; }
    void combine(balance const& other) { cents += other.cents; }
};
ENTITABLE(balance, partition_key(tenant), row_key(literal("BALANCE:"), width(part, 2)), properties(cents))

using i = fields<invoice>;
using of_customer = fields<by_customer>;
using of_account = fields<by_account>;

using all_books = table<counter, invoice, refund, by_customer, unique<by_reference>, elsewhere<by_account>, daily_sales,
    salted_aggregate<balance, &balance::part, 3>>;

inline all_books open_books(any_store const& store, table_options how = {}) {
    return all_books{store, "books", std::move(how), in_table<by_account>{store, "accounts"}};
}

/// What all rows of companions must be, computed from the entities alone.
struct oracle {
    std::map<std::pair<std::string, std::int32_t>, invoice> invoices;
    std::map<std::pair<std::string, std::int32_t>, refund> refunds;
    std::vector<daily_sales> archived_days;
    std::vector<balance> archived_balances;

    /// Reads what was archived.
    void read_archived(any_store const& store) {
        auto const take_archived = [&](entity const& each) {
            if (!each.row_key().starts_with("~!sum!")) { return; }
            std::string const sums = each.row_key().substr(6);
            row const stored = each.to_row();
            std::int64_t const cents = stored.view().find("cents")->as_int64();
            if (sums.starts_with("SALES:")) {
                archived_days.push_back(
                    {each.partition_key(), sums.substr(6), cents, stored.view().find("invoices")->as_int64()});
            } else {
                archived_balances.push_back({each.partition_key(), 0, cents});
            }
        };
        row_table{store, "books"}.for_each({}, {}, take_archived, system_rows::shown).value();
    }

    /// The text of every companion that the entities should have, and those that were archived.
    [[nodiscard]] std::multiset<std::string> companions() const {
        std::multiset<std::string> made;
        std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::int64_t>> days;
        std::map<std::string, std::int64_t> tenants;
        for (auto const& [key, one] : invoices) {
            made.insert("customer " + one.tenant + " " + one.customer + " " + std::to_string(one.number) + " " +
                std::to_string(one.cents));
            made.insert("reference " + one.tenant + " " + std::to_string(one.cents) + " " + std::to_string(one.number));
            made.insert("account " + one.account + " " + one.tenant + " " + std::to_string(one.number) + " " +
                std::to_string(one.cents));
            auto& day = days[{one.tenant, one.day}];
            day.first += one.cents;
            ++day.second;
            tenants[one.tenant] += one.cents;
        }
        for (auto const& [key, one] : refunds) { tenants[one.tenant] -= one.cents; }
        for (daily_sales const& one : archived_days) {
            auto& day = days[{one.tenant, one.day}];
            day.first += one.cents;
            day.second += one.invoices;
        }
        for (balance const& one : archived_balances) { tenants[one.tenant] += one.cents; }
        for (auto const& [key, sums] : days) {
            if (sums.first == 0 && sums.second == 0) { continue; }
            made.insert("day " + key.first + " " + key.second + " " + std::to_string(sums.first) + " " +
                std::to_string(sums.second));
        }
        for (auto const& [tenant, cents] : tenants) {
            if (cents != 0) { made.insert("balance " + tenant + " " + std::to_string(cents)); }
        }
        return made;
    }
};

/// Reads the entities and the companions of a store, past the table that maintains them.
struct found_rows {
    oracle entities;
    std::multiset<std::string> companions;

    explicit found_rows(any_store const& store) {
        table<as_entity<counter>, invoice, refund, as_entity<by_customer>, as_entity<by_reference>,
            as_entity<daily_sales>, as_entity<balance>> const all{store, "books"};
        table<by_account> const accounts{store, "accounts"};
        for (invoice const& one : all.scan_table<invoice>()) { entities.invoices[{one.tenant, one.number}] = one; }
        for (refund const& one : all.scan_table<refund>()) { entities.refunds[{one.tenant, one.number}] = one; }
        for (by_customer const& one : all.scan_table<by_customer>()) {
            companions.insert("customer " + one.tenant + " " + one.customer + " " + std::to_string(one.number) + " " +
                std::to_string(one.cents));
        }
        for (by_reference const& one : all.scan_table<by_reference>()) {
            companions.insert(
                "reference " + one.tenant + " " + std::to_string(one.cents) + " " + std::to_string(one.number));
        }
        for (by_account const& one : accounts.scan_table()) {
            companions.insert("account " + one.account + " " + one.tenant + " " + std::to_string(one.number) + " " +
                std::to_string(one.cents));
        }
        for (daily_sales const& one : all.scan_table<daily_sales>()) {
            if (one.cents == 0 && one.invoices == 0) { continue; } // the row of a day without invoices is not removed
            companions.insert("day " + one.tenant + " " + one.day + " " + std::to_string(one.cents) + " " +
                std::to_string(one.invoices));
        }
        entities.read_archived(store);
        std::map<std::string, std::int64_t> tenants;
        for (balance const& one : all.scan_table<balance>()) { tenants[one.tenant] += one.cents; }
        for (auto const& [tenant, cents] : tenants) {
            if (cents != 0) { companions.insert("balance " + tenant + " " + std::to_string(cents)); }
        }
    }

    [[nodiscard]] bool right() const { return companions == entities.companions(); }
};

} // namespace companion_tests
