// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../exchange/progress.hpp"
#include "../text.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/core/try.hpp>
#include <entitable/sync.hpp>

#include <filesystem>

namespace tool {

namespace {

using entitable::sync_conflict;

struct syncing_options {
    std::string local;
    std::string table;
    std::string cloud;
    std::string cloud_table;
    std::vector<std::string> partitions;
    bool whole_table{};
    std::string conflicts{"theirs"};
    std::string device{"device"};
    std::string log;
    bool allows_many_removals{};
    bool creates{};
    bool yes{};
};

/// Most conflicts, rows and partitions that the report names.
constexpr std::size_t most_shown = 20;

std::string keys_text(std::string_view partition_key, std::string_view row_key) {
    return "\"" + printable(partition_key) + "\" / \"" + printable(row_key) + "\"";
}

/// Whether all sides that have a row have this property, with the same value.
bool is_same_everywhere(sync_conflict const& of, entitable::property_view const& shown) {
    for (std::optional<entitable::row> const* side : {&of.base, &of.here, &of.there}) {
        if (!*side) { continue; }
        auto const found = (*side)->view().find(shown.name);
        if (!found || found->type() != shown.type || plain_text(*found) != plain_text(shown.value)) { return false; }
    }
    return true;
}

/// The properties of a side of a conflict on one line; those that are the same on all sides are left out.
std::string short_text(sync_conflict const& of, std::optional<entitable::row> const& side, std::size_t width) {
    if (!side) { return "no row"; }
    std::string text;
    bool left_out = false;
    entitable::property_cursor properties{side->view().payload};
    for (entitable::property_view each; properties.next(each);) {
        if (!each.present) { continue; }
        if (is_same_everywhere(of, each)) {
            left_out = true;
            continue;
        }
        text += (text.empty() ? "" : "  ") + printable(each.name) + "=" + printable(plain_text(each.value));
        if (text.size() > 4 * width) { break; }
    }
    if (text.empty()) { return left_out ? "nothing else" : "no properties"; }
    return cut(text, width);
}

/// The three sides of a conflict as one JSON line.
std::string json_line(sync_conflict const& of) {
    std::string text = "{\"PartitionKey\":";
    append_json_string(text, of.partition_key);
    text += ",\"RowKey\":";
    append_json_string(text, of.row_key);
    auto const add = [&](char const* name, std::optional<entitable::row> const& side) {
        text += ",\"" + std::string{name} + "\":";
        if (!side) {
            text += "null";
        } else {
            append_json_row(text, side->view());
        }
    };
    add("base", of.base);
    add("local", of.here);
    add("cloud", of.there);
    return text + (of.restored ? ",\"restored\":true}" : "}");
}

/// Keeps the content in the cloud, and the local content under the row key followed by the name of the device.
entitable::result<entitable::sync_decision> keep_both(sync_conflict const& of, std::string const& device) {
    if (!of.here) { return entitable::sync_decision{}; }
    if (!of.there) { return entitable::keep_mine(of); }
    return entitable::sync_decision{entitable::sync_choice::both,
        entitable::row{of.partition_key, of.row_key + "~" + device, of.here->view().payload}};
}

entitable::sync_policy policy_of(syncing_options const& given) {
    if (given.conflicts == "mine") { return entitable::keep_mine; }
    if (given.conflicts == "merge") { return entitable::merge_properties(); }
    if (given.conflicts == "both") {
        return [device = given.device](sync_conflict const& of) { return keep_both(of, device); };
    }
    return entitable::keep_theirs;
}

class syncing {
public:
    syncing(syncing_options const& given, console& with)
        : given_(given),
          with_(with),
          cloud_table_(given.cloud_table.empty() ? given.table : given.cloud_table),
          log_(given.log) {}

    [[nodiscard]] outcome run() {
        if (given_.partitions.empty() && !given_.whole_table) {
            return refuse("choose partitions with --partition, or permit all of both tables with --whole-table");
        }
        if (given_.table == cloud_table_ && same_store(given_.local, given_.cloud)) {
            return refuse("both sides are the same table");
        }
        if (given_.allows_many_removals) {
            ENTITABLE_CHECK(confirm(with_, given_.yes,
                "Permit to remove most or all rows of a partition of " + given_.table + ", on either side?"));
        }
        ENTITABLE_TRY(auto const cloud, given_.creates ? open_or_create_store(given_.cloud) : open_store(given_.cloud));
        ENTITABLE_TRY(auto const local, given_.creates ? open_or_create_store(given_.local) : open_store(given_.local));
        entitable::row_table const here{local, given_.table};
        entitable::row_table const there{cloud, cloud_table_};
        ENTITABLE_CHECK(prepare(there, "the table \"" + cloud_table_ + "\" of the other side"));
        ENTITABLE_CHECK(prepare(here, "the local table \"" + given_.table + "\""));
        if (!given_.log.empty()) { ENTITABLE_CHECK(open_log()); }
        return synchronize(here, there);
    }

private:
    /// Checks that a side can be synchronised without a declaration, and that it exists.
    [[nodiscard]] entitable::result<void> prepare(entitable::row_table const& side, std::string const& words) const {
        if (given_.creates) {
            ENTITABLE_TRY(bool const created, side.create_if_absent());
            static_cast<void>(created);
        }
        entitable::query_entities asked;
        asked.table = side.name();
        asked.page_size = 1;
        auto const exists = for_each_row(
            side.store(), std::move(asked), [](entitable::row_view) -> entitable::result<bool> { return false; });
        if (!exists && exists.error().code == entitable::error_code::table_not_found) {
            return refuse(words + " does not exist: --create creates it");
        }
        ENTITABLE_CHECK(exists);
        return check_unmaintained(
            side.store(), side.name(), "which sync does not maintain: synchronise with the program that keeps them");
    }

    [[nodiscard]] entitable::result<void> open_log() {
        std::error_code problem;
        auto const size = std::filesystem::file_size(given_.log, problem);
        return log_.open(problem ? 0 : size);
    }

    /// The policy; what takes part in a conflict is in the file before anything is written.
    [[nodiscard]] entitable::sync_policy policy() {
        if (given_.log.empty()) { return policy_of(given_); }
        return [this, decides = policy_of(given_)](
                   sync_conflict const& of) mutable -> entitable::result<entitable::sync_decision> {
            log_.append(json_line(of));
            ENTITABLE_TRY(auto const size, log_.flush());
            static_cast<void>(size);
            return decides(of);
        };
    }

    [[nodiscard]] outcome synchronize(entitable::row_table const& here, entitable::row_table const& there) {
        if (with_.handle_interrupt) { with_.handle_interrupt(); }
        progress_line line{with_};
        entitable::sync_options options;
        options.partitions = given_.partitions;
        options.whole_table = given_.whole_table;
        options.conflicts = policy();
        options.allow_many_removals = given_.allows_many_removals;
        options.calls.cancellation = with_.interrupted;
        std::uint64_t total = 0;
        options.watch = [&](entitable::sync_progress const& now) {
            total = now.total;
            line.show(grouped(now.partitions) + " of " + grouped(now.total) + " partitions, " + grouped(now.pulled) +
                " pulled, " + grouped(now.pushed) + " pushed");
        };
        auto const done = entitable::synchronize(here, there, options);
        line.clear();
        bool const interrupted = with_.interrupted.cancelled();
        if (!done && interrupted) { return refuse("interrupted; the same command continues"); }
        if (!done) { return entitable::failure{done.error()}; }
        report(*done);
        if (interrupted && !done->good()) { return refuse("interrupted; the same command continues"); }
        if (done->good()) { return exit_code::success; }
        return done->failed.size() == total ? exit_code::failure : exit_code::some_failed;
    }

    void report(entitable::sync_report const& done) {
        with_.out << grouped(done.partitions) << (done.partitions == 1 ? " partition: " : " partitions: ")
                  << counted_rows(done.pulled) << " pulled, " << grouped(done.pushed) << " pushed";
        note(done.conflicts.size(), "conflict", "conflicts");
        note(done.held.size(), "held back", "held back");
        note(done.failed.size(), "partition failed", "partitions failed");
        with_.out << '\n';
        list(done.conflicts, with_.out, "conflicts", [&](entitable::settled_conflict const& each) {
            constexpr std::size_t indent = 9;
            std::size_t const width = (std::max)(with_.width, std::size_t{40}) - indent;
            with_.out << "conflict " << keys_text(each.sides.partition_key, each.sides.row_key) << ": "
                      << entitable::to_string(each.choice) << (each.sides.restored ? ", restored" : "") << '\n'
                      << "  base   " << short_text(each.sides, each.sides.base, width) << '\n'
                      << "  local  " << short_text(each.sides, each.sides.here, width) << '\n'
                      << "  cloud  " << short_text(each.sides, each.sides.there, width) << '\n';
        });
        list(done.held, with_.err, "rows held back", [&](entitable::held_row const& each) {
            with_.err << "held back " << keys_text(each.partition_key, each.row_key) << ": " << reason(each.error)
                      << '\n';
        });
        list(done.failed, with_.err, "partitions failed", [&](entitable::failed_partition const& each) {
            with_.err << "partition \"" << printable(each.partition_key) << "\" failed: " << reason(each.error) << '\n';
        });
        name_all(done.restored, "the local rows are older than what was sent: the file was restored, or copied");
        name_all(done.split, "more changes than one transaction holds: others may have seen a part");
        name_all(done.torn, "it kept changing while its pages were read");
    }
    void note(std::size_t count, char const* one, char const* several) {
        if (count != 0) { with_.out << ", " << grouped(count) << ' ' << (count == 1 ? one : several); }
    }
    template <class Element, class Function>
    static void list(std::vector<Element> const& all, std::ostream& out, char const* what, Function const& show) {
        for (std::size_t at = 0; at < all.size() && at < most_shown; ++at) { show(all[at]); }
        if (all.size() > most_shown) {
            out << "  and " << grouped(all.size() - most_shown) << " other " << what << '\n';
        }
    }
    void name_all(std::vector<std::string> const& partitions, char const* what) {
        list(partitions, with_.err, "partitions",
            [&](std::string const& each) { with_.err << "partition \"" << printable(each) << "\": " << what << '\n'; });
    }
    [[nodiscard]] static std::string reason(entitable::error const& failed) {
        std::string text = failed.message.empty() ? failed.to_string() : failed.message;
        constexpr std::string_view option = "call it with allow_many_removals"; // the words of the function
        if (std::size_t const at = text.find(option); at != std::string::npos) {
            text.replace(at, option.size(), "repeat the command with --allow-many-removals");
        }
        return printable(text) + " (" + std::string{to_string(failed.code)} + ")";
    }

    syncing_options const& given_;
    console& with_;
    std::string cloud_table_;
    line_log log_;
};

/// Whether the text can be a part of a row key.
std::string check_device(std::string const& name) {
    bool const good = !name.empty() && name.size() <= 64 && name.find_first_of("/\\#?~") == std::string::npos &&
        printable(name) == name;
    return good ? std::string{} : "a name of 1 to 64 characters without / \\ # ? ~";
}

} // namespace

void add_sync(command_list& all) {
    auto given = std::make_shared<syncing_options>();
    CLI::App& command = all.add("sync", "Synchronises a table with another one, in both directions",
        "entitable sync notes.db notes env:CLOUD --partition ann\n"
        "entitable sync notes.db notes env:CLOUD --whole-table --conflicts both --device laptop\n"
        "entitable sync notes.db notes env:CLOUD sharedNotes --partition ann --create",
        [given](console& with) { return syncing{*given, with}.run(); });
    command.description(
        "Synchronises a table with another one, in both directions.\n"
        "Rows that only one side has changed or removed since the last synchronisation change on the other side. A row "
        "that both have changed is a conflict, which is decided and reported. The local table keeps the content that "
        "both sides had last, so it takes about twice the space. Any number of local tables may synchronise with one "
        "table in the cloud. An interrupted command is repeated. Tables with indexes, sums, a change log, queues or "
        "views are refused: only the program that declares them can synchronise them.");
    command.add_option("LOCAL", given->local, store_help)->required();
    command.add_option("TABLE", given->table, "Table to synchronise")->required();
    command.add_option("CLOUD", given->cloud, "Address of the store that all devices share")->required();
    command.add_option("CLOUD_TABLE", given->cloud_table, "Table there; default: TABLE");
    auto* const partition =
        command.add_option("--partition", given->partitions, "PartitionKey to synchronise; may be given several times")
            ->allow_extra_args(false);
    command.add_flag("--whole-table", given->whole_table, "All partitions of both tables")->excludes(partition);
    command
        .add_option("--conflicts", given->conflicts,
            "Who wins if both sides have changed a row: theirs (the cloud), mine (the local table), both (the local "
            "content goes to a row of its own), merge (property by property; theirs if both have changed one); "
            "default: theirs")
        ->check(CLI::IsMember{{"theirs", "mine", "both", "merge"}});
    command
        .add_option("--device", given->device,
            "Name of this device: with --conflicts both, the row key of its content ends in ~NAME; default: device")
        ->check(check_device);
    command.add_option("--log", given->log,
        "Append the contents of each conflict to this file as JSON lines, before anything is written");
    command.add_flag("--allow-many-removals", given->allows_many_removals,
        "Permit to remove more than half of the rows of a partition, and to follow a table in the cloud that was "
        "dropped");
    command.add_flag("--create", given->creates, "Create the tables and the file if they do not exist");
    command.add_flag("--yes", given->yes, "Permit many removals without a question");
}

} // namespace tool
