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
    for (auto at = orphans->lower_bound({}); detail::entry* const name = at.get(); at.next()) {
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
    // Partitions are looked up in groups, because a lookup in the directory costs more than a partition of few rows. A partition that is
    // emptied and made again after its group was looked up is visited empty, as it once was during the scan.
    constexpr std::size_t most = 16;
    detail::partition::owner group[most];
    std::size_t size = 0;
    for (bool more = true; more;) {
        std::size_t const wanted = size == 0 ? 2 : most;
        {
            detail::shared_guard const guard{table->directory_lock};
            auto at = table->directory.lower_bound(size == 0 ? range.from_partition : group[size - 1]->key());
            if (size != 0 && at.get() != nullptr && at.get()->key() == group[size - 1]->key()) { at.next(); }
            for (size = 0; more && size < wanted;) {
                detail::entry* const name = at.get();
                more = name != nullptr && (!range.last_partition || name->key() <= *range.last_partition);
                if (more) {
                    group[size++] = detail::partition::owner{detail::partition::in(*name)};
                    at.next();
                }
            }
        }
        for (std::size_t index = 0; index < size; ++index) {
            detail::partition& partition = *group[index];
            std::string_view const key = partition.key();
            std::string_view const from_row =
                !visited && key == range.from_partition ? range.from_row : std::string_view{};
            detail::shared_guard const guard{partition.lock};
            auto const at = partition.rows.lower_bound(from_row);
            visited = visited || at.get() != nullptr;
            if (!visit(key, at)) { return lookup::found; }
        }
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
        if (range.rows_to_come != nullptr) { *range.rows_to_come = at.entries_ahead(range.last_row); }
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

ENTITABLE_LAZY_BODY detail::partition::writing memory_store::place_of(
    std::string_view table, std::string_view partition) {
    std::uint64_t const hash = detail::partition_map::hash_of(table, partition);
    auto place = partitions_.write(hash, table, partition);
    if (!place) {
        auto owner = find_table(table);
        if (!owner) { return place; }
        auto const fresh = detail::partition::make(std::move(owner), partition);
        place = partitions_.add(hash, *fresh);
    }
    place.wait();
    return place;
}

ENTITABLE_LAZY_BODY bool memory_store::list(detail::partition& filled) {
    detail::exclusive_guard const guard{filled.table->directory_lock};
    if (filled.table->dropped.load(memory_order::relaxed)) { return false; }
    filled.table->directory.put(filled.name());
    filled.listed = true;
    return true;
}

ENTITABLE_LAZY_BODY result<lookup> memory_store::update(
    std::string_view table, std::string_view partition, function_ref<bool(transaction&)> body, call const&) {
    for (;;) {
        auto place = place_of(table, partition);
        if (!place) { return lookup::no_table; }
        transaction changes{place}; // frees the old rows after the lock is released
        leaving const left{*this, place};
        struct undo_unless_done {
            transaction& changes;
            bool done{false};
            ~undo_unless_done() {
                if (!done) { changes.undo(); }
            }
        } attempt{changes};
        atomic<bool> const& dropped = place->table->dropped;
        if (place->dead || dropped.load(memory_order::acquire)) { continue; }
        bool const wanted = body(changes);
        if (dropped.load(memory_order::acquire)) { return lookup::no_table; }
        if (!wanted) { return lookup::absent; }
        attempt.done = commit(changes);
        return attempt.done ? lookup::found : lookup::no_table;
    }
}

/// Searches for the row once, and copies its new bytes once.
ENTITABLE_LAZY_BODY result<lookup> memory_store::update_row(
    std::string_view table, std::string_view partition, std::string_view row, row_decision decide, call const&) {
    struct row_to_free {
        detail::entry* unused{};
        row_to_free() = default;
        row_to_free(row_to_free const&) = delete;
        row_to_free& operator=(row_to_free const&) = delete;
        ~row_to_free() { detail::entry::destroy(unused); }
    };
    for (;;) {
        auto place = place_of(table, partition);
        if (!place) { return lookup::no_table; }
        row_to_free freed; // after the lock is released
        leaving const left{*this, place};
        atomic<bool> const& dropped = place->table->dropped;
        if (place->dead || dropped.load(memory_order::acquire)) { continue; }
        detail::entry_tree& rows = place->rows;
        detail::entry_tree::position path;
        detail::entry* const old = rows.find(row, path);
        std::string_view const stored = old != nullptr ? old->value() : std::string_view{};
        row_update const made = decide(old != nullptr ? &stored : nullptr);
        if (dropped.load(memory_order::acquire)) { return lookup::no_table; }
        if (made.kind == row_update::change::none) { return lookup::absent; }
        if (made.kind == row_update::change::erase) {
            if (old != nullptr) {
                place.shut_out_readers();
                freed.unused = rows.remove(path);
            }
            return lookup::found;
        }
        freed.unused = detail::entry::make(row, made.bytes);
        if (made.bytes.size() >= row_format::header_size) {
            row_format::store(freed.unused->value_bytes() + row_format::timestamp_offset, made.version);
        }
        place.shut_out_readers();
        if (old != nullptr) {
            freed.unused = rows.replace(path, freed.unused);
            return lookup::found;
        }
        rows.insert(path, freed.unused);
        detail::entry* const fresh = std::exchange(freed.unused, nullptr);
        struct undo_unless_done {
            detail::entry_tree& rows;
            row_to_free& freed;
            detail::entry* fresh;
            ~undo_unless_done() {
                if (fresh != nullptr) { freed.unused = rows.remove(fresh->key()); }
            }
        } attempt{rows, freed, fresh};
        if (!place->listed && !list(*place)) { return lookup::no_table; }
        attempt.fresh = nullptr;
        return lookup::found;
    }
}

/// Makes all changes visible; false if the table was dropped: then the caller undoes them.
ENTITABLE_LAZY_BODY bool memory_store::commit(transaction& changes) {
    changes.apply();
    auto& place = *changes.place_;
    if (!place.listed && !place.rows.empty() && !list(place)) { return false; }
    changes.finish();
    return true;
}

// ---- transaction ------------------------------------------------------------------------------------

ENTITABLE_LAZY_BODY bool memory_store::transaction::is_removed(detail::entry const& stored) const noexcept {
    if (stored.value_size != 0) { return false; }
    for (change const& each : changes_) {
        if (each.removal && each.fresh == &stored) { return true; }
    }
    return false;
}

ENTITABLE_LAZY_BODY bool memory_store::transaction::get(std::string_view row, row_visitor visit) const {
    detail::entry* const entry = rows().find(row);
    if (entry == nullptr || is_removed(*entry)) { return false; }
    visit(entry->value());
    return true;
}

ENTITABLE_LAZY_BODY memory_store::transaction::change& memory_store::transaction::add(bool removal) {
    if (changes_.empty()) { changes_.reserve(8); }
    return changes_.emplace_back(removal);
}

ENTITABLE_LAZY_BODY void memory_store::transaction::put(std::string_view row, std::string_view bytes) {
    change& own = add(false); // first: if it fails, nothing is to be freed
    own.fresh = detail::entry::make(row, bytes);
}

ENTITABLE_LAZY_BODY void memory_store::transaction::erase(std::string_view row) {
    change& own = add(true);
    own.fresh = detail::entry::make(row, std::string_view{});
}

/// Applies the staged changes, then this one: searches for the row once, and copies its new bytes once.
ENTITABLE_LAZY_BODY void memory_store::transaction::update_row(std::string_view row, row_decision decide) {
    apply();
    detail::entry* const old = rows().find_near(row, path_);
    bool const exists = old != nullptr && !is_removed(*old);
    std::string_view const stored = exists ? old->value() : std::string_view{};
    row_update const made = decide(exists ? &stored : nullptr);
    bool const removal = made.kind == row_update::change::erase;
    if (made.kind == row_update::change::none || (removal && !exists)) {
        return path_.leave(); // it may be at no entry
    }
    place_.shut_out_readers();
    change& own = add(removal);
    own.fresh = detail::entry::make(row, removal ? std::string_view{} : made.bytes);
    if (own.fresh->value_size >= row_format::header_size) {
        row_format::store(own.fresh->value_bytes() + row_format::timestamp_offset, made.version);
    }
    if (old != nullptr) {
        own.old = rows().replace(path_, own.fresh);
    } else {
        rows().insert(path_, own.fresh);
    }
    ++applied_;
}

/// Puts the staged changes in place: only this step can fail, and it can be undone. A removal puts its own entry in place of the row, so that
/// the order of changes to one row does not matter here.
ENTITABLE_LAZY_BODY void memory_store::transaction::apply() {
    if (applied_ == changes_.size()) { return; }
    place_.shut_out_readers();
    path_.leave();
    for (; applied_ < changes_.size(); ++applied_) {
        change& each = changes_[applied_];
        each.old = each.removal ? rows().replace(each.fresh) : rows().put(each.fresh);
    }
}

ENTITABLE_LAZY_BODY void memory_store::transaction::undo() noexcept {
    while (applied_ > 0) {
        change& each = changes_[--applied_];
        if (each.old != nullptr) {
            rows().replace(std::exchange(each.old, nullptr));
        } else if (!each.removal) {
            rows().remove(each.fresh->key());
        }
    }
}

/// Removes the deleted rows. Among the entries to free, retains only those that are not used elsewhere: neither in the rows nor as the old
/// entry of a later change.
ENTITABLE_LAZY_BODY void memory_store::transaction::finish() noexcept {
    for (change& each : changes_) {
        bool const in_place = each.removal && each.old != nullptr && rows().find(each.fresh->key()) == each.fresh;
        if (in_place) {
            rows().remove(each.fresh->key());
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
