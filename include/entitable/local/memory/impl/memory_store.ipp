// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/local/memory/impl/entry_tree.ipp>
#include <entitable/local/memory/impl/partition.ipp>
#include <entitable/local/memory/memory_store.hpp>

// Lock order: partition, list of tables, directory of a table, shard. The last three are held only for a few steps, never while a visitor
// or a body runs.

ENTITABLE_BEGIN_NAMESPACE

// ---- tables -----------------------------------------------------------------------------------------

/// Returns the first table whose key is not less than `key`.
ENTITABLE_LAZY_BODY memory_store::table_list::iterator memory_store::table_position(std::string_view key) {
    auto low = tables_.begin();
    auto high = tables_.end();
    while (low != high) {
        auto const middle = low + (high - low) / 2;
        if ((*middle)->key.compare(key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

ENTITABLE_LAZY_BODY shared<detail::memory_table> memory_store::find_table(std::string_view key) {
    detail::shared_guard const guard{tables_lock_};
    auto const at = table_position(key);
    return at != tables_.end() && (*at)->key == key ? *at : shared<detail::memory_table>{};
}

ENTITABLE_LAZY_BODY result<bool> memory_store::create_table(
    std::string_view key, std::string_view shown_name, call const&) {
    auto fresh = shared<detail::memory_table>::make(key, shown_name);
    detail::exclusive_guard const guard{tables_lock_};
    auto const at = table_position(key);
    if (at != tables_.end() && (*at)->key == key) { return false; }
    tables_.insert(at, std::move(fresh));
    return true;
}

ENTITABLE_LAZY_BODY result<bool> memory_store::drop_table(std::string_view key, call const&) {
    shared<detail::memory_table> gone;
    std::optional<detail::entry_tree> orphans;
    {
        detail::exclusive_guard const guard{tables_lock_};
        auto const at = table_position(key);
        if (at == tables_.end() || (*at)->key != key) { return false; }
        gone = std::move(*at);
        tables_.erase(at);
        detail::exclusive_guard const directory{gone->directory_lock};
        gone->dropped.store(true, memory_order::release);
        orphans.emplace(std::move(gone->directory));
    }
    // These partitions can no longer be found; their current users keep them alive.
    for (auto at = orphans->lower_bound({}); detail::entry* const name = at.get();) {
        at.next();
        partitions_.remove(detail::partition::in(*name));
    }
    return true;
}

ENTITABLE_LAZY_BODY result<void> memory_store::tables(std::string_view from_key, table_visitor visit, call const&) {
    shared<detail::memory_table> table;
    for (;;) {
        {
            detail::shared_guard const guard{tables_lock_};
            auto at = table_position(table ? std::string_view{table->key} : from_key);
            if (table && at != tables_.end() && (*at)->key == table->key) { ++at; }
            if (at == tables_.end()) { return {}; }
            table = *at;
        }
        if (!visit(table->key, table->shown_name)) { return {}; }
    }
}

// ---- reading ----------------------------------------------------------------------------------------

ENTITABLE_LAZY_BODY result<lookup> memory_store::get(
    std::string_view table, std::string_view partition, std::string_view row, row_visitor visit, call const&) {
    auto const found = partitions_.read(detail::partition_map::hash_of(table, partition), table, partition);
    if (!found) { return find_table(table) ? lookup::absent : lookup::no_table; }
    found.wait();
    detail::entry* const entry = found->rows.find(row);
    if (entry == nullptr) { return lookup::absent; }
    visit(entry->value());
    return lookup::found;
}

template <class Visit>
lookup memory_store::scan_partitions(std::string_view table_key, scan_range const& range, Visit const& visit) {
    auto const table = find_table(table_key);
    if (!table) { return lookup::no_table; }
    bool visited = false;
    detail::partition::owner partition;
    for (;;) {
        {
            detail::shared_guard const guard{table->directory_lock};
            auto at = table->directory.lower_bound(partition ? partition->key() : range.from_partition);
            if (partition && at.get() != nullptr && at.get()->key() == partition->key()) { at.next(); }
            detail::entry* const name = at.get();
            if (name == nullptr || (range.last_partition && name->key() > *range.last_partition)) { break; }
            partition = detail::partition::owner{detail::partition::in(*name)};
        }
        std::string_view const from_row =
            partition->key() == range.from_partition ? range.from_row : std::string_view{};
        detail::shared_guard const guard{partition->lock};
        auto const at = partition->rows.lower_bound(from_row);
        visited = visited || at.get() != nullptr;
        if (!visit(partition->key(), at)) { return lookup::found; }
    }
    if (visited) { return lookup::found; }
    return table->dropped.load(memory_order::acquire) ? lookup::no_table : lookup::absent;
}

ENTITABLE_LAZY_BODY result<lookup> memory_store::scan(
    std::string_view table, scan_range const& range, scan_visitor visit, call const&) {
    return scan_partitions(table, range, [&](std::string_view partition, detail::entry_tree::position at) {
        for (; detail::entry* const row = at.get(); at.next()) {
            if (!visit(partition, row->key(), row->value())) { return false; }
        }
        return true;
    });
}

ENTITABLE_LAZY_BODY result<lookup> memory_store::scan_runs(
    std::string_view table, scan_range const& range, run_visitor visit, call const&) {
    row_view run[detail::entry_tree::most_in_leaf];
    return scan_partitions(table, range, [&](std::string_view partition, detail::entry_tree::position at) {
        for (auto leaf = at.rest_of_leaf(); !leaf.empty(); at.next_leaf(), leaf = at.rest_of_leaf()) {
            row_view* end = run;
            for (detail::entry* const row : leaf) { // independent loads, which the processor overlaps
                *end++ = {partition, row->key(), row->value()};
            }
            if (!visit({run, leaf.size()})) { return false; }
        }
        return true;
    });
}

// ---- writing ----------------------------------------------------------------------------------------

/// Ends an update: removes the partition if no row is left, and unlocks it.
class memory_store::leaving {
public:
    leaving(memory_store& store, detail::partition::writing& place) noexcept : store_(store), place_(place) {}
    ~leaving() {
        if (place_->rows.empty() && !place_->dead) { store_.bury(*place_); }
        place_.leave();
    }
    leaving(leaving const&) = delete;
    leaving& operator=(leaving const&) = delete;

private:
    memory_store& store_;
    detail::partition::writing& place_;
};

ENTITABLE_LAZY_BODY void memory_store::bury(detail::partition& empty) noexcept {
    empty.dead = true;
    if (empty.listed) {
        detail::exclusive_guard const guard{empty.table->directory_lock};
        if (empty.table->directory.remove(empty.key()) == nullptr) {
            return; // the table was dropped: drop_table owns it and finishes the removal
        }
    }
    partitions_.remove(empty);
}

ENTITABLE_LAZY_BODY result<lookup> memory_store::update(
    std::string_view table, std::string_view partition, function_ref<bool(transaction&)> body, call const&) {
    std::uint64_t const hash = detail::partition_map::hash_of(table, partition);
    for (;;) {
        auto place = partitions_.write(hash, table, partition);
        if (!place) {
            auto owner = find_table(table);
            if (!owner) { return lookup::no_table; }
            auto const fresh = detail::partition::make(std::move(owner), partition);
            place = partitions_.add(hash, *fresh);
        }
        place.wait();
        transaction changes{place->rows}; // frees the old rows after the lock is released
        leaving const left{*this, place};
        atomic<bool> const& dropped = place->table->dropped;
        if (place->dead || dropped.load(memory_order::acquire)) { continue; }
        bool const wanted = body(changes);
        if (dropped.load(memory_order::acquire)) { return lookup::no_table; }
        return wanted ? commit(place, changes) : lookup::absent;
    }
}

/// Makes either all staged changes visible, or none.
ENTITABLE_LAZY_BODY lookup memory_store::commit(detail::partition::writing& place, transaction& changes) {
    if (changes.changes_.empty()) { return lookup::found; }
    detail::partition& partition = *place;
    struct undo_unless_done {
        transaction& changes;
        bool done{false};
        ~undo_unless_done() {
            if (!done) { changes.undo(); }
        }
    } attempt{changes};
    place.shut_out_readers();
    changes.apply();
    if (!partition.listed && !partition.rows.empty()) {
        detail::exclusive_guard const guard{partition.table->directory_lock};
        if (partition.table->dropped.load(memory_order::relaxed)) { return lookup::no_table; }
        partition.table->directory.put(partition.name());
        partition.listed = true;
    }
    attempt.done = true;
    changes.finish();
    return lookup::found;
}

// ---- transaction ------------------------------------------------------------------------------------

ENTITABLE_LAZY_BODY bool memory_store::transaction::get(std::string_view row, row_visitor visit) const {
    detail::entry* const entry = rows_.find(row);
    if (entry == nullptr) { return false; }
    visit(entry->value());
    return true;
}

ENTITABLE_LAZY_BODY void memory_store::transaction::put(std::string_view row, std::string_view bytes) {
    changes_.push_back({nullptr, false, nullptr});
    changes_.back().fresh = detail::entry::make(row, bytes);
}

ENTITABLE_LAZY_BODY void memory_store::transaction::erase(std::string_view row) {
    changes_.push_back({nullptr, true, nullptr});
    changes_.back().fresh = detail::entry::make(row, std::string_view{});
}

/// Puts all changes in place: only this step can fail, and it can be undone. A removal puts its own entry in place of the row, so that the
/// order of changes to one row does not matter here.
ENTITABLE_LAZY_BODY void memory_store::transaction::apply() {
    for (change& each : changes_) {
        each.old = each.removal ? rows_.replace(each.fresh) : rows_.put(each.fresh);
        ++applied_;
    }
}

ENTITABLE_LAZY_BODY void memory_store::transaction::undo() noexcept {
    while (applied_ > 0) {
        change& each = changes_[--applied_];
        if (each.old != nullptr) {
            rows_.replace(std::exchange(each.old, nullptr));
        } else if (!each.removal) {
            rows_.remove(each.fresh->key());
        }
    }
}

/// Removes the deleted rows. Among the entries to free, retains only those that are not used elsewhere: neither in the rows nor as the old
/// entry of a later change.
ENTITABLE_LAZY_BODY void memory_store::transaction::finish() noexcept {
    for (change& each : changes_) {
        bool const in_place = each.removal && each.old != nullptr && rows_.find(each.fresh->key()) == each.fresh;
        if (in_place) {
            rows_.remove(each.fresh->key());
        } else if (!each.removal || each.old != nullptr) {
            each.fresh = nullptr;
        }
    }
}

ENTITABLE_DECL memory_store::transaction::~transaction() {
    for (change& each : changes_) {
        detail::entry::destroy(each.fresh);
        detail::entry::destroy(each.old);
    }
}

ENTITABLE_END_NAMESPACE
