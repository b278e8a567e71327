// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The cost of shards: routing a key compared with its hash and one load; merged pages compared with pages of one store; a fan-out to
// slow stores, on a manual clock; an offline move compared with a copy by hand. Best of rounds in turn.
//   g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/shards.cpp -o shards -lsqlite3 -lpthread && ./shards

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <benchmarks/support/count_allocations.hpp>
#include <benchmarks/support/measure.hpp>
#include <support/delayed.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string_view>

using namespace entitable;

namespace {

/// Stores by name, created on first use.
struct stores {
    std::shared_ptr<std::map<std::string, any_store, std::less<>>> all =
        std::make_shared<std::map<std::string, any_store, std::less<>>>();
    std::function<any_store(std::string_view)> make = [](std::string_view) { return any_store{memory_backend{}}; };

    [[nodiscard]] sharded open(
        std::uint32_t number, lookup_map_options const& lease = {}, sharded_options const& how = {}) const {
        auto const open = [copy = *this](std::string_view name) -> result<any_store> {
            auto const at = copy.all->find(name);
            return at != copy.all->end() ? at->second
                                         : copy.all->emplace(std::string{name}, copy.make(name)).first->second;
        };
        auto const map = lookup_map::make(
            memory_backend{}, "shardmap", virtual_shards{number}, {"one", "two", "three"}, open, lease);
        return sharded{map.value(), open, how};
    }
};

row numbered(std::size_t partition, std::size_t number) {
    row_builder made{
        "customer-" + std::to_string(100'000 + partition * 7919 % 90'000), std::to_string(1'000'000 + number)};
    made.add("name", value_view{std::string_view{"a name of some length"}});
    made.add("age", value_view{static_cast<std::int32_t>(number)});
    made.add("note",
        value_view{std::string_view{"something that somebody wrote about somebody else, of eighty characters or so"}});
    return made.build();
}

constexpr std::size_t partitions = 2'000;
constexpr std::size_t rows_of_one = 10;

void fill(any_store const& into) {
    call context;
    into.execute(create_table{"orders"}, context).value();
    for (std::size_t partition = 0; partition < partitions; ++partition) {
        transact batch{"orders", {}};
        for (std::size_t number = 0; number < rows_of_one; ++number) {
            batch.changes.push_back(mutation::insert(numbered(partition, number)));
        }
        call own;
        into.execute(batch, own).value();
    }
}

std::size_t read_all(any_store const& from, std::size_t& pages, std::size_t& longest_token) {
    query_entities asked{"orders", {}, {}, {}, 1000, {}};
    std::size_t rows = 0;
    do {
        call context;
        auto page = from.execute(asked, context).value();
        rows += page.rows.size();
        ++pages;
        asked.continuation = std::move(page.continuation);
        longest_token = std::max(longest_token, asked.continuation ? asked.continuation->size() : 0);
    } while (asked.continuation);
    return rows;
}

void routing() {
    constexpr std::uint32_t number = 48;
    constexpr std::size_t keys = 4096;
    sharded const cloud = stores{}.open(number);
    call context;
    cloud.execute(create_table{"orders"}, context).value();
    auto& state = cloud.state();
    std::vector<std::string> all;
    for (std::size_t at = 0; at < keys; ++at) {
        all.push_back("customer-" + std::to_string(10'000'000'000 + at * 104'729)); // 20 bytes
    }
    std::array<std::string const*, number> table{};
    auto const held = state.map.state().fresh({}).value();
    for (std::size_t at = 0; at < number; ++at) { table[at] = &held->places[at].row.store; }
    volatile std::size_t sink = 0;
    volatile std::uint32_t const told = number; // as in a program, unknown to the compiler
    std::uint32_t const count = told;
    constexpr std::size_t rounds = 200;
    auto const by_hand = [&] {
        return measure::timed(rounds * keys, [&] {
            std::size_t sum = 0;
            for (std::size_t round = 0; round < rounds; ++round) {
                for (std::string const& key : all) { sum += table[shard_hash(key) % count]->size(); }
            }
            sink = sink + sum;
        });
    };
    measure::compare("key to store", 1.3, 21, by_hand, [&] {
        return measure::timed(rounds * keys, [&] {
            std::size_t sum = 0;
            for (std::size_t round = 0; round < rounds; ++round) {
                for (std::string const& key : all) {
                    sum += (*state.map.state().place_of(*held, key))->row.store.size();
                }
            }
            sink = sink + sum;
        });
    });
    measure::compare("  and the lease, and the table", 1.3, 21, by_hand, [&] {
        return measure::timed(keys, [&] {
            std::size_t sum = 0;
            for (std::string const& key : all) {
                sum += state.route(*state.map.state().keys_of(key), "orders", false, context).value().store().size();
            }
            sink = sink + sum;
        });
    });
    auto const before = measure::allocations.load();
    for (std::string const& key : all) {
        sink = sink + state.route(*state.map.state().keys_of(key), "orders", false, context).value().store().size();
    }
    std::printf("  allocations of a way: %.2f   limit 0\n",
        static_cast<double>(measure::allocations.load() - before) / static_cast<double>(keys));

    memory_backend const alone;
    fill(alone);
    sharded const filled = stores{}.open(number);
    fill(filled);
    auto const get = [&](any_store const& from) {
        return [&, from] {
            return measure::timed(partitions, [&] {
                for (std::size_t partition = 0; partition < partitions; ++partition) {
                    row const wanted = numbered(partition, 3);
                    call own;
                    sink = sink +
                        from.execute(get_entity{"orders", std::string{wanted.partition_key()},
                                         std::string{wanted.row_key()}, {}},
                                own)
                            .value()
                            .entity.view()
                            .payload.size();
                }
            });
        };
    };
    measure::compare("get_entity, beside one store (no limit set)", 99, 21, get(alone), get(filled));
}

void merging() {
    memory_backend const alone;
    fill(alone);
    for (std::uint32_t const number : {1U, 11U, 48U, 192U}) {
        sharded const cloud = stores{}.open(number);
        fill(cloud);
        std::size_t pages_alone = 0;
        std::size_t pages = 0;
        std::size_t token_alone = 0;
        std::size_t token = 0;
        std::size_t rows = 0;
        std::string const name = "rows merged, " + std::to_string(number) + " virtual shards";
        measure::compare(
            name.c_str(), number == 192 ? 99 : 1.15, 15,
            [&] {
                pages_alone = 0;
                return measure::timed(
                    partitions * rows_of_one, [&] { (void)read_all(alone, pages_alone, token_alone); });
            },
            [&] {
                pages = 0;
                return measure::timed(partitions * rows_of_one, [&] { rows = read_all(cloud, pages, token); });
            });
        std::printf("  %zu rows in %zu pages, beside %zu; longest token %zu bytes\n", rows, pages, pages_alone, token);
    }
}

void fan_out() {
    for (std::uint32_t const number : {11U, 48U, 192U}) {
        testing::manual_clock time;
        stores far;
        int asked = 0;
        auto const takes = [&] { return std::chrono::milliseconds{asked++ % 17 == 0 ? 200 : 20}; };
        far.make = [&](std::string_view) {
            return any_store{entitable_test::delayed{any_store{memory_backend{}}, time, takes}};
        };
        sharded_options how;
        how.time = &time;
        sharded const cloud = far.open(number, {std::chrono::hours{1}, &time}, how);
        fill(cloud);
        auto const ask = [&](char const* what, filter condition, bool limited) {
            query_entities wanted{"orders", {}, std::move(condition), {}, 1000, {}};
            call context;
            asked = 0;
            auto const begun = time.steady();
            auto const page = cloud.execute(wanted, context).value();
            auto const took = std::chrono::duration<double, std::milli>(time.steady() - begun).count();
            std::printf("fan-out to %3u, %s: %zu rows in %.0f ms; the slowest store takes 200 ms   %5.2f%s\n", number,
                what, page.rows.size(), took, took / 200,
                !limited          ? "   no limit set"
                    : took <= 210 ? "   limit 1.05"
                                  : "   limit 1.05  MISSED");
        };
        filter one_in_twenty;
        one_in_twenty.nodes.push_back({filter_operator::equal, "age", value{value_view{std::int32_t{3}}}});
        one_in_twenty.nodes.push_back(
            {filter_operator::less, "PartitionKey", value{value_view{std::string_view{"customer-13"}}}});
        one_in_twenty.nodes.push_back({filter_operator::all_of, {}, {}});
        ask("an answer of one page", one_in_twenty, true);
        ask("the first page of a scan", {}, false);
    }
}

/// Answers have a median of 5 ms and take 50 ms one time in 100 (lognormal): the duration of fan-outs, with and without second
/// requests.
void hedging() {
    constexpr std::size_t rounds = 2'000;
    for (std::uint32_t const number : {10U, 100U}) {
        std::array<double, 2> late{};
        for (bool const hedged : {false, true}) {
            testing::manual_clock time;
            std::mt19937_64 random{7};
            std::lognormal_distribution<double> takes{std::log(5e6), std::log(10.0) / 2.326};
            std::size_t asked = 0;
            stores far;
            far.make = [&](std::string_view) {
                return any_store{entitable_test::delayed{any_store{memory_backend{}}, time, [&] {
                                                             ++asked;
                                                             return std::chrono::nanoseconds{
                                                                 static_cast<std::int64_t>(takes(random))};
                                                         }}};
            };
            sharded_options how;
            how.time = &time;
            if (hedged) {
                how.hedge = hedged_reads{std::chrono::microseconds{25'500}, 0.05}; // 95th percentile
            }
            sharded const cloud = far.open(number, {std::chrono::hours{24}, &time}, how);
            call context;
            cloud.execute(create_table{"orders"}, context).value();
            asked = 0;
            std::vector<double> took;
            for (std::size_t round = 0; round < rounds; ++round) {
                auto const begun = time.steady();
                call own;
                (void)cloud.execute(query_entities{"orders", {}, {}, {}, 1000, {}}, own).value();
                took.push_back(std::chrono::duration<double, std::milli>(time.steady() - begun).count());
            }
            std::sort(took.begin(), took.end());
            late[hedged ? 1 : 0] = took[rounds * 99 / 100];
            std::printf("fan-out to %3u, %s: p50 %5.1f ms, p99 %6.1f ms; %.3f requests a page\n", number,
                hedged ? "late pages asked twice" : "each page asked once  ", took[rounds / 2], late[hedged ? 1 : 0],
                static_cast<double>(asked) / static_cast<double>(rounds * number));
        }
        std::printf("  p99 with second requests to p99 without %.2f   limit %s\n", late[1] / late[0],
            number == 10 ? late[1] <= late[0] / 2 ? "0.50" : "0.50  MISSED" : "none set");
    }
}

/// The code of a program that copies a table: pages, and batches of one partition.
std::size_t copy_by_hand(any_store const& from, std::string const& source, any_store const& to) {
    call context;
    to.execute(create_table{"copied"}, context).value();
    query_entities asked{source, {}, {}, {}, 1000, {}};
    std::size_t rows = 0;
    do {
        call own;
        auto page = from.execute(asked, own).value();
        transact batch{"copied", {}};
        auto const flush = [&] {
            if (!batch.changes.empty()) {
                call each;
                to.execute(batch, each).value();
                batch.changes.clear();
            }
        };
        for (std::size_t at = 0; at < page.rows.size(); ++at) {
            row_view const each = page.rows[at];
            if (!batch.changes.empty() &&
                (batch.changes.size() == 100 || batch.changes.front().entity.partition_key() != each.partition_key)) {
                flush();
            }
            batch.changes.push_back(mutation::insert(row{each.partition_key, each.row_key, each.payload}));
            ++rows;
        }
        flush();
        asked.continuation = std::move(page.continuation);
    } while (asked.continuation);
    return rows;
}

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void moving(bool files) {
    std::vector<double> ratios;
    std::vector<double> checked;
    std::vector<double> rates;
    for (int round = 0; round < 9; ++round) {
        entitable_test::temporary_folder const folder;
        testing::manual_clock time;
        stores near;
        near.make = [&](std::string_view name) {
            file_options relaxed;
            relaxed.durability = durability::relaxed;
            return files ? any_store{file_backend{folder / (std::string{name} + ".db"), relaxed}}
                         : any_store{memory_backend{}};
        };
        sharded const cloud = near.open(1, {std::chrono::seconds{1}, &time});
        fill(cloud);
        any_store const source = near.all->at("one");
        call context;
        std::string const name = source.execute(list_tables{}, context).value().tables.front();
        any_store const raw_target = near.make("raw");
        double const begun = seconds_now();
        std::size_t const rows = copy_by_hand(source, name, raw_target);
        double const raw = seconds_now() - begun;
        move_options how;
        how.time = &time;
        how.off_line = true;
        auto plan = plan_move(cloud, 0, "target", how).value();
        double copying = 0;
        double verifying = 0;
        double flipping = 0;
        plan.run([&](move_progress const& at) {
                double const now = seconds_now();
                copying = at.step == move_step::waiting ? now : copying;
                verifying = at.step == move_step::verifying ? now : verifying;
                flipping = at.step == move_step::flipping ? now : flipping;
                return true;
            })
            .value();
        ratios.push_back(raw / (verifying - copying));
        checked.push_back((flipping - verifying) / (verifying - copying));
        rates.push_back(static_cast<double>(rows) / (verifying - copying));
    }
    double const ratio = measure::median(ratios);
    double const share = measure::median(checked);
    std::printf("offline move, %-8s %8.0f rows/s; of a raw copy's rate %5.2f   limit 0.80 at least%s; comparison %.0f "
                "%% of the "
                "copying   limit 20%s\n",
        files ? "files:" : "memory:", measure::median(rates), ratio, ratio >= 0.8 ? "" : "  MISSED", share * 100,
        share <= 0.2 ? "" : "  MISSED");
}

} // namespace

int main(int count, char** arguments) { // names of parts to run; all by default
    auto const wanted = [&](std::string_view what) {
        return count < 2 ||
            std::any_of(arguments + 1, arguments + count, [&](char const* each) { return what == each; });
    };
    measure::heading();
    if (wanted("routing")) { routing(); }
    if (wanted("merging")) { merging(); }
    if (wanted("fan_out")) { fan_out(); }
    if (wanted("hedging")) { hedging(); }
    if (wanted("moving")) {
        moving(false);
        moving(true);
    }
}
