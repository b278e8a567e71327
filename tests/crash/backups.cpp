// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A fleet on three files is backed up while a process writes to it and shards move, and restored into a fleet of another shape. The programs
// that back up and restore are killed at any time, and others continue.

#include <entitable/core/random.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/fleet.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/deadly.hpp>
#include <support/long.hpp>
#include <support/maps.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <map>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

/// The rows 0 and 9999 of a place have the same value, with many rows between them.
struct mark {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
    std::string text;
};
ENTITABLE(mark, partition_key(place), row_key(width(number, 4)), properties(value, text))

constexpr int places = 12;

struct seen_by_all {
    std::atomic<std::int32_t> written; ///< rounds that were acknowledged
    std::atomic<bool> over;
    std::atomic<int> wrong;
    std::atomic<std::uint64_t> kept; ///< shards that an earlier program has copied
};

file_options quick() {
    file_options options;
    options.durability = durability::relaxed; // the commits of a killed process are there
    options.busy_timeout = 20s;
    return options;
}

/// A fleet on files of a folder.
struct files {
    std::string folder;
    std::map<std::string, file_backend> opened;

    [[nodiscard]] file_backend const& at(std::string const& name) {
        auto const known = opened.find(name);
        return known != opened.end()
            ? known->second
            : opened.emplace(name, file_backend{folder + "/" + name + ".db", quick()}).first->second;
    }
    using passing = std::function<any_store(file_backend const&)>;
    [[nodiscard]] sharded open(
        std::string const& map, std::uint32_t shards, std::vector<std::string> const& stores, passing const& through) {
        return entitable_test::cloud_of(at(map), "shardmap", virtual_shards{shards}, stores, {30ms},
            [this, through](std::string_view name) -> result<any_store> { return through(at(std::string{name})); });
    }
    [[nodiscard]] sharded source() { return open("map", 6, {"one", "two", "three"}, as_it_is); }
    [[nodiscard]] fleet target(passing const& through = as_it_is) {
        return fleet{open("othermap", 4, {"four", "five"}, through), {.in_flight = 1}};
    }
    static any_store as_it_is(file_backend const& store) { return any_store{store}; }
};

void write_round(table<mark> const& marks, std::int32_t number) {
    for (int place = 0; place < places; ++place) {
        std::string const name = "p" + std::to_string(place);
        for (;;) {
            auto change = marks.batch();
            change.insert_or_replace({name, 0, number, "low"});
            change.insert_or_replace({name, 9999, number, "high"});
            change.insert_or_replace({name, number, number, std::string(300, 'x')});
            if (change.submit()) {
                break; // otherwise its shard is moved
            }
            std::this_thread::sleep_for(2ms);
        }
    }
}

/// Runs programs that end at one of their requests, each later than the one before; the last one runs to completion.
template <class Work, class Meanwhile>
void killed_and_gone_on(std::size_t kills, random_source& dice, Work const& work, Meanwhile const& meanwhile) {
    for (std::size_t kill = 0; kill <= kills; ++kill) {
        std::size_t const number = kill == kills ? SIZE_MAX : 15 * (kill + 1) + dice.bits() % 15;
        bool const behind = dice.bits() % 2 == 0;
        child_process one{[&] {
            std::size_t seen = 0;
            return work(
                [&](file_backend const& store) { return any_store{deadly{any_store{store}, &seen, number, behind}}; });
        }};
        meanwhile();
        bool const ended = one.succeeds(60s);
        CHECK((ended || kill < kills));
    }
}

} // namespace

TEST_CASE("backup: three files in use are backed up and restored, and a backup or restore that is killed at any time "
          "is continued") {
    for (std::uint64_t round = 1; round <= rounds(1, 20, 3); ++round) {
        CAPTURE(round);
        temporary_folder const folder{temporary_folder::memory()};
        std::string const path = folder.path().string();
        shared_memory<seen_by_all> const all;
        random_source dice{round};
        {
            files here{path, {}};
            table<mark> const marks{here.source(), "marks"};
            marks.create().value();
            for (std::int32_t number = 1; number <= 30; ++number) { write_round(marks, number); }
            all->written = 30;
        }
        child_process writer{[&] {
            files here{path, {}};
            table<mark> const marks{here.source(), "marks"};
            for (std::int32_t number = 31; !all->over; ++number) {
                write_round(marks, number);
                all->written = number;
                std::this_thread::sleep_for(10ms);
            }
            return true;
        }};
        std::int32_t const before = all->written;
        killed_and_gone_on(
            6, dice,
            [&](files::passing const& through) {
                files here{path, {}};
                int copies = 0;
                backup_options how;
                how.snapshot = [&](std::string_view name, any_store const&) -> result<any_store> {
                    std::string const copy =
                        path + "/copy" + std::to_string(::getpid()) + "_" + std::to_string(++copies) + ".db";
                    if (auto copied = here.at(std::string{name}).copy_to(copy); !copied) {
                        return std::move(copied).as_failure();
                    }
                    return any_store{file_backend{copy, quick()}};
                };
                auto const made =
                    back_up(fleet{here.source(), {.in_flight = 1}}, through(here.at("archive")), "hourly", how);
                all->kept += made ? made->kept : 0;
                bool const was_whole = !made && made.error().code == error_code::invalid_input;
                if (!made && !was_whole) { std::fprintf(stderr, "backup: %s\n", made.error().to_string().c_str()); }
                return made || was_whole;
            },
            [&] {
                files here{path, {}};
                auto const shard = static_cast<std::int32_t>(dice.bits() % 6);
                std::string const to = dice.bits() % 2 == 0 ? "one" : "three";
                move_options options;
                options.short_lease = 10ms;
                if (auto plan = plan_move(here.source(), shard, to, options)) { plan->run().value(); }
            });
        all->over = true;
        CHECK(writer.succeeds(30s));
        files here{path, {}};
        auto const verified = verify_backup(here.at("archive"), "hourly").value();
        CHECK(verified.rows >= static_cast<std::uint64_t>(places) * (static_cast<std::uint64_t>(before) + 2));

        killed_and_gone_on(
            4, dice,
            [&](files::passing const& through) {
                files there{path, {}};
                auto const done = restore(there.at("archive"), "hourly", there.target(through));
                if (!done) { std::fprintf(stderr, "restore: %s\n", done.error().to_string().c_str()); }
                return done.has_value();
            },
            [] {});
        fleet const restored_to = here.target();
        table<mark> const restored{restored_to.cloud(), "marks"};
        for (int place = 0; place < places; ++place) {
            std::string const name = "p" + std::to_string(place);
            auto const low = restored.get(name, 0).value().value;
            CHECK(low == restored.get(name, 9999).value().value); // a transaction is complete
            CHECK(low >= before);                                 // no earlier acknowledged write is missing
            CHECK(low <= all->written);
            CHECK(restored.where(fields<mark>::place == name).count().value() == static_cast<std::uint64_t>(low) + 2);
        }
        CHECK(check_fleet(restored_to).value().healthy());
        CHECK(all->kept > 0);
        std::printf("backup, kill -9: %llu rows, %llu shards kept from programs that were killed\n",
            static_cast<unsigned long long>(verified.rows), static_cast<unsigned long long>(all->kept));
    }
}
