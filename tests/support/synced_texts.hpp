// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// A table of texts on any store, and its synchronisation, for tests of one partition.

#include "support/catch.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/sync.hpp>

#include <string>
#include <utility>

namespace entitable_test {

struct synced_text {
    std::string owner;
    std::string name;
    std::string text;
};
ENTITABLE(synced_text, partition_key(owner), row_key(name), properties(text))

/// The table of a device or of the cloud.
struct synced_texts {
    entitable::any_store store;
    entitable::table<synced_text> items{store, "items"};
    explicit synced_texts(entitable::any_store on = entitable::any_store{entitable::memory_backend{}})
        : store(std::move(on)) {
        items.create_if_absent().value();
    }
    void put(std::string const& name, std::string const& text) const { items.upsert({"ann", name, text}).value(); }
    void remove(std::string const& name) const { items.remove("ann", name, entitable::any_etag).value(); }
};

inline entitable::sync_options sync_of_ann(entitable::sync_policy conflicts = entitable::keep_theirs) {
    entitable::sync_options how;
    how.partitions = {"ann"};
    how.conflicts = std::move(conflicts);
    how.delays = {.base = {}, .least = {}, .most = {}, .jitter = 0};
    return how;
}
inline entitable::sync_report sync_texts(
    synced_texts const& device, synced_texts const& cloud, entitable::sync_options const& how = sync_of_ann()) {
    auto made = entitable::synchronize(device.items, cloud.items, how).value();
    for (auto const& each : made.failed) { UNSCOPED_INFO(each.error.to_string()); }
    for (auto const& each : made.held) { UNSCOPED_INFO(each.row_key << ": " << each.error.to_string()); }
    return made;
}

} // namespace entitable_test
