// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/local/memory/detail/chunk.hpp>
#include <entitable/local/memory/detail/entry_tree.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// ---- walking ----------------------------------------------------------------------------------------

ENTITABLE_DECL entry* entry_tree::position::get() const noexcept {
    return depth_ == 0 ? nullptr : chunks_[depth_ - 1]->entries()[indexes_[depth_ - 1]];
}

ENTITABLE_DECL void entry_tree::position::next() noexcept {
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
    if (depth_ == 0) { return {}; }
    std::size_t const index = indexes_[depth_ - 1];
    return {chunks_[depth_ - 1]->entries() + index, chunks_[depth_ - 1]->count - index};
}

ENTITABLE_DECL void entry_tree::position::next_leaf() noexcept {
    index() = leaf()->count - 1U;
    next();
}

ENTITABLE_DECL std::size_t entry_tree::position::entries_ahead(std::optional<std::string_view> last) const noexcept {
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
    if (root_ != nullptr) { chunk::destroy_all(root_); }
}

ENTITABLE_DECL entry* entry_tree::find(std::string_view key) const noexcept {
    chunk* at = root_;
    if (at == nullptr) { return nullptr; }
    while (at->level > 0) { at = at->children()[at->child_for(key)]; }
    return at->find(key);
}

/// Finds the position of `key`, or the position where it would be inserted, which may be after the last entry of a leaf. Returns whether it
/// is there.
ENTITABLE_DECL bool entry_tree::locate(std::string_view key, position& path) const noexcept {
    chunk* at = root_;
    path.depth_ = 0;
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
    if (root_ != nullptr && key.empty()) { // the first entry, which needs no comparison
        chunk* at = root_;
        for (; at->level > 0; ++found.depth_) {
            found.chunks_[found.depth_] = at;
            found.indexes_[found.depth_] = 0;
            at = at->children()[0];
        }
        found.chunks_[found.depth_] = at;
        found.indexes_[found.depth_++] = 0;
        return found;
    }
    if (root_ != nullptr && !locate(key, found) && found.index() == found.leaf()->count) {
        --found.index();
        found.next();
    }
    return found;
}

// ---- changing ---------------------------------------------------------------------------------------

ENTITABLE_DECL entry*& entry_tree::entry_at(position& path) noexcept { return path.leaf()->entries()[path.index()]; }

ENTITABLE_DECL entry* entry_tree::find(std::string_view key, position& path) const noexcept {
    return root_ != nullptr && locate(key, path) ? entry_at(path) : nullptr;
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
    if (root_ == nullptr) { return nullptr; }
    bool equal = false;
    if (path.depth_ == 0 || !step_to(key, path, equal)) { equal = locate(key, path); }
    return equal ? entry_at(path) : nullptr;
}

ENTITABLE_DECL entry* entry_tree::put(entry* fresh) {
    position path;
    if (root_ != nullptr && locate(fresh->key(), path)) { return replace(path, fresh); }
    insert(path, fresh);
    return nullptr;
}

ENTITABLE_DECL void entry_tree::insert(position& path, entry* fresh) {
    if (root_ == nullptr) {
        root_ = chunk::make(1, 0);
        path.chunks_[0] = root_;
        path.indexes_[0] = 0;
        path.depth_ = 1;
    }
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
        root_ = path.leaf() = leaf = larger;
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
    chunk* const top = spare.chunks[taken - 1];
    top->insert(0, nullptr, root_);
    top->insert(1, added, child);
    root_ = top;
}

ENTITABLE_DECL entry* entry_tree::replace(entry* fresh) noexcept {
    position path;
    return root_ != nullptr && locate(fresh->key(), path) ? replace(path, fresh) : nullptr;
}

ENTITABLE_DECL entry* entry_tree::remove(std::string_view key) noexcept {
    position path;
    return root_ != nullptr && locate(key, path) ? remove(path) : nullptr;
}

ENTITABLE_DECL entry* entry_tree::remove(position& path) noexcept {
    entry* const taken = path.leaf()->entries()[path.index()];
    path.leaf()->remove(path.index());
    shrink(path);
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
    while (root_ != nullptr && root_->count <= root_->first()) {
        chunk* const top = root_;
        root_ = top->count > 0 ? top->children()[0] : nullptr;
        chunk::destroy(top);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
