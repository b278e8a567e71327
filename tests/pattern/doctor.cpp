// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/doctor.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>
#include <entitable/wide.hpp>

#include <support/catch.hpp>

using namespace entitable;

namespace {

struct patient {
    std::string ward;
    std::int32_t bed{};
    std::string mail;
};
ENTITABLE(patient, partition_key(ward), row_key(literal("BED:"), width(bed, 3)), properties(mail))
struct by_mail : patient {};
ENTITABLE(by_mail, partition_key(ward), row_key(literal("MAIL:"), mail), properties(bed))

struct scan_result {
    std::string ward;
    std::string name;
    std::string a, b;
};
ENTITABLE(scan_result, partition_key(ward), row_key(name), properties(a, b))

using patients_table = table<patient, unique<by_mail>>;

/// Removes a row in any version.
void strike(
    memory_backend const& store, std::string const& table, std::string const& partition, std::string const& row) {
    call context;
    any_store{store}
        .execute(write_entity{table, mutation::remove(entitable::row{partition, row, {}}, any_etag)}, context)
        .value();
}

std::uint64_t count_of(diagnosis const& made, store_fault kind) {
    std::uint64_t count = 0;
    for (store_finding const& each : made.findings) { count += each.kind == kind ? each.count : 0; }
    return count;
}

} // namespace

TEST_CASE("doctor: a sound store has no findings") {
    memory_backend const store;
    patients_table const patients{store, "patients"};
    patients.create().value();
    patients.insert({"east", 1, "ann@x"}).value();
    table<wide<scan_result>> const scans{store, "scans"};
    scans.create().value();
    scans.insert({"east", "a!00", std::string(30'000, 'x'), std::string(30'000, 'y')}).value();
    auto const made = doctor(store, patients).value();
    CHECK(made.good());
    CHECK(made.to_string() == "no problems found");
    CHECK(made.tables == 2);
    CHECK(made.rows >= 5);
}

TEST_CASE("doctor: leftovers of older versions and foreign writers are found, with the function to call") {
    memory_backend const store;
    patients_table const patients{store, "patients"};
    patients.create().value();
    patients.insert({"east", 1, "ann@x"}).value();
    patients.unmaintained().insert({"east", 2, "ann@x"}).value(); // shares a key
    patients.unmaintained().insert({"east", 3, "bob@x"}).value(); // has no index row
    patients.insert({"east", 4, "cid@x"}).value();
    strike(store, "patients", "east", "BED:004");     // leaves its index row
    row_builder state{"~!index!", "~!index!by_ward"}; // from an earlier version, and stopped
    state.add("State", value_view{"building"});
    state.add("Definition", value_view{std::int64_t{1}});
    call context;
    any_store{store}.execute(write_entity{"patients", mutation::insert(state.build())}, context).value();
    table<wide<scan_result>> const scans{store, "scans"};
    scans.create().value();
    scans.insert({"east", "one", std::string(30'000, 'x'), std::string(30'000, 'y')}).value();
    scans.insert({"east", "two", std::string(30'000, 'x'), std::string(30'000, 'y')}).value();
    strike(store, "scans", "east", "one");        // like an earlier bulk removal
    strike(store, "scans", "east", "~!w!two!00"); // like an earlier copy
    auto const made = doctor(store, patients).value();
    INFO(made.to_string());
    CHECK(count_of(made, store_fault::unique_violation) == 1);
    CHECK(count_of(made, store_fault::index_row_missing) == 1);
    CHECK(count_of(made, store_fault::index_row_dangling) == 1);
    CHECK(count_of(made, store_fault::index_not_built) == 1);
    CHECK(count_of(made, store_fault::index_without_entities) == 1);
    CHECK(count_of(made, store_fault::wide_part_without_entity) == 1);
    CHECK(count_of(made, store_fault::wide_entity_without_part) == 1);
    CHECK(made.findings.size() == 7);
    CHECK(made.to_string().find("scans: 1 wide entities with missing parts, for example") != std::string::npos);
}

namespace {

struct beds_of_ward {
    std::string ward;
    std::int32_t beds{};
    static beds_of_ward key(patient const& of) { return {of.ward}; }
    void add(patient const&) { ++beds; }
    void subtract(patient const&) { --beds; }
};
ENTITABLE(beds_of_ward, partition_key(ward), row_key(literal("WARD")), properties(beds))

} // namespace

TEST_CASE("doctor: wrong sums are found") {
    memory_backend const store;
    table<patient, beds_of_ward> const patients{store, "patients"};
    patients.create().value();
    patients.insert({"east", 1, "ann@x"}).value();
    CHECK(doctor(store, patients).value().good());
    patients.unmaintained().insert({"east", 2, "bob@x"}).value();
    auto const made = doctor(store, patients).value();
    CHECK(count_of(made, store_fault::sum_wrong) == 1);
    CHECK(made.to_string().find("patients: 1 missing or wrong rows of sums: call build()") == 0);
    CHECK(made.findings.front().example.find("WARD") != std::string::npos);
}

TEST_CASE("doctor: an error of the store is returned, at each request") {
    memory_backend const store;
    patients_table const patients{store, "patients"};
    patients.create().value();
    for (int request = 1;; ++request) {
        testing::faulty const nasty{store};
        nasty.plan({testing::fault::refused(), static_cast<std::uint64_t>(request), {}});
        patients_table const seen{nasty, "patients"};
        auto const made = doctor(nasty, seen);
        if (made) {
            CHECK(made->good());
            CHECK(request > 3);
            break;
        }
    }
}
