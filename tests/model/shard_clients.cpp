// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Clients with defects during a move, or a mover that does not wait for clients. The client is suspended once, at each of its steps for each
// number of steps of the mover: each defect is detected, and nothing without it. A defect of a client is a clock or a transport around the real
// one that removes one safeguard.

#include "shard_world.hpp"

using namespace shard_world;

namespace {

enum class client_defect : std::uint8_t {
    none,
    judges_early,     ///< an answer counts if the lease was valid when its request was sent
    leases_late,      ///< a lease counts from the arrival of the map
    believes_refusal, ///< a refusal counts without checking the map
    bare_etags,       ///< an ETag of one epoch is accepted in another
    forgets_last_key, ///< the continuation of a scan belongs to one table, and means nothing in another
};

/// Returns times other than the real ones.
struct false_clock final : entitable::clock {
    explicit false_clock(entitable::clock& of) : real(of) {}
    date_time now() noexcept override { return real.now(); }
    steady_time steady() noexcept override { return std::exchange(once, {}).value_or(real.steady() - behind); }
    void wait_until(steady_time time) noexcept override { real.wait_until(time + behind); }
    entitable::clock& real;
    std::optional<steady_time> once;
    std::chrono::nanoseconds behind{};
};

/// A store. The check of its answers gets the time when the requests were sent.
struct judged_early {
    using is_transport = void;
    any_store below;
    false_clock* time;
    bool refusals;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        steady_time const asked = time->steady();
        auto answer = below.execute(request, context);
        bool const refused = !answer &&
            (answer.error().code == error_code::entity_already_exists ||
                answer.error().code == error_code::resource_not_found);
        if (refusals ? refused : answer.has_value()) { time->once = asked; }
        return answer;
    }
};

/// The map. Its transfer time does not count.
struct leased_late {
    using is_transport = void;
    any_store below;
    false_clock* time;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        steady_time const asked = time->steady();
        auto answer = below.execute(request, context);
        time->behind += time->steady() - asked;
        return answer;
    }
};

/// In front of the client: ETags without their epochs, or continuations without their last key.
struct careless {
    using is_transport = void;
    sharded cloud;
    client_defect what;

    [[nodiscard]] std::int64_t epoch() const { return cloud.map().state().fresh({}).value()->places[0].row.epoch; }
    [[nodiscard]] entitable::profile profile() const { return cloud.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, write_entity>) {
            if (what == client_defect::bare_etags && !request.change.condition.version().empty()) {
                mutation const changed{request.change.kind, request.change.entity,
                    detail::etag_with_epoch(request.change.condition.version(), epoch())};
                return cloud.execute(write_entity{request.table, changed}, context);
            }
        }
        if constexpr (std::same_as<Request, query_entities>) {
            if (what == client_defect::forgets_last_key && request.continuation) {
                query_entities asked = request;
                std::size_t const end = asked.continuation->find('|');
                bool const same = asked.continuation->substr(0, end) == std::to_string(epoch());
                asked.continuation = same ? std::optional{asked.continuation->substr(end + 1)} : std::nullopt;
                return with_epoch(cloud.execute(asked, context));
            }
            return with_epoch(cloud.execute(request, context));
        } else {
            auto answer = cloud.execute(request, context);
            if constexpr (std::same_as<Request, get_entity>) {
                if (what == client_defect::bare_etags && answer) {
                    answer->etag =
                        detail::etag_of_epoch(answer->etag, std::stoll(answer->etag.to_string().substr(4))).value();
                }
            }
            return answer;
        }
    }
    [[nodiscard]] result<query_entities::response> with_epoch(result<query_entities::response> found) const {
        if (what == client_defect::forgets_last_key && found && found->continuation) {
            found->continuation = std::to_string(epoch()) + '|' + *found->continuation;
        }
        return found;
    }
};

/// The actions of a client through its transport.
using asks = void (*)(any_store const& cloud, scene& all);

client_body client_with(client_defect what, asks body) {
    return [what, body](any_store const& way, entitable::clock& clock, scene& all, int) {
        false_clock time{clock};
        any_store const catalogue = what == client_defect::leases_late ? any_store{leased_late{way, &time}} : way;
        auto map = lookup_map::open(catalogue, "shardmap", virtual_shards{1}, lookup_map_options{lease, &time});
        if (!map) { return; }
        bool const early = what == client_defect::judges_early || what == client_defect::believes_refusal;
        any_store const store =
            early ? any_store{judged_early{way, &time, what == client_defect::believes_refusal}} : way;
        sharded const cloud{*std::move(map), [store](std::string_view) -> result<any_store> { return store; }};
        body(any_store{careless{cloud, what}}, all);
    };
}

void inserts_new(any_store const& cloud, scene& all) {
    call context;
    all.maybe.insert("cnew");
    auto const done = cloud.execute(write_entity{"items", mutation::insert(value_row("c", "new"))}, context);
    if (done || done.error().effect == effect::none) { all.maybe.erase("cnew"); }
    if (done) { all.rows["c"] = "new"; }
}

/// Inserts the row that a late write puts into the source, where it no longer counts.
void inserts_ghost(any_store const& cloud, scene& all) {
    call context;
    all.maybe.insert("gnew");
    auto const done = cloud.execute(write_entity{"items", mutation::insert(value_row("g", "new"))}, context);
    if (done) {
        all.rows["g"] = "new";
    } else if (done.error().code == error_code::entity_already_exists) {
        all.told = "g";
    }
}
std::string ghost_is_there(memory_backend const& store, scene const& all) {
    call context;
    auto const found = store.execute(get_entity{table_now(store), "p", "g", {}}, context);
    return all.told == "g" && !found ? "an insert was refused because of a row that was never there" : "";
}

/// Reads a row and replaces it.
void replaces(any_store const& cloud, scene& all) {
    call context;
    auto const read = cloud.execute(get_entity{"items", "p", "z", {}}, context);
    if (!read) { return; }
    call other;
    auto const done = cloud.execute(write_entity{"items", mutation::replace(value_row("z", "own"), read->etag)}, other);
    if (done) { all.told = value_of(read->entity); }
}
std::string own_or_changed(memory_backend const& store, scene const& all) {
    call context;
    std::string const table = table_now(store);
    auto const found = (table == "items0000x3" ? *all.target : store).execute(get_entity{table, "p", "z", {}}, context);
    bool const replaced = found && value_of(found->entity) == "own" && all.told == "old";
    return replaced && all.rows.at("z") == "changed"
        ? "a write that was acknowledged was replaced by one that had not read it"
        : "";
}

void scans(any_store const& cloud, scene& all) {
    query_entities asked{"items", {}, {}, {}, 1, {}};
    std::string met;
    for (;;) {
        call context;
        auto const found = cloud.execute(asked, context);
        if (!found) { return; }
        for (std::size_t index = 0; index < found->rows.size(); ++index) {
            std::string_view const key = found->rows[index].row_key;
            met += system_row::is_one(key) ? std::string_view{} : key;
        }
        asked.continuation = found->continuation;
        if (!asked.continuation) { break; }
    }
    if (met != "arz") { all.wrong = "a scan of the rows a, r and z met " + met; }
}

/// Gives the copy of z the current version of the row z: versions of two stores need not differ.
void same_versions(memory_backend const& source, memory_backend const& target) {
    call context;
    auto const z = source.execute(get_entity{"items0000x2", "p", "z", {}}, context).value().etag.timestamp();
    target.execute(create_table{"others"}, context).value();
    date_time last;
    while (last.ticks + 3 < z.ticks) { // after it come a, r and z
        last = target.execute(write_entity{"others", mutation::insert_or_replace(value_row("x", ""))}, context)
                   .value()
                   .etag.timestamp();
    }
}

/// One suspension of the client: its first requests, then some of the mover, then the rest of both.
struct suspension {
    std::size_t client{}; ///< requests before it
    std::size_t mover{};  ///< requests in the meantime
    bool behind{};        ///< the last request was applied, and its answer waits
};

struct play {
    std::string problem;
    bool ended{};       ///< there is nothing to suspend any more
    bool mover_ended{}; ///< the same of the mover
};

/// How the shard is moved.
struct mover_kind {
    move_defect planted{};
    bool off_line{};
};

play run(client_body const& client, mover_kind const& by, suspension const& at, scene all,
    std::string (*end)(memory_backend const&, scene const&)) {
    testing::manual_clock time;
    local_options by_clock;
    by_clock.time = &time;
    memory_backend const store{by_clock};
    set_up(store, time, all);
    all.crowd = false;
    if (all.apart) {
        all.target.emplace(by_clock);
        same_versions(store, *all.target);
    }
    any_store const way{watched{store, &all}};
    detail::shard_mover_order what = order_of_move("mover", true, store.profile());
    what.options.off_line = by.off_line;
    saboteur mover{std::move(what), by.planted, time.steady()};
    testing::program<bool> asking{[&](any_store through, entitable::clock& clock) {
                                      client(through, clock, all, 0);
                                      return true;
                                  },
        time.steady()};
    play seen;
    std::function<void()> held;
    for (std::size_t done = 0; done < at.client && !asking.next().done(); ++done) {
        held = take_step(asking, way, time);
        if (done + 1 < at.client || !at.behind) { std::exchange(held, nullptr)(); }
    }
    seen.ended = !held && asking.next().done();
    std::size_t moved = 0;
    for (; moved < at.mover && !mover.next().done(); ++moved) { take_step(mover, way, time)(); }
    seen.mover_ended = moved < at.mover;
    if (held) { held(); }
    while (!asking.next().done()) { take_step(asking, way, time)(); }
    while (!mover.next().done()) { take_step(mover, way, time)(); }
    seen.problem = !all.wrong.empty() ? all.wrong : end(store, all);
    return seen;
}

/// Every suspension of a client.
std::string suspended(client_defect what, asks body, scene const& all,
    std::string (*end)(memory_backend const&, scene const&), mover_kind const& by = {}) {
    client_body const client = client_with(what, body);
    std::size_t runs = 0;
    for (bool const behind : {false, true}) {
        for (suspension at{behind ? 1U : 0U, 0, behind};; ++at.client) {
            play seen;
            for (at.mover = 0; !seen.mover_ended; ++at.mover) {
                seen = run(client, by, at, all, end);
                ++runs;
                if (!seen.problem.empty()) { return seen.problem; }
            }
            if (seen.ended) { break; }
        }
    }
    CHECK(runs > 50);
    return {};
}

/// With the defect it is detected, and without it nothing is.
void found(client_defect what, asks body, scene const& all = {},
    std::string (*end)(memory_backend const&, scene const&) = differs) {
    CHECK(suspended(what, body, all, end) != "");
    CHECK(suspended(client_defect::none, body, all, end) == "");
}

} // namespace

TEST_CASE("shard clients: planted defects are found, at whatever point the client is suspended") {
    scene all;
    SECTION("leases are checked only before the request is sent, or are counted from when the map was received") {
        CHECK(suspended(client_defect::leases_late, inserts_new, all, differs) != "");
        found(client_defect::judges_early, inserts_new);
    }
    SECTION("a mover does not wait for leases") {
        for (bool const off_line : {false, true}) {
            CAPTURE(off_line);
            mover_kind const by{move_defect::waits_for_no_lease, off_line};
            CHECK(suspended(client_defect::none, inserts_new, all, differs, by) != "");
            CHECK(suspended(client_defect::none, inserts_new, all, differs, {move_defect::none, off_line}) == "");
        }
    }
    SECTION("a refusal is not verified") {
        all.ghost = true;
        found(client_defect::believes_refusal, inserts_ghost, all, ghost_is_there);
    }
    SECTION("ETags contain no epoch") {
        all.apart = true;
        found(client_defect::bare_etags, replaces, all, own_or_changed);
    }
    SECTION("a continuation token does not contain the last key") { found(client_defect::forgets_last_key, scans); }
}
