// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Where versions on PostgreSQL come from, walked through all interleavings of its steps: a key that is written, removed and written again
// while others write. Each version is greater than all that its key had. A model, in which each part of the source can be left out or
// replaced by something simpler: every such change must be detected. The statements themselves are tested in tests/postgres/versions.cpp.

#include <entitable/memory.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

#include <map>
#include <set>
#include <sstream>

using namespace entitable;

namespace {

/// The parts of a server that versions depend on. Each command is one step that nothing else interrupts.
struct server {
    std::int64_t draws{};
    std::int64_t base{};
    std::set<std::string> locks;
    int sharers{}; ///< of the lock of the partition
    std::map<std::string, std::int64_t> rows;
    std::map<std::string, std::int64_t> greatest; ///< of all versions that a key ever had
    std::string wrong;

    std::int64_t run(std::string const& command) {
        std::istringstream words{command};
        std::string what;
        std::string key;
        std::int64_t version = 0;
        words >> what >> key >> version;
        if (what == "next") { return ++draws; }
        if (what == "draws") { return draws; }
        if (what == "base") { return base; }
        if (what == "raise") { return base = std::max(base, version); }
        if (what == "set") { return draws = version; }
        if (what == "share") { return locks.count("partition") == 0 ? ++sharers : 0; }
        if (what == "unshare") { return --sharers; }
        if (what == "exclude") { return sharers == 0 && locks.insert("partition").second ? 1 : 0; }
        if (what == "include") { return static_cast<std::int64_t>(locks.erase("partition")); }
        if (what == "lock") { return locks.insert(key).second ? 1 : 0; }
        if (what == "unlock") { return static_cast<std::int64_t>(locks.erase(key)); }
        if (what == "read") { return rows.count(key) != 0 ? rows[key] : -1; }
        if (what == "remove") { return static_cast<std::int64_t>(rows.erase(key)); }
        // insert, or replace what was read
        std::int64_t expected = -1;
        words >> expected;
        if ((what == "insert") == (rows.count(key) != 0)) { return 0; }
        if (what == "replace" && rows[key] != expected) { return 0; }
        if (version <= greatest[key]) {
            wrong = key + " got " + std::to_string(version) + " after " + std::to_string(greatest[key]);
        }
        greatest[key] = std::max(greatest[key], version);
        rows[key] = version;
        return 1;
    }
    [[nodiscard]] std::string text() const {
        std::ostringstream made;
        made << draws << ' ' << base << ' ' << sharers;
        for (auto const& each : locks) { made << ' ' << each; }
        for (auto const& [key, version] : rows) { made << ' ' << key << version; }
        for (auto const& [key, version] : greatest) { made << ' ' << key << version; }
        return made.str();
    }
};

/// Delivers commands, which are the row keys of point reads.
struct to_server {
    using is_transport = void;
    memory_backend below;
    server* of;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, get_entity>) {
            return get_entity::response{testing::make_row("p", "r", {{"n", of->run(request.row_key)}}), {}};
        } else {
            return below.execute(request, context);
        }
    }
};

enum class design {
    as_built,
    clock_alone,
    one_counter_set_to_the_clock,
    key_not_locked,
    upsert_keeps_its_first_version,
    removal_without_the_partition,
};

/// One program that writes.
class writer {
public:
    writer(any_store through, design how) : through_(std::move(through)), how_(how) {}

    void insert(std::string const& key, std::int64_t clock) {
        if (!locked(key)) { return; }
        std::int64_t const version = draw(clock);
        if (run("insert " + key + " " + std::to_string(version)) != 0) { seen_ = std::max(seen_, version); }
        unlock(key);
    }
    void remove(std::string const& key) {
        bool const shares = how_ != design::removal_without_the_partition;
        if (!locked(key, shares)) { return; }
        run("remove " + key);
        unlock(key, shares);
    }
    /// Replaces a row under its lock, or inserts one. The row is another one than when the version was drawn, if another writer had it.
    void put(std::string const& key, std::int64_t clock) {
        if (!locked(key)) { return; }
        std::int64_t const version = draw(clock);
        for (int tries = 0; tries < 3; ++tries) {
            std::int64_t const found = run("read " + key);
            bool const later = found < version || how_ == design::upsert_keeps_its_first_version;
            std::string const made = key + " " + std::to_string(later ? version : draw(clock));
            if (run(found < 0 ? "insert " + made : "replace " + made + " " + std::to_string(found)) != 0) { break; }
        }
        unlock(key);
    }
    /// A transaction that inserts a row without reading it.
    void create(std::string const& key, std::int64_t clock) {
        if (run("exclude") == 0 && run("exclude") == 0) { return; }
        run("insert " + key + " " + std::to_string(draw(clock)));
        run("include");
    }
    /// A statement that finds its row changed draws another version for the row that it finds then.
    void replace(std::string const& key, std::int64_t clock) {
        for (int tries = 0; tries < 3; ++tries) {
            std::int64_t const found = run("read " + key);
            if (found < 0) { return; }
            if (run("replace " + key + " " + std::to_string(draw(clock)) + " " + std::to_string(found)) != 0) {
                return;
            }
        }
    }

private:
    std::int64_t run(std::string const& command) {
        call context;
        auto const said = through_.execute(get_entity{"t", "p", command, {}}, context);
        return said ? said->entity.view().find("n")->as_int64() : -2;
    }
    bool locked(std::string const& key, bool shares = true) {
        if (how_ == design::key_not_locked) { return true; }
        if (shares && run("share") == 0 && run("share") == 0) { return false; } // the statement timeout
        for (int tries = 0; tries < 2; ++tries) {
            if (run("lock " + key) == 1) { return true; }
        }
        if (shares) { run("unshare"); }
        return false;
    }
    void unlock(std::string const& key, bool shares = true) {
        if (how_ == design::key_not_locked) { return; }
        run("unlock " + key);
        if (shares) { run("unshare"); }
    }
    std::int64_t draw(std::int64_t clock) {
        if (how_ == design::clock_alone) { return clock; }
        if (how_ == design::one_counter_set_to_the_clock) {
            if (run("draws") < clock) { run("set x " + std::to_string(clock)); }
            return run("next");
        }
        std::int64_t const number = run("next");
        if (seen_ >= clock) { return number + run("base"); } // the sum is not behind the clock
        if (run("base") + run("draws") < clock) { run("raise x " + std::to_string(clock - run("draws"))); }
        return number + run("base");
    }

    any_store through_;
    design how_;
    std::int64_t seen_{}; ///< greatest version that a response named
};

std::string walked(design how, std::function<void(writer)> const& first, std::function<void(writer)> const& second) {
    auto const found = testing::interleavings(
        [&](testing::stage& on) {
            auto& all = on.keep<server>();
            on.deliver_to(to_server{on.store(), &all});
            for (auto const* work : {&first, &second}) {
                on.add(
                    work == &first ? "first" : "second",
                    [work, how] {
                        return testing::program<result<void>>{[work, how](any_store through, entitable::clock&) {
                            (*work)(writer{std::move(through), how});
                            return result<void>{};
                        }};
                    },
                    [](result<void> const&) {});
            }
            on.remember([&all] { return all.text(); });
            on.always([&all] { return all.wrong; });
        },
        {.faults = 0, .late = 0});
    CHECK((found.complete || !found.problem.empty()));
    CHECK(found.states > 10);
    return found.problem;
}

/// Written, removed, and written again by a program whose clock was set back.
void back_and_forth(writer of) {
    of.insert("k", 30);
    of.remove("k");
    of.insert("k", 20);
}

/// Written twice by a program that knows versions near its clock, and removed.
void twice_and_gone(writer of) {
    of.insert("k", 10);
    of.replace("k", 10);
    of.remove("k");
}

} // namespace

TEST_CASE("versions on PostgreSQL: each is greater than all earlier versions of its key, in every order of the steps") {
    CHECK(walked(design::as_built, back_and_forth, [](writer of) { of.insert("k", 30); }) == "");
    CHECK(walked(design::as_built, back_and_forth, [](writer of) { of.insert("j", 30); }) == "");
    CHECK(walked(design::as_built, back_and_forth, [](writer of) { of.replace("k", 25); }) == "");
    CHECK(walked(design::as_built, back_and_forth, [](writer of) { of.remove("k"); }) == "");
    CHECK(walked(design::as_built, back_and_forth, [](writer of) { of.put("k", 25); }) == "");
    CHECK(walked(design::as_built, twice_and_gone, [](writer of) { of.put("k", 20); }) == "");
    CHECK(walked(design::as_built, twice_and_gone, [](writer of) { of.create("k", 20); }) == "");
    CHECK(walked(design::as_built, back_and_forth, [](writer of) { of.create("k", 20); }) == "");
}

TEST_CASE("versions on PostgreSQL: simpler sources can repeat a version") {
    CHECK(walked(design::clock_alone, back_and_forth, [](writer of) { of.insert("j", 30); }) != "");
    CHECK(walked(design::one_counter_set_to_the_clock, back_and_forth, [](writer of) { of.insert("j", 30); }) != "");
    CHECK(walked(design::key_not_locked, back_and_forth, [](writer of) { of.insert("k", 30); }) != "");
    CHECK(walked(design::upsert_keeps_its_first_version, twice_and_gone, [](writer of) { of.put("k", 20); }) != "");
    CHECK(walked(design::removal_without_the_partition, twice_and_gone, [](writer of) { of.create("k", 20); }) != "");
}
