// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/entity_reader.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

using namespace entitable;

namespace {

/// The result of a reader for a body, completely as text.
std::string read_by(detail::entity_reader& reader, std::string const& body) {
    detail::sent_entity entity;
    auto const read = reader.read(body, entity);
    if (!read) { return "refused: " + read.error().message; }
    auto const key = [](std::optional<std::string_view> held) { return held ? std::string{*held} : std::string{"-"}; };
    return key(entity.partition_key) + "/" + key(entity.row_key) + "/" + std::string{entity.payload};
}

} // namespace

TEST_CASE("earlier documents do not affect the next document") {
    // Bodies that differ from another body in one detail: a name, its position, a type, a value, one member more or less.
    std::vector<std::string> const bodies{
        R"({"PartitionKey":"p","RowKey":"r","A":1,"B@odata.type":"Edm.Int64","B":"5"})",
        R"({"PartitionKey":"q","RowKey":"s","A":2,"B@odata.type":"Edm.Int64","B":"6"})",
        R"({"PartitionKey":"p","RowKey":"r","A":1,"B@odata.type":"Edm.Double","B":"5"})",
        R"({"PartitionKey":"p","RowKey":"r","A":1,"B@odata.type":"Edm.Nothing","B":"5"})",
        R"({"PartitionKey":"p","RowKey":"r","A":1,"B@odata.type":5,"B":"5"})",
        R"({"PartitionKey":"p","RowKey":"r","A":1,"B":"5","B@odata.type":"Edm.Int64"})",
        R"({"PartitionKey":"p","RowKey":"r","A":1,"B":"5"})",
        R"({"PartitionKey":"p","RowKey":"r","A":1})",
        R"({"PartitionKey":"p","RowKey":"r","A":1,"A":1})",
        R"({"PartitionKey":"p","RowKey":"r","A":"1"})",
        R"({"PartitionKey":"p","RowKey":"r","A":null})",
        R"({"PartitionKey":"p","RowKey":"r","A":[1]})",
        R"({"PartitionKey":"p","RowKey":"r","A":99999999999})",
        R"({"PartitionKey":"p","RowKey":5,"A":1})",
        R"({"PartitionKey":null,"RowKey":"r","A":1})",
        R"({"RowKey":"r","PartitionKey":"p","A":1})",
        R"({"PartitionKey":"p","RowKey":"r","Timestamp":1})",
        R"({"PartitionKey":"p","RowKey":"r","odata.etag":"x","A":1})",
        R"({"PartitionKey":"p","RowKey":"r","@odata.type":"x","A":1})",
        R"({"PartitionKey":"p","RowKey":"r","Ab":1})",
        R"({"A":1})",
        R"({})",
        R"([])",
        R"({"A":)",
    };
    detail::entity_reader one;
    for (std::string const& before : bodies) {
        for (std::string const& next : bodies) {
            detail::entity_reader fresh;
            static_cast<void>(read_by(one, before));
            CAPTURE(before, next);
            CHECK(read_by(one, next) == read_by(fresh, next));
        }
    }
}

TEST_CASE("an empty body with a null data pointer is refused") {
    detail::entity_reader reader;
    detail::sent_entity entity;
    CHECK_FALSE(reader.read(std::string_view{}, entity));
    CHECK_FALSE(reader.read_table_name(std::string_view{}));
}
