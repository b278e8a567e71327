// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/doctor/doctor.hpp>
#include <entitable/client/wide/detail/wide_rows.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>

#include <map>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::string_view to_string(store_fault kind) noexcept {
    switch (kind) {
        case store_fault::wide_part_without_entity: return "parts whose wide entity does not exist";
        case store_fault::wide_entity_without_part: return "wide entities with missing parts";
        case store_fault::index_intent: return "unfinished index writes: call apply_pending()";
        case store_fault::index_not_built:
            return "indexes with an unfinished build or retirement: call build or retire again";
        case store_fault::index_without_entities:
            return "index states that do not name their entity type: call create_if_absent()";
        case store_fault::index_row_missing: return "entities without their index row: call repair()";
        case store_fault::index_row_dangling: return "index rows without their entity: call repair()";
        case store_fault::index_row_different: return "index rows that differ from their entity: call repair()";
        case store_fault::unique_violation: return "entities that share a key of a unique index: see violations()";
        case store_fault::sum_wrong: return "missing or wrong rows of sums: call build() for these sums";
    }
    return "unknown";
}

ENTITABLE_DECL std::string diagnosis::to_string() const {
    if (findings.empty()) { return "no problems found"; }
    std::string lines;
    for (store_finding const& each : findings) {
        lines += lines.empty() ? "" : "\n";
        lines += text::joined({each.table, ": ", std::to_string(each.count), " ", entitable::to_string(each.kind),
            ", for example ", each.example});
    }
    return lines;
}

namespace detail {

ENTITABLE_DECL void add_finding(
    diagnosis& to, store_fault kind, std::string const& table, std::uint64_t count, std::string example) {
    if (count == 0) { return; }
    for (store_finding& each : to.findings) {
        if (each.kind == kind && each.table == table) {
            each.count += count;
            return;
        }
    }
    to.findings.push_back({kind, table, count, std::move(example)});
}

/// Collects the state to be checked after all rows of a table were read.
class table_examination {
public:
    table_examination(diagnosis& to, std::string const& table) : to_(to), table_(table) {}

    void take(row_view each) {
        ++to_.rows;
        if (each.row_key.starts_with(system_row::wide)) {
            take_part(each);
        } else if (each.row_key.starts_with(system_row::intent)) {
            add(store_fault::index_intent, keys_text(each.partition_key, each.row_key));
        } else if (each.partition_key == system_row::index && each.row_key.starts_with(system_row::index)) {
            take_state(each);
        } else if (!system_row::is_one(each.row_key)) {
            auto const parts = each.find(wide_parts);
            auto const generation = each.find(wide_generation);
            if (parts && parts->type() == edm_type::int32 && generation && generation->type() == edm_type::int64) {
                heads_[{std::string{each.partition_key}, std::string{each.row_key}}] = {
                    static_cast<std::size_t>(parts->as_int32()), generation->as_int64()};
            }
        }
    }

    void conclude() {
        std::map<keys, std::size_t> found;
        for (auto const& [part, generation] : parts_) {
            auto const head = heads_.find(part.first);
            if (head == heads_.end() || head->second.generation != generation || part.second >= head->second.parts) {
                add(store_fault::wide_part_without_entity, keys_text(part.first.first, part.first.second));
            } else {
                ++found[part.first];
            }
        }
        for (auto const& [entity, head] : heads_) {
            auto const there = found.find(entity);
            if ((there == found.end() ? std::size_t{0} : there->second) != head.parts) {
                add(store_fault::wide_entity_without_part, keys_text(entity.first, entity.second));
            }
        }
    }

private:
    using keys = std::pair<std::string, std::string>;

    void add(store_fault kind, std::string example) { add_finding(to_, kind, table_, 1, std::move(example)); }
    void take_part(row_view each) {
        std::string_view rest = each.row_key.substr(system_row::wide.size());
        auto const digit = [](char c) { return c >= '0' && c <= '9'; };
        auto const generation = each.find(wide_generation);
        bool const good = rest.size() >= 3 && rest[rest.size() - 3] == '!' && digit(rest[rest.size() - 2]) &&
            digit(rest[rest.size() - 1]) && generation && generation->type() == edm_type::int64;
        if (!good) {
            add(store_fault::wide_part_without_entity, keys_text(each.partition_key, each.row_key));
            return;
        }
        auto const value_of = [](char c) { return static_cast<std::size_t>(c - '0'); };
        std::size_t const number = value_of(rest[rest.size() - 2]) * 10 + value_of(rest[rest.size() - 1]);
        rest.remove_suffix(3);
        parts_[{{std::string{each.partition_key}, std::string{rest}}, number}] = generation->as_int64();
    }
    void take_state(row_view each) {
        auto const state = each.find("State");
        std::string const name{each.row_key.substr(system_row::index.size())};
        std::string_view const word = state && state->type() == edm_type::string ? state->bytes() : std::string_view{};
        if (word != "ready" && word != "retired") { add(store_fault::index_not_built, name); }
        if (!each.find("Entities")) { add(store_fault::index_without_entities, name); }
    }

    diagnosis& to_;
    std::string const& table_;
    std::map<keys, wide_head> heads_;
    std::map<std::pair<keys, std::size_t>, std::int64_t> parts_;
};

ENTITABLE_DECL result<diagnosis> examine_tables(any_store const& store, call_options const& options) {
    result<diagnosis> made{std::in_place};
    std::vector<std::string> tables;
    page_cursor pages{list_tables{}};
    while (pages.more()) {
        call context{options, system_clock()};
        ENTITABLE_TRY(auto const found, pages.take(store.execute(pages.request(), context)));
        tables.insert(tables.end(), found.tables.begin(), found.tables.end());
    }
    for (std::string const& each : tables) {
        ++made->tables;
        table_examination one{*made, each};
        ENTITABLE_CHECK(
            table_core(store, each, options).for_each_row({}, {}, true, [&](row_view row) { one.take(row); }));
        one.conclude();
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
