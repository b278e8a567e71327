// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Three files hold the shards of one table. Of four processes two write, one reads with continuation tokens, and one moves shards from file to
// file; it is killed at any time and replaced. Answers get lost. Every acknowledged write exists once, and no removed row returns.
// ENTITABLE_CRASH_SEED=N runs only round N. A round that fails prints its seed, the map and all complaints, and keeps its folder.
//
// Not excluded: a writer that is killed between its commit frame and the header of SQLite's WAL index. Nobody sees that transaction, and a later recovery of
// the index would show it unless another writer has overwritten it; `look_again` would have noted "not applied" by then.

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
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

/// Rows with negative numbers never change. Each of the others has one writer, which gives it ascending values.
struct entry {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(entry, partition_key(place), row_key(number), properties(value))

constexpr std::int32_t places = 12;
constexpr std::int32_t numbers = 6; ///< numbers of each writer in each place
constexpr std::int32_t writers = 2;
constexpr std::int32_t keys = writers * places * numbers;
constexpr std::int32_t shards = 3;
constexpr char const* files[] = {"alpha", "beta", "gamma"};

std::string place_of(std::int32_t key) { return "place" + std::to_string(key % places); }
std::int32_t number_of(std::int32_t key) { return key / places; }
/// In turn a row is inserted, incremented twice, and removed.
constexpr bool is_there(std::int64_t value) { return value % 4 != 0; }

/// Shared by all processes.
struct seen_by_all {
    std::atomic<std::int64_t> told[keys];  ///< the last acknowledged value; 0 and every fourth mean no row
    std::atomic<std::int64_t> tried[keys]; ///< the value being written
    std::atomic<std::uint64_t> writes, scans, pages, moves, taken_over;
    std::atomic<std::int32_t> moving; ///< the shard that the mover is moving
    std::atomic<bool> over;
    std::atomic<std::uint64_t> requests; ///< requests of all processes
    std::atomic<int> wrong;
    static constexpr int kept = 10;
    char complaints[kept][2000]; ///< the first complaints
};

/// Forwards requests and counts them.
struct counting {
    using is_transport = void;
    any_store below;
    seen_by_all* all;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        ++all->requests;
        return below.execute(request, context);
    }
};

/// The connection of one program to the files. One thread.
struct way {
    std::string name;
    std::uint64_t seed;
    seen_by_all* all;
    random_source dice;
    std::map<std::string, any_store> opened;
    std::optional<sharded> cloud;

    way(std::string whose, std::string const& folder, seen_by_all& with, std::uint64_t drawn_by, bool loses)
        : name(std::move(whose)), seed(drawn_by), all(&with), dice(drawn_by) {
        store_opener const open = [this, folder, loses](std::string_view store) -> result<any_store> {
            auto const known = opened.find(std::string{store});
            if (known != opened.end()) { return known->second; }
            file_options relaxed;
            relaxed.durability = durability::relaxed; // the commits of a killed process are there
            relaxed.busy_timeout = 20s;
            any_store made{file_backend{folder + "/" + std::string{store} + ".db", relaxed}};
            made = any_store{counting{made, all}};
            if (loses) { made = any_store{lossy{made, &dice}}; }
            return opened.emplace(store, made).first->second;
        };
        constexpr int most = 500;
        std::vector<std::string> const stores{"alpha", "beta", "gamma"};
        for (int tried = 1;; ++tried) { // the map may be outdated after a lost answer
            any_store const catalogue = open("alpha").value();
            auto map = lookup_map::open(catalogue, "shardmap", virtual_shards{shards}, {60ms});
            if (!map) { map = lookup_map::make(catalogue, "shardmap", virtual_shards{shards}, stores, open, {60ms}); }
            if (map) {
                cloud.emplace(*std::move(map), open);
                return;
            }
            if (tried == most) {
                complain("cannot open the map: " + map.error().to_string());
                throw std::runtime_error{"the map cannot be opened"};
            }
        }
    }
    /// Records what is wrong, with this program's knowledge.
    void complain(std::string const& what) const {
        int const at = all->wrong++;
        if (at < seen_by_all::kept) {
            auto const map =
                cloud ? cloud->map().to_string() : result<std::string>{failure{error_code::map_unavailable, "none"}};
            std::string const text = name + " of seed " + std::to_string(seed) + ": " + what +
                "; its map: " + (map ? *map : map.error().to_string());
            std::strncpy(all->complaints[at], text.c_str(), sizeof all->complaints[at] - 1);
        }
    }
};

std::string text_of(seen_by_all const& all, std::int32_t key) {
    auto const at = static_cast<std::size_t>(key);
    return place_of(key) + "/" + std::to_string(number_of(key)) + ", acknowledged " + std::to_string(all.told[at]) +
        ", tried " + std::to_string(all.tried[at]);
}

/// Reads a row of unknown state: by then no request of this writer is in flight.
void look_again(table<entry> const& entries, way const& here, std::int32_t key) {
    seen_by_all& all = *here.all;
    for (;;) {
        auto const found = entries.get(place_of(key), number_of(key));
        auto const at = static_cast<std::size_t>(key);
        std::int64_t const told = all.told[at];
        std::int64_t const tried = all.tried[at];
        if (found) {
            if (found->value != told && found->value != tried) {
                here.complain(
                    "a row has a value of another time, " + std::to_string(found->value) + ": " + text_of(all, key));
            }
            all.tried[at] = found->value;
            all.told[at] = found->value;
            return;
        }
        if (found.error().code == error_code::resource_not_found) {
            if (is_there(told) && is_there(tried)) { here.complain("a row is lost: " + text_of(all, key)); }
            std::int64_t const now = is_there(told) ? tried : told;
            all.tried[at] = now;
            all.told[at] = now;
            return;
        }
    }
}

/// Writes until the round ends.
void write_on(std::string const& folder, seen_by_all& all, std::uint64_t seed, std::int32_t own) {
    way here{"writer " + std::to_string(own), folder, all, seed, true};
    retrying_options settled;
    settled.operation_rows = true;
    settled.quota = 0;
    settled.seed = seed;
    settled.policy = retry_policy::fixed(60, 20ms);
    table<entry> const entries{retrying{any_store{*here.cloud}, settled}, "entries"};
    random_source dice{seed};
    for (std::int32_t key = own; key < keys; key += writers) { look_again(entries, here, key); }
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
        } else { // incremented from the stored value, so a write that is applied twice shows
            auto counted = entries.update(next.place, next.number, [](entry& each) { ++each.value; });
            done = counted ? result<void>{} : result<void>{std::move(counted).as_failure()};
        }
        if (done) {
            all.told[at] = next.value;
            ++all.writes;
        } else {
            if (done.error().effect == effect::none && wrong_one(done.error())) {
                here.complain("a write of " + std::to_string(next.value) + " found " + done.error().to_string() + ": " +
                    text_of(all, key));
            }
            look_again(entries, here, key);
        }
    }
}

/// Reads until the round ends: rows by their keys, and all rows in pages, with tokens that another program continues.
void read_on(std::string const& folder, seen_by_all& all, std::uint64_t seed) {
    way one{"reader", folder, all, seed, false};
    way other{"other reader", folder, all, seed, false};
    while (!all.over) {
        for (int time = 0; time < 20; ++time) {
            auto const key = static_cast<std::int32_t>(one.dice.bits() % keys);
            std::int64_t const least = all.told[static_cast<std::size_t>(key)];
            auto const found = table<entry>{*one.cloud, "entries"}.get(place_of(key), number_of(key));
            std::int64_t const most = all.tried[static_cast<std::size_t>(key)];
            bool explained = found && found->value >= least && found->value <= most;
            if (!found) {
                explained = found.error().code != error_code::resource_not_found;
                for (std::int64_t value = least; value <= most; ++value) { explained = explained || !is_there(value); }
            }
            if (!explained) {
                one.complain("a row was read as " + (found ? std::to_string(found->value) : found.error().to_string()) +
                    ", and is " + std::to_string(least) + " to " + std::to_string(most) + ": " + text_of(all, key));
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
            if (!*page) { // nothing after the last token
                break;
            }
            for (entry const& each : **page) {
                std::pair<std::string, std::string> const key{each.place, row_key_of(each).value()};
                if (!met.insert(key).second || !(last < key)) {
                    by.complain("a scan gave a row twice, or not in order: " + key.first + "/" + key.second +
                        " behind " + last.first + "/" + last.second);
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
                one.complain("a scan gave " + std::to_string(fixed) + " of the " + std::to_string(places * 2) +
                    " rows that are there all the time");
            }
        }
    }
}

/// Moves shards until it is killed, starting with the last mover's shard.
void move_on(std::string const& folder, seen_by_all& all, std::uint64_t seed) {
    way here{"mover", folder, all, seed, true};
    for (;;) {
        auto const shard = all.moving.load();
        auto const owner = here.cloud->map().to_string();
        if (owner && owner->find(" " + std::to_string(shard) + " -> ") == std::string::npos) {
            here.complain("the map has lost the shard " + std::to_string(shard));
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
            here.complain("moving the shard " + std::to_string(shard) + ": " + done.error().to_string());
        } else if (done.error().code == error_code::shard_moving) {
            ++all.taken_over;
        }
    }
}

/// Whether a value has not changed for a minute, or has been changing for ten.
class progress {
public:
    explicit progress(std::function<std::string()> look) : look_(std::move(look)) {}

    [[nodiscard]] bool is_stuck() {
        auto const now = std::chrono::steady_clock::now();
        std::string seen = look_();
        if (seen != seen_) {
            seen_ = std::move(seen);
            changed_ = now;
        }
        return now - changed_ > 60s || now - begun_ > 600s;
    }
    /// For the message of a round that timed out.
    [[nodiscard]] std::string text() const {
        auto const seconds = [](auto since) {
            auto const passed = std::chrono::steady_clock::now() - since;
            return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(passed).count());
        };
        return "unchanged for " + seconds(changed_) + " s, watched for " + seconds(begun_) + " s: " + seen_;
    }

private:
    std::function<std::string()> look_;
    std::string seen_;
    std::chrono::steady_clock::time_point begun_{std::chrono::steady_clock::now()};
    std::chrono::steady_clock::time_point changed_{begun_};
};

/// Totals over all rounds.
struct figures {
    std::size_t rounds{};
    std::size_t out_of_time{};
    std::uint64_t moves{};
    std::uint64_t least_moves{static_cast<std::uint64_t>(-1)};
    std::chrono::milliseconds longest{};
    std::chrono::milliseconds longest_wait{}; ///< for the last mover
};

constexpr std::size_t kills = 10;

/// One round and its checks.
class crash_round {
public:
    explicit crash_round(std::uint64_t seed) : seed_(seed) {}
    ~crash_round() {
        if (good_ && ended_) { return; }
        folder_.keep();
        std::fprintf(stderr, "moves: ENTITABLE_CRASH_SEED=%llu failed; its files are in %s\nmoves: %s\n",
            static_cast<unsigned long long>(seed_), path_.c_str(), map_text().c_str());
        for (int at = 0; at < std::min<int>(all_->wrong, seen_by_all::kept); ++at) {
            std::fprintf(stderr, "moves: %s\n", all_->complaints[at]);
        }
    }
    crash_round(crash_round const&) = delete;
    crash_round& operator=(crash_round const&) = delete;

    void run(figures& sum) {
        auto const begun = std::chrono::steady_clock::now();
        begin();
        disturb();
        bool const in_time = wait_for_last_mover(sum);
        moving_.reset();
        for (std::int32_t shard = 0; shard < shards; ++shard) {
            (void)settled("cancel_move", [&] { return cancel_move(*here_->cloud, shard); });
        }
        end_children();
        compare_rows();
        std::size_t const swept = sweep();
        std::printf("moves, kill -9: %zu movers, %llu moves done, %llu taken over, %zu tables swept, %llu writes, %llu "
                    "scans of %llu pages\n",
            kills, static_cast<unsigned long long>(all_->moves), static_cast<unsigned long long>(all_->taken_over),
            swept, static_cast<unsigned long long>(all_->writes), static_cast<unsigned long long>(all_->scans),
            static_cast<unsigned long long>(all_->pages));
        if (in_time) { // otherwise that is the failure
            expect(all_->moves >= 2, "fewer than 2 moves were done");
        }
        expect(all_->scans > 0, "no scan ended");
        sum.moves += all_->moves;
        sum.least_moves = std::min<std::uint64_t>(sum.least_moves, all_->moves);
        sum.longest = std::max(sum.longest,
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun));
        ++sum.rounds;
        ended_ = true;
    }

private:
    void expect(bool good, std::string const& text) {
        if (!good) {
            good_ = false;
            FAIL_CHECK("ENTITABLE_CRASH_SEED=" << seed_ << ": " << text << "; " << map_text());
        }
    }
    [[nodiscard]] std::string map_text() const {
        auto const map =
            here_ ? here_->cloud->map().to_string() : result<std::string>{failure{error_code::map_unavailable, "none"}};
        return map ? *map : map.error().to_string();
    }
    /// The value of a call. Waits for a busy file as long as others make progress. Ends the round if the call fails.
    template <class Ask>
    std::invoke_result_t<Ask const&> settled(char const* what, Ask const& ask) {
        progress others{[&] { return std::to_string(all_->requests.load()); }};
        for (;;) {
            auto answer = ask();
            if (answer) { return answer; }
            bool const busy = answer.error().code == error_code::store_busy;
            if (!busy || others.is_stuck()) {
                good_ = false;
                FAIL("ENTITABLE_CRASH_SEED=" << seed_ << ": " << what << (busy ? " ran out of time: " : ": ")
                                             << answer.error().to_string() << "; " << map_text());
            }
        }
    }

    void write(std::int32_t own, std::uint64_t drawn_by) {
        auto& writer = writing_[static_cast<std::size_t>(own)];
        writer.reset(); // kill -9
        writer.emplace([this, own, drawn_by] {
            write_on(path_, *all_, drawn_by, own);
            return true;
        });
    }
    void begin() {
        {
            way here{
                "the test", path_, *all_, 1, false}; // no file is open while processes start: a fork ends its locks
            table<entry> const entries{*here.cloud, "entries"};
            entries.create().value();
            for (std::int32_t place = 0; place < places; ++place) {
                entries.insert({place_of(place), -1, 7}).value();
                entries.insert({place_of(place), -2, 7}).value();
            }
        }
        reading_.emplace([this] {
            read_on(path_, *all_, seed_ * 10'000 + 9);
            return true;
        });
        for (std::int32_t own = 0; own < writers; ++own) {
            write(own, seed_ * 10'000 + static_cast<std::uint64_t>(own) + 10);
        }
    }
    void disturb() {
        random_source dice{seed_};
        for (std::size_t kill = 0; kill < kills; ++kill) {
            std::optional<child_process> next;
            auto const begin_next = [&] {
                next.emplace([this, drawn_by = seed_ * 10'000 + 1000 + kill] {
                    move_on(path_, *all_, drawn_by);
                    return true;
                });
            };
            if (kill % 3 == 1) { // two at once for a while
                begin_next();
                std::this_thread::sleep_for(std::chrono::milliseconds{dice.bits() % 40});
                moving_.reset();
            } else {
                moving_.reset(); // kill -9
                begin_next();
            }
            moving_.emplace(*std::move(next));
            std::this_thread::sleep_for(std::chrono::milliseconds{20 + dice.bits() % 400});
            if (kill % 5 == 4) { write(static_cast<std::int32_t>(kill / 5 % writers), seed_ * 10'000 + 2000 + kill); }
        }
        here_.emplace("the test", path_, *all_, 2, false);
    }
    /// The last mover is not killed until it has made two moves. It may take as long as it keeps changing the map.
    bool wait_for_last_mover(figures& sum) {
        auto const begun = std::chrono::steady_clock::now();
        auto const moved = all_->moves.load();
        progress mover{[&] {
            auto const map = here_->cloud->map().to_string();
            return (map ? map->substr(0, map->find(',')) : std::string{"no map"}) + ", " +
                std::to_string(all_->moves.load()) + " moves";
        }};
        for (int look = 0; all_->moves < moved + 2; ++look) {
            if (moving_->has_ended()) {
                expect(false, "the last mover has ended by itself");
                break;
            }
            if (look % 20 == 0 && mover.is_stuck()) { // is_stuck() reads the map
                ++sum.out_of_time;
                expect(false, "the round ran out of time, the last mover is stuck: " + mover.text());
                return false;
            }
            std::this_thread::sleep_for(10ms);
        }
        sum.longest_wait = std::max(sum.longest_wait,
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun));
        return true;
    }
    void end_children() {
        all_->over = true;
        progress others{[&] { return std::to_string(all_->requests.load()) + " requests"; }};
        auto const end = [&](child_process& each, std::string const& name) {
            while (!each.has_ended()) {
                if (others.is_stuck()) {
                    expect(false, "the round ran out of time, " + name + " does not end: " + others.text());
                    each.kill();
                    return;
                }
                std::this_thread::sleep_for(1ms);
            }
            expect(each.ended_well(), name + " failed");
        };
        end(*writing_[0], "writer 0");
        end(*writing_[1], "writer 1");
        end(*reading_, "the reader");
        expect(all_->wrong == 0, std::to_string(all_->wrong) + " complaints: " + all_->complaints[0]);
    }
    void compare_rows() {
        table<entry> const entries{*here_->cloud, "entries"};
        std::size_t expected = places * 2;
        for (std::int32_t key = 0; key < keys; ++key) {
            auto const at = static_cast<std::size_t>(key);
            std::int64_t const told = all_->told[at];
            auto const found = entries.get(place_of(key), number_of(key));
            bool const read = found || found.error().code == error_code::resource_not_found;
            std::string const text =
                text_of(*all_, key) + ", found " + (found ? std::to_string(found->value) : found.error().to_string());
            expect(read, "a row cannot be read: " + text);
            expect(all_->tried[at] == told, "a writer ended without knowing its write: " + text);
            expect(!read || (found ? found->value : 0) == (is_there(told) ? told : 0),
                "a row is not as it was written: " + text);
            expected += is_there(told) ? 1 : 0;
        }
        auto const all = settled("the last scan", [&] { return entries.scan_table().to(); });
        expect(all->size() == expected,
            "the last scan has " + std::to_string(all->size()) + " rows and not " + std::to_string(expected));
    }
    std::size_t sweep() {
        fleet const stores{*here_->cloud};
        auto const drift = settled("schema_drift", [&] { return schema_drift(stores, 0); });
        auto const swept = settled("drop_orphaned_tables", [&] { return drop_orphaned_tables(stores, *drift); });
        std::string tables;
        std::size_t count = 0;
        for (auto const& [name, store] : here_->opened) {
            auto const listed = settled("list_tables", [&, &through = store] {
                call context;
                return through.execute(list_tables{}, context);
            });
            for (std::string const& each : listed->tables) {
                count += each == "entitableshards" ? 0U : 1U; // the data as the store reports it
                tables += " " + name + "/" + each;
            }
        }
        expect(count == shards + 1, // including the map: every unfinished move is dropped
            "there are " + std::to_string(count) + " tables:" + tables);
        return *swept;
    }

    std::uint64_t seed_;
    temporary_folder folder_{temporary_folder::memory()};
    std::string path_{folder_.path().string()};
    shared_memory<seen_by_all> all_;
    std::optional<child_process> writing_[writers];
    std::optional<child_process> reading_;
    std::optional<child_process> moving_;
    std::optional<way> here_;
    bool good_{true};
    bool ended_{};
};

} // namespace

TEST_CASE("shards: every acknowledged row exists once after four processes used three files and a mover was killed") {
    char const* const chosen = std::getenv("ENTITABLE_CRASH_SEED");
    std::uint64_t const first = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
    std::uint64_t const last = chosen != nullptr ? first : rounds(1, 10, 2);
    figures sum;
    for (std::uint64_t seed = first; seed <= last; ++seed) { crash_round{seed}.run(sum); }
    std::printf("moves, kill -9: %zu rounds, %zu out of time; moves a round: %.1f, least %llu; longest round %lld ms, "
                "longest wait for the last mover %lld ms\n",
        sum.rounds, sum.out_of_time, static_cast<double>(sum.moves) / static_cast<double>(sum.rounds),
        static_cast<unsigned long long>(sum.least_moves), static_cast<long long>(sum.longest.count()),
        static_cast<long long>(sum.longest_wait.count()));
}
