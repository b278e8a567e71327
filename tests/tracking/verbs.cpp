// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Every pair of a state and a verb, as data; with one type and with several.

#include "orders.hpp"
#include "support/catch.hpp"
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

#include <iterator>

using namespace entitable;
using namespace tracking;

namespace {

/// An order that shares its table with receipts.
struct booked {
    std::string customer;
    std::int32_t id{};
    std::string status;
    std::int32_t total{};
    std::optional<std::string> note;
};
ENTITABLE(booked, partition_key(customer), row_key(literal("order:"), id), properties(status, total, note))
struct receipt {
    std::string customer;
    std::int32_t id{};
    std::int32_t paid{};
};
ENTITABLE(receipt, partition_key(customer), row_key(literal("receipt:"), id), properties(paid))

orders_table of_type(any_store store, order const&) { return {std::move(store), "orders"}; }
table<booked, receipt> of_type(any_store store, booked const&) { return {std::move(store), "orders"}; }

template <class E>
std::string shown_as(E const& one) {
    return one.status + "/" + std::to_string(one.total);
}

/// The effect of a verb on a state of an order: its state afterwards (`!`: in a conflict), the answer of the next save, and the final row. It
/// was new/1 when it was read, mine/1 if changed, mine/9 if added; another writer makes it theirs/1 for a conflict.
struct grid_cell {
    char const* state;
    char const* verb;
    char const* then;
};
constexpr grid_cell grid[] = {
    {"detached", "change", "detached > nothing, new/1"},
    {"detached", "add", "added again/7 > added failed, new/1"},
    {"detached", "attach", "unchanged known/3 > nothing, new/1"},
    {"detached", "remove", "detached > refused, new/1"},
    {"detached", "detach", "detached > nothing, new/1"},
    {"detached", "find", "unchanged new/1 > nothing, new/1"},
    {"detached", "refresh", "InvalidInput"},
    {"detached", "clear", "detached > nothing, new/1"},
    {"detached", "mine", "detached > refused, new/1"},
    {"detached", "theirs", "detached > refused, new/1"},
    {"detached", "value", "detached > refused, new/1"},
    {"detached", "save", "detached > nothing, new/1"},
    {"unchanged", "change", "modified new/5 > modified saved, new/5"},
    {"unchanged", "add", "unchanged again/7 > refused, new/1"},
    {"unchanged", "attach", "unchanged known/3 > refused, new/1"},
    {"unchanged", "remove", "removed new/1 > removed saved, gone"},
    {"unchanged", "detach", "detached > nothing, new/1"},
    {"unchanged", "find", "unchanged new/1 > nothing, new/1"},
    {"unchanged", "refresh", "unchanged new/1 > nothing, new/1"},
    {"unchanged", "clear", "detached > nothing, new/1"},
    {"unchanged", "mine", "unchanged new/1 > refused, new/1"},
    {"unchanged", "theirs", "unchanged new/1 > refused, new/1"},
    {"unchanged", "value", "unchanged new/1 > refused, new/1"},
    {"unchanged", "save", "unchanged new/1 > nothing, new/1"},
    {"modified", "change", "modified mine/5 > modified saved, mine/5"},
    {"modified", "add", "modified again/7 > refused, new/1"},
    {"modified", "attach", "modified known/3 > refused, new/1"},
    {"modified", "remove", "removed mine/1 > removed saved, gone"},
    {"modified", "detach", "detached > nothing, new/1"},
    {"modified", "find", "modified mine/1 > modified saved, mine/1"},
    {"modified", "refresh", "unchanged new/1 > nothing, new/1"},
    {"modified", "clear", "detached > nothing, new/1"},
    {"modified", "mine", "modified mine/1 > refused, new/1"},
    {"modified", "theirs", "modified mine/1 > refused, new/1"},
    {"modified", "value", "modified mine/1 > refused, new/1"},
    {"modified", "save", "modified mine/1 > modified saved, mine/1"},
    {"added", "change", "added mine/5 > added saved, mine/5"},
    {"added", "add", "added again/7 > refused, gone"},
    {"added", "attach", "added known/3 > refused, gone"},
    {"added", "remove", "detached > nothing, gone"},
    {"added", "detach", "detached > nothing, gone"},
    {"added", "find", "added mine/9 > added saved, mine/9"},
    {"added", "refresh", "added mine/9 > added saved, mine/9"},
    {"added", "clear", "detached > nothing, gone"},
    {"added", "mine", "added mine/9 > refused, gone"},
    {"added", "theirs", "added mine/9 > refused, gone"},
    {"added", "value", "added mine/9 > refused, gone"},
    {"added", "save", "added mine/9 > added saved, mine/9"},
    {"removed", "change", "removed new/5 > removed saved, gone"},
    {"removed", "add", "modified again/7 > modified saved, again/7"},
    {"removed", "attach", "removed known/3 > refused, new/1"},
    {"removed", "remove", "removed new/1 > removed saved, gone"},
    {"removed", "detach", "detached > nothing, new/1"},
    {"removed", "find", "none > removed saved, gone"},
    {"removed", "refresh", "unchanged new/1 > nothing, new/1"},
    {"removed", "clear", "detached > nothing, new/1"},
    {"removed", "mine", "removed new/1 > refused, new/1"},
    {"removed", "theirs", "removed new/1 > refused, new/1"},
    {"removed", "value", "removed new/1 > refused, new/1"},
    {"removed", "save", "removed new/1 > removed saved, gone"},
    {"unknown", "change", "unknown mine/5 > modified saved, mine/5"},
    {"unknown", "add", "unknown again/7 > refused, new/1"},
    {"unknown", "attach", "unknown known/3 > refused, new/1"},
    {"unknown", "remove", "unknown mine/1 > removed saved, gone"},
    {"unknown", "detach", "detached > nothing, new/1"},
    {"unknown", "find", "unknown mine/1 > modified saved, mine/1"},
    {"unknown", "refresh", "unchanged new/1 > unknown dropped, new/1"},
    {"unknown", "clear", "detached > nothing, new/1"},
    {"unknown", "mine", "unknown mine/1 > refused, new/1"},
    {"unknown", "theirs", "unknown mine/1 > refused, new/1"},
    {"unknown", "value", "unknown mine/1 > refused, new/1"},
    {"unknown", "save", "unknown mine/1 > modified saved, mine/1"},
    {"conflict", "change", "modified mine/5! > modified failed, theirs/1"},
    {"conflict", "add", "modified again/7! > refused, theirs/1"},
    {"conflict", "attach", "modified known/3! > refused, theirs/1"},
    {"conflict", "remove", "removed mine/1! > removed failed, theirs/1"},
    {"conflict", "detach", "detached > nothing, theirs/1"},
    {"conflict", "find", "modified mine/1! > modified failed, theirs/1"},
    {"conflict", "refresh", "unchanged theirs/1 > nothing, theirs/1"},
    {"conflict", "clear", "detached > nothing, theirs/1"},
    {"conflict", "mine", "modified mine/1 > modified saved, mine/1"},
    {"conflict", "theirs", "unchanged theirs/1 > nothing, theirs/1"},
    {"conflict", "value", "modified value/8 > modified saved, value/8"},
    {"conflict", "save", "modified mine/1! > modified failed, theirs/1"},
};

template <class E>
std::string run_cell(std::string_view state, std::string_view verb) {
    memory_backend const store;
    losing const way{store};
    table<E> const outside{store, "orders"};
    outside.create().value();
    if (state != "added") { outside.insert(E{"ann", 17, "new", 1, {}}).value(); }
    unit_of_work work{of_type(way, E{}), {.merge = merge_option::preserve_changes}};
    E aside{"ann", 17, "new", 1, {}};
    E* one = &aside;
    if (state == "added") {
        one = &work.add(E{"ann", 17, "mine", 9, {}});
    } else if (state != "detached") {
        one = work.template find<E>("ann", 17).value();
    }
    if (state == "modified" || state == "unknown" || state == "conflict") { one->status = "mine"; }
    if (state == "removed") { work.remove(*one); }
    if (state == "unknown") {
        way.told->next = losing::loss::request;
        REQUIRE_FALSE(work.save().value().good());
    }
    if (state == "conflict") {
        outside.merge(at("ann", 17), fields<E>::status = "theirs", any_etag).value();
        (void)work.template find<E>("ann", 17).value();
    }
    bool const forgets = verb == "detach" || verb == "clear";
    if (verb == "change") {
        one->total = 5;
    } else if (verb == "add") {
        one = &work.add(E{"ann", 17, "again", 7, {}});
    } else if (verb == "attach") {
        one = &work.attach(E{"ann", 17, "known", 3, {}}, any_etag);
    } else if (verb == "remove") {
        work.remove(*one);
    } else if (verb == "detach") {
        work.detach(*one);
    } else if (verb == "find") {
        one = work.template find<E>("ann", 17).value();
    } else if (verb == "refresh") {
        if (auto const told = work.refresh(*one); !told) { return std::string{to_string(told.error().code)}; }
    } else if (verb == "clear") {
        work.clear();
        CHECK(work.size() == 0);
    } else if (verb == "mine" || verb == "theirs") {
        work.resolve(*one, verb == "mine" ? keep::mine : keep::theirs);
    } else if (verb == "value") {
        work.resolve(*one, E{"ann", 17, "value", 8, {}});
    }
    E const by_keys{"ann", 17, "", 0, {}};
    std::string text = "none";
    if (one != nullptr) {
        text = to_string(work.state_of(forgets ? by_keys : *one));
        if (!forgets && text != "detached") {
            text += " " + shown_as(*one) + (work.conflict_of(*one).value() ? "!" : "");
        }
    }
    text += " >";
    auto const saved = work.save();
    for (std::size_t at = 0; saved && at < saved->changes.size(); ++at) {
        auto const& each = saved->changes[at];
        text += ' ' + std::string{to_string(each.state())} + ' ' + std::string{to_string(each.outcome)};
    }
    text += !saved ? " refused" : saved->changes.empty() ? " nothing" : "";
    auto const stored = outside.find("ann", 17).value();
    return text + ", " + (stored ? shown_as(*stored) : "gone");
}

} // namespace

TEST_CASE("unit of work: every verb works in every state, with one type and with several types") {
    CHECK(std::size(grid) == 7 * 12);
    for (grid_cell const& each : grid) {
        CAPTURE(each.state, each.verb);
        CHECK(run_cell<order>(each.state, each.verb) == each.then);
        CHECK(run_cell<booked>(each.state, each.verb) == each.then);
    }
}

TEST_CASE("unit of work: entities of two types are one transaction, and an error names the type of the failed change") {
    memory_backend const store;
    losing const way{store};
    table<booked, receipt> const all{way, "orders"};
    all.create().value();
    all.insert(booked{"ann", 1, "new", 5, {}}).value();
    unit_of_work work{all};
    booked& paid = *work.find<booked>("ann", 1).value();
    paid.status = "paid";
    receipt& proof = work.add(receipt{"ann", 1, 5});
    way.told->requests = 0;
    CHECK(work.save(save_mode::batch).value().good());
    CHECK(way.told->requests == 1);
    CHECK(work.tracked<receipt>("ann", 1) == &proof);
    CHECK(work.tracked<booked>("ann", 1) == &paid);

    // Another writer already has the next receipt: nothing of the transaction is written, and the error names the
    // receipt.
    all.insert(receipt{"ann", 2, 9}).value();
    paid.status = "paid again";
    receipt& second = work.add(receipt{"ann", 2, 1});
    work.add(booked{"bob", 1, "new", 1, {}});
    auto const refused = work.save(save_mode::batch).value();
    std::size_t not_sent = 0;
    for (auto const& each : refused.failed) {
        if (each.outcome == save_outcome::not_sent) {
            ++not_sent;
            CHECK(each.as<booked>() == &paid);
        } else {
            CHECK(each.as<receipt>() == &second);
            CHECK(each.error->code == error_code::entity_already_exists);
        }
    }
    CHECK(refused.failed.size() == 2);
    CHECK(not_sent == 1);
    CHECK(all.get<booked>("ann", 1).value().status == "paid");
    CHECK(all.find<booked>("bob", 1).value().has_value()); // another partition
    // The next save succeeds without it.
    work.detach(second);
    CHECK(work.save(save_mode::batch).value().good());
    CHECK(all.get<booked>("ann", 1).value().status == "paid again");
    CHECK(all.get<receipt>("ann", 2).value().paid == 9);
}

TEST_CASE("refresh() reports whether the row exists, even for an entity that was added and not yet saved") {
    memory_backend store;
    orders_table const orders{store, "orders"};
    orders.create().value();
    unit_of_work work{orders};
    order const& mine = work.add({"ann", 1, "mine", 9, {}});
    CHECK_FALSE(work.refresh(mine).value());
    CHECK(work.state_of(mine) == entity_state::added);
    CHECK(work.find("ann", 1).value() == &mine); // it will be inserted
    orders.insert({"ann", 1, "theirs", 1, {}}).value();
    CHECK(work.refresh(mine, merge_option::preserve_changes).value());
    CHECK(work.conflict_of(mine).value());
    CHECK(work.refresh(mine).value());
    CHECK(mine.status == "theirs");
}
