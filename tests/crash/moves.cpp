// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Three files hold the shards of one table. Four processes: two write, one reads with continuation tokens, one moves shards from file to file and is
// killed at any time; another one takes over. Answers get lost. Every write that was acknowledged is there once, and none that was removed comes back.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/fleet.hpp>
#include <entitable/retrying.hpp>
#include <entitable/shards.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/lossy.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <map>
#include <optional>
#include <set>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

/// Rows with negative numbers never change. The others have one writer each, which gives them ascending values.
struct entry {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(entry, partition_key(place), row_key(number), properties(value))

constexpr std::int32_t places = 12;
constexpr std::int32_t numbers = 6; ///< of each writer in each place
constexpr std::int32_t writers = 2;
constexpr std::int32_t keys = writers * places * numbers;
constexpr std::int32_t shards = 3;
constexpr char const* files[] = {"alpha", "beta", "gamma"};

std::string place_of(std::int32_t key) { return "place" + std::to_string(key % places); }
std::int32_t number_of(std::int32_t key) { return key / places; }
/// In turns a row is put in, counted up twice, and removed.
constexpr bool is_there(std::int64_t value) { return value % 4 != 0; }

/// What all processes see.
struct seen_by_all {
    std::atomic<std::int64_t> told[keys];  ///< the last value that was acknowledged; 0 and every fourth are no row
    std::atomic<std::int64_t> tried[keys]; ///< the one that is written now
    std::atomic<std::uint64_t> writes, scans, pages, moves, taken_over;
    std::atomic<std::int32_t> moving; ///< the shard that the mover has
    std::atomic<bool> over;
    std::atomic<int> wrong;
};

void complain(seen_by_all& all, std::string const& what) {
    if (++all.wrong < 10) {
        std::fprintf(stderr, "moves: %s\n", what.c_str());
    }
}

/// One program's way to the files. One thread.
struct way {
    random_source dice;
    std::map<std::string, any_transport> opened;
    std::optional<sharded> cloud;

    way(std::string const& folder, std::uint64_t seed, bool loses) : dice(seed) {
        store_opener const open = [this, folder, loses](std::string_view name) -> result<any_transport> {
            auto const known = opened.find(std::string{name});
            if (known != opened.end()) {
                return known->second;
            }
            file_options relaxed;
            relaxed.durability = durability::relaxed; // what a killed process has committed is there
            relaxed.busy_timeout = 20s;
            any_transport made{file_backend{folder + "/" + std::string{name} + ".db", relaxed}};
            if (loses) {
                made = any_transport{lossy{made, &dice}};
            }
            return opened.emplace(name, made).first->second;
        };
        for (;;) { // the map may be behind a lost answer
            std::vector<std::string> const stores{"alpha", "beta", "gamma"};
            any_transport const catalogue = open("alpha").value();
            auto map = lookup_map::open(catalogue, "shardmap", virtual_shards{shards}, {60ms});
            if (!map) {
                map = lookup_map::make(catalogue, "shardmap", virtual_shards{shards}, stores, open, {60ms});
            }
            if (map) {
                cloud.emplace(*std::move(map), open);
                return;
            }
        }
    }
};

/// What a writer finds when it does not know: by then nothing of its own is on the way.
void look_again(table<entry> const& entries, seen_by_all& all, std::int32_t key) {
    for (;;) {
        auto const found = entries.get(place_of(key), number_of(key));
        auto const at = static_cast<std::size_t>(key);
        std::int64_t const told = all.told[at];
        std::int64_t const tried = all.tried[at];
        if (found) {
            if (found->value != told && found->value != tried) {
                complain(all,
                    "a row has a value of another time, " + std::to_string(found->value) + " and not " +
                        std::to_string(told) + " or " + std::to_string(tried));
            }
            all.tried[at] = found->value;
            all.told[at] = found->value;
            return;
        }
        if (found.error().code == error_code::resource_not_found) {
            if (is_there(told) && is_there(tried)) {
                complain(all, "a row is lost that was " + std::to_string(told));
            }
            std::int64_t const now = is_there(told) ? tried : told;
            all.tried[at] = now;
            all.told[at] = now;
            return;
        }
    }
}

/// Writes until all is over.
void write_on(std::string const& folder, seen_by_all& all, std::uint64_t seed, std::int32_t own) {
    way here{folder, seed, true};
    retrying_options settled;
    settled.operation_rows = true;
    settled.quota = 0;
    settled.seed = seed;
    settled.policy = retry_policy::fixed(60, 20ms);
    table<entry> const entries{retrying{any_transport{*here.cloud}, settled}, "entries"};
    random_source dice{seed};
    for (std::int32_t key = own; key < keys; key += writers) {
        look_again(entries, all, key);
    }
    while (!all.over) {
        auto const key = static_cast<std::int32_t>(dice.bits() % (keys / writers)) * writers + own;
        auto const at = static_cast<std::size_t>(key);
        std::int64_t const before = all.told[at];
        entry const next{place_of(key), number_of(key), before + 1};
        all.tried[at] = next.value;
        auto const wrong_one = [&](error const& why) {
            return why.code == error_code::entity_already_exists || why.code == error_code::resource_not_found;
        };
        result<void> done;
        if (!is_there(next.value)) {
            auto removed = entries.remove(next.place, next.number, any_etag);
            done = removed ? result<void>{} : result<void>{std::move(removed).as_failure()};
        } else if (!is_there(before)) {
            auto inserted = entries.insert(next);
            done = inserted ? result<void>{} : result<void>{std::move(inserted).as_failure()};
        } else { // counted up from what is there: a write that is applied twice shows
            auto counted = entries.update(next.place, next.number, [](entry& each) { ++each.value; });
            done = counted ? result<void>{} : result<void>{std::move(counted).as_failure()};
        }
        if (done) {
            all.told[at] = next.value;
            ++all.writes;
        } else {
            if (done.error().effect == effect::none && wrong_one(done.error())) {
                complain(all, "a write of " + std::to_string(next.value) + " found " + done.error().to_string());
            }
            look_again(entries, all, key);
        }
    }
}

/// Reads until all is over: rows by their keys, and all rows in pages, by tokens that another program goes on with.
void read_on(std::string const& folder, seen_by_all& all, std::uint64_t seed) {
    way one{folder, seed, false};
    way other{folder, seed, false};
    while (!all.over) {
        for (int time = 0; time < 20; ++time) {
            auto const key = static_cast<std::int32_t>(one.dice.bits() % keys);
            std::int64_t const least = all.told[static_cast<std::size_t>(key)];
            auto const found = table<entry>{*one.cloud, "entries"}.get(place_of(key), number_of(key));
            std::int64_t const most = all.tried[static_cast<std::size_t>(key)];
            bool explained = found && found->value >= least && found->value <= most;
            if (!found) {
                explained = found.error().code != error_code::resource_not_found;
                for (std::int64_t value = least; value <= most; ++value) {
                    explained = explained || !is_there(value);
                }
            }
            if (!explained) {
                complain(all,
                    "a row was read as " + (found ? std::to_string(found->value) : std::string{"none"}) + ", and is " +
                        std::to_string(least) + " to " + std::to_string(most));
            }
        }
        std::set<std::pair<std::string, std::string>> met;
        std::pair<std::string, std::string> last;
        std::string token;
        int fixed = 0;
        for (bool more = true; more && !all.over;) {
            way& by = one.dice.bits() % 2 == 0 ? one : other;
            auto const query = table<entry>{*by.cloud, "entries"}.scan_table().page_size(7);
            auto page = token.empty() ? query.pages().next() : query.resume(token).pages().next();
            if (!page) {
                std::this_thread::sleep_for(5ms); // a shard that is sealed
                continue;
            }
            ++all.pages;
            if (!*page) { // nothing behind the last token
                break;
            }
            for (entry const& each : **page) {
                std::pair<std::string, std::string> const key{each.place, row_key_of(each).value()};
                if (!met.insert(key).second || !(last < key)) {
                    complain(all, "a scan gave a row twice, or not in order");
                }
                last = key;
                fixed += each.number < 0 ? 1 : 0;
            }
            more = (*page)->token.has_value();
            token = more ? *(*page)->token : token;
        }
        if (!all.over) {
            ++all.scans;
            if (fixed != places * 2) {
                complain(all, "a scan gave " + std::to_string(fixed) + " rows of those that are there all the time");
            }
        }
    }
}

/// Moves shards until it is killed, first the one that the last mover had.
void move_on(std::string const& folder, seen_by_all& all, std::uint64_t seed) {
    way here{folder, seed, true};
    for (;;) {
        auto const shard = all.moving.load();
        auto const owner = here.cloud->map().to_string();
        if (owner && owner->find(" " + std::to_string(shard) + " -> ") == std::string::npos) {
            complain(all, "the map has lost a shard");
        }
        move_options options;
        options.short_lease = 20ms;
        options.page_size = 50;
        auto plan = plan_move(*here.cloud, shard, files[here.dice.bits() % 3], options);
        auto const done = plan ? plan->run() : result<move_progress>{std::move(plan).as_failure()};
        if (done) {
            ++all.moves;
            all.moving = static_cast<std::int32_t>(here.dice.bits() % shards);
        } else if (done.error().code == error_code::row_mismatch) {
            complain(all, done.error().to_string());
        } else if (done.error().code == error_code::shard_moving) {
            ++all.taken_over;
        }
    }
}

constexpr std::size_t kills = 10;

void run_round(std::uint64_t round) {
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder.path().string();
    shared_memory<seen_by_all> const all;
    {
        way here{path, 1, false};
        table<entry> const entries{*here.cloud, "entries"};
        entries.create().value();
        for (std::int32_t place = 0; place < places; ++place) {
            entries.insert({place_of(place), -1, 7}).value();
            entries.insert({place_of(place), -2, 7}).value();
        }
    }
    std::optional<child_process> writing[writers];
    std::optional<child_process> reading;
    std::optional<child_process> moving;
    auto const write = [&](std::int32_t own, std::uint64_t seed) {
        writing[own].reset(); // kill -9
        writing[own].emplace([&, own, seed] {
            write_on(path, *all, seed, own);
            return true;
        });
    };
    reading.emplace([&] {
        read_on(path, *all, round * 10'000 + 9);
        return true;
    });
    for (std::int32_t own = 0; own < writers; ++own) {
        write(own, round * 10'000 + static_cast<std::uint64_t>(own) + 10);
    }
    random_source dice{round};
    for (std::size_t kill = 0; kill < kills; ++kill) {
        std::optional<child_process> next;
        auto const begin = [&] {
            next.emplace([&, seed = round * 10'000 + 1000 + kill] {
                move_on(path, *all, seed);
                return true;
            });
        };
        if (kill % 3 == 1) { // two at once for a while
            begin();
            std::this_thread::sleep_for(std::chrono::milliseconds{dice.bits() % 40});
            moving.reset();
        } else {
            moving.reset(); // kill -9
            begin();
        }
        moving.emplace(*std::move(next));
        std::this_thread::sleep_for(std::chrono::milliseconds{20 + dice.bits() % 400});
        if (kill % 5 == 4) {
            write(static_cast<std::int32_t>(kill / 5 % writers), round * 10'000 + 2000 + kill);
        }
    }
    auto const moved = all->moves.load();
    for (int wait = 0; all->moves < moved + 2 && wait < 2000; ++wait) {
        std::this_thread::sleep_for(10ms); // the last one is left alone
    }
    moving.reset();
    way here{path, 2, false};
    for (std::int32_t shard = 0; shard < shards; ++shard) {
        cancel_move(*here.cloud, shard).value();
    }
    all->over = true;
    for (auto& each : writing) {
        CHECK(each->succeeds(60s));
    }
    CHECK(reading->succeeds(60s));
    CHECK(all->wrong == 0);

    table<entry> const entries{*here.cloud, "entries"};
    std::size_t expected = places * 2;
    for (std::int32_t key = 0; key < keys; ++key) {
        std::int64_t const told = all->told[static_cast<std::size_t>(key)];
        CAPTURE(key, told);
        auto const found = entries.get(place_of(key), number_of(key));
        CHECK(all->tried[static_cast<std::size_t>(key)] == told);
        CHECK((found ? found->value : 0) == (is_there(told) ? told : 0));
        expected += is_there(told) ? 1 : 0;
    }
    CHECK(entries.scan_table().to().value().size() == expected);
    fleet const stores{*here.cloud};
    auto const swept = drop_left_over(stores, schema_drift(stores, 0).value()).value();
    std::size_t tables = 0;
    for (auto const& [name, store] : here.opened) {
        call context;
        tables += store.execute(list_tables{}, context).value().tables.size();
    }
    CHECK(tables == shards + 1 + 3); // the map and what each store says it is: whatever was begun and left is dropped
    std::printf("moves, kill -9: %zu movers, %llu moves done, %llu taken over, %zu tables swept, %llu writes, %llu "
                "scans of %llu "
                "pages\n",
        kills, static_cast<unsigned long long>(all->moves), static_cast<unsigned long long>(all->taken_over), swept,
        static_cast<unsigned long long>(all->writes), static_cast<unsigned long long>(all->scans),
        static_cast<unsigned long long>(all->pages));
    CHECK(all->moves >= 2); // the last mover is not killed before
    CHECK(all->scans > 0);
}

} // namespace

TEST_CASE("shards: four processes on three files, the mover killed: what was acknowledged is there once") {
    for (std::uint64_t round = 1; round <= rounds(1, 10, 2); ++round) {
        CAPTURE(round);
        run_round(round);
    }
}
