// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../exchange/fleet_address.hpp"
#include "../text.hpp"
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>
#include <entitable/doctor.hpp>
#include <entitable/file.hpp>
#include <entitable/fleet.hpp>

namespace tool {

namespace {

/// Prints one line for each part of the store, and counts the problems.
class store_check {
public:
    store_check(std::string address, console& with) : address_(std::move(address)), with_(with) {}

    [[nodiscard]] outcome run() {
        ENTITABLE_TRY(auto const store, open_store(address_));
        ENTITABLE_TRY(auto const parsed, entitable::store_address::parse(address_));
        if (auto const path = path_of_file(address_)) { ENTITABLE_CHECK(check_file(*path)); }
        if (parsed.component() == entitable::store_component::shards) { ENTITABLE_CHECK(check_shards()); }
        ENTITABLE_CHECK(check_rows(store));
        ENTITABLE_CHECK(check_queues(store));
        if (problems_ == 0) {
            with_.out << "no problems found\n";
            return exit_code::success;
        }
        with_.out << problems_ << (problems_ == 1 ? " problem" : " problems") << " found\n";
        return exit_code::failure;
    }

private:
    [[nodiscard]] entitable::result<void> check_file(std::string const& path) {
        entitable::file_options options;
        options.create = false;
        ENTITABLE_TRY(auto const file, entitable::file_backend::open(path, options));
        ENTITABLE_TRY(auto const report, (file.verify)());
        with_.out << "file: " << report.rows << " rows, " << report.bytes << " bytes of keys and values, "
                  << report.damaged << " damaged rows\n";
        for (std::string const& each : report.problems) { tell(each); }
        return {};
    }
    [[nodiscard]] entitable::result<void> check_shards() {
        ENTITABLE_TRY(auto const all, open_fleet(address_));
        ENTITABLE_TRY(auto const report, check_fleet(all));
        auto const rows = report.of_table();
        with_.out << "shards: " << rows.rows << " rows, " << report.misplaced_rows << " misplaced rows, "
                  << report.unread.size() << " shards not read\n";
        for (auto const& each : report.unread) {
            tell("shard " + std::to_string(each.shard) + " in " + each.store + ": " + each.error.to_string());
        }
        if (report.misplaced_rows > 0) {
            tell(std::to_string(report.misplaced_rows) + " misplaced rows: shards STORE sweep deletes them");
        }
        ENTITABLE_TRY(auto const drift, schema_drift(all));
        for (auto const& each : drift) { tell("table " + each.table + " in " + each.store + ": " + each.text); }
        return {};
    }
    [[nodiscard]] entitable::result<void> check_rows(entitable::any_store const& store) {
        ENTITABLE_TRY(auto const found, doctor(store));
        with_.out << "tables: " << found.tables << ", rows: " << found.rows << '\n';
        for (auto const& each : found.findings) {
            std::string text = "table " + each.table + ": " + std::to_string(each.count) + " times: ";
            text += to_string(each.kind);
            if (!each.example.empty()) { text += ", for example " + each.example; }
            tell(text);
        }
        return {};
    }
    [[nodiscard]] entitable::result<void> check_queues(entitable::any_store const& store) {
        entitable::list_tables asked;
        do {
            entitable::call context;
            ENTITABLE_TRY(auto found, store.execute(asked, context));
            for (std::string const& each : found.tables) { ENTITABLE_CHECK(check_queue(store, each)); }
            asked.continuation = std::move(found.continuation);
        } while (asked.continuation);
        return {};
    }
    /// Counts dead letters, in tables that are queues.
    [[nodiscard]] entitable::result<void> check_queue(entitable::any_store const& store, std::string const& table) {
        entitable::query_entities states;
        states.table = table;
        states.range.partition = entitable::key_interval::only(std::string{entitable::system_row::queue});
        std::uint64_t queues = 0;
        ENTITABLE_CHECK(for_each_row(store, states, [&](entitable::row_view) -> entitable::result<bool> {
            ++queues;
            return true;
        }));
        if (queues == 0) { return {}; }
        entitable::query_entities letters;
        letters.table = table;
        letters.range.row.lower = entitable::key_bound::including(std::string{entitable::system_row::dead_letter});
        letters.range.row.upper = entitable::key_bound::excluding("~!dead\"");
        letters.select = {"PartitionKey", "RowKey"};
        std::uint64_t dead = 0;
        ENTITABLE_CHECK(for_each_row(store, letters, [&](entitable::row_view) -> entitable::result<bool> {
            ++dead;
            return true;
        }));
        with_.out << "queue " << printable(table) << ": " << dead << " dead letters\n";
        if (dead > 0) { tell("queue " + table + " has dead letters: queue STORE " + table + " --dead lists them"); }
        return {};
    }
    void tell(std::string const& problem) {
        ++problems_;
        with_.out << "problem: " << printable(problem) << '\n';
    }

    std::string address_;
    console& with_;
    std::uint64_t problems_{};
};

} // namespace

void add_check(command_list& all) {
    auto const store = std::make_shared<std::string>();
    CLI::App& command = all.add("check", "Check all that a store contains: the file, rows of indexes, shards, queues",
        "entitable check shop.db\nentitable check shards:env:CATALOGUE/map",
        [store](console& with) { return store_check{*store, with}.run(); });
    command.add_option("STORE", *store, store_help)->required();
}

} // namespace tool
