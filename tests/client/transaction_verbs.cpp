// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Random bodies of a transaction, compared with the same verbs applied one by one to a plain map.

#include "support/catch.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <array>
#include <map>

using namespace entitable;

namespace {

struct thing {
    std::string home;
    std::int32_t number{};
    std::int64_t size{};
    std::optional<std::string> note;

    friend bool operator==(thing const&, thing const&) = default;
};
ENTITABLE(thing, partition_key(home), row_key(number), properties(size, note))

enum class verb {
    find,
    insert,
    replace,
    replace_any,
    merge,
    merge_any,
    insert_or_replace,
    insert_or_merge,
    remove,
    remove_any,
    update,
    require
};
constexpr std::array verb_names{"find", "insert", "replace", "replace any", "merge", "merge any", "insert or replace",
    "insert or merge", "remove", "remove any", "update", "require"};
constexpr std::uint64_t verb_count = verb_names.size();

struct step {
    verb what;
    thing with;
};

std::string text_of(std::vector<step> const& body) {
    std::string all;
    for (step const& each : body) {
        all += verb_names[static_cast<std::size_t>(each.what)];
        all += ' ' + std::to_string(each.with.number) + (each.with.note ? "+note; " : "; ");
    }
    return all;
}

using state = std::map<std::int32_t, thing>;
using seen = std::vector<std::optional<thing>>;

void lay_over(thing& below, thing const& above) {
    below.size = above.size;
    if (above.note) { below.note = above.note; }
}

/// Applies one verb as if it were the only one. Returns whether it was accepted.
bool apply(state& rows, step const& each, seen* reads) {
    auto const at = rows.find(each.with.number);
    bool const there = at != rows.end();
    switch (each.what) {
        case verb::require: break; // at the end
        case verb::find:
            if (reads != nullptr) { reads->push_back(there ? std::optional{at->second} : std::nullopt); }
            break;
        case verb::insert:
            if (there) { return false; }
            rows[each.with.number] = each.with;
            break;
        case verb::insert_or_replace: rows[each.with.number] = each.with; break;
        case verb::insert_or_merge:
            if (there) {
                lay_over(at->second, each.with);
            } else {
                rows[each.with.number] = each.with;
            }
            break;
        default:
            if (!there) { return false; }
            if (each.what == verb::replace || each.what == verb::replace_any) {
                at->second = each.with;
            } else if (each.what == verb::merge || each.what == verb::merge_any) {
                lay_over(at->second, each.with);
            } else if (each.what == verb::update) {
                at->second.size += 1000;
            } else {
                rows.erase(at);
            }
    }
    return true;
}

struct outcome {
    bool refused{};
    state rows;
    seen reads;
};

outcome one_by_one(state const& before, std::vector<step> const& body) {
    outcome made{false, before, {}};
    for (step const& each : body) { made.refused = made.refused || !apply(made.rows, each, &made.reads); }
    for (step const& each : body) {
        made.refused = made.refused || (each.what == verb::require && !made.rows.contains(each.with.number));
    }
    return made;
}

result<void> run_step(transaction<thing>& all, step const& each, seen& reads) {
    switch (each.what) {
        case verb::find: {
            ENTITABLE_TRY(auto found, all.find(each.with.number));
            reads.push_back(std::move(found));
            break;
        }
        case verb::insert: all.insert(each.with); break;
        case verb::replace: all.replace(each.with); break;
        case verb::replace_any: all.replace(each.with, any_etag); break;
        case verb::merge: all.merge(each.with); break;
        case verb::merge_any: all.merge(each.with, any_etag); break;
        case verb::insert_or_replace: all.insert_or_replace(each.with); break;
        case verb::insert_or_merge: all.insert_or_merge(each.with); break;
        case verb::remove: all.remove(each.with); break;
        case verb::remove_any: all.remove(each.with, any_etag); break;
        case verb::update: ENTITABLE_CHECK(all.update(each.with.number, [](thing& one) { one.size += 1000; })); break;
        case verb::require: all.require(each.with.number); break;
    }
    return {};
}

struct world {
    world() { things.create().value(); }
    void begin_with(state const& rows) const {
        for (std::int32_t const number : {1, 2}) { things.remove_if_present("here", number, any_etag).value(); }
        for (auto const& [number, one] : rows) { things.insert(one).value(); }
    }
    [[nodiscard]] state stored() const {
        state rows;
        for (std::int32_t const number : {1, 2}) {
            if (auto found = things.find("here", number).value()) { rows[number] = *found; }
        }
        return rows;
    }

    testing::manual_clock time;
    memory_backend store;
    table<thing> things{store, "things"};
};

struct generator {
    random_source random;
    std::int64_t last{};

    [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random.bits() % limit; }
    [[nodiscard]] thing some(std::int32_t number) {
        thing made{"here", number, ++last, {}};
        if (below(2) == 0) { made.note = std::to_string(last); }
        return made;
    }
    [[nodiscard]] state begin() {
        state rows;
        for (std::int32_t const number : {1, 2}) {
            if (below(2) == 0) { rows[number] = some(number); }
        }
        return rows;
    }
    [[nodiscard]] std::vector<step> body(std::uint64_t most) {
        std::vector<step> made;
        for (std::uint64_t left = 1 + below(most); left > 0; --left) {
            made.push_back({static_cast<verb>(below(verb_count)), some(static_cast<std::int32_t>(1 + below(2)))});
        }
        return made;
    }
};

/// A row that is inserted without having been read, and then removed: nothing of it is sent, so its existence is not noticed.
bool inserts_and_removes_unread(std::vector<step> const& body) {
    for (std::size_t index = 0; index < body.size(); ++index) {
        for (std::size_t later = index + 1; later < body.size(); ++later) {
            if (body[index].what == verb::insert && body[index].with.number == body[later].with.number &&
                (body[later].what == verb::remove || body[later].what == verb::remove_any)) {
                return true;
            }
        }
    }
    return false;
}

} // namespace

TEST_CASE("transaction: random bodies have the same effect as their operations one at a time") {
    world in;
    generator make{random_source{4711}};
    std::size_t made = 0;
    std::size_t refused = 0;
    for (int round = 0; round < 4000; ++round) {
        state const before = make.begin();
        std::vector<step> const body = make.body(6);
        INFO("before: " << before.count(1) << before.count(2) << " body: " << text_of(body));
        in.begin_with(before);
        outcome const expected = one_by_one(before, body);
        seen reads;
        auto const done = in.things.transact("here",
            [&](transaction<thing>& all) -> result<void> {
                reads.clear();
                for (step const& each : body) { ENTITABLE_CHECK(run_step(all, each, reads)); }
                return {};
            },
            {.time = &in.time, .seed = 1});
        if (!done) {
            ++refused;
            CHECK(done.error().effect == effect::none);
            CHECK(in.stored() == before);
            // Unknown rows are read first.
            CHECK((expected.refused || done.error().code == error_code::invalid_input));
            continue;
        }
        ++made;
        if (expected.refused) {
            CHECK(inserts_and_removes_unread(body));
            continue;
        }
        CHECK(in.stored() == expected.rows);
        CHECK(reads == expected.reads);
    }
    CHECK(made > 500);
    CHECK(refused > 500);
}

TEST_CASE("transaction: a random body and a concurrent write by another writer are serializable") {
    world in;
    generator make{random_source{815}};
    std::size_t made = 0;
    for (int round = 0; round < 4000; ++round) {
        state const before = make.begin();
        std::vector<step> const body = make.body(5);
        step const other{
            static_cast<verb>(1 + make.below(verb_count - 2)), make.some(static_cast<std::int32_t>(1 + make.below(2)))};
        std::size_t const when = make.below(body.size() + 1);
        INFO("before: " << before.count(1) << before.count(2) << " body: " << text_of(body)
                        << " other: " << text_of({other}) << " before step " << when);
        in.begin_with(before);
        state then = before;
        auto const others = [&] {
            state rows = in.stored();
            apply(rows, other, nullptr);
            if (rows.contains(other.with.number)) {
                in.things.insert_or_replace(rows[other.with.number]).value();
            } else {
                in.things.remove_if_present("here", other.with.number, any_etag).value();
            }
        };
        bool written = false;
        seen reads;
        auto const done = in.things.transact("here",
            [&](transaction<thing>& all) -> result<void> {
                reads.clear();
                for (std::size_t index = 0; index <= body.size(); ++index) {
                    if (index == when && !std::exchange(written, true)) { others(); }
                    if (index < body.size()) { ENTITABLE_CHECK(run_step(all, body[index], reads)); }
                }
                return {};
            },
            {.time = &in.time, .seed = 1});
        if (!done || inserts_and_removes_unread(body)) { continue; }
        ++made;
        apply(then, other, nullptr);
        outcome const behind = one_by_one(then, body);
        outcome ahead = one_by_one(before, body);
        bool const as_behind = !behind.refused && behind.rows == in.stored() && behind.reads == reads;
        if (!ahead.refused) { apply(ahead.rows, other, nullptr); }
        bool const as_ahead = written && !ahead.refused && ahead.rows == in.stored() && ahead.reads == reads;
        CHECK((as_behind || as_ahead));
    }
    CHECK(made > 500);
}
