// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../text.hpp"
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/entitable.hpp>
#include <entitable/feed.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace tool {

namespace {

struct changes_options {
    std::string store;
    std::string table;
    std::string group;
    bool follows{};
    bool creates{};
    bool from_now{};
    bool leaves{};
    bool shows_status{};
    bool yes{};
};

entitable::result<entitable::feed> open_feed(changes_options const& given) {
    if (given.group.empty() && !given.shows_status) {
        return refuse("--group names who reads the changes: its position is stored, and each group gets all changes");
    }
    ENTITABLE_TRY(auto const store, open_store(given.store));
    entitable::feed_options options;
    options.full_reads = !given.from_now;
    auto made = entitable::feed::of_stored(
        entitable::row_table{store, given.table}, given.group.empty() ? std::string{"status"} : given.group, options);
    if (!made) { return no_table(std::move(made).as_failure(), given.table); }
    return made;
}

void append_member(std::string& line, std::string_view name, std::string_view text) {
    line += line.empty() ? '{' : ',';
    append_json_string(line, name);
    line += ':';
    append_json_string(line, text);
}

/// Prints a line for each row of each change, and one for a partition that the group has to read as a whole.
void print(entitable::partition_changes const& each, console& with) {
    if (each.needs_full_read) {
        std::string line;
        append_member(line, "Change", "partition");
        append_member(line, "PartitionKey", each.partition_key);
        with.out << line << "}\n";
    }
    for (entitable::logged_change const& change : each.changes) {
        for (entitable::logged_row const& row : change.rows) {
            std::string line;
            append_member(line, "Change", row.removed ? "removed" : "written");
            append_member(line, "PartitionKey", each.partition_key);
            append_member(line, "RowKey", row.row_key);
            append_member(line, "Id", change.id.to_string());
            append_member(line, "Time", change.time.to_string());
            with.out << line << ",\"Number\":" << change.number << ",\"Lane\":" << change.lane << "}\n";
        }
    }
}

/// Prints what there is. A batch is done only after it was written out: what a broken pipe or a full disk has lost is handed over again.
entitable::result<std::uint64_t> print_all(entitable::feed const& changes, console& with) {
    std::uint64_t partitions = 0;
    while (with.can_write() && !with.interrupted.cancelled()) {
        ENTITABLE_TRY(auto const batch, changes.next());
        if (!batch) { break; }
        for (entitable::partition_changes const& each : batch->partitions()) { print(each, with); }
        with.out.flush();
        if (!with.can_write()) { break; }
        auto const done = batch->done();
        if (!done && done.error().code != entitable::error_code::lane_lost) { return entitable::failure{done.error()}; }
        partitions += batch->partitions().size();
    }
    return partitions;
}

/// Waits before the next look; ends at Ctrl-C.
void wait_for(std::chrono::milliseconds delay, console const& with) {
    constexpr std::chrono::milliseconds step{50};
    for (std::chrono::milliseconds left = delay; left.count() > 0 && !with.interrupted.cancelled(); left -= step) {
        std::this_thread::sleep_for((std::min)(left, step));
    }
}

entitable::result<void> follow(entitable::feed const& changes, bool forever, console& with) {
    constexpr std::chrono::milliseconds first{1'000};
    constexpr std::chrono::milliseconds longest{10'000};
    std::chrono::milliseconds delay = first;
    for (;;) {
        ENTITABLE_TRY(auto const partitions, print_all(changes, with));
        if (!forever || !with.can_write() || with.interrupted.cancelled()) { return {}; }
        delay = partitions != 0 ? first : (std::min)(delay * 2, longest);
        wait_for(delay, with);
    }
}

outcome show_status(entitable::feed const& changes, console& with) {
    ENTITABLE_TRY(auto const now, changes.status());
    text_table shown{
        with, {{"group", false}, {"joined", false}, {"partitions behind", true}, {"processed until", false}}};
    for (entitable::group_status const& each : now.groups) {
        shown.add({printable(each.name), each.joined ? "yes" : "no", std::to_string(each.partitions_behind),
            each.processed_until.to_string()});
    }
    if (!now.groups.empty()) { shown.finish(); }
    return exit_code::success;
}

outcome run(changes_options const& given, console& with) {
    ENTITABLE_TRY(auto const changes, open_feed(given));
    if (given.shows_status) { return show_status(changes, with); }
    if (given.leaves) {
        ENTITABLE_CHECK(confirm(with, given.yes, "Remove the group " + given.group + " and its position?"));
        ENTITABLE_CHECK(changes.leave());
        with.err << "the group " << printable(given.group) << " has left\n";
        return exit_code::success;
    }
    if (given.creates) {
        ENTITABLE_TRY(bool const is_new, changes.create());
        if (is_new) {
            with.err << "the group " << printable(given.group)
                     << " is registered: changes are kept until it has read them, or leaves by --leave\n";
        }
    }
    if (given.follows && with.handle_interrupt) { with.handle_interrupt(); }
    auto const done = follow(changes, given.follows, with);
    auto const released = changes.release(); // the next run need not wait for the end of the lease
    if (!done && done.error().code == entitable::error_code::group_missing) {
        return refuse("the table \"" + given.table + "\" has no group \"" + printable(given.group) +
            "\": --create registers it, --status lists the groups");
    }
    if (!done) { return entitable::failure{done.error()}; }
    if (!released) { return entitable::failure{released.error()}; }
    return exit_code::success;
}

} // namespace

void add_changes(command_list& all) {
    auto const given = std::make_shared<changes_options>();
    CLI::App& command = all.add("changes", "Print the changes of a table, for a group that remembers its position",
        "entitable changes shop.db orders --group search --create\n"
        "entitable changes shop.db orders --group search --follow\n"
        "entitable changes shop.db orders --status\n"
        "entitable changes shop.db orders --group search --leave",
        [given](console& with) { return run(*given, with); });
    command.description(
        "Print the changes of a table, for a group that remembers its position.\n"
        "A line of JSON for each changed row names its keys, and whether it was written or removed; get reads the row. "
        "The line \"partition\" says that the whole partition must be read: when the group joins, and if its log was "
        "trimmed. A change counts as read once its line is written out, so that none is lost; after a crash some are "
        "printed again. The table must be declared with announced changes.");
    command.add_option("STORE", given->store, store_help)->required();
    command.add_option("TABLE", given->table, "Name of the table")->required();
    auto* const group = command.add_option("--group", given->group, "Who reads: letters, digits, - and _");
    auto* const follows =
        command.add_flag("--follow", given->follows, "Wait for further changes, until Ctrl-C; looks every 1 to 10 s");
    auto* const creates = command.add_flag("--create", given->creates, "Register the group, unless it is");
    command.add_flag("--from-now", given->from_now, "Print no partitions as a whole; a trimmed log is an error then");
    command.add_flag("--leave", given->leaves, "Remove the group and its position")
        ->excludes(follows)
        ->excludes(creates)
        ->needs(group);
    command.add_flag("--status", given->shows_status, "Show how far each group has read")
        ->excludes(follows)
        ->excludes(creates);
    command.add_flag("--yes", given->yes, "Leave without a question");
}

} // namespace tool
