// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// Where the rows are is configuration: STORE=file:notes.db?create=true, STORE=postgres://..., STORE=UseDevelopmentStorage=true,
/// STORE=shards:env:CATALOGUE/map. Without STORE they are in memory.

#include <entitable/azure.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/open.hpp>
#include <entitable/shards.hpp>
#if defined(EXAMPLES_HAVE_POSTGRES)
#include <entitable/postgres.hpp>
#endif

#include <cstdio>
#include <cstdlib>

namespace {

struct note {
    std::string subject;
    std::int32_t number{};
    std::string text;
};
ENTITABLE(note, partition_key(subject), row_key(number), properties(text))

entitable::result<void> keep_notes() {
    bool const chosen = std::getenv("STORE") != nullptr; // NOLINT(concurrency-mt-unsafe): the program has one thread
    ENTITABLE_TRY(auto const store, entitable::open(chosen ? "env:STORE" : "memory:"));
    entitable::table<note> const notes{store, "notes"};
    ENTITABLE_CHECK(notes.create_if_absent());
    ENTITABLE_CHECK(notes.upsert({"garden", 1, "beans need poles"}));
    ENTITABLE_CHECK(notes.upsert({"garden", 2, "water the roses"}));
    ENTITABLE_TRY(auto const found, notes.where(entitable::fields<note>::subject == "garden").to());
    for (note const& each : found) { std::printf("%d: %s\n", each.number, each.text.c_str()); }
    return {};
}

} // namespace

// With CMake, `entitable::open_compiled` contains this line, for the components that were found.
#if defined(EXAMPLES_HAVE_POSTGRES)
ENTITABLE_STORE_KINDS(entitable::memory_stores, entitable::file_stores, entitable::azure_stores,
    entitable::shard_stores, entitable::postgres_stores);
#else
ENTITABLE_STORE_KINDS(
    entitable::memory_stores, entitable::file_stores, entitable::azure_stores, entitable::shard_stores);
#endif

int main() {
    auto const kept = keep_notes();
    if (!kept) { std::fprintf(stderr, "%s\n", kept.error().to_string().c_str()); }
    return kept ? 0 : 1;
}
