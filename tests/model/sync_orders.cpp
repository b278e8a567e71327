// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Two devices and a cloud, in every order in which the requests of edits and synchronisations can reach the stores, with lost and late
// requests and devices that end. And the same with defects, each of which is detected.

#include "support/defects.hpp"
#include "support/long.hpp"
#include "support/synced_devices.hpp"
#include <entitable/testing/interleavings.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

/// What happens: an edit, or a removal if it has no name, at a place; or a synchronisation of the device at that place.
struct event {
    enum class kind : std::uint8_t { edit, both, restore, sync } what{};
    std::size_t place{}; ///< 0: in the cloud
    std::string edit{};
    std::string row{"r"};
};
event edits_at(std::size_t place, std::string edit, std::string row = "r") {
    return {event::kind::edit, place, std::move(edit), std::move(row)};
}
event removes_at(std::size_t place) { return {event::kind::edit, place, "", "r"}; }
/// An edit of the rows r and s in one transaction.
event edits_both_at(std::size_t place, std::string edit) { return {event::kind::both, place, std::move(edit), ""}; }
/// The device gets back the rows that it had at the beginning.
event restores(std::size_t place) { return {event::kind::restore, place, "", ""}; }
event syncs(std::size_t place) { return {event::kind::sync, place}; }

struct world {
    std::vector<event> events{};
    sync_policy conflicts{keep_theirs};
    through_defect device{}; ///< between the devices and their tables
    through_defect cloud{};
    std::string first{"0"};  ///< content on all sides; empty: no row
    bool one_name{};         ///< all runs use the same names
    bool cloned{};           ///< the second device is a copy of the first
    std::string backed_up{}; ///< an edit of the first device that its backup has and no push has sent
    std::string not_sent{};  ///< an edit of the first device after its backup
};

/// Runs synchronisations without faults, directly.
void synchronize_directly(any_store const& device, any_store const& cloud, std::shared_ptr<edit_record> const& record,
    std::size_t place, sync_policy const& conflicts, std::uint64_t seed) {
    device_run last{record, place, conflicts, seed};
    for (operation_step due = last.next(); !due.done(); due = last.next()) {
        due.request.visit([&]<class Request>(Request const& request) {
            if constexpr (takes_answer_to<device_run, Request>) {
                call context;
                last.answer((due.place == 0 ? cloud : device).execute(request, context), steady_time{});
            }
        });
    }
    auto const done = last.finish();
    if (!done && record->problem.empty()) { record->problem = "the last synchronisation: " + done.error().to_string(); }
}

/// Makes an edit directly.
void edit_directly(any_store const& store, std::string const& edit, edit_record& record) {
    edits now = edits_of(text_in(store, "r").value_or(""));
    now.insert(edit);
    call context;
    store.execute(write_entity{"notes", mutation::insert_or_replace(note_row("r", text_of(now)))}, context).value();
    record.made["r"].insert(edit);
}

std::function<void(testing::stage&)> begin_of(world const& of) {
    return [of](testing::stage& on) {
        auto const record = std::make_shared<edit_record>();
        auto const seeds = std::make_shared<std::uint64_t>(1);
        auto const next_seed = [seeds, same = of.one_name] { return same ? 7 : ++*seeds; };
        for (std::size_t place = 0; place < 3; ++place) {
            row_table{on.store(place), "notes"}.create().value();
            if (!of.first.empty()) {
                call context;
                on.store(place)
                    .execute(write_entity{"notes", mutation::insert(note_row("r", of.first))}, context)
                    .value();
            }
        }
        for (std::size_t place : {std::size_t{1}, std::size_t{2}}) {
            synchronize_directly(on.store(place), on.store(), record, place, keep_theirs, 100 + place);
        }
        if (!of.backed_up.empty()) { edit_directly(on.store(1), of.backed_up, *record); }
        auto const backup = std::make_shared<page>(rows_in(on.store(1)));
        if (!of.not_sent.empty()) { edit_directly(on.store(1), of.not_sent, *record); }
        if (of.cloned) {
            restore_rows(on.store(2), *backup);
            record->restores = true;
        }
        if (of.cloud) { on.deliver_to(of.cloud(any_store{on.store()}), 0); }
        if (of.device) {
            for (std::size_t place : {std::size_t{1}, std::size_t{2}}) {
                on.deliver_to(of.device(any_store{on.store(place)}), place);
            }
        }
        int number = 0;
        for (event const& each : of.events) {
            std::string const name = std::to_string(++number);
            auto const nothing = [](result<void> const&) {};
            switch (each.what) {
                case event::kind::edit:
                    on.add(
                        "edit " + name, [record, each] { return edit_row(record, each.place, each.row, each.edit); },
                        nothing);
                    break;
                case event::kind::both:
                    record->together.insert(each.edit);
                    on.add(
                        "edit " + name, [record, each] { return edit_both_rows(record, each.place, each.edit); },
                        nothing);
                    break;
                case event::kind::restore:
                    record->restores = true;
                    record->published = edits_of("0 a b e"); // any of them may have been sent
                    on.add(
                        "restore " + name, [each] { return restore_at(each.place); },
                        [&on, record, each, backup](result<void> const&) {
                            // What no other side has is undone by the restoration.
                            record->keep_only("r", {text_in(on.store(), "r"), text_in(on.store(3 - each.place), "r")},
                                each.place, may_have_unsent_removal(on.store(each.place), "r"));
                            record->restored.insert(each.place);
                            restore_rows(on.store(each.place), *backup);
                        });
                    break;
                case event::kind::sync:
                    on.add(
                        "sync " + name,
                        [record, each, next_seed, conflicts = of.conflicts] {
                            return device_run{record, each.place, conflicts, next_seed()};
                        },
                        nothing);
                    break;
            }
        }
        on.remember([record] { return record->text(); });
        on.always([&on, record]() -> std::string {
            if (!record->problem.empty() || !record->told.empty()) { return record->problem; } // decided row by row
            for (std::size_t place = 0; place < 3; ++place) {
                if (auto half = half_in(on.store(place), *record); !half.empty()) { return half; }
            }
            return "";
        });
        on.at_end([&on, record, conflicts = of.conflicts]() -> std::string {
            for (std::uint64_t round = 0; round < 3; ++round) {
                for (std::size_t place : {std::size_t{1}, std::size_t{2}}) {
                    synchronize_directly(
                        on.store(place), on.store(), record, place, conflicts, 1000 + 10 * round + place);
                }
            }
            if (!record->problem.empty()) { return record->problem; }
            for (std::string const& key : {std::string{"r"}, std::string{"s"}}) {
                auto const last = text_in(on.store(), key);
                if (text_in(on.store(1), key) != last || text_in(on.store(2), key) != last) {
                    return "device and cloud differ for good: row " + key;
                }
                if (auto wrong = record->wrong(key, last); !wrong.empty()) { return wrong; }
            }
            return "";
        });
    };
}
testing::interleaving_report walk(
    world const& of, testing::interleaving_limits limits, std::size_t usual_states = 1'000) {
    limits.most_states = entitable_test::rounds(usual_states, 1'000'000, 20'000);
    return testing::interleavings(begin_of(of), limits);
}

void check_walk(world const& of, testing::interleaving_limits const& limits) {
    auto const seen = walk(of, limits);
    CAPTURE(seen.schedule, seen.states);
    CHECK(seen.problem == "");
    CHECK((seen.complete || entitable_test::rounds(0, 1) == 0)); // all of them in the long run
}

testing::interleaving_limits const quiet{.faults = 0, .late = 0};

} // namespace

TEST_CASE("synchronize: two devices edit one row in every order") {
    check_walk({{edits_at(1, "a"), syncs(1), edits_at(2, "b"), syncs(2)}}, quiet);
}

TEST_CASE("synchronize: edits and removals on two devices and in the cloud, in every order") {
    check_walk({{edits_at(1, "a"), syncs(1), removes_at(2), syncs(2)}}, quiet);
    check_walk({{removes_at(1), syncs(1), removes_at(2), syncs(2)}}, quiet);
    check_walk({{edits_at(1, "a"), syncs(1), edits_at(0, "c"), removes_at(0)}}, quiet);
    world mine{{edits_at(1, "a"), syncs(1), edits_at(2, "b"), syncs(2)}};
    mine.conflicts = keep_mine;
    check_walk(mine, quiet);
    world fresh{{edits_at(1, "a"), syncs(1), edits_at(2, "b"), syncs(2)}};
    fresh.first.clear();
    check_walk(fresh, quiet);
}

TEST_CASE("synchronize: lost responses, late requests and devices that end") {
    testing::interleaving_limits const lost{.faults = 1, .late = 0};
    testing::interleaving_limits const late{.faults = 0, .late = 1};
    testing::interleaving_limits const ends{.faults = 0, .late = 0, .crashes = 1, .again = 1};
    for (auto const& limits : {lost, late, ends}) {
        check_walk({{edits_at(1, "a"), syncs(1), edits_at(2, "b"), syncs(2)}}, limits);
        check_walk({{edits_at(1, "a"), syncs(1), removes_at(2), syncs(2)}}, limits);
        check_walk({{edits_at(1, "a"), syncs(1), edits_at(1, "b"), syncs(1)}}, limits);
        check_walk({{edits_at(1, "a"), syncs(1), removes_at(0)}}, limits);
    }
}

TEST_CASE("synchronize: a transaction arrives whole") {
    testing::interleaving_limits const late{.faults = 0, .late = 1};
    check_walk({{edits_both_at(1, "a"), syncs(1), syncs(2)}}, quiet);
    check_walk({{edits_both_at(1, "a"), syncs(1), syncs(2)}}, late);
    check_walk({{edits_both_at(1, "a"), syncs(1), edits_both_at(2, "b"), syncs(2)}}, quiet);
}

namespace {

void check_restored_and_copied_files(sync_policy const& policy) {
    world restored{{edits_at(1, "a"), syncs(1), restores(1), edits_at(1, "b"), syncs(1)}};
    restored.conflicts = policy;
    check_walk(restored, quiet);
    world removed{{removes_at(1), syncs(1), restores(1), syncs(1)}};
    removed.conflicts = policy;
    check_walk(removed, quiet);
    world edited{{syncs(1), removes_at(1), syncs(1), restores(1)}};
    edited.conflicts = policy;
    edited.backed_up = "e";
    check_walk(edited, quiet);
    check_walk(removed, {.faults = 0, .late = 1});
    world copied{{edits_at(1, "a"), syncs(1), edits_at(2, "b"), syncs(2)}};
    copied.conflicts = policy;
    copied.cloned = true;
    check_walk(copied, quiet);
    check_walk(copied, {.faults = 1, .late = 0});
}

} // namespace

TEST_CASE("synchronize: a restored file and a copied file bring nothing back, with keep_theirs") {
    check_restored_and_copied_files(keep_theirs);
}

TEST_CASE("synchronize: a restored file and a copied file bring nothing back, with keep_mine") {
    check_restored_and_copied_files(keep_mine);
}

namespace {

bool is_base(mutation const& one) { return one.entity.row_key().starts_with(system_row::base); }
bool is_of_sync(mutation const& one) { return one.entity.row_key().starts_with(system_row::synced); }
row with_text(row_view from, std::string_view changed, std::string_view value) {
    row_builder made{from.partition_key, from.row_key};
    property_cursor all{from.payload};
    for (property_view each; all.next(each);) {
        made.add(each.name, each.name == changed ? value_view{value} : each.value);
    }
    return made.build();
}
/// Leaves changes out of transactions; the response has a result for each of them.
through_defect without(bool (*left_out)(mutation const&)) {
    return with_defect([left_out]<class Request>(any_store const& below, Request const& request,
                           call& context) -> result<response_of<Request>> {
        if constexpr (std::same_as<Request, transact>) {
            transact sent{request.table, {}};
            for (mutation const& each : request.changes) {
                if (!left_out(each)) { sent.changes.push_back(each); }
            }
            auto answered = below.execute(sent, context);
            if (answered) { answered->results.resize(request.changes.size(), answered->results.back()); }
            return answered;
        } else {
            return below.execute(request, context);
        }
    });
}
std::string found_in(world const& of, testing::interleaving_limits const& limits) {
    return walk(of, limits, 4'000).problem;
}
/// The same in schedules that are drawn at random.
std::string found_at_random(world const& of, testing::interleaving_limits const& limits) {
    auto const begin = begin_of(of);
    for (std::uint64_t seed = 1; seed < 20'000; ++seed) {
        if (auto seen = testing::random_interleaving(begin, limits, seed); !seen.problem.empty()) {
            return seen.problem;
        }
    }
    return "";
}

} // namespace

TEST_CASE("synchronize: walks detect each planted defect") {
    testing::interleaving_limits const lost{.faults = 1, .late = 0};
    world const both_edit{{edits_at(1, "a"), syncs(1), edits_at(2, "b"), syncs(2)}};

    SECTION("a push without the version of the base") {
        world pushed = both_edit;
        pushed.cloud = with_transactions([](transact& sent) {
            for (mutation& each : sent.changes) { each.condition = any_etag; }
        });
        CHECK(found_in(pushed, quiet) != "");
    }
    SECTION("a push by insert_or_replace") {
        world pushed = both_edit;
        pushed.cloud = with_transactions([](transact& sent) {
            for (mutation& each : sent.changes) {
                if (each.kind != mutation_kind::remove) { each.kind = mutation_kind::insert_or_replace; }
            }
        });
        CHECK(found_in(pushed, quiet) != "");
    }
    SECTION("no bases: a row that is absent there is new here") {
        world bare{{edits_at(0, "a"), syncs(1), removes_at(1)}};
        bare.device = without(is_base);
        bare.first.clear();
        CHECK(found_in(bare, quiet) != "");
    }
    SECTION("a push that is not noted before it is sent") {
        world echo{{edits_at(1, "a"), syncs(1), edits_at(1, "b")}};
        echo.device = with_transactions([](transact& sent) {
            for (mutation& each : sent.changes) {
                if (is_of_sync(each)) { each.entity = with_text(each.entity.view(), "Push", ""); }
            }
        });
        CHECK(found_in(echo, lost) != "");
    }
    SECTION("a push that was not applied is settled without a new version of the receipt") {
        world untouched{{edits_at(1, "a"), syncs(1), removes_at(1), syncs(1)}};
        untouched.first.clear();
        untouched.cloud = with_writes([](std::string const&, mutation one) -> std::optional<mutation> {
            return is_of_sync(one) ? std::nullopt : std::optional{std::move(one)};
        });
        CHECK(found_at_random(untouched, {.faults = 0, .late = 1}) != "");
    }
    SECTION("local rows are overwritten under any version") {
        world hasty{{edits_at(1, "a"), syncs(1), edits_at(2, "b"), syncs(2)}};
        hasty.device = with_transactions([](transact& sent) {
            for (mutation& each : sent.changes) {
                if (!is_of_sync(each)) {
                    each.condition = any_etag;
                    if (each.kind == mutation_kind::insert) { each.kind = mutation_kind::insert_or_replace; }
                }
            }
        });
        CHECK(found_in(hasty, quiet) != "");
    }
    SECTION("the base becomes the row of now, not the row that was sent") {
        world later{{edits_at(1, "a"), syncs(1), edits_at(1, "b")}};
        later.device = with_defect([]<class Request>(any_store const& below, Request const& request, call& context) {
            Request sent = request;
            if constexpr (std::same_as<Request, transact>) {
                for (mutation& each : sent.changes) {
                    if (!is_base(each) || each.entity.view().find("Push") || each.kind == mutation_kind::remove) {
                        continue;
                    }
                    std::string_view const key = each.entity.row_key().substr(system_row::base.size());
                    call own;
                    auto const now = below.execute(get_entity{"notes", "ann", std::string{key}, {}}, own);
                    if (!now) { continue; }
                    detail::base_row base;
                    base.content = detail::content_of(now->entity.view());
                    each.entity = detail::row_of_base("ann", key, base);
                }
            }
            return below.execute(sent, context);
        });
        CHECK(found_in(later, quiet) != "");
    }
    SECTION("no receipts: a restored file is not recognised") {
        world unseen{{syncs(1), removes_at(1), syncs(1), restores(1)}};
        unseen.backed_up = "e";
        unseen.conflicts = keep_mine;
        unseen.cloud = without(is_of_sync);
        unseen.device = with_transactions([](transact& sent) {
            for (mutation& each : sent.changes) {
                if (is_of_sync(each)) { each.entity = with_text(each.entity.view(), "Receipt", ""); }
            }
        });
        CHECK(found_in(unseen, quiet) != "");
    }
    SECTION("pushes with names that repeat after a restoration") {
        world repeated{{syncs(1), restores(1), edits_at(1, "b"), syncs(1)}};
        repeated.not_sent = "a";
        repeated.one_name = true;
        testing::interleaving_limits const late_and_ends{.faults = 0, .late = 1, .crashes = 1};
        CHECK(found_at_random(repeated, late_and_ends) != "");
    }
    SECTION("rows of a transaction are pushed one by one") {
        world parts{{edits_both_at(1, "a"), syncs(1), syncs(2)}};
        parts.cloud = with_defect([]<class Request>(any_store const& below, Request const& request,
                                      call& context) -> result<response_of<Request>> {
            if constexpr (std::same_as<Request, transact>) {
                transact::response all;
                for (std::size_t index = 0; index < request.changes.size(); ++index) {
                    mutation const& each = request.changes[index];
                    ENTITABLE_TRY(auto one, below.execute(write_entity{request.table, each}, context));
                    all.results.push_back(std::move(one));
                    if (index == 0 && request.changes.size() > 2) {
                        return failure{testing::lost_request()}; // the program ends in between
                    }
                }
                return all;
            } else {
                return below.execute(request, context);
            }
        });
        CHECK(found_in(parts, quiet) != "");
    }
}
