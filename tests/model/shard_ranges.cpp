// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Ranges that are split, moved and merged beside clients, in every order in which their requests can reach the stores, with requests that are
// late or lost and operators that end and are followed by another; and worlds of many clients and operators, drawn from seeds.

#include "shard_world.hpp"
#include <entitable/retrying.hpp>
#include <entitable/shards/detail/shard_splitting.hpp>

using namespace shard_world;

namespace {

row entry(std::string const& key, std::string const& value) {
    row_builder made{key, "k"};
    made.add("v", std::string_view{value});
    return made.build();
}

/// What an operator does: splits, moves and merges, one after the other, whatever becomes of each.
struct task {
    enum class kind : std::uint8_t { split, move, merge, draw } what{};
    std::int32_t shard{};
    std::int32_t upper{};
    std::string key{};   ///< of a split
    std::string store{}; ///< of the others
};

class operator_work {
public:
    operator_work(std::string name, std::vector<task> tasks, profile const& limits, bool off_line, steady_time now,
        std::uint64_t seed = 0)
        : name_(std::move(name)), tasks_(std::move(tasks)), limits_(limits), off_line_(off_line), random_(seed) {
        begin(now);
    }
    operator_work(operator_work const&) = delete;
    operator_work& operator=(operator_work const&) = delete;
    ~operator_work() = default;

    [[nodiscard]] operation_step next() const {
        return reading_ ? reading_->next() : split_ ? split_->next() : move_ ? move_->next() : operation_step{};
    }
    template <class Response>
        requires(!std::same_as<Response, void>)
    void answer(result<Response> answered, steady_time now) {
        if constexpr (requires { reading_->answer(std::move(answered), now); }) {
            if (reading_) {
                reading_->answer(std::move(answered), now);
                return go_on(now);
            }
        }
        if constexpr (requires { split_->answer(std::move(answered), now); }) {
            if (split_) {
                split_->answer(std::move(answered), now);
                return go_on(now);
            }
        }
        move_->answer(std::move(answered), now);
        go_on(now);
    }
    void abandon(error const&) {
        tasks_.clear();
        reading_.reset();
        split_.reset();
        move_.reset();
    }
    /// How many of its tasks were done.
    [[nodiscard]] int finish() { return done_; }

private:
    void go_on(steady_time now) {
        if (!next().done()) {
            return;
        }
        if (reading_) {
            auto const read = reading_->finish();
            reading_.reset();
            if (read) {
                return start(drawn(**read), now);
            }
        } else if (split_) {
            done_ += split_->finish() ? 1 : 0;
            split_.reset();
        } else {
            done_ += move_->finish() ? 1 : 0;
            move_.reset();
        }
        begin(now);
    }
    void begin(steady_time now) {
        if (at_ == tasks_.size()) {
            return;
        }
        task const next = tasks_[at_++];
        if (next.what == task::kind::draw) {
            reading_.emplace("shardmap", now);
        } else {
            start(next, now);
        }
    }
    void start(task const& next, steady_time now) {
        std::string const name = name_ + '-' + std::to_string(at_);
        if (next.what == task::kind::split) {
            split_.emplace("shardmap", next.shard, next.key, name, nullptr, now);
            return;
        }
        detail::shard_mover_order what;
        what.map = "shardmap";
        what.shard = next.shard;
        what.target = next.store;
        what.name = name;
        what.limits = limits_;
        what.options.owner = name;
        what.options.rounds = 3;
        what.options.page_size = 2;
        what.options.off_line = off_line_;
        if (next.what == task::kind::merge) {
            what.upper = next.upper;
        }
        move_.emplace(std::move(what), now);
    }
    /// Something that can be done to the map as it is.
    [[nodiscard]] task drawn(detail::shard_map_copy const& map) {
        std::size_t const at = random_.bits() % map.places.size();
        std::int32_t const shard = map.places[at].row.shard;
        std::string const store = "s" + std::to_string(random_.bits() % 3);
        std::uint64_t const kind = random_.bits() % 3;
        if (kind == 0) {
            constexpr char const* keys[] = {"c", "k1", "m", "t"};
            return {task::kind::split, shard, 0, keys[random_.bits() % 4], {}};
        }
        if (kind == 1 && at + 1 < map.places.size()) {
            return {task::kind::merge, shard, map.places[at + 1].row.shard, {}, store};
        }
        return {task::kind::move, shard, 0, {}, store};
    }

    std::string name_;
    std::vector<task> tasks_;
    profile limits_;
    bool off_line_;
    random_source random_;
    std::size_t at_{};
    int done_{};
    std::optional<detail::shard_map_reading> reading_;
    std::optional<detail::shard_splitting> split_;
    std::optional<detail::shard_mover> move_;
};

// ---- what is true of the logical table ----

detail::shard_map_ref map_now(memory_backend const& store) {
    detail::shard_map_reading reading{"shardmap", {}};
    while (!reading.next().done()) {
        call context;
        operation_step const due = reading.next();
        due.request.visit([&]<class Request>(Request const& request) {
            if constexpr (takes_answer_to<detail::shard_map_reading, Request>) {
                reading.answer(store.execute(request, context), {});
            }
        });
    }
    return reading.finish().value();
}

/// The rows that the ranges of the map have in their tables, in key order; each key once.
std::map<std::string, std::string> rows_now(memory_backend const& store) {
    std::map<std::string, std::string> rows;
    auto const map = map_now(store);
    for (detail::shard_place const& place : map->places) {
        call context;
        auto const found = store.execute(
            query_entities{place.table_name(map->tables.front()), {place.keys(), {}}, {}, {}, 1000, {}}, context);
        if (!found) {
            rows["?"] = "the table of " + std::to_string(place.row.shard) + " is lost";
            continue;
        }
        for (std::size_t index = 0; index < found->rows.size(); ++index) {
            if (!system_row::is_one(found->rows[index].row_key)) {
                rows[std::string{found->rows[index].partition_key}] = value_of(found->rows[index]);
            }
        }
    }
    return rows;
}

/// Whether the ranges hold what they are to hold.
std::string differs_now(memory_backend const& store, scene const& all) {
    auto const rows = rows_now(store);
    for (auto const& [key, value] : rows) {
        auto const known = all.rows.find(key);
        if (!all.maybe.contains(key + value) && (known == all.rows.end() || known->second != value)) {
            return "a row is there that was removed, replaced or never written: " + key + " is " + value;
        }
    }
    for (auto const& [key, value] : all.rows) {
        if (!rows.contains(key)) {
            return "an acknowledged row is lost: " + key;
        }
    }
    return {};
}

/// How many physical tables there are, and how many the map has.
std::string tables_left(memory_backend const& store) {
    auto const map = map_now(store);
    std::set<std::string> wanted;
    bool open = true;
    for (detail::shard_place const& place : map->places) {
        wanted.insert(place.table_name(map->tables.front()));
        open = open && place.row.attempt_owner.empty() && place.retired.empty();
    }
    call context;
    auto const found = store.execute(list_tables{{}, 1000}, context).value().tables;
    std::size_t const tables = static_cast<std::size_t>(
        std::count_if(found.begin(), found.end(), [](std::string const& name) { return name.starts_with("items"); }));
    return !open || tables == wanted.size() ? "" : "tables are left: " + std::to_string(tables);
}

/// In front of the store. A client whose requests take no time writes a key of each range whenever the map changes, and between pages of a copy.
struct beside {
    using is_transport = void;
    memory_backend below;
    scene* all;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    void put(std::string const& key, std::string const& value) const {
        auto const map = map_now(below);
        detail::shard_place const& place = map->range_of(key);
        call own;
        if (place.allows(true) &&
            below.execute(
                write_entity{place.table_name(map->tables.front()), mutation::insert_or_replace(entry(key, value))},
                own)) {
            all->rows[key] = value;
        }
    }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answer = below.execute(request, context);
        if constexpr (std::same_as<Request, transact>) {
            if (all->crowd && answer && request.table == "shardmap") {
                std::string const version = std::to_string(map_now(below)->header.version);
                put("d", version);
                put("x", version);
            }
        }
        if constexpr (std::same_as<Request, query_entities>) {
            if (all->crowd && answer && request.table.starts_with("items") && request.select.empty() &&
                answer->continuation && !std::exchange(all->changed, true)) {
                put("d", "between pages");
                put("x", "between pages");
            }
        }
        return answer;
    }
};

constexpr char const* first_keys[] = {"a", "d", "p", "x"};

struct range_order {
    std::vector<std::string> bounds{};
    std::vector<std::vector<task>> operators{};
    client_body client{};
    int clients{1};
    bool prompt{};
    bool crowd{true};
    bool off_line{};
    int skew{};
    std::uint64_t seed{};
    std::function<std::string(memory_backend const&, scene const&)> end{};
    int* done{};
};

void set_up_ranges(
    memory_backend const& store, entitable::clock& time, scene& all, std::vector<std::string> const& bounds) {
    lookup_map_options const leases{lease, &time};
    auto const map = lookup_map::make(store, "shardmap", virtual_shards::ranges(bounds), {"s0"}, leases).value();
    call context;
    sharded const cloud{map, [&store](std::string_view) -> result<any_transport> { return any_transport{store}; }};
    cloud.execute(create_table{"items"}, context).value();
    for (auto const* key : first_keys) {
        cloud.execute(write_entity{"items", mutation::insert(entry(key, "old"))}, context).value();
        all.rows[key] = "old";
    }
    row_builder fixed{"map", "header"}; // the nonce of the setup is random
    fixed.add("nonce", std::string_view{"setup"});
    store.execute(write_entity{"shardmap", mutation::merge(fixed.build(), any_etag)}, context).value();
}

void begin(testing::stage& on, range_order const& how) {
    auto& all = on.keep<scene>();
    all.crowd = how.crowd;
    set_up_ranges(on.store(), on.time(), all, how.bounds);
    for (std::size_t place = 0; place < 5; ++place) {
        on.deliver_to(beside{on.store(), &all}, place);
    }
    auto& lives = on.keep<int>(0);
    for (std::size_t number = 0; number < how.operators.size(); ++number) {
        on.add(
            "operator " + std::to_string(number),
            [&on, &how, &lives, number] {
                ++lives;
                return operator_work{"operator" + std::to_string(lives), how.operators[number], on.store().profile(),
                    how.off_line, on.time().steady(), how.seed * 100 + static_cast<std::uint64_t>(lives)};
            },
            [&how](int done) {
                if (how.done != nullptr) {
                    *how.done += done;
                }
            });
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
    on.remember([&all, &lives] {
        std::string text = all.wrong + std::to_string(lives) + (all.changed ? "c" : "") + all.told;
        return text + text_of_rows(all);
    });
    on.always([&all] { return all.wrong; });
    on.at_end([&on, &all, &how] {
        if (how.end) {
            return how.end(on.store(), all);
        }
        std::string const problem = differs_now(on.store(), all);
        return problem.empty() ? tables_left(on.store()) : problem;
    });
}

/// Walks through schedules that are drawn from seeds, to their ends; in the long run through all of the first states, too.
void check(range_order const& how, testing::interleaving_limits limits) {
    limits.life = 24h;
    std::size_t const schedules = entitable_test::rounds(6, 300, 40);
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
        auto const seen = testing::random_interleaving([&how](testing::stage& on) { begin(on, how); }, limits, seed);
        CAPTURE(seed, seen.schedule);
        CHECK(seen.problem == "");
        CHECK(seen.complete);
    }
    if (limits.most_states = entitable_test::rounds(0, 20'000); limits.most_states > 0) {
        auto const seen = testing::interleavings([&how](testing::stage& on) { begin(on, how); }, limits);
        CAPTURE(seen.schedule, seen.states);
        CHECK(seen.problem == "");
    }
}

std::optional<sharded> open_ranges(any_transport const& way, entitable::clock& time) {
    auto opened = lookup_map::open(way, "shardmap", virtual_shards::ranges(), lookup_map_options{lease, &time});
    if (!opened) {
        return std::nullopt;
    }
    return sharded{*std::move(opened), [way](std::string_view) -> result<any_transport> { return way; }};
}

// ---- clients ----

/// Inserts a row of each half; what it is told is remembered.
void inserts_both(any_transport const& way, entitable::clock& time, scene& all, int) {
    auto const cloud = open_ranges(way, time);
    for (std::string const key : {"y", "b"}) {
        if (!cloud) {
            return;
        }
        call context;
        all.maybe.insert(key + "new");
        auto const done = cloud->execute(write_entity{"items", mutation::insert(entry(key, "new"))}, context);
        if (done) { // what was refused may have been written by a client that was killed before
            all.maybe.erase(key + "new");
            all.rows[key] = "new";
        }
    }
}

/// Scans by tokens: the rows that are there all the time come once each, in order.
void scans_all(any_transport const& way, entitable::clock& time, scene& all, int) {
    auto const cloud = open_ranges(way, time);
    if (!cloud) {
        return;
    }
    query_entities asked{"items", {}, {}, {}, 2, {}};
    std::string met;
    for (;;) {
        call context;
        auto const found = cloud->execute(asked, context);
        if (!found) {
            return;
        }
        for (std::size_t index = 0; index < found->rows.size(); ++index) {
            row_view const each = found->rows[index];
            bool const counts =
                each.row_key == "k" && std::string_view{"adpx"}.find(each.partition_key) != std::string_view::npos;
            met += counts ? each.partition_key : std::string_view{};
        }
        asked.continuation = found->continuation;
        if (!asked.continuation) {
            break;
        }
    }
    if (met != "adpx") {
        all.wrong = "a scan of the rows a, d, p and x met " + met;
    }
}

/// Reads a key of the upper half twice: what was there for everybody before it began to read, or something later.
void reads_upper(any_transport const& way, entitable::clock& clock, scene& all, int) {
    auto const cloud = open_ranges(way, clock);
    for (int time = 0; cloud && time < 2; ++time) {
        std::string const before = all.rows["x"];
        call context;
        auto const found = cloud->execute(get_entity{"items", "x", "k", {}}, context);
        auto const number = [](std::string const& value) {
            return value == "old" ? 0 : value[0] == 'b' ? -1 : std::stoi(value);
        };
        if (found && number(before) > 0 && number(value_of(found->entity)) < number(before) &&
            value_of(found->entity) != "between pages") {
            all.wrong = "a read gave what was there before a write that was acknowledged before it began";
        }
        if (!found && found.error().code == error_code::resource_not_found) {
            all.wrong = "a read did not find a row that is there all the time";
        }
    }
}

task split_at(std::string key, std::int32_t shard = 0) { return {task::kind::split, shard, 0, std::move(key), {}}; }
task move_to(std::int32_t shard, std::string store) { return {task::kind::move, shard, 0, {}, std::move(store)}; }
task merge_to(std::int32_t lower, std::int32_t upper, std::string store) {
    return {task::kind::merge, lower, upper, {}, std::move(store)};
}

range_order splits(client_body client = {}) {
    range_order how;
    how.operators = {{split_at("m"), move_to(1, "s1")}};
    how.client = std::move(client);
    return how;
}
range_order merges(client_body client = {}) {
    range_order how;
    how.bounds = {"m"};
    how.operators = {{merge_to(0, 1, "s1")}};
    how.client = std::move(client);
    return how;
}

} // namespace

TEST_CASE("shard ranges: a split and a move, a merge, and who continues them") {
    for (bool const off_line : {false, true}) {
        for (range_order how : {splits(), merges()}) {
            how.off_line = off_line;
            check(how, {.faults = 1, .late = 1});
            check(how, {.faults = 0, .late = 1, .crashes = 1, .again = 1});
        }
    }
}

TEST_CASE("shard ranges: clients that insert, read and scan") {
    for (client_body const& client : {client_body{inserts_both}, client_body{reads_upper}, client_body{scans_all}}) {
        for (range_order how : {splits(client), merges(client)}) {
            how.crowd = false;
            check(how, {.faults = 0, .late = 1});
            check(how, {.faults = 0, .late = 0, .crashes = 1, .again = 1});
            how.crowd = true;
            check(how, quiet);
        }
    }
}

TEST_CASE("shard ranges: two operators, one of whom takes the other's work away") {
    range_order how = merges();
    how.operators.push_back({move_to(1, "s2"), split_at("p", 1)});
    check(how, quiet);
    how.operators.back() = {merge_to(0, 1, "s2")};
    check(how, quiet);
    how = splits();
    how.operators.push_back({split_at("p"), merge_to(0, 1, "s2")});
    check(how, quiet);
}

// ---- suspension: every step of a client beside every step of an operator ----

namespace {

/// What a client and an operator come to when the client is suspended after some requests of its own for some of the operator's; `behind`: with the
/// answer to the last one on its way.
struct outcome {
    std::string problem;
    bool client_ended{};
    bool operator_ended{};
};

outcome suspend(range_order const& how, std::size_t own, std::size_t others, bool behind) {
    testing::manual_clock time;
    local_options by_clock;
    by_clock.time = &time;
    memory_backend const store{by_clock};
    scene all;
    set_up_ranges(store, time, all, how.bounds);
    any_transport const way{beside{store, &all}};
    all.crowd = how.crowd;
    operator_work work{"operator", how.operators.front(), store.profile(), how.off_line, time.steady()};
    testing::program<bool> asking{[&](any_transport through, entitable::clock& clock) {
                                      how.client(through, clock, all, 0);
                                      return true;
                                  },
        time.steady()};
    outcome seen;
    std::function<void()> held;
    for (std::size_t done = 0; done < own && !asking.next().done(); ++done) {
        held = take_step(asking, way, time);
        if (done + 1 < own || !behind) {
            std::exchange(held, nullptr)();
        }
    }
    seen.client_ended = !held && asking.next().done();
    std::size_t moved = 0;
    for (; moved < others && !work.next().done(); ++moved) {
        take_step(work, way, time)();
    }
    seen.operator_ended = moved < others;
    if (held) {
        held();
    }
    while (!asking.next().done()) {
        take_step(asking, way, time)();
    }
    while (!work.next().done()) {
        take_step(work, way, time)();
    }
    seen.problem = !all.wrong.empty() ? all.wrong : differs_now(store, all);
    seen.problem = seen.problem.empty() ? tables_left(store) : seen.problem;
    if (seen.problem.empty() && work.finish() != static_cast<int>(how.operators.front().size())) {
        seen.problem = "not all was done";
    }
    return seen;
}

} // namespace

TEST_CASE("shard ranges: a client that is suspended at any step while anything happens") {
    auto const stride = static_cast<std::size_t>(entitable_test::rounds(13, 1));
    std::vector<task> const both{
        split_at("m"), move_to(1, "s1"), merge_to(0, 1, "s2"), split_at("c"), move_to(0, "s0")};
    for (client_body const& client : {client_body{inserts_both}, client_body{reads_upper}, client_body{scans_all}}) {
        range_order how;
        how.operators = {both};
        how.client = client;
        std::size_t runs = 0;
        for (bool const behind : {false, true}) {
            for (std::size_t own = behind ? 1 : 0;; ++own) {
                outcome seen;
                for (std::size_t others = own % stride; !seen.operator_ended; others += stride) {
                    seen = suspend(how, own, others, behind);
                    ++runs;
                    CAPTURE(own, others, behind);
                    REQUIRE(seen.problem == "");
                }
                if (seen.client_ended) {
                    break;
                }
            }
        }
        CHECK(runs > 300 / stride);
    }
}

TEST_CASE("shard ranges: worlds of clients and two operators, drawn from seeds") {
    int done = 0;
    std::size_t steps = 0;
    std::uint64_t const worlds = entitable_test::rounds(60, 20'000, 300);
    for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
        range_order how;
        how.bounds = {"m"};
        how.operators.assign(2, std::vector<task>(4, task{task::kind::draw}));
        how.seed = seed;
        how.crowd = false;
        how.off_line = seed % 5 == 0;
        how.skew = static_cast<int>(seed % 41) - 20;
        how.clients = 3;
        how.client = [](any_transport const& way, entitable::clock& time, scene& all, int number) {
            (number == 0 ? inserts_both : number == 1 ? scans_all : reads_upper)(way, time, all, number);
        };
        how.done = &done;
        auto const seen = testing::random_interleaving([&how](testing::stage& on) { begin(on, how); },
            {.faults = seed % 4,
                .late = seed % 3,
                .crashes = seed % 3,
                .again = 4,
                .life = 24h,
                .most_requests = 2'000,
                .most_states = 20'000},
            seed);
        CAPTURE(seed, seen.schedule);
        CHECK(seen.problem == "");
        CHECK(seen.complete);
        steps += seen.states;
    }
    std::printf("shard ranges: %llu worlds, %d splits, moves and merges, %zu steps\n",
        static_cast<unsigned long long>(worlds), done, steps);
    CHECK(done > 100);
}
