// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../exchange/fleet_address.hpp"
#include "../exchange/progress.hpp"
#include "../text.hpp"
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <charconv>
#include <set>

namespace tool {

namespace {

struct shards_options {
    std::string store;
    std::string action;
    std::vector<std::string> words;
    bool dry_run{};
    bool yes{};
};

/// An action, its arguments, and how many there may be.
struct shards_action {
    std::string_view name;
    std::string_view arguments;
    std::string_view summary;
    std::size_t least;
    std::size_t most;
};

constexpr std::size_t any_number = 1'000;
constexpr shards_action actions[] = {
    {"status", "", "sizes of the stores, stores that are closed, rules", 0, 0},
    {"map", "", "which shard is in which store, a line each", 0, 0},
    {"make", "NUMBER STORE...", "makes a map of so many shards, by the hash of the PartitionKey", 2, any_number},
    {"make-ranges", "KEY,KEY... STORE...", "makes a map of ranges of partition keys, which can be split and merged", 2,
        any_number},
    {"move", "SHARD STORE", "moves a shard while programs use it; --dry-run shows the plan", 2, 2},
    {"cancel", "SHARD", "ends an unfinished move; the shard stays where it was", 1, 1},
    {"split", "SHARD [KEY]", "splits a range at a partition key, or in the middle", 1, 2},
    {"merge", "LOWER UPPER STORE", "merges two neighbouring ranges into a store", 3, 3},
    {"rebalance", "[STORE...]", "evens out the bytes with few moves, over new stores as well; --dry-run shows the plan",
        0, any_number},
    {"drain", "STORE", "moves all shards out of a store; --dry-run shows the plan", 1, 1},
    {"offline", "STORE REASON", "refuses reads and writes of a store", 2, 2},
    {"read-only", "STORE REASON", "refuses writes of a store", 2, 2},
    {"open", "STORE", "permits them again", 1, 1},
    {"pin", "RULE SHARD STORE...", "a rule: the shard stays in one of these stores", 3, any_number},
    {"unpin", "RULE", "removes a rule", 1, 1},
    {"verify", "", "reads every row; compares the stores with the map", 0, 0},
    {"sweep", "", "deletes misplaced rows and tables that verify reports", 0, 0},
    {"adopt", "", "marks the stores of a map of an earlier version with its identity", 0, 0},
    {"forget", "STORE", "gives up a store that is lost, with its rows", 1, 1},
};

entitable::result<std::int32_t> number_of(std::string const& word) {
    std::int32_t number = 0;
    auto const read = std::from_chars(word.data(), word.data() + word.size(), number);
    if (read.ec != std::errc{} || read.ptr != word.data() + word.size() || number < 0) {
        return refuse("\"" + printable(word) + "\" is not the number of a shard");
    }
    return number;
}

class administration {
public:
    administration(shards_options const& given, console& with) : given_(given), with_(with), line_(with) {}

    [[nodiscard]] outcome run() {
        shards_action const* const action = std::find_if(
            std::begin(actions), std::end(actions), [&](auto const& each) { return each.name == given_.action; });
        if (given_.words.size() < action->least || given_.words.size() > action->most) {
            with_.err << "entitable: the arguments are: shards STORE " << action->name << ' ' << action->arguments
                      << '\n';
            return exit_code::usage;
        }
        std::string const& name = given_.action;
        if (name == "make" || name == "make-ranges") { return make(); }
        bool const adds = name == "rebalance";
        ENTITABLE_TRY(auto const all, open_fleet(given_.store, adds ? given_.words : std::vector<std::string>{}));
        if (with_.handle_interrupt) { with_.handle_interrupt(); }
        auto done = act(all);
        line_.clear();
        if (!done && done.error().code == entitable::error_code::cancelled) {
            return refuse("interrupted; the same command continues, and shards STORE cancel SHARD undoes a move");
        }
        return done;
    }

private:
    [[nodiscard]] std::string const& word(std::size_t at) const { return given_.words[at]; }
    [[nodiscard]] std::vector<std::string> words_from(std::size_t at) const {
        return {given_.words.begin() + static_cast<std::ptrdiff_t>(at), given_.words.end()};
    }

    [[nodiscard]] outcome make() {
        ENTITABLE_TRY(auto const place, fleet_place_of(given_.store));
        std::optional<entitable::virtual_shards> shards;
        if (given_.action == "make") {
            ENTITABLE_TRY(std::int32_t const number, number_of(word(0)));
            if (number < 1 || static_cast<std::uint32_t>(number) > entitable::virtual_shards::most) {
                return refuse("the number of shards must be from 1 to 900");
            }
            shards = entitable::virtual_shards{static_cast<std::uint32_t>(number)};
        } else {
            std::vector<std::string> bounds;
            std::string_view rest = word(0);
            while (!rest.empty()) { bounds.emplace_back(entitable::text::take_part(rest, ',')); }
            shards = entitable::virtual_shards::ranges(std::move(bounds));
        }
        ENTITABLE_TRY(auto const catalogue, open_or_create_store(place.catalogue));
        auto const opens = [](std::string_view name) { return open_or_create_shard_store(name); };
        ENTITABLE_TRY(auto const map,
            entitable::lookup_map::make(catalogue, place.map, *std::move(shards), words_from(1), opens));
        ENTITABLE_TRY(std::string const text, map.to_string());
        with_.out << text;
        return exit_code::success;
    }
    /// Creates a file that does not exist.
    [[nodiscard]] static entitable::result<entitable::any_store> open_or_create_shard_store(std::string_view name) {
        std::string const address = address_of_shard_store(name);
        auto const path = path_of_file(address);
        return path ? open_or_create_store("file:" + *path) : open_store(address);
    }

    [[nodiscard]] outcome act(entitable::fleet const& all) {
        std::string const& name = given_.action;
        entitable::sharded const& cloud = all.cloud();
        if (name == "status") { return status(all); }
        if (name == "map") {
            ENTITABLE_TRY(std::string const text, cloud.map().to_string());
            with_.out << text;
            return exit_code::success;
        }
        if (name == "move" || name == "merge") { return move(cloud); }
        if (name == "cancel") {
            ENTITABLE_TRY(std::int32_t const shard, number_of(word(0)));
            ENTITABLE_TRY(auto const done, entitable::cancel_move(cloud, shard));
            with_.out << "shard " << shard << " is as before the move\n";
            return report_left(done);
        }
        if (name == "split") { return split(all); }
        if (name == "rebalance") {
            ENTITABLE_TRY(auto const plan,
                entitable::plan_rebalance(all, {.by = entitable::balance_by::bytes, .threshold = 1.1}));
            return make_moves(plan);
        }
        if (name == "drain") {
            ENTITABLE_TRY(auto const plan, entitable::plan_drain(all, word(0)));
            return make_moves(plan);
        }
        if (name == "offline" || name == "read-only" || name == "open") { return set_access(all); }
        if (name == "pin") {
            ENTITABLE_TRY(std::int32_t const shard, number_of(word(1)));
            ENTITABLE_CHECK(
                entitable::put_rule(cloud.map(), entitable::placement_rule::only(word(0), {shard}, words_from(2))));
            return exit_code::success;
        }
        if (name == "unpin") {
            ENTITABLE_CHECK(entitable::remove_rule(cloud.map(), word(0)));
            return exit_code::success;
        }
        if (name == "verify") { return look_over(all); }
        if (name == "sweep") { return sweep(all); }
        if (name == "adopt") {
            ENTITABLE_TRY(auto const adopted, entitable::adopt(cloud));
            with_.out << grouped(adopted.stores.size()) << " stores marked\n";
            return exit_code::success;
        }
        ENTITABLE_CHECK(confirm(with_, given_.yes, "Give up the rows of the store " + word(0) + " forever?"));
        ENTITABLE_TRY(auto const lost, entitable::forget_store(all, word(0), entitable::accepting_loss));
        with_.out << lost.to_string();
        return exit_code::success;
    }

    [[nodiscard]] outcome status(entitable::fleet const& all) {
        ENTITABLE_TRY(auto const sizes, entitable::sizes_of(all));
        with_.out << sizes.to_string();
        ENTITABLE_TRY(auto const rules, entitable::rules_of(all.cloud().map()));
        for (auto const& each : rules.all()) {
            with_.out << "rule \"" << printable(each.name) << "\": shards " << each.shards << ' ' << each.kind << ' '
                      << each.stores << '\n';
        }
        return exit_code::success;
    }

    [[nodiscard]] outcome report_left(entitable::move_progress const& done) {
        for (std::string const& each : done.left_in) {
            with_.err << "entitable: unused tables stay in " << each
                      << ", which did not respond; the next move of the shard drops them\n";
        }
        return exit_code::success;
    }

    [[nodiscard]] bool show(entitable::move_progress const& now) {
        line_.show(std::string{to_string(now.step)} + ": " + counted_rows(now.rows));
        return !with_.interrupted.cancelled();
    }

    [[nodiscard]] outcome move(entitable::sharded const& cloud) {
        ENTITABLE_TRY(std::int32_t const shard, number_of(word(0)));
        auto plan = [&]() -> entitable::result<entitable::move_plan> {
            if (given_.action == "move") { return entitable::plan_move(cloud, shard, word(1)); }
            ENTITABLE_TRY(std::int32_t const upper, number_of(word(1)));
            return entitable::plan_merge(cloud, shard, upper, word(2));
        }();
        if (!plan) { return entitable::failure{plan.error()}; }
        if (given_.dry_run) {
            with_.out << plan->to_string();
            return exit_code::success;
        }
        ENTITABLE_TRY(auto const done, plan->run([this](entitable::move_progress const& now) { return show(now); }));
        line_.clear();
        with_.out << counted_rows(done.rows) << (given_.action == "move" ? " moved\n" : " merged\n");
        return report_left(done);
    }

    [[nodiscard]] outcome split(entitable::fleet const& all) {
        ENTITABLE_TRY(std::int32_t const shard, number_of(word(0)));
        std::string key = given_.words.size() > 1 ? word(1) : std::string{};
        if (key.empty()) { ENTITABLE_TRY(key, entitable::split_key(all, shard)); }
        if (given_.dry_run) {
            with_.out << "shard " << shard << " would be split at \"" << printable(key) << "\"\n";
            return exit_code::success;
        }
        ENTITABLE_TRY(std::int32_t const upper, entitable::split_shard(all.cloud(), shard, key));
        with_.out << "shard " << upper << " has the keys from \"" << printable(key) << "\" on\n";
        return exit_code::success;
    }

    [[nodiscard]] outcome make_moves(entitable::rebalance_plan const& plan) {
        with_.out << plan.to_string();
        if (given_.dry_run) { return exit_code::success; }
        with_.out.flush();
        ENTITABLE_TRY(
            auto const done, plan.run([this](entitable::rebalance_progress const& now) { return show(now.current); }));
        line_.clear();
        with_.out << grouped(done.moved) << (done.moved == 1 ? " shard moved" : " shards moved");
        if (done.postponed != 0) {
            with_.out << ", " << grouped(done.postponed) << " postponed by maintenance windows";
        }
        with_.out << '\n';
        return exit_code::success;
    }

    [[nodiscard]] outcome set_access(entitable::fleet const& all) {
        bool const opens = given_.action == "open";
        auto const access = opens        ? entitable::store_access::open
            : given_.action == "offline" ? entitable::store_access::offline
                                         : entitable::store_access::read_only;
        ENTITABLE_TRY(std::size_t const shards,
            entitable::set_access(all, word(0), access, {opens ? std::string{} : word(1), {}}));
        with_.out << grouped(shards) << (shards == 1 ? " shard " : " shards ") << (opens ? "opened\n" : "closed\n");
        return exit_code::success;
    }

    [[nodiscard]] outcome look_over(entitable::fleet const& all) {
        ENTITABLE_TRY(auto const found, entitable::check_fleet(all));
        with_.out << found.to_string();
        ENTITABLE_TRY(auto const drift, entitable::schema_drift(all));
        for (auto const& each : drift) {
            with_.out << printable(each.table) << " in " << each.store << ": " << printable(each.text) << '\n';
        }
        return found.healthy() && drift.empty() ? exit_code::success : exit_code::failure;
    }

    [[nodiscard]] outcome sweep(entitable::fleet const& all) {
        ENTITABLE_CHECK(confirm(with_, given_.yes, "Delete the rows and tables that shards STORE verify reports?"));
        ENTITABLE_TRY(auto const rows, entitable::remove_misplaced(all));
        ENTITABLE_TRY(auto const removed, rows.whole());
        ENTITABLE_TRY(auto const drift, entitable::schema_drift(all, 0));
        ENTITABLE_TRY(auto const dropped, entitable::drop_orphaned_tables(all, drift));
        with_.out << counted_rows(removed.rows) << " deleted, " << grouped(dropped) << " tables dropped\n";
        return exit_code::success;
    }

    shards_options const& given_;
    console& with_;
    progress_line line_;
};

} // namespace

void add_shards(command_list& all) {
    auto given = std::make_shared<shards_options>();
    CLI::App& command = all.add("shards", "Operates a table over many stores: map, move, split, merge, rebalance",
        "entitable shards shards:env:CATALOGUE/map status\n"
        "entitable shards shards:catalogue.db/map make 48 east west\n"
        "entitable shards shards:env:CATALOGUE/map move 3 west\n"
        "entitable shards shards:env:CATALOGUE/map rebalance south --dry-run",
        [given](console& with) { return administration{*given, with}.run(); });
    std::string text =
        "Operates a table over many stores: map, move, split, merge, rebalance.\n"
        "The store NAME of a map is the address in the environment variable ENTITABLE_STORE_NAME. Maps that assign "
        "partitions by a function of a program are refused. After an interruption the same command continues.\n\n"
        "Actions:\n";
    std::vector<std::string> names;
    for (shards_action const& each : actions) {
        std::string const form =
            std::string{each.name} + (each.arguments.empty() ? "" : " ") + std::string{each.arguments};
        text +=
            "  " + form + std::string(form.size() < 28 ? 28 - form.size() : 1, ' ') + std::string{each.summary} + "\n";
        names.emplace_back(each.name);
    }
    command.description(text);
    command.add_option("STORE", given->store, "Address of the shard map: shards:CATALOGUE/MAP")->required();
    command.add_option("ACTION", given->action, "What to do")->required()->check(CLI::IsMember{names});
    command.add_option("ARGUMENTS", given->words, "Shards, stores and keys, as above");
    command.add_flag("--dry-run", given->dry_run, "Show the plan of a move, split, merge, rebalance or drain");
    command.add_flag("--yes", given->yes, "Delete without a question: for sweep and forget");
}

} // namespace tool
