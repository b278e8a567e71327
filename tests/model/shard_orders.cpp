// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A mover of a virtual shard and a client in every order in which their requests can reach the stores, with answers that are late, requests that
// are late or lost, and movers that end and are followed by another; and the same with defects, each of which is found.

#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/entitable.hpp>
#include <entitable/retrying.hpp>
#include <entitable/shards.hpp>
#include <entitable/shards/detail/shard_mover.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <map>
#include <set>

using namespace entitable;
using namespace std::chrono_literals;
using detail::move_defect;

namespace {

/// A request of a client for one key, with what it was told.
struct event {
    std::string key;
    bool reads{};
    std::string value; ///< read or written; empty for no row
    std::uint64_t begun{};
    std::uint64_t ended{UINT64_MAX}; ///< never, where nobody knows what became of it
};

/// What is true of the logical table, whoever asks; and where it is.
struct scene {
    std::map<std::string, std::string> rows; ///< as clients were told
    std::set<std::string> maybe;             ///< writes of which nobody knows: row key and value
    std::string wrong;
    bool changed{}; ///< the clients behind the watcher have written while it was copied
    bool closing{}; ///< and once more before it drained
    bool flipped{}; ///< and once more behind the flip
    bool late{};    ///< a late request has come while it drained, and was read
    bool crowd{true};
    bool holds{}; ///< the first batch of the copy comes twice: told lost, and again before the flip
    std::optional<transact> held;
    std::vector<event> history;
    std::uint64_t ticks{};
};

row value_row(std::string const& key, std::string const& value) {
    row_builder made{"p", key};
    made.add("v", std::string_view{value});
    return made.build();
}
std::string value_of(row_view each) {
    auto const found = each.find("v");
    return found ? std::string{found->as_string()} : std::string{};
}

/// The physical table that the map says, and its rows.
std::string table_now(memory_backend const& store, std::string* state = nullptr) {
    call context;
    auto const found = store.execute(get_entity{"shardmap", "map", "shard0000", {}}, context).value();
    if (state != nullptr) {
        *state = found.entity.view().find("state")->as_string();
    }
    std::int64_t const epoch = found.entity.view().find("epoch")->as_int64();
    return detail::shard_table_name("items", 0, (std::max)(epoch, std::int64_t{2}));
}

/// Whether the table holds what it is to hold.
std::string differs(memory_backend const& store, scene const& all) {
    call context;
    auto const found = store.execute(query_entities{table_now(store), {}, {}, {}, 1000, {}}, context);
    if (!found) {
        return "the table is lost: " + found.error().to_string();
    }
    std::set<std::string> met;
    for (std::size_t index = 0; index < found->rows.size(); ++index) {
        row_view const each = found->rows[index];
        std::string const key{each.row_key};
        if (system_row::is_one(key)) {
            continue;
        }
        met.insert(key);
        auto const known = all.rows.find(key);
        bool const maybe = all.maybe.contains(key + value_of(each));
        if (!maybe && known == all.rows.end()) {
            return "a row is there that was removed, or never written: " + key;
        }
        if (!maybe && known->second != value_of(each)) {
            return "an acknowledged write is lost: " + key + " is " + value_of(each) + ", not " + known->second;
        }
    }
    for (auto const& [key, value] : all.rows) {
        if (!met.contains(key)) {
            return "an acknowledged row is lost: " + key;
        }
    }
    return {};
}

/// In front of the store. Other clients, whose requests take no time, write while the table is copied, before it drains, and behind the flip.
struct watched {
    using is_transport = void;
    memory_backend below;
    scene* all;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }

    void put(std::string const& key, std::string const& value) const {
        call own;
        auto done =
            below.execute(write_entity{table_now(below), mutation::insert_or_replace(value_row(key, value))}, own);
        if (done) {
            all->rows[key] = value;
        }
    }
    void take(std::string const& key) const {
        call own;
        if (below.execute(write_entity{table_now(below), mutation::remove(value_row(key, ""), any_etag)}, own)) {
            all->rows.erase(key);
        }
    }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        std::string next;
        std::string before;
        std::string const table = table_now(below, &before);
        if constexpr (std::same_as<Request, transact>) {
            if (request.table == "shardmap" && request.changes.size() == 2) {
                next = request.changes[1].entity.view().find("state")->as_string();
            }
        }
        if (all->crowd && next == "draining" && before == "closing" && !std::exchange(all->closing, true)) {
            put("z", "closing");
        }
        if constexpr (std::same_as<Request, get_entity>) {
            if (request.table == "valid") { // a client that is as fast as the map
                return before == "sealed"
                    ? result<get_entity::response>{failure{error_code::shard_moving, "sealed"}}
                    : below.execute(get_entity{table, request.partition_key, request.row_key, {}}, context);
            }
        }
        if (all->crowd && before == "draining" && !next.empty() && next != "draining" &&
            !std::exchange(all->late, true)) {
            put("w", "late"); // by a client that was told nothing; clients may read it here
        }
        if constexpr (std::same_as<Request, transact>) {
            if (all->holds && request.table != "shardmap" && !all->held) {
                all->held = request;
                return failure{testing::lost_request()};
            }
            if (all->holds && before == "sealed" && next == "open") {
                call own;
                static_cast<void>(below.execute(*all->held, own));
                all->holds = false;
            }
        }
        auto answer = below.execute(request, context);
        if constexpr (std::same_as<Request, query_entities>) {
            // between the pages of the first scan: what was read, what is to be read, a new one, a removed one
            if (all->crowd && answer && request.select.empty() && request.table == table && answer->continuation &&
                !std::exchange(all->changed, true)) {
                put("a", "changed");
                put("b", "new");
                put("z", "changed");
                take("r");
            }
        }
        if (all->crowd && table_now(below) != table && !std::exchange(all->flipped, true)) {
            put("z", "behind the flip");
        }
        return answer;
    }
};

/// An operation whose answers come late: something else can happen between an answer and its receipt.
template <class Op>
class slow {
public:
    explicit slow(Op op) : op_(std::move(op)) {}
    slow(slow const&) = delete;
    slow& operator=(slow const&) = delete;
    [[nodiscard]] operation_step next() const { return deliver_ ? operation_step{nothing_} : op_.next(); }
    template <class Response>
    void answer(result<Response> answered, steady_time now) {
        if (deliver_) {
            std::exchange(deliver_, nullptr)(now);
            return;
        }
        auto held = std::make_shared<result<Response>>(std::move(answered));
        deliver_ = [this, held](steady_time at) { op_.answer(std::move(*held), at); };
    }
    void abandon(error const& reason) {
        deliver_ = nullptr;
        op_.abandon(reason);
    }
    [[nodiscard]] auto finish() { return op_.finish(); }

private:
    Op op_;
    get_entity nothing_{"nothing", "p", "r", {}};
    std::function<void(steady_time)> deliver_;
};

constexpr auto lease = 10s;

/// What a client does.
using client_body = std::function<void(any_transport const&, entitable::clock&, scene&, int number)>;
/// A clock that is faster or slower than that of the mover.
struct skewed_clock final : entitable::clock {
    skewed_clock(entitable::clock& of, int rate) : real(of), begun(of.steady()), thousandths(rate) {}
    date_time now() noexcept override { return real.now(); }
    steady_time steady() noexcept override { return begun + (real.steady() - begun) * (1000 + thousandths) / 1000; }
    void wait_until(steady_time time) noexcept override {
        real.wait_until(begun + (time - begun) * 1000 / (1000 + thousandths) + 2ns);
    }
    entitable::clock& real;
    steady_time begun;
    int thousandths;
};

struct order {
    move_defect mover{};
    int movers{1};
    bool crowd{true};
    bool late_writer{}; ///< a client that was told that its write is lost
    client_body client{};
    int skew{}; ///< of the client's clock, in thousandths
    int clients{1};
    bool prompt{}; ///< the client gets its answers at once
    bool holds{};  ///< see `scene`
    std::size_t most{};
    std::function<std::string(memory_backend const&, scene const&)> end{};
    int* moved{}; ///< counts the moves that were done
};

/// Puts all of it on a stage.
void begin(testing::stage& on, order const& how) {
    auto& all = on.keep<scene>();
    all.crowd = how.crowd;
    all.holds = how.holds;
    auto const& store = on.store();
    lookup_map_options const leases{lease, &on.time()};
    auto const map = lookup_map::make(store, "shardmap", virtual_shards{1}, {"a"}, leases).value();
    call context;
    sharded const cloud{map, [&store](std::string_view) -> result<any_transport> { return any_transport{store}; }};
    cloud.execute(create_table{"items"}, context).value();
    for (auto const* key : {"a", "r", "z"}) {
        cloud.execute(write_entity{"items", mutation::insert(value_row(key, "old"))}, context).value();
        all.rows[key] = "old";
    }
    row_builder fixed{"map", "header"}; // the nonce of the setup is random
    fixed.add("nonce", "setup");
    store.execute(write_entity{"shardmap", mutation::merge(fixed.build(), any_etag)}, context).value();
    for (std::size_t place = 0; place < 5; ++place) {
        on.deliver_to(watched{store, &all}, place);
    }
    auto& movers = on.keep<int>(0);
    auto& done = on.keep<int>(0);
    for (int number = 0; number < how.movers; ++number) {
        on.add(
            "mover " + std::to_string(number),
            [&on, &how, &movers, number] {
                ++movers;
                detail::shard_mover_order what;
                what.map = "shardmap";
                what.target = number == 0 ? "b" : "c";
                what.name = "mover" + std::to_string(movers);
                what.limits = on.store().profile();
                what.options.owner = what.name;
                what.options.page_size = how.crowd ? 2 : 1000;
                what.options.rounds = 3;
                what.planted = how.mover;
                return detail::shard_mover{std::move(what), on.time().steady()};
            },
            [&done, &how](result<move_progress> const& ended) {
                done += ended ? 1 : 0;
                if (how.moved != nullptr && ended) {
                    ++*how.moved;
                }
            });
    }
    if (how.late_writer) {
        on.add(
            "writer",
            [&all] {
                all.maybe.insert("wlate");
                return testing::program<bool>{[](any_transport through, entitable::clock&) {
                    call own;
                    static_cast<void>(
                        through.execute(write_entity{"items0000x2", mutation::insert(value_row("w", "late"))}, own));
                    return true;
                }};
            },
            [](bool) {});
    }
    for (int number = 0; number < how.clients && how.client; ++number) {
        auto const body = [&how, &all, number](any_transport through, entitable::clock& real) {
            skewed_clock time{real, how.skew * (number % 2 == 0 ? 1 : -1)};
            how.client(through, time, all, number);
            return true;
        };
        std::string const name = "client " + std::to_string(number);
        if (how.prompt) {
            on.add(name, [&on, body] { return testing::program<bool>{body, on.time().steady()}; }, [](bool) {});
        } else {
            on.add(name, [&on, body] { return slow{testing::program<bool>{body, on.time().steady()}}; }, [](bool) {});
        }
    }
    on.remember([&all, &movers, &done] {
        std::string text = all.wrong + std::to_string(movers) + std::to_string(done) + (all.changed ? "c" : "") +
            (all.closing ? "d" : "") + (all.flipped ? "f" : "") + (all.late ? "l" : "") + (all.held ? "h" : "") +
            (all.holds ? "H" : "");
        for (auto const& [key, value] : all.rows) {
            text += key + '=' + value + ';';
        }
        for (auto const& each : all.maybe) {
            text += each + '?';
        }
        return text;
    });
    on.always([&all] { return all.wrong; });
    on.at_end([&on, &all, how_it_ends = how.end] {
        return how_it_ends ? how_it_ends(on.store(), all) : differs(on.store(), all);
    });
}

testing::interleaving_report walk(order const& how, testing::interleaving_limits limits) {
    limits.most_states = how.most != 0 ? how.most : entitable_test::rounds(300, 200'000, 4'000);
    limits.life = 24h;
    return testing::interleavings([&how](testing::stage& on) { begin(on, how); }, limits);
}

void check(testing::interleaving_report const& seen) {
    CAPTURE(seen.schedule, seen.states, seen.ends);
    CHECK(seen.problem == "");
    CHECK((seen.complete || entitable_test::rounds(0, 1) == 0)); // all of them in the long run
}

// ---- clients ----

std::optional<sharded> open(any_transport const& way, entitable::clock& time) {
    auto opened = lookup_map::open(way, "shardmap", virtual_shards{1}, lookup_map_options{lease, &time});
    if (!opened) {
        return std::nullopt;
    }
    return sharded{*std::move(opened), [way](std::string_view) -> result<any_transport> { return way; }};
}

/// Inserts a row; what it is told is remembered.
void inserts(any_transport const& way, entitable::clock& time, scene& all, int) {
    auto const cloud = open(way, time);
    if (!cloud) {
        return;
    }
    call context;
    all.maybe.insert("cnew");
    auto const done = cloud->execute(write_entity{"items", mutation::insert(value_row("c", "new"))}, context);
    if (done) {
        all.maybe.erase("cnew");
        all.rows["c"] = "new";
    } else if (done.error().effect == effect::none) {
        all.maybe.erase("cnew");
    }
}

/// Reads a row twice. What was there for everybody before it began to read is what it reads, or something later.
void reads(any_transport const& way, entitable::clock& clock, scene& all, int) {
    auto const cloud = open(way, clock);
    for (int time = 0; cloud && time < 2; ++time) {
        std::string const before = all.rows["z"];
        call context;
        auto const found = cloud->execute(get_entity{"items", "p", "z", {}}, context);
        if (found && before == "behind the flip" && value_of(found->entity) != before) {
            all.wrong = "a read gave what was there before a write that was acknowledged before it began";
        }
        if (!found && found.error().code == error_code::resource_not_found) {
            all.wrong = "a read did not find a row that is there all the time";
        }
    }
}

/// Reads what a write has left of which nobody knows; its reads are valid when they are made. What was seen once stays.
void reads_late(any_transport const& way, entitable::clock&, scene& all, int) {
    for (int time = 0; time < 2; ++time) {
        call context;
        auto const found = way.execute(get_entity{"valid", "p", "w", {}}, context);
        if (found) {
            all.rows["w"] = "late";
        } else if (found.error().code == error_code::resource_not_found && all.rows.contains("w")) {
            all.wrong = "a row that was read is gone";
        }
    }
}

testing::interleaving_limits const quiet{.faults = 0, .late = 0};

} // namespace

TEST_CASE("shard moves: a mover alone, with lost and late requests, killed and followed by another") {
    check(walk({}, quiet));
    check(walk({.holds = true}, quiet));
    check(walk({}, {.faults = 1, .late = 1}));
    check(walk({}, {.faults = 0, .late = 1, .crashes = 1, .again = 1}));
}

TEST_CASE("shard moves: a client that inserts") {
    check(walk({.client = inserts}, quiet));
    check(walk({.client = inserts}, {.faults = 0, .late = 1}));
    check(walk({.client = inserts}, {.faults = 0, .late = 0, .crashes = 1, .again = 1}));
}

TEST_CASE("shard moves: a client that reads") {
    check(walk({.client = reads}, quiet));
    check(walk({.crowd = false, .late_writer = true, .client = reads_late, .prompt = true}, {.faults = 0, .late = 1}));
}

TEST_CASE("shard moves: planted defects are found") {
    auto const finds = [](order how, testing::interleaving_limits limits) {
        how.most = 60'000;
        auto const seen = walk(how, limits);
        CAPTURE(seen.schedule);
        UNSCOPED_INFO(seen.states << " states");
        return seen.problem;
    };
    order small{.crowd = false, .client = inserts};
    SECTION("no wait for leases") {
        small.mover = move_defect::waits_for_no_lease;
        small.prompt = true;
        CHECK(finds(small, quiet) != "");
    }
    SECTION("flip before verify") { CHECK(finds({.mover = move_defect::flips_unverified}, quiet) != ""); }
    SECTION("drop before flip") {
        CHECK(finds({.mover = move_defect::drops_first}, {.faults = 0, .late = 0, .crashes = 1}) != "");
    }
    SECTION("drop before the last catch-up") {
        CHECK(finds({.mover = move_defect::drops_before_collect}, quiet) != "");
    }
    SECTION("catch-up without removals") { CHECK(finds({.mover = move_defect::leaves_removed_rows}, quiet) != ""); }
    SECTION("by Timestamp alone") { CHECK(finds({.mover = move_defect::trusts_timestamps}, quiet) != ""); }
    SECTION("one collect only") { CHECK(finds({.mover = move_defect::collects_once}, quiet) != ""); }
    SECTION("reads at the source up to the flip") { CHECK(finds({.mover = move_defect::never_seals}, quiet) != ""); }
    SECTION("batches without guard") {
        CHECK(finds({.mover = move_defect::guards_nothing, .holds = true}, quiet) != "");
    }
}

// ---- simulation ----

namespace {

/// Whether some order of the requests for one key explains what was told. From a row with the value "old", or none.
bool explained(std::vector<event> const& all, std::uint64_t done, std::string const& state,
    std::set<std::pair<std::uint64_t, std::string>>& tried) {
    std::uint64_t first_end = UINT64_MAX;
    bool over = true;
    for (std::size_t index = 0; index < all.size(); ++index) {
        if ((done >> index & 1U) == 0) {
            first_end = (std::min)(first_end, all[index].ended);
            over = over && all[index].ended == UINT64_MAX; // what nobody knows need not have happened
        }
    }
    if (over) {
        return true;
    }
    if (!tried.insert({done, state}).second) {
        return false;
    }
    for (std::size_t index = 0; index < all.size(); ++index) {
        event const& each = all[index];
        if ((done >> index & 1U) == 0 && each.begun < first_end && (!each.reads || each.value == state) &&
            explained(all, done | std::uint64_t{1} << index, each.reads ? state : each.value, tried)) {
            return true;
        }
    }
    return false;
}

/// The end as if it were read, key by key.
std::string unexplained(memory_backend const& store, scene const& all) {
    call context;
    auto const found = store.execute(query_entities{table_now(store), {}, {}, {}, 1000, {}}, context);
    if (!found) {
        return "the table is lost: " + found.error().to_string();
    }
    for (auto const* key : {"k0", "k1", "z"}) {
        std::vector<event> of_key;
        std::string text;
        for (event const& each : all.history) {
            if (each.key == key) {
                of_key.push_back(each);
            }
        }
        event last{key, true, "", all.ticks + 1, all.ticks + 2};
        for (std::size_t index = 0; index < found->rows.size(); ++index) {
            if (found->rows[index].row_key == key) {
                last.value = value_of(found->rows[index]);
            }
        }
        of_key.push_back(last);
        for (event const& each : of_key) {
            text += (each.reads ? " read " : " wrote ") + each.value + '@' + std::to_string(each.begun) + '-' +
                (each.ended == UINT64_MAX ? std::string{"?"} : std::to_string(each.ended));
        }
        std::set<std::pair<std::uint64_t, std::string>> tried;
        if (!explained(of_key, 0, std::string{key} == "z" ? "old" : "", tried)) {
            return "no order explains what clients were told of " + std::string{key} + ":" + text;
        }
    }
    return {};
}

/// Writes, removes, reads and scans by tokens; half of the clients settle lost answers by operation rows.
client_body busy_client(std::uint64_t seed) {
    return [seed](any_transport const& way, entitable::clock& time, scene& all, int own_number) {
        random_source random{seed * 10 + static_cast<std::uint64_t>(own_number)};
        std::string const name = std::to_string(own_number);
        auto const opened = open(way, time);
        if (!opened) {
            return;
        }
        retrying_options settled;
        settled.operation_rows = true;
        settled.time = &time;
        settled.seed = seed * 100 + static_cast<std::uint64_t>(own_number);
        // On any table a request that comes twice is applied twice without an operation row, and a removal that was refused may
        // be applied when it comes again: where that happens all have operation rows, and nobody removes.
        bool const repeated = seed % 2 == 1;
        any_transport const cloud =
            random.bits() % 2 == 0 && !repeated ? any_transport{*opened} : any_transport{retrying{*opened, settled}};
        for (int number = 0; number < 5; ++number) {
            event one;
            std::uint64_t const drawn = random.bits();
            one.key = drawn % 3 == 0 ? "k0" : drawn % 3 == 1 ? "k1" : "z";
            one.begun = ++all.ticks;
            std::uint64_t const kind = drawn / 3 % 5;
            std::uint64_t const what = kind == 2 && repeated ? 1 : kind;
            call context{call_options{}, time};
            bool const read = what >= 3;
            if (what == 4) { // a scan, a row a page: what never changes comes once
                query_entities asked{"items", {}, {}, {}, 2, {}};
                std::string met;
                bool whole = false;
                for (int page = 0; page < 12; ++page) {
                    call own;
                    auto const found = cloud.execute(asked, own);
                    if (!found) {
                        break;
                    }
                    for (std::size_t index = 0; index < found->rows.size(); ++index) {
                        std::string const key{found->rows[index].row_key};
                        met += key == "a" || key == "r" ? key : "";
                    }
                    asked.continuation = found->continuation;
                    if (!asked.continuation) {
                        whole = true;
                        break;
                    }
                }
                if (whole && met != "ar") {
                    all.wrong = "a scan by tokens met " + met;
                }
                ++all.ticks;
                continue;
            }
            if (read) {
                auto const found = cloud.execute(get_entity{"items", "p", one.key, {}}, context);
                if (!found && found.error().code != error_code::resource_not_found) {
                    continue;
                }
                one.reads = true;
                one.value = found ? value_of(found->entity) : "";
                one.ended = ++all.ticks;
                all.history.push_back(one);
                continue;
            }
            one.value = what == 2 ? "" : name + "." + std::to_string(number);
            all.history.push_back(one);
            std::size_t const at = all.history.size() - 1;
            auto const change = what == 2 ? mutation::remove(value_row(one.key, ""), any_etag)
                                          : mutation::insert_or_replace(value_row(one.key, one.value));
            auto const done = cloud.execute(write_entity{"items", change}, context);
            std::uint64_t const ended = ++all.ticks;
            if (done) {
                all.history[at].ended = ended;
            } else if (done.error().effect == effect::none && done.error().code != error_code::cancelled) {
                // Cancelled is a client that was killed: it never learns what became of its write.
                bool const none = done.error().code == error_code::resource_not_found;
                all.history[at].reads = true; // nothing was written
                all.history[at].value = "";
                all.history[at].ended = none ? ended : UINT64_MAX;
            }
        }
    };
}

} // namespace

TEST_CASE("shard moves: worlds of many clients and two movers, drawn from seeds") {
    int moved = 0;
    std::size_t steps = 0;
    std::uint64_t const worlds = entitable_test::rounds(60, 100'000, 300);
    for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
        order how;
        how.crowd = false;
        how.movers = 2;
        how.clients = 3;
        how.client = busy_client(seed);
        how.skew = static_cast<int>(seed % 41) - 20;
        how.end = unexplained;
        how.moved = &moved;
        auto const seen = testing::random_interleaving([&how](testing::stage& on) { begin(on, how); },
            {.faults = seed % 4,
                .late = seed % 3,
                .twice = seed % 2,
                .crashes = seed % 3,
                .again = 4,
                .life = 24h,
                .most_requests = 1'000,
                .most_states = 20'000},
            seed);
        CAPTURE(seed, seen.schedule);
        CHECK(seen.problem == "");
        CHECK(seen.complete);
        steps += seen.states;
    }
    UNSCOPED_INFO(worlds << " worlds, " << moved << " moves, " << steps << " steps");
    CHECK(moved > 30);
}
