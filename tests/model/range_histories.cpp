// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Worlds of ranges, drawn from seeds: clients get, insert, replace by ETag, write, remove and scan while two operators split, move and merge.
// For each key some order of the requests must explain the answers. Clients with stale reads are detected.

#include "range_world.hpp"
#include "shard_history.hpp"

using namespace shard_world;

namespace {

enum class stale_by : std::uint8_t {
    nothing,
    cache,      ///< answers some reads with an earlier answer
    long_lease, ///< uses its copy of the map indefinitely, as long as the table exists
};

/// In front of a client, like a cache: every second read of a row gets the answer of the one before.
struct caches {
    using is_transport = void;
    struct memory {
        std::map<std::string, get_entity::response> found;
        int reads{};
    };
    any_store below;
    std::shared_ptr<memory> seen = std::make_shared<memory>();

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, get_entity>) {
            auto const known = seen->found.find(request.partition_key);
            if (request.table.starts_with("items") && known != seen->found.end() && ++seen->reads % 2 == 0) {
                return known->second;
            }
            auto answer = below.execute(request, context);
            if (answer && request.table.starts_with("items")) {
                seen->found.insert_or_assign(request.partition_key, *answer);
            }
            return answer;
        } else {
            return below.execute(request, context);
        }
    }
};

/// Stands.
struct standing_clock final : entitable::clock {
    date_time now() noexcept override { return {}; }
    steady_time steady() noexcept override { return {}; }
    void wait_until(steady_time) noexcept override {}
};

std::optional<sharded> open_for_ever(any_store const& way, entitable::clock&) {
    static standing_clock stands;
    return open_ranges(way, stands);
}

judged_table const ranges{open_ranges, entry, {"b", "x", "y"}, {"a", "p"}, 15, true};
judged_table const ranges_for_ever{open_for_ever, entry, {"b", "x", "y"}, {"a", "p"}, 15, true};

client_body client_of(std::uint64_t seed, stale_by planted) {
    client_body const client = busy_client(planted == stale_by::long_lease ? ranges_for_ever : ranges, seed);
    return [client, planted](any_store const& way, entitable::clock& time, scene& all, int life) {
        client(planted == stale_by::cache ? any_store{caches{way}} : way, time, all, life);
    };
}

/// The final state as if it were read, key by key.
std::string unexplained(memory_backend const& store, scene const& all) {
    auto const rows = rows_now(store);
    for (std::string const key : ranges.keys) {
        auto const last = rows.find(key);
        std::string problem =
            unexplained_of(all, key, key == "x" ? "old" : "", last != rows.end() ? last->second : std::string{});
        if (!problem.empty()) { return problem; }
    }
    return rows.contains("?") ? rows.at("?") : "";
}

/// Totals over all worlds.
struct figures {
    int tasks{};
    std::size_t judged{};
};

testing::interleaving_report world(std::uint64_t seed, stale_by planted, figures& done) {
    range_order how = drawn_from(seed);
    how.client = client_of(seed, planted);
    how.end = [&done](memory_backend const& store, scene const& all) {
        done.judged += all.history.size();
        return unexplained(store, all);
    };
    how.done = &done.tasks;
    return testing::random_interleaving(
        [&how](testing::stage& on) { begin(on, how); }, limits_of_world(seed, 2'000), seed);
}

} // namespace

TEST_CASE("range histories: the requests for each key are linearizable") {
    figures done;
    std::uint64_t const worlds = entitable_test::rounds(30, 20'000, 300);
    for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
        auto const seen = world(seed, stale_by::nothing, done);
        CAPTURE(seed, seen.schedule);
        CHECK(seen.problem == "");
        CHECK(seen.complete);
    }
    std::printf("range histories: %llu worlds, %d splits, moves and merges, %zu requests judged\n",
        static_cast<unsigned long long>(worlds), done.tasks, done.judged);
    CHECK(done.tasks > 50);
    CHECK(done.judged > 10 * worlds);
}

TEST_CASE("range histories: clients with stale reads are detected") {
    for (stale_by const planted : {stale_by::cache, stale_by::long_lease}) {
        figures done;
        std::uint64_t const worlds = entitable_test::rounds(12, 2'000, 100);
        int broken = 0;
        for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
            broken += world(seed, planted, done).problem.empty() ? 0 : 1;
        }
        std::printf("range histories: %s breaks %d of %llu worlds\n",
            planted == stale_by::cache ? "a cache" : "a lease without an end", broken,
            static_cast<unsigned long long>(worlds));
        CHECK(broken > 0);
    }
}
