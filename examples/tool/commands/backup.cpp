// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../exchange/fleet_address.hpp"
#include "../exchange/progress.hpp"
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/file.hpp>

#include <filesystem>
#include <mutex>

namespace tool {

namespace {

struct backup_command_options {
    std::string from;
    std::string to;
    std::string name{"backup"};
    bool snapshot{};
};

/// Opens a file that exists.
entitable::result<entitable::file_backend> open_file(std::string const& path) {
    entitable::file_options options;
    options.create = false;
    return entitable::file_backend::open(path, options);
}

/// Copies a file of tables while it is in use, then reads the copy.
outcome copy_file(std::string const& from, std::string const& to, std::string_view word, console& with) {
    ENTITABLE_TRY(auto const source, open_file(from));
    if (with.handle_interrupt) { with.handle_interrupt(); }
    entitable::file_copy_options options;
    options.call.cancellation = with.interrupted;
    progress_line line{with};
    auto copied = source.copy_to(
        to,
        [&](entitable::file_copy_progress const& now) {
            if (now.total != 0) {
                line.show(grouped(now.bytes / 1'000'000) + " of " + grouped(now.total / 1'000'000) + " MB (" +
                    std::to_string(now.bytes * 100 / now.total) + " %)");
            }
        },
        options);
    line.clear();
    if (!copied) {
        entitable::error failed = copied.error();
        if (!failed.detail.empty()) { failed.message += ": " + failed.detail; }
        return entitable::failure{std::move(failed)};
    }
    ENTITABLE_TRY(auto const copy, open_file(to));
    ENTITABLE_TRY(auto const report, (copy.verify)());
    if (!report.sound()) {
        return refuse(
            "the copy " + to + " is damaged: " + report.problems.front() + "; the file it was made from may be too");
    }
    with.out << counted_rows(report.rows) << ' ' << word << ' ' << to << ", each read and compared with its checksum\n";
    return exit_code::success;
}

/// Copies of the files of a fleet, each as at one moment, which are removed at the end.
class file_snapshots {
public:
    file_snapshots() = default;
    file_snapshots(file_snapshots const&) = delete;
    file_snapshots& operator=(file_snapshots const&) = delete;
    ~file_snapshots() {
        for (std::string const& each : paths_) {
            for (auto const* suffix : {"", "-wal", "-shm", "-lock"}) {
                std::error_code problem;
                std::filesystem::remove(each + suffix, problem);
            }
        }
    }
    [[nodiscard]] entitable::result<entitable::any_store> of(std::string_view store) {
        auto const path = path_of_file(address_of_shard_store(store));
        if (!path) { return refuse("the store " + std::string{store} + " is not a file; leave out --snapshot"); }
        std::string const copy = *path + ".snapshot-" + entitable::guid::random().to_string();
        {
            std::lock_guard<std::mutex> const guard{lock_};
            paths_.push_back(copy);
        }
        ENTITABLE_TRY(auto const file, open_file(*path));
        ENTITABLE_CHECK(file.copy_to(copy));
        ENTITABLE_TRY(auto const opened, open_file(copy));
        return entitable::any_store{opened};
    }

private:
    std::mutex lock_;
    std::vector<std::string> paths_;
};

outcome back_up(backup_command_options const& given, console& with) {
    if (auto const path = path_of_file(given.from)) {
        if (given.snapshot) {
            with.err << "entitable: --snapshot is for fleets; a file is always copied as at one moment\n";
            return exit_code::usage;
        }
        auto const to = path_of_file(given.to);
        return copy_file(*path, to ? *to : given.to, "copied to", with);
    }
    if (!fleet_place_of(given.from)) {
        return refuse(
            "backup is for files and for shards:CATALOGUE/MAP; entitable copy copies the tables of other stores");
    }
    ENTITABLE_TRY(auto const all, open_fleet(given.from));
    ENTITABLE_TRY(auto const to, open_or_create_store(given.to));
    file_snapshots snapshots;
    entitable::backup_options options;
    if (given.snapshot) {
        options.snapshot = [&](std::string_view store, entitable::any_store const&) { return snapshots.of(store); };
    }
    ENTITABLE_TRY(auto const done, entitable::back_up(all, to, given.name, options));
    with.out << counted_rows(done.rows) << " in " << grouped(done.parts.size())
             << " parts copied, read back and compared\n";
    return exit_code::success;
}

outcome restore_to(backup_command_options const& given, console& with) {
    if (!fleet_place_of(given.to)) {
        auto const from = path_of_file(given.from);
        auto const to = path_of_file(given.to);
        if (!to) { return refuse("restore writes a file, or the fleet at shards:CATALOGUE/MAP"); }
        // A backup may have any name.
        return copy_file(from ? *from : given.from, *to, "restored to", with);
    }
    ENTITABLE_TRY(auto const from, open_store(given.from));
    ENTITABLE_TRY(auto const into, open_fleet(given.to));
    ENTITABLE_TRY(auto const done, entitable::restore(from, given.name, into));
    with.out << counted_rows(done.rows) << " of the backup, " << grouped(done.written) << " written, all compared\n";
    return exit_code::success;
}

} // namespace

void add_backup(command_list& all) {
    auto given = std::make_shared<backup_command_options>();
    CLI::App& command = all.add("backup", "Copies a live file, or all stores of a shard map",
        "entitable backup shop.db shop-monday.db\n"
        "entitable backup shards:env:CATALOGUE/map archive.db --name monday",
        [given](console& with) { return back_up(*given, with); });
    command.description(
        "Copies a live file, or all stores of a shard map.\n"
        "A file is copied as it is at one moment, while programs read and write it, and the copy is read and compared "
        "with its checksums; the target must not exist. The tables of a fleet are copied into any one store, under a "
        "name; after an interruption the same command continues. For PostgreSQL use pg_dump, for accounts copy.");
    command.add_option("STORE", given->from, store_help)->required();
    command.add_option("TO", given->to, "Path of the new file; for a fleet the address of any store")->required();
    command.add_option("--name", given->name, "Name of the backup of a fleet, 1 to 20 letters; default: backup");
    command.add_flag("--snapshot", given->snapshot,
        "For a fleet of files: each file as at one moment, which needs space for a copy of each");
}

void add_restore(command_list& all) {
    auto given = std::make_shared<backup_command_options>();
    CLI::App& command = all.add("restore", "Makes a file, or fills an empty shard map, from a backup",
        "entitable restore shop-monday.db shop.db\n"
        "entitable restore archive.db shards:env:NEW_CATALOGUE/map --name monday",
        [given](console& with) { return restore_to(*given, with); });
    command.description("Makes a file, or fills an empty shard map, from a backup.\n"
                        "The target file must not exist: move a file that is to be replaced away first, with its -wal "
                        "file. A fleet may\n"
                        "have other stores and shards than the one that was backed up; its tables must be empty, or "
                        "from an interrupted\n"
                        "run of the same command, which then continues.");
    command.add_option("FROM", given->from, "File of the backup; for a fleet the address of the store with the backup")
        ->required();
    command.add_option("STORE", given->to, store_help)->required();
    command.add_option("--name", given->name, "Name of the backup of a fleet; default: backup");
}

} // namespace tool
