// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// Run as a test with: --demo

/// \file
/// A tool for tables over many files: shows their state and runs the tasks of an operator.
///
///     shards FOLDER make NUMBER STORE...           a map of so many virtual shards, spread over stores: files of that name
///     shards FOLDER ranges BOUND,BOUND... STORE... the same by ranges of keys, which are split and merged later
///     shards FOLDER load TABLE ROWS                rows to play with
///     shards FOLDER status                         the map, sizes, what keeps clients out
///     shards FOLDER map                            which shards are where, a line each
///     shards FOLDER plan SHARD STORE               what a move would do
///     shards FOLDER move SHARD STORE               does it, while clients read and write
///     shards FOLDER split SHARD [KEY]              its range in two, at a key or in the middle
///     shards FOLDER merge LOWER UPPER STORE        two ranges side by side into one, while clients read and write
///     shards FOLDER rebalance [--dry-run] [STORE...]   evenly by bytes, with the least moved; over new stores as well
///     shards FOLDER drain STORE                    empties a store
///     shards FOLDER pin NAME SHARD STORE...        a rule: the shard stays in one of these stores
///     shards FOLDER offline|readonly STORE REASON  keeps clients out; 'open STORE' lets them in
///     shards FOLDER verify                         reads everything; compares stores with the map
///     shards FOLDER sweep                          removes what verify reports: misplaced rows, and tables that are left over
///     shards FOLDER adopt                          gives a map of an earlier version its identity, which every store has from then on
///     shards FOLDER forget STORE                   gives up a store that is gone for good: its shards begin with no row elsewhere
///     shards FOLDER backup NAME                    into the file NAME.backup, while clients write
///     shards FOLDER restore NAME TARGET            into the map of another folder
///
/// Exit codes, for scripts: 0 done; 1 there is work to do (verify found something, a dry run has moves); 2 an error, whose line is on
/// standard error; 64 wrong usage. A command that ended with 2 can be repeated: it continues.

#include <entitable/bulk.hpp>
#include <entitable/core/try.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/fleet.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

namespace {

using entitable::result;

struct reading {
    std::string sensor;
    std::int32_t number{};
    double value{};
};
ENTITABLE(reading, partition_key(sensor), row_key(width(number, 6)), properties(value))

constexpr int done = 0;
constexpr int look_at_it = 1;
constexpr int failed = 2;
constexpr int used_wrongly = 64;

class tool {
public:
    explicit tool(std::filesystem::path folder) : folder_(std::move(folder)) {}

    [[nodiscard]] result<int> run(std::vector<std::string> const& words) {
        std::size_t const given = words.size() - 1;
        std::string const& verb = words[0];
        if ((verb == "make" || verb == "ranges") && given >= 2) {
            entitable::lookup_map_options options;
            options.lease =
                std::chrono::milliseconds{50}; // a minute by default; the demonstration does not wait that long
            auto shards = verb == "make" ? entitable::virtual_shards{static_cast<std::uint32_t>(number(words[1]))}
                                         : entitable::virtual_shards::ranges(bounds(words[1]));
            ENTITABLE_CHECK(entitable::lookup_map::make(store("catalogue"), "shardmap", std::move(shards),
                {words.begin() + 2, words.end()}, opener(), options));
            return done;
        }
        ENTITABLE_TRY(auto const all, open());
        if (verb == "load" && given == 2) { return load(all, words[1], number(words[2])); }
        if (verb == "status" && given == 0) { return status(all); }
        if (verb == "map" && given == 0) {
            ENTITABLE_TRY(auto const map, all.cloud().map().to_string());
            std::printf("%s", map.c_str());
            return done;
        }
        if ((verb == "plan" || verb == "move") && given == 2) {
            ENTITABLE_TRY(
                auto plan, entitable::plan_move(all.cloud(), static_cast<std::int32_t>(number(words[1])), words[2]));
            if (verb == "plan") {
                std::printf("%s", plan.to_string().c_str());
                return done;
            }
            ENTITABLE_TRY(auto const moved, plan.run());
            std::printf("%llu rows moved\n", static_cast<unsigned long long>(moved.rows));
            return done;
        }
        if (verb == "split" && (given == 1 || given == 2)) { return split(all, words); }
        if (verb == "merge" && given == 3) {
            ENTITABLE_TRY(auto plan,
                entitable::plan_merge(all.cloud(), static_cast<std::int32_t>(number(words[1])),
                    static_cast<std::int32_t>(number(words[2])), words[3]));
            ENTITABLE_TRY(auto const merged, plan.run());
            std::printf("%llu rows merged\n", static_cast<unsigned long long>(merged.rows));
            return done;
        }
        if (verb == "rebalance") { return rebalance({words.begin() + 1, words.end()}); }
        if (verb == "drain" && given == 1) {
            ENTITABLE_TRY(auto const plan, entitable::plan_drain(all, words[1]));
            return make_moves(plan);
        }
        if (verb == "pin" && given >= 3) {
            ENTITABLE_CHECK(entitable::put_rule(all.cloud().map(),
                entitable::placement_rule::only(
                    words[1], {static_cast<std::int32_t>(number(words[2]))}, {words.begin() + 3, words.end()})));
            return done;
        }
        if ((verb == "offline" || verb == "readonly") && given == 2) {
            ENTITABLE_TRY(auto const shards,
                entitable::set_access(all, words[1],
                    verb == "offline" ? entitable::store_access::offline : entitable::store_access::read_only,
                    {words[2], {}}));
            std::printf("%zu shards closed\n", shards);
            return done;
        }
        if (verb == "open" && given == 1) {
            ENTITABLE_TRY(auto const shards, entitable::set_access(all, words[1], entitable::store_access::open));
            std::printf("%zu shards opened\n", shards);
            return done;
        }
        if (verb == "verify" && given == 0) { return look_over(all); }
        if (verb == "adopt" && given == 0) {
            ENTITABLE_TRY(auto const adopted, entitable::adopt(all.cloud()));
            std::printf("%zu stores marked\n", adopted.stores.size());
            return done;
        }
        if (verb == "forget" && given == 1) {
            ENTITABLE_TRY(auto const lost, entitable::forget_store(all, words[1], entitable::accepting_loss));
            std::printf("%s", lost.to_string().c_str());
            return done;
        }
        if (verb == "sweep" && given == 0) { return sweep(all); }
        if (verb == "backup" && given == 1) { return backup(all, words[1]); }
        if (verb == "restore" && given == 2) {
            tool target{words[2]};
            ENTITABLE_TRY(auto const into, target.open());
            ENTITABLE_TRY(auto const told, entitable::restore(store(words[1] + ".backup"), words[1], into));
            std::printf("%llu rows restored and compared\n", static_cast<unsigned long long>(told.rows));
            return done;
        }
        return used_wrongly;
    }

private:
    [[nodiscard]] entitable::any_store store(std::string const& name) const {
        entitable::file_options options;
        options.durability = entitable::durability::relaxed;
        return entitable::any_store{entitable::file_backend{(folder_ / (name + ".db")).string(), options}};
    }
    [[nodiscard]] entitable::store_opener opener() const {
        return [self = *this](
                   std::string_view name) -> result<entitable::any_store> { return self.store(std::string{name}); };
    }
    [[nodiscard]] static unsigned long number(std::string const& word) {
        return std::strtoul(word.c_str(), nullptr, 10);
    }

    /// Virtual shards are fixed when the map is created; ranges are rows of the map.
    [[nodiscard]] result<entitable::fleet> open(std::vector<std::string> new_stores = {}) const {
        auto const catalogue = store("catalogue");
        ENTITABLE_TRY(auto const header,
            entitable::table<entitable::shard_map_header>(catalogue, "shardmap").get("map", "header"));
        ENTITABLE_TRY(auto map,
            entitable::lookup_map::open(catalogue, "shardmap",
                header.strategy == "ranges" ? entitable::virtual_shards::ranges()
                                            : entitable::virtual_shards{static_cast<std::uint32_t>(header.number)}));
        return entitable::fleet{entitable::sharded{std::move(map), opener()}, {.stores = std::move(new_stores)}};
    }

    /// "a,b,c", in turn.
    [[nodiscard]] static std::vector<std::string> bounds(std::string const& words) {
        std::vector<std::string> all;
        for (std::size_t begin = 0; begin < words.size();) {
            std::size_t const end = (std::min)(words.find(',', begin), words.size());
            all.push_back(words.substr(begin, end - begin));
            begin = end + 1;
        }
        return all;
    }
    static result<int> split(entitable::fleet const& all, std::vector<std::string> const& words) {
        auto const shard = static_cast<std::int32_t>(number(words[1]));
        std::string key = words.size() > 2 ? words[2] : std::string{};
        if (key.empty()) { ENTITABLE_TRY(key, entitable::split_key(all, shard)); }
        ENTITABLE_TRY(auto const upper, entitable::split_shard(all.cloud(), shard, key));
        std::printf("shard %d has the keys from \"%s\" on\n", static_cast<int>(upper), key.c_str());
        return done;
    }

    static result<int> load(entitable::fleet const& all, std::string const& table, unsigned long rows) {
        entitable::table<reading> const readings{all.cloud(), table};
        ENTITABLE_CHECK(readings.create_if_absent());
        std::vector<reading> made;
        for (unsigned long row = 0; row < rows; ++row) {
            made.push_back(
                {"sensor " + std::to_string(row % 97), static_cast<std::int32_t>(row), 0.5 * static_cast<double>(row)});
        }
        ENTITABLE_TRY(
            auto const report, entitable::bulk_insert(readings, made, {.wait_budget = std::chrono::seconds{1}}));
        ENTITABLE_CHECK(report.all()); // an error if a row was refused
        std::printf("%llu rows written\n", static_cast<unsigned long long>(report.written));
        return done;
    }

    static result<int> status(entitable::fleet const& all) {
        ENTITABLE_TRY(auto const sizes, entitable::sizes_of(all));
        std::printf("%s", sizes.to_string().c_str());
        ENTITABLE_TRY(auto const map, all.cloud().map().state().fresh({}));
        std::set<std::string> told;
        for (auto const& each : map->places) {
            if (each.row.state != "open" && told.insert(each.row.store).second) {
                std::printf("%s is %s: %s\n", each.row.store.c_str(),
                    each.row.state == "sealed" ? "offline" : "read-only", each.row.reason.c_str());
            }
        }
        ENTITABLE_TRY(auto const rules, entitable::rules_of(all.cloud().map()));
        for (auto const& each : rules.all()) {
            std::printf("rule \"%s\": shards %s %s %s\n", each.name.c_str(), each.shards.c_str(), each.kind.c_str(),
                each.stores.c_str());
        }
        return done;
    }

    static result<int> make_moves(entitable::rebalance_plan const& plan) {
        std::printf("%s", plan.to_string().c_str());
        ENTITABLE_TRY(auto const told, plan.run());
        std::printf("%zu shards moved\n", told.moved);
        return done;
    }
    [[nodiscard]] result<int> rebalance(std::vector<std::string> words) const {
        bool const dry = std::erase(words, "--dry-run") > 0;
        ENTITABLE_TRY(auto const all, open(words));
        ENTITABLE_TRY(
            auto const plan, entitable::plan_rebalance(all, {.by = entitable::balance_by::bytes, .threshold = 1.1}));
        if (dry) {
            std::printf("%s", plan.to_string().c_str());
            return plan.moves.empty() ? done : look_at_it;
        }
        return make_moves(plan);
    }

    static result<int> look_over(entitable::fleet const& all) {
        ENTITABLE_TRY(auto const found, entitable::check_fleet(all));
        std::printf("%s", found.to_string().c_str());
        ENTITABLE_TRY(auto const drift, entitable::schema_drift(all));
        for (auto const& each : drift) {
            std::printf("%s in %s: %s\n", each.table.c_str(), each.store.c_str(), each.text.c_str());
        }
        return found.healthy() && drift.empty() ? done : look_at_it;
    }

    static result<int> sweep(entitable::fleet const& all) {
        ENTITABLE_TRY(auto const outcome, entitable::remove_misplaced(all));
        ENTITABLE_TRY(auto const removed, outcome.whole());
        ENTITABLE_TRY(auto const drift, entitable::schema_drift(all, 0));
        ENTITABLE_TRY(auto const dropped, entitable::drop_orphaned_tables(all, drift));
        std::printf("%llu rows removed, %zu tables dropped\n", static_cast<unsigned long long>(removed.rows), dropped);
        return done;
    }

    /// Every store is copied as it is at one moment, and the copy is read.
    [[nodiscard]] result<int> backup(entitable::fleet const& all, std::string const& name) const {
        std::vector<std::filesystem::path> copies;
        std::mutex lock;
        entitable::backup_options options;
        options.snapshot = [&](std::string_view of, entitable::any_store const&) -> result<entitable::any_store> {
            auto const path = folder_ / (std::string{of} + "." + entitable::guid::random().to_string());
            {
                std::lock_guard<std::mutex> const guard{lock};
                copies.push_back(path);
            }
            ENTITABLE_TRY(
                auto const file, entitable::file_backend::open((folder_ / (std::string{of} + ".db")).string()));
            ENTITABLE_CHECK(file.copy_to(path.string()));
            ENTITABLE_TRY(auto copied, entitable::file_backend::open(path.string()));
            return entitable::any_store{copied};
        };
        auto const told = entitable::back_up(all, store(name + ".backup"), name, options);
        for (auto const& each : copies) {
            for (auto const* suffix : {"", "-wal", "-shm", "-lock"}) {
                std::filesystem::remove(each.string() + suffix);
            }
        }
        if (!told) { return entitable::failure{told.error()}; }
        std::printf("%llu rows in %zu parts, each file as at one moment\n", static_cast<unsigned long long>(told->rows),
            told->parts.size());
        return done;
    }

    std::filesystem::path folder_;
};

int run(std::string const& folder, std::vector<std::string> const& words) {
    auto const told = tool{folder}.run(words);
    if (told) { return *told; }
    std::fprintf(stderr, "%s\n", told.error().to_string().c_str());
    return failed;
}

/// A day with three files that become four, in a folder that is removed at the end.
int demonstrate() {
    auto const folder = std::filesystem::temp_directory_path() / ("shards-" + std::to_string(std::random_device{}()));
    std::filesystem::create_directories(folder / "spare");
    std::filesystem::create_directories(folder / "logs");
    auto const type = [&](std::string const& where, std::vector<std::string> const& words) {
        std::printf("$ shards %s", where.c_str());
        for (std::string const& each : words) {
            std::printf(each.find(' ') == std::string::npos ? " %s" : " '%s'", each.c_str());
        }
        std::printf("\n");
        auto typed = words;
        if (words[0] == "restore") { typed[2] = (folder / words[2]).string(); }
        int const code = run((folder / where).string(), typed);
        if (code != done) { std::printf("[exit code %d]\n", code); }
    };
    type(".", {"make", "12", "east", "west", "north"});
    type(".", {"load", "readings", "3000"});
    type(".", {"status"});
    type(".", {"plan", "3", "west"});
    type(".", {"move", "3", "west"});
    type(".", {"pin", "by law", "4", "west"});
    type(".", {"move", "4", "east"}); // refused by the rule
    type(".", {"rebalance", "--dry-run", "south"});
    type(".", {"rebalance", "south"});
    type(".", {"rebalance", "--dry-run"});
    type(".", {"backup", "nightly"});
    type(".", {"offline", "north", "its disk is replaced"});
    type(".", {"load", "readings", "3000"}); // rows of an offline store are refused
    type(".", {"status"});
    type(".", {"open", "north"});
    type(".", {"drain", "north"});
    type(".", {"verify"});
    type("spare", {"make", "5", "one", "two"});
    type(".", {"restore", "nightly", "spare"});
    type("spare", {"verify"});
    type("logs", {"ranges", "sensor 3,sensor 6", "one", "two"});
    type("logs", {"load", "readings", "3000"});
    type("logs", {"split", "2"});
    type("logs", {"move", "3", "three"});
    type("logs", {"merge", "0", "1", "one"});
    type("logs", {"split", "0", "sensor 7"}); // not a key of it
    type("logs", {"map"});
    type("logs", {"sweep"});
    type("logs", {"verify"});
    type("logs", {"make", "3", "one"}); // there is one
    type("logs", {"adopt"});            // it has an identity from the start
    std::printf("$ rm logs/three.db\n");
    for (auto const* suffix : {".db", ".db-wal", ".db-shm", ".db-lock"}) {
        std::filesystem::remove(folder / "logs" / (std::string{"three"} + suffix));
    }
    type("logs", {"load", "readings", "3000"}); // no store mistakes the file for a new one
    type("logs", {"verify"});
    type("logs", {"forget", "three"});
    type("logs", {"verify"});
    std::filesystem::remove_all(folder);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string> const words{argv + 1, argv + argc};
    if (words.size() == 1 && words[0] == "--demo") { return demonstrate(); }
    int const code = words.size() < 2 ? used_wrongly : run(words[0], {words.begin() + 1, words.end()});
    if (code == used_wrongly) {
        std::fprintf(stderr,
            "shards FOLDER "
            "make|ranges|load|status|map|plan|move|split|merge|rebalance|drain|pin|offline|readonly|open|verify|sweep|"
            "adopt|forget|backup|"
            "restore "
            "...\n");
    }
    return code;
}
