// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Traps 1 to 9: awkward keys with every verb, alone and inside transactions.

#include "differences.hpp"
#include "emulator.hpp"
#include <entitable/testing/rows.hpp>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;

namespace {

constexpr std::string_view awkward[] = {"", "'", "''", "'''", "O'Hara", "a',RowKey='b", "%", "%25", "%2525", "%2F",
    "%27", "+", "a+b", " ", "a b", " lead", "trail ", "~", "@", ",", ";", "=", "&", "$", "!", "*", "(", ")", "(x)", ":",
    "[]", "{}", "|", "^", "`", "\"", "<>", ".", "..", "-", "_", "\xC3\xA9", "e\xCC\x81", "\xE6\x97\xA5\xE6\x9C\xAC",
    "\xF0\x9F\x98\x80", "\xD9\x80", "\xEF\xBD\x9E", "null", "PartitionKey", "$batch", "x HTTP 1.1", "--changeset_",
    "\xC2\xA0", "\xE2\x80\xA8", "\xEF\xBB\xBF"};

std::int32_t number_in(azure_backend const& store, row_view keys) {
    call context;
    auto const read =
        store.execute(get_entity{"Keys", std::string{keys.partition_key}, std::string{keys.row_key}, {}}, context);
    if (!read) { return -1; }
    auto const found = read->entity.view().find("N");
    return found ? found->as_int32() : -2;
}

row with_number(std::string_view partition_key, std::string_view row_key, std::int32_t number) {
    return make_row(partition_key, row_key, {{"N", number}});
}

/// One change, alone or as the only change of a transaction.
bool write(azure_backend const& store, mutation const& change, bool in_batch) {
    call context;
    if (in_batch) {
        auto const outcome = store.execute(transact{"Keys", {change}}, context);
        return outcome.has_value();
    }
    return store.execute(write_entity{"Keys", change}, context).has_value();
}

/// Every form of a write for one pair of keys. Returns the names of the forms that failed.
std::string tried(azure_backend const& store, std::string_view partition_key, std::string_view row_key, bool in_batch) {
    std::string wrong;
    std::int32_t expected = 0;
    auto const step = [&](char const* what, mutation const& change) {
        ++expected;
        bool const done = write(store, change, in_batch);
        bool const removed = change.kind == mutation_kind::remove;
        if (!done || number_in(store, change.entity.view()) != (removed ? -1 : expected)) {
            wrong += std::string{" "} + what;
        }
    };
    auto const entity = [&] { return with_number(partition_key, row_key, expected + 1); };
    step("insert", mutation::insert(entity()));
    step("replace", mutation::replace(entity(), any_etag));
    step("merge", mutation::merge(entity(), any_etag));
    step("insert_or_replace", mutation::insert_or_replace(entity()));
    step("insert_or_merge", mutation::insert_or_merge(entity()));
    query_entities point;
    point.table = "Keys";
    point.range = {key_interval::only(std::string{partition_key}), key_interval::only(std::string{row_key})};
    call context;
    auto const found = store.execute(point, context);
    if (!found || found->rows.size() != 1 || found->rows[0].row_key != row_key) { wrong += " query"; }
    step("remove", mutation::remove(entity(), any_etag));
    static_cast<void>(write(store, mutation::remove(entity(), any_etag), false)); // the remains of a known difference
    return wrong;
}

} // namespace

TEST_CASE("awkward keys work with every verb and inside transactions") {
    if (!has_emulator()) { return; }
    auto const store = emulator();
    call context;
    REQUIRE(store.execute(create_table{"Keys"}, context));
    for (bool const in_batch : {false, true}) {
        for (std::string_view const key : awkward) {
            for (bool const as_row : {false, true}) {
                std::string const wrong = as_row ? tried(store, "p", key, in_batch) : tried(store, key, "r", in_batch);
                std::string const what = std::string{in_batch ? "batch" : "alone"} +
                    (as_row ? " row key " : " partition key ") + '"' + std::string{key} + "\":" + wrong;
                if (!wrong.empty() && !is_known("keys", what)) { FAIL_CHECK(what); }
            }
        }
    }
}
