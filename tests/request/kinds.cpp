// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/kinds.hpp>

#include <support/catch.hpp>

#include <string>

using namespace entitable;

namespace {

row entity(std::string_view partition, std::string_view key) { return row_builder{partition, key}.build(); }
etag_condition const version = etag::of(date_time{1});

} // namespace

TEST_CASE("a request has a partition if it touches exactly one") {
    CHECK(partition_of(get_entity{"table", "p", "r", {}}) == "p");
    write_entity const write{"table", mutation::insert(entity("q", "r"))};
    CHECK(partition_of(write) == "q");
    write_entity const nameless{"table", mutation::insert(entity("", "r"))};
    CHECK(partition_of(nameless) == "");
    transact const batch{"table", {mutation::insert(entity("b", "r"))}};
    CHECK(partition_of(batch) == "b");
    CHECK_FALSE(partition_of(transact{}));
    query_entities query;
    CHECK_FALSE(partition_of(query));
    query.range.partition = key_interval::only("p");
    CHECK(partition_of(query) == "p");
    query.range.partition.upper = key_bound::including("q");
    CHECK_FALSE(partition_of(query));
    CHECK_FALSE(partition_of(create_table{}));
    CHECK_FALSE(partition_of(delete_table{}));
    CHECK_FALSE(partition_of(list_tables{}));
}

TEST_CASE("a mutation stores its kind, its entity and its condition") {
    auto const replace = mutation::replace(entity("p", "r"), version);
    CHECK(replace.kind == mutation_kind::replace);
    CHECK(replace.entity.row_key() == "r");
    CHECK_FALSE(replace.condition.any());
    CHECK(mutation::merge(entity("p", "r"), version).kind == mutation_kind::merge);
    CHECK(mutation::remove(entity("p", "r"), version).kind == mutation_kind::remove);
    CHECK(mutation::insert(entity("p", "r")).kind == mutation_kind::insert);
    CHECK(mutation::insert(entity("p", "r")).condition.any());
    CHECK(mutation::insert_or_replace(entity("p", "r")).kind == mutation_kind::insert_or_replace);
    CHECK(mutation::insert_or_merge(entity("p", "r")).kind == mutation_kind::insert_or_merge);
}

TEST_CASE("replace, merge and remove need an existing entity") {
    CHECK(mutation::replace(entity("p", "r"), any_etag).needs_existing());
    CHECK(mutation::merge(entity("p", "r"), any_etag).needs_existing());
    CHECK(mutation::remove(entity("p", "r"), any_etag).needs_existing());
    CHECK_FALSE(mutation::insert(entity("p", "r")).needs_existing());
    CHECK_FALSE(mutation::insert_or_replace(entity("p", "r")).needs_existing());
    CHECK_FALSE(mutation::insert_or_merge(entity("p", "r")).needs_existing());
}

TEST_CASE("a condition is required or not accepted, depending on the mutation") {
    STATIC_REQUIRE_FALSE(std::is_invocable_v<decltype(&mutation::replace), row>);
    STATIC_REQUIRE_FALSE(std::is_invocable_v<decltype(&mutation::remove), row>);
    STATIC_REQUIRE_FALSE(std::is_invocable_v<decltype(&mutation::insert_or_replace), row, etag_condition>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<etag_condition>);
}

TEST_CASE("every request and every mutation has a name for observers") {
    CHECK(create_table::name == "create_table");
    CHECK(delete_table::name == "delete_table");
    CHECK(list_tables::name == "list_tables");
    CHECK(get_entity::name == "get_entity");
    CHECK(query_entities::name == "query_entities");
    CHECK(write_entity::name == "write_entity");
    CHECK(transact::name == "transact");
    CHECK(to_string(mutation_kind::insert) == "insert");
    CHECK(to_string(mutation_kind::replace) == "replace");
    CHECK(to_string(mutation_kind::merge) == "merge");
    CHECK(to_string(mutation_kind::insert_or_replace) == "insert_or_replace");
    CHECK(to_string(mutation_kind::insert_or_merge) == "insert_or_merge");
    CHECK(to_string(mutation_kind::remove) == "remove");
}

TEST_CASE("only the kinds in the list are requests") {
    STATIC_REQUIRE(table_request<create_table>);
    STATIC_REQUIRE(table_request<delete_table>);
    STATIC_REQUIRE(table_request<list_tables>);
    STATIC_REQUIRE(table_request<get_entity>);
    STATIC_REQUIRE(table_request<read_entity>);
    STATIC_REQUIRE(table_request<query_entities>);
    STATIC_REQUIRE(table_request<write_entity>);
    STATIC_REQUIRE(table_request<transact>);
    STATIC_REQUIRE_FALSE(table_request<mutation>);
    STATIC_REQUIRE_FALSE(table_request<get_entity&>);
    STATIC_REQUIRE(std::same_as<response_of<write_entity>, written>);
}
