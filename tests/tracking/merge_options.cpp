// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The table of merge options, cell by cell, as data: ours, and the behaviour of the historic client.

#include "orders.hpp"
#include "support/catch.hpp"

using namespace entitable;
using namespace tracking;

namespace {

/// A tracked order (new/1 as first read; mine/1 if changed, mine/9 if added) whose row is read again after another writer has changed
/// another property (total 2), the same one (status theirs), has removed the row or inserted it (comes).
struct cell {
    merge_option how;
    char const* state;   ///< before
    char const* outside; ///< the change of the other writer
    /// Its state afterwards (`!` for a conflict); after > the result of the next save, before which an unchanged order is set to
    /// "later", and the stored row. So the second half shows which ETag was kept.
    char const* then;
};

constexpr auto append = merge_option::append_only;
constexpr auto overwrite = merge_option::overwrite_changes;
constexpr auto preserve = merge_option::preserve_changes;
constexpr auto silently = merge_option::preserve_changes_silently;
constexpr auto untracked = merge_option::no_tracking;

constexpr cell cells[] = {
    {append, "unchanged", "nothing", "unchanged new/1 > saved later/1"},
    {append, "unchanged", "other", "unchanged new/1 > failed new/2"},
    {append, "unchanged", "same", "unchanged new/1 > failed theirs/1"},
    {append, "unchanged", "gone", "detached > gone"},
    {append, "modified", "nothing", "modified mine/1 > saved mine/1"},
    {append, "modified", "other", "modified mine/1 > failed new/2"},
    {append, "modified", "same", "modified mine/1 > failed theirs/1"},
    {append, "modified", "gone", "modified mine/1! > failed gone"},
    {append, "added", "nothing", "added mine/9 > saved mine/9"},
    {append, "added", "comes", "added mine/9 > failed theirs/2"},
    {append, "removed", "nothing", "removed new/1 > saved gone"},
    {append, "removed", "other", "removed new/1 > failed new/2"},
    {append, "removed", "gone", "detached > gone"},
    {append, "unknown", "nothing", "unknown mine/1 > saved mine/1"},
    {append, "unknown", "other", "unknown mine/1 > failed new/2"},
    {append, "unknown", "gone", "unknown mine/1 > failed gone"},

    {overwrite, "unchanged", "nothing", "unchanged new/1 > saved later/1"},
    {overwrite, "unchanged", "other", "unchanged new/2 > saved later/2"},
    {overwrite, "unchanged", "same", "unchanged theirs/1 > saved later/1"},
    {overwrite, "unchanged", "gone", "detached > gone"},
    {overwrite, "modified", "nothing", "unchanged new/1 > saved later/1"},
    {overwrite, "modified", "other", "unchanged new/2 > saved later/2"},
    {overwrite, "modified", "same", "unchanged theirs/1 > saved later/1"},
    {overwrite, "modified", "gone", "detached > gone"},
    {overwrite, "added", "nothing", "added mine/9 > saved mine/9"},
    {overwrite, "added", "comes", "unchanged theirs/2 > saved later/2"},
    {overwrite, "removed", "nothing", "unchanged new/1 > saved later/1"},
    {overwrite, "removed", "other", "unchanged new/2 > saved later/2"},
    {overwrite, "removed", "gone", "detached > gone"},
    {overwrite, "unknown", "nothing", "unchanged new/1 > saved dropped later/1"},
    {overwrite, "unknown", "other", "unchanged new/2 > saved dropped later/2"},
    {overwrite, "unknown", "gone", "unknown mine/1 > failed gone"},

    {preserve, "unchanged", "nothing", "unchanged new/1 > saved later/1"},
    {preserve, "unchanged", "other", "unchanged new/2 > saved later/2"},
    {preserve, "unchanged", "same", "unchanged theirs/1 > saved later/1"},
    {preserve, "unchanged", "gone", "detached > gone"},
    {preserve, "modified", "nothing", "modified mine/1 > saved mine/1"},
    {preserve, "modified", "other", "modified mine/2 > saved mine/2"},
    {preserve, "modified", "same", "modified mine/1! > failed theirs/1"},
    {preserve, "modified", "gone", "modified mine/1! > failed gone"},
    {preserve, "added", "nothing", "added mine/9 > saved mine/9"},
    {preserve, "added", "comes", "added mine/9! > failed theirs/2"},
    {preserve, "removed", "nothing", "removed new/1 > saved gone"},
    {preserve, "removed", "other", "removed new/1! > failed new/2"},
    {preserve, "removed", "gone", "detached > gone"},
    {preserve, "unknown", "nothing", "unknown mine/1 > saved mine/1"},
    {preserve, "unknown", "other", "unknown mine/1 > failed new/2"},
    {preserve, "unknown", "gone", "unknown mine/1 > failed gone"},

    // The historic client: a changed object keeps its values and gets the new ETag, so the save overwrites the other writer.
    {silently, "unchanged", "nothing", "unchanged new/1 > saved later/1"},
    {silently, "unchanged", "other", "unchanged new/2 > saved later/2"},
    {silently, "unchanged", "same", "unchanged theirs/1 > saved later/1"},
    {silently, "unchanged", "gone", "detached > gone"},
    {silently, "modified", "nothing", "modified mine/1 > saved mine/1"},
    {silently, "modified", "other", "modified mine/1 > saved mine/1"},
    {silently, "modified", "same", "modified mine/1 > saved mine/1"},
    {silently, "modified", "gone", "modified mine/1! > failed gone"},
    {silently, "added", "nothing", "added mine/9 > saved mine/9"},
    {silently, "added", "comes", "added mine/9 > failed theirs/2"},
    {silently, "removed", "nothing", "removed new/1 > saved gone"},
    {silently, "removed", "other", "removed new/2 > saved gone"},
    {silently, "removed", "gone", "detached > gone"},
    {silently, "unknown", "nothing", "unknown mine/1 > saved mine/1"},
    {silently, "unknown", "other", "unknown mine/1 > failed new/2"},
    {silently, "unknown", "gone", "unknown mine/1 > failed gone"},

    {untracked, "unchanged", "other", "unchanged new/1 > failed new/2"},
    {untracked, "unchanged", "gone", "unchanged new/1 > failed gone"},
    {untracked, "modified", "nothing", "modified mine/1 > saved mine/1"},
    {untracked, "modified", "other", "modified mine/1 > failed new/2"},
    {untracked, "modified", "gone", "modified mine/1 > failed gone"},
    {untracked, "added", "comes", "added mine/9 > failed theirs/2"},
    {untracked, "removed", "other", "removed new/1 > failed new/2"},
    {untracked, "removed", "gone", "removed new/1 > saved gone"},
    {untracked, "unknown", "other", "unknown mine/1 > failed new/2"},
};

/// Whether the row is read again with `find`, `refresh` or a query.
enum class again : std::uint8_t { by_find, by_refresh, by_query };

std::string run(any_store const& store, cell const& one, again reading) {
    losing const way{store};
    orders_table const orders{way, "orders"};
    orders_table const outside{store, "orders"};
    (void)outside.drop_if_present();
    outside.create().value();
    std::string_view const state = one.state;
    std::string_view const what = one.outside;
    unit_of_work work{orders, {.merge = one.how}};
    if (state != "added") { outside.insert({"ann", 17, "new", 1, {}}).value(); }
    order& mine = state == "added" ? work.add({"ann", 17, "mine", 9, {}}) : *work.find(append, "ann", 17).value();
    if (state == "modified" || state == "unknown") { mine.status = "mine"; }
    if (state == "removed") { work.remove(mine); }
    if (state == "unknown") {
        way.told->next = losing::loss::request;
        REQUIRE_FALSE(work.save().value().good());
    }
    REQUIRE(to_string(work.state_of(mine)) == state);

    if (what == "comes") {
        outside.insert({"ann", 17, "theirs", 2, {}}).value();
    } else if (what == "gone") {
        outside.remove("ann", 17, any_etag).value();
    } else if (what == "other") {
        outside.merge(at("ann", 17), o::total = 2, any_etag).value();
    } else if (what == "same") {
        outside.merge(at("ann", 17), o::status = "theirs", any_etag).value();
    }

    order const* found = nullptr;
    if (reading == again::by_find) {
        found = work.find("ann", 17).value();
    } else if (reading == again::by_refresh) {
        (void)work.refresh(mine, one.how).value();
    } else {
        for (order& each : work.track(orders.where(o::customer == "ann")).value()) { found = &each; }
    }
    if (one.how == merge_option::no_tracking) {
        CHECK(found != &mine);
        if (found != nullptr) {
            CHECK(shown(*found) == stored_order(outside)); // a fresh object
        }
    } else if (found != nullptr) {
        CHECK(found == &mine); // the same keys give the same object
    }

    std::string text{to_string(work.state_of(mine))};
    if (text != "detached") { text += " " + shown(mine) + (work.conflict_of(mine).value() ? "!" : ""); }
    if (text.starts_with("unchanged")) { mine.status = "later"; }
    text += " >";
    auto const saved = work.save().value();
    for (auto const& each : saved.changes) {
        text += ' ' + std::string{to_string(each.outcome)};
        CHECK(&each.entity() == &mine);
    }
    return text + ' ' + stored_order(outside);
}

} // namespace

TEMPLATE_TEST_CASE("merge options: every cell of the table is tested", "", in_memory, in_file) {
    TestType const at;
    for (cell const& each : cells) {
        for (again const reading : {again::by_find, again::by_refresh, again::by_query}) {
            bool const seen_by_queries =
                std::string_view{each.outside} != "gone" && std::string_view{each.state} != "added";
            bool const refreshes = each.how != merge_option::no_tracking;
            if ((reading == again::by_query && !seen_by_queries) || (reading == again::by_refresh && !refreshes)) {
                continue;
            }
            CAPTURE(static_cast<int>(each.how), each.state, each.outside, static_cast<int>(reading));
            CHECK(run(at.store, each, reading) == each.then);
        }
    }
}
