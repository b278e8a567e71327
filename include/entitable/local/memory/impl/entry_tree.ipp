// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/local/memory/detail/chunk.hpp>
#include <entitable/local/memory/detail/entry_tree.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// ---- walking ----------------------------------------------------------------------------------------

ENTITABLE_DECL entry* entry_tree::position::get() const noexcept {
    return depth_ == 0 ? only_ : chunks_[depth_ - 1]->entries()[indexes_[depth_ - 1]];
}

ENTITABLE_DECL void entry_tree::position::next() noexcept {
    if (depth_ == 0) { return leave(); }
    std::size_t level = depth_ - 1;
    while (++indexes_[level] >= chunks_[level]->count) {
        if (level == 0) {
            depth_ = 0; // the end
            return;
        }
        --level;
    }
    for (; level + 1 < depth_; ++level) {
        chunks_[level + 1] = chunks_[level]->children()[indexes_[level]];
        indexes_[level + 1] = 0;
    }
}

ENTITABLE_DECL std::span<entry* const> entry_tree::position::rest_of_leaf() const noexcept {
    if (depth_ == 0) { return {&only_, only_ != nullptr ? 1U : 0U}; }
    std::size_t const index = indexes_[depth_ - 1];
    return {chunks_[depth_ - 1]->entries() + index, chunks_[depth_ - 1]->count - index};
}

ENTITABLE_DECL void entry_tree::position::next_leaf() noexcept {
    if (depth_ != 0) { index() = leaf()->count - 1U; }
    next();
}

ENTITABLE_DECL std::size_t entry_tree::position::entries_ahead(std::optional<std::string_view> last) const noexcept {
    if (depth_ == 0) { return only_ != nullptr && (!last || only_->key() <= *last) ? 1 : 0; }
    constexpr int most_leaves = 64;
    std::size_t entries = 0;
    position at = *this;
    for (int leaves = 0; at.depth_ > 0 && leaves < most_leaves; ++leaves, at.next_leaf()) {
        std::span<entry* const> const leaf = at.rest_of_leaf();
        if (last && leaf.back()->key() > *last) {
            auto const [index, equal] = at.leaf()->search(*last);
            std::size_t const end = index + (equal ? 1U : 0U);
            return entries + (end > at.index() ? end - at.index() : 0U);
        }
        entries += leaf.size();
    }
    return entries;
}

ENTITABLE_DECL entry_tree::~entry_tree() {
    if (chunk* const root = top()) { chunk::destroy_all(root); }
}

ENTITABLE_DECL entry* entry_tree::find(std::string_view key) const noexcept {
    chunk* at = top();
    if (at == nullptr) {
        entry* const single = only();
        return single != nullptr && single->key() == key ? single : nullptr;
    }
    while (at->level > 0) { at = at->children()[at->child_for(key)]; }
    return at->find(key);
}

/// Finds the position of `key`, or the position where it would be inserted, which may be after the last entry of a leaf. Returns whether it
/// is there.
ENTITABLE_DECL bool entry_tree::locate(std::string_view key, position& path) const noexcept {
    path.leave();
    chunk* at = top();
    if (at == nullptr) {
        entry* const single = only();
        path.only_ = single != nullptr && single->key() == key ? single : nullptr;
        return path.only_ != nullptr;
    }
    for (; at->level > 0; ++path.depth_) {
        std::size_t const index = at->child_for(key);
        path.chunks_[path.depth_] = at;
        path.indexes_[path.depth_] = index;
        at = at->children()[index];
    }
    auto const [index, equal] = at->search(key);
    path.chunks_[path.depth_] = at;
    path.indexes_[path.depth_] = index;
    ++path.depth_;
    return equal;
}

ENTITABLE_DECL entry_tree::position entry_tree::lower_bound(std::string_view key) const noexcept {
    position found;
    chunk* at = top();
    if (at == nullptr) {
        entry* const single = only();
        found.only_ = single != nullptr && single->key() >= key ? single : nullptr;
        return found;
    }
    if (key.empty()) { // the first entry, which needs no comparison
        for (; at->level > 0; ++found.depth_) {
            found.chunks_[found.depth_] = at;
            found.indexes_[found.depth_] = 0;
            at = at->children()[0];
        }
        found.chunks_[found.depth_] = at;
        found.indexes_[found.depth_++] = 0;
        return found;
    }
    if (!locate(key, found) && found.index() == found.leaf()->count) {
        --found.index();
        found.next();
    }
    return found;
}

// ---- changing ---------------------------------------------------------------------------------------

ENTITABLE_DECL entry* entry_tree::find(std::string_view key, position& path) const noexcept {
    return locate(key, path) ? path.get() : nullptr;
}

ENTITABLE_DECL bool entry_tree::step_to(std::string_view key, position& path, bool& equal) const noexcept {
    chunk* const leaf = path.leaf();
    std::size_t& index = path.index();
    int const order = key.compare(leaf->entries()[index]->key());
    equal = order == 0;
    if (equal) { return true; }
    if (order < 0) {
        if (index == 0) { return false; } // perhaps in an earlier leaf
        int const before = key.compare(leaf->entries()[index - 1]->key());
        equal = before == 0;
        index -= equal ? 1U : 0U;
        return before >= 0;
    }
    if (index + 1U < leaf->count) {
        int const behind = key.compare(leaf->entries()[index + 1]->key());
        equal = behind == 0;
        ++index;
        return behind <= 0;
    }
    for (std::size_t depth = 0; depth + 1 < path.depth_; ++depth) {
        if (path.indexes_[depth] + 1U < path.chunks_[depth]->count) { return false; } // perhaps in a later leaf
    }
    ++index;
    return true;
}

ENTITABLE_DECL entry* entry_tree::find_near(std::string_view key, position& path) const noexcept {
    bool equal = false;
    if (path.depth_ == 0 || !step_to(key, path, equal)) { equal = locate(key, path); }
    return equal ? path.get() : nullptr;
}

ENTITABLE_DECL entry* entry_tree::put(entry* fresh) {
    position path;
    if (locate(fresh->key(), path)) { return replace(path, fresh); }
    insert(path, fresh);
    return nullptr;
}

/// Inserts the first entry, or the second, which makes the first chunk.
ENTITABLE_DECL void entry_tree::insert_without_chunks(position& path, entry* fresh) {
    entry* const single = only();
    if (single == nullptr) {
        set_only(fresh);
        path.only_ = fresh;
        return;
    }
    chunk* const leaf = chunk::make(2, 0);
    leaf->insert(0, single, nullptr);
    path.depth_ = 1;
    path.chunks_[0] = leaf;
    path.indexes_[0] = single->key() < fresh->key() ? 1 : 0;
    leaf->insert(path.indexes_[0], fresh, nullptr);
    set_top(leaf);
}

ENTITABLE_DECL void entry_tree::insert(position& path, entry* fresh) {
    if (top() == nullptr) { return insert_without_chunks(path, fresh); }
    chunk* leaf = path.leaf();
    if (leaf->count == chunk::full) {
        insert_into_full(path, fresh);
        path.depth_ = 0;
        return;
    }
    if (leaf->count == leaf->capacity) { // the root is still growing, so that partitions of few rows stay small
        chunk* const larger = chunk::make(leaf->capacity * 2U, 0);
        larger->skip = leaf->skip;
        larger->append(*leaf, 0);
        chunk::destroy(leaf);
        path.leaf() = leaf = larger;
        set_top(larger);
    }
    leaf->insert(path.index(), fresh, nullptr);
}

/// Splits the leaf and all full chunks above it. Allocates all memory before the first change.
ENTITABLE_DECL void entry_tree::insert_into_full(position& path, entry* fresh) {
    struct reserve {
        entry* separator{};
        chunk* chunks[position::max_depth + 1];
        std::size_t count{0};
        ~reserve() {
            entry::destroy(separator);
            while (count > 0) { chunk::destroy(chunks[--count]); }
        }
    } spare;

    // If keys are inserted only at one end, chunks stay full instead of half full.
    bool at_end = true;
    bool at_begin = true;
    for (std::size_t depth = 0; depth < path.depth_; ++depth) {
        std::size_t const past = depth + 1 == path.depth_ ? 0 : 1;
        at_end = at_end && path.indexes_[depth] + past == path.chunks_[depth]->count;
        at_begin = at_begin && path.indexes_[depth] == 0;
    }
    auto const split_of = [&](chunk* each) {
        return at_end ? std::size_t{each->count} : at_begin ? each->first() : each->count / 2U;
    };

    chunk* const leaf = path.leaf();
    std::size_t const split = split_of(leaf);
    std::string_view const left_last =
        split == path.index() && !at_end ? fresh->key() : leaf->entries()[split - 1]->key();
    std::string_view const right_first = at_end ? fresh->key() : leaf->entries()[split]->key();
    spare.separator =
        entry::make(right_first.substr(0, chunk::common_prefix(left_last, right_first) + 1), std::string_view{});
    std::size_t depth = path.depth_;
    for (; depth > 0 && path.chunks_[depth - 1]->count == chunk::full; --depth) {
        spare.chunks[spare.count] = chunk::make(chunk::full, spare.count);
        ++spare.count;
    }
    if (depth == 0) {
        spare.chunks[spare.count] = chunk::make(chunk::full, spare.count);
        ++spare.count;
    }

    // From here on nothing fails. `added` and `child` go into the current chunk, `separator` and `right` into the chunk above.
    entry* separator = std::exchange(spare.separator, nullptr);
    entry* added = fresh;
    chunk* child = nullptr;
    std::size_t const taken = std::exchange(spare.count, 0);
    for (std::size_t level = 0; level < path.depth_; ++level) {
        chunk* const left = path.chunks_[path.depth_ - 1 - level];
        std::size_t const index = path.indexes_[path.depth_ - 1 - level] + (level > 0 ? 1 : 0);
        if (level == taken) {
            left->insert(index, added, child);
            return;
        }
        chunk* const right = spare.chunks[level];
        std::size_t const middle = split_of(left);
        right->skip = left->skip;
        right->append(*left, middle);
        left->count = static_cast<std::uint16_t>(middle);
        if (level > 0) { // the first child of the right chunk gives up its separator, which moves up
            separator = at_end ? std::exchange(added, nullptr) : std::exchange(right->entries()[0], nullptr);
        }
        if (index <= middle && !at_end) {
            left->insert(index, added, child);
        } else {
            right->insert(index - middle, added, child);
        }
        left->refresh_skip();
        right->refresh_skip();
        added = separator;
        child = right;
    }
    chunk* const root = spare.chunks[taken - 1];
    root->insert(0, nullptr, top());
    root->insert(1, added, child);
    set_top(root);
}

ENTITABLE_DECL entry* entry_tree::replace(position& path, entry* fresh) noexcept {
    if (path.depth_ != 0) { return std::exchange(path.leaf()->entries()[path.index()], fresh); }
    set_only(fresh);
    return std::exchange(path.only_, fresh);
}

ENTITABLE_DECL entry* entry_tree::replace(entry* fresh) noexcept {
    position path;
    return locate(fresh->key(), path) ? replace(path, fresh) : nullptr;
}

ENTITABLE_DECL entry* entry_tree::remove(std::string_view key) noexcept {
    position path;
    return locate(key, path) ? remove(path) : nullptr;
}

ENTITABLE_DECL entry* entry_tree::remove(position& path) noexcept {
    if (path.depth_ == 0) {
        root_ = 0;
        return std::exchange(path.only_, nullptr);
    }
    entry* const taken = path.leaf()->entries()[path.index()];
    path.leaf()->remove(path.index());
    shrink(path);
    path.leave();
    return taken;
}

/// Removes chunks that became empty and joins small neighbours, from the leaf upwards.
ENTITABLE_DECL void entry_tree::shrink(position& path) noexcept {
    for (std::size_t depth = path.depth_ - 1; depth > 0; --depth) {
        chunk* const parent = path.chunks_[depth - 1];
        std::size_t const index = path.indexes_[depth - 1];
        if (path.chunks_[depth]->count == 0) {
            parent->remove_child(index);
        } else if (!parent->join_children(index) && (index == 0 || !parent->join_children(index - 1))) {
            return;
        }
    }
    for (chunk* root = top(); root != nullptr && root->count <= root->first(); root = top()) {
        set_top(root->count > 0 ? root->children()[0] : nullptr);
        chunk::destroy(root);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
