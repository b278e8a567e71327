// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Devices that synchronise with a cloud, on a stage or in a random history, and the record of what each author knew: every content is the
// set of the edits that its authors had seen.

#include "support/catch.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/memory.hpp>
#include <entitable/sync.hpp>
#include <entitable/work/sync/detail/partition_sync.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace entitable_test {

using namespace entitable;

/// Edits that somebody had seen, in the order of their names: "a c".
using edits = std::set<std::string>;

inline edits edits_of(std::string_view text) {
    edits all;
    while (!text.empty()) {
        std::size_t const space = (std::min)(text.find(' '), text.size());
        all.emplace(text.substr(0, space));
        text.remove_prefix((std::min)(space + 1, text.size()));
    }
    return all;
}
inline std::string text_of(edits const& all) {
    std::string text;
    for (std::string const& each : all) { text += (text.empty() ? "" : " ") + each; }
    return text;
}
inline bool knows(edits const& whole, edits const& part) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

/// A removal: what its author knew, and where the author was.
struct removal {
    edits knew;
    std::size_t place;
};

/// What happened to the rows of one partition: acknowledged edits, removals, and edits that were reported as losing.
struct edit_record {
    std::map<std::string, edits> made{};                   ///< acknowledged edits, by row key
    std::map<std::string, std::vector<removal>> removed{}; ///< what the author of each acknowledged removal knew
    std::map<std::string, std::vector<edits>>
        begun{};                         ///< the same of each removal that was sent: its response may be lost
    std::map<std::string, edits> told{}; ///< edits on a side of a reported conflict
    std::set<std::size_t> restored{};    ///< devices that were restored and not synchronised since
    edits published{};                   ///< edits that were in the cloud at some time
    edits together{};                    ///< edits that change the rows r and s in one transaction
    std::string problem{};
    bool restores{}; ///< a file may be restored: edits meet their own echo

    /// `stands`: whether the decision is known to be stored. `place`: the device that reports it.
    void add(sync_conflict const& of, std::size_t place, bool stands = true) {
        edits const here = of.here ? edits_of(of.here->view().find("Text")->as_string()) : edits{};
        edits const there = of.there ? edits_of(of.there->view().find("Text")->as_string()) : edits{};
        told[of.row_key].insert(here.begin(), here.end());
        told[of.row_key].insert(there.begin(), there.end());
        if (of.restored && !restores && stands) {
            problem = "a file that was not restored is taken for a restored one";
        }
        if (of.restored && !of.here) { removed.erase(of.row_key); } // the removal lost, and that is reported
        if (of.restored && of.here) { // it may have removed the row before it wrote this content
            std::erase_if(removed[of.row_key], [&](removal const& each) { return each.place == place; });
        }
        if (!stands || of.restored || restores || !of.here || !of.there) { return; }
        if (knows(here, there) || knows(there, here)) {
            problem = "a conflict of \"" + text_of(here) + "\" with \"" + text_of(there) + "\", which knew the other";
        }
    }
    /// Forgets the edits of a row that none of these contents has: a restoration of the device at `place` has undone them. `unsent`: whether
    /// the device had removed the row, and not sent the removal.
    void keep_only(std::string const& key, std::vector<std::optional<std::string>> const& contents, std::size_t place,
        bool unsent) {
        edits kept;
        for (auto const& each : contents) { kept.merge(edits_of(each.value_or(""))); }
        for (removal const& each : removed[key]) { kept.insert(each.knew.begin(), each.knew.end()); }
        std::erase_if(made[key], [&](std::string const& each) { return !kept.contains(each); });
        std::erase_if(removed[key],
            [&](removal const& each) { return each.place == place && (unsent || !knows(published, each.knew)); });
    }
    [[nodiscard]] std::string text() const {
        std::string all = problem;
        for (auto const& [key, each] : made) { all += key + "+" + text_of(each) + ";"; }
        for (auto const& [key, list] : removed) {
            for (removal const& each : list) { all += key + "-" + text_of(each.knew) + ";"; }
        }
        for (auto const& [key, list] : begun) {
            for (edits const& each : list) { all += key + "?" + text_of(each) + ";"; }
        }
        for (auto const& [key, each] : told) { all += key + "!" + text_of(each) + ";"; }
        return all;
    }
    /// Judges the last content of a row, which is the same everywhere.
    [[nodiscard]] std::string wrong(std::string const& key, std::optional<std::string> const& last) const {
        edits const stays = last ? edits_of(*last) : edits{};
        auto const in = [&](auto const& map) {
            auto const found = map.find(key);
            return found == map.end() ? typename std::decay_t<decltype(map)>::mapped_type{} : found->second;
        };
        edits const reported = in(told);
        for (std::string const& each : in(made)) {
            bool seen = stays.contains(each) || reported.contains(each);
            for (edits const& knew : in(begun)) { seen = seen || knew.contains(each); }
            if (!seen) { return "the edit " + each + " of row " + key + " is lost without a report"; }
        }
        for (removal const& each : in(removed)) {
            if (last && knows(each.knew, stays)) {
                return "the row " + key + " is back after a removal that knew it: " + *last;
            }
        }
        return "";
    }
};

/// The content of a row; none if it does not exist.
inline std::optional<std::string> text_in(any_store const& store, std::string const& row_key) {
    call context;
    auto const found = store.execute(get_entity{"notes", "ann", row_key, {}}, context);
    return found ? std::optional{std::string{found->entity.view().find("Text")->as_string()}} : std::nullopt;
}
inline row note_row(std::string const& row_key, std::string const& text) {
    row_builder made{"ann", row_key};
    made.add("Text", std::string_view{text});
    return made.build();
}

/// Makes one edit at a place: reads the row, and writes it under the version that was read. Without `edit`, it removes the row.
inline resumable<void> edit_row(
    std::shared_ptr<edit_record> record, std::size_t place, std::string row_key, std::string edit) {
    ask_options where;
    where.place = place;
    get_entity const reading{"notes", "ann", row_key, {}};
    auto found = co_await ask(reading, where);
    edits seen = found ? edits_of(found->entity.view().find("Text")->as_string()) : edits{};
    write_entity writing{"notes", {}};
    if (edit.empty()) {
        if (!found) { co_return {}; }
        writing.change = mutation::remove(row{"ann", row_key, {}}, found->etag);
        record->begun[row_key].push_back(seen);
    } else {
        edits now = seen;
        now.insert(edit);
        row content = note_row(row_key, text_of(now));
        writing.change =
            found ? mutation::replace(std::move(content), found->etag) : mutation::insert(std::move(content));
    }
    auto const done = co_await ask(writing, where);
    if (!done) { co_return {}; } // refused: another was faster. Lost: not acknowledged
    if (edit.empty()) {
        // A restored device may have no base of the row, so that its removal looks like a row that it has never had.
        if (!record->restored.contains(place)) { record->removed[row_key].push_back({seen, place}); }
    } else {
        record->made[row_key].insert(edit);
    }
    co_return {};
}

/// Edits the rows r and s at a place, in one transaction.
inline resumable<void> edit_both_rows(std::shared_ptr<edit_record> record, std::size_t place, std::string edit) {
    ask_options where;
    where.place = place;
    transact writing{"notes", {}};
    for (std::string const& key : {std::string{"r"}, std::string{"s"}}) {
        get_entity const reading{"notes", "ann", key, {}};
        auto found = co_await ask(reading, where);
        edits now = found ? edits_of(found->entity.view().find("Text")->as_string()) : edits{};
        now.insert(edit);
        row content = note_row(key, text_of(now));
        writing.changes.push_back(
            found ? mutation::replace(std::move(content), found->etag) : mutation::insert(std::move(content)));
    }
    auto const done = co_await ask(writing, where);
    if (done) {
        record->made["r"].insert(edit);
        record->made["s"].insert(edit);
    }
    co_return {};
}
/// Whether a store has one half of such an edit.
inline std::string half_in(any_store const& store, edit_record const& record) {
    edits const r = edits_of(text_in(store, "r").value_or(""));
    edits const s = edits_of(text_in(store, "s").value_or(""));
    for (std::string const& each : record.together) {
        if (r.contains(each) != s.contains(each)) { return "one half of the transaction " + each + " is there"; }
    }
    return "";
}

/// Whether a device may have removed a row and not sent that: its base is there.
inline bool may_have_unsent_removal(any_store const& device, std::string const& row_key) {
    call context;
    return device.execute(get_entity{"notes", "ann", std::string{system_row::base} + row_key, {}}, context).has_value();
}

/// All rows of the partition, as they are stored.
inline page rows_in(any_store const& store) {
    call context;
    query_entities all;
    all.table = "notes";
    return store.execute(all, context).value().rows;
}
/// Makes a store have these rows and no others, like a file that is restored from a backup.
inline void restore_rows(any_store const& store, page const& backup) {
    call context;
    page const now = rows_in(store);
    for (std::size_t index = 0; index < now.size(); ++index) {
        row const keys{now[index].partition_key, now[index].row_key, {}};
        store.execute(write_entity{"notes", mutation::remove(keys, any_etag)}, context).value();
    }
    for (std::size_t index = 0; index < backup.size(); ++index) {
        row const content{backup[index].partition_key, backup[index].row_key, backup[index].payload};
        store.execute(write_entity{"notes", mutation::insert(content)}, context).value();
    }
}
/// Restores a store at the moment at which a request of its own is answered.
inline resumable<void> restore_at(std::size_t place) {
    ask_options where;
    where.place = place;
    get_entity const moment{"notes", "ann", "-", {}};
    static_cast<void>(co_await ask(moment, where));
    co_return {};
}

/// One synchronisation of a device as an operation: the local table is at `place`, the cloud at 0.
class device_run {
public:
    device_run(std::shared_ptr<edit_record> record, std::size_t place, sync_policy conflicts, std::uint64_t seed)
        : record_(std::move(record)),
          place_(place),
          ids_(std::make_unique<detail::fresh_ids>(seed)),
          report_(std::make_unique<sync_report>()),
          policy_(std::make_unique<sync_policy>()) {
        *policy_ = [told = record_, place, conflicts = std::move(conflicts)](sync_conflict const& of) {
            told->add(of, place, false); // the policy may be called in vain: another was faster
            return conflicts(of);
        };
        backoff const at_once{.base = {}, .least = {}, .most = {}, .jitter = 0};
        profile const limits = local_profile();
        one_ = std::make_unique<detail::partition_sync>(detail::synced_partition{"notes", "notes", "ann", policy_.get(),
                                                            true, 6, at_once, limits, limits, ids_.get()},
            *report_);
        running_.emplace(one_->run());
    }
    [[nodiscard]] operation_step next() {
        operation_step due = running_->next();
        due.place = due.place == 0 ? place_ : 0;
        return due;
    }
    template <class Response>
    void answer(result<Response> answered, steady_time now) {
        running_->answer(std::move(answered), now);
    }
    void abandon(error const& reason) { running_->abandon(reason); }
    [[nodiscard]] result<void> finish() {
        auto done = running_->finish();
        if (done) { record_->restored.erase(place_); }
        for (settled_conflict const& each : report_->conflicts) { record_->add(each.sides, place_, done.has_value()); }
        return done;
    }

private:
    std::shared_ptr<edit_record> record_;
    std::size_t place_;
    std::unique_ptr<detail::fresh_ids> ids_;
    std::unique_ptr<sync_report> report_;
    std::unique_ptr<sync_policy> policy_;
    std::unique_ptr<detail::partition_sync> one_;
    std::optional<resumable<void>> running_;
};

/// The clock of one store: wrong by years, and set forwards and backwards.
class jumping_clock final : public entitable::clock {
public:
    entitable::date_time now() noexcept override {
        return {entitable::system_clock().now().ticks + off_.count() / 100};
    }
    entitable::steady_time steady() noexcept override { return entitable::system_clock().steady(); }
    void wait_until(entitable::steady_time time) noexcept override { entitable::system_clock().wait_until(time); }
    void jump(entitable::random_source& random) {
        off_ = std::chrono::hours{static_cast<int>(random.bits() % 100'000) - 50'000}; // up to six years
    }

private:
    std::chrono::nanoseconds off_{};
};

/// One of the policies by which no edit is lost without a report.
inline entitable::sync_policy edit_policy(entitable::random_source& random) {
    using namespace entitable;
    switch (random.bits() % 4) {
        case 0: return keep_mine;
        case 1: return merge_properties(keep_mine);
        case 2: // merges the edits of both
            return [](sync_conflict const& of) -> result<sync_decision> {
                if (!of.here || !of.there) {
                    return sync_decision{of.here ? sync_choice::mine : sync_choice::theirs, {}};
                }
                edits all = edits_of(of.here->view().find("Text")->as_string());
                all.merge(edits_of(of.there->view().find("Text")->as_string()));
                return sync_decision{sync_choice::merged, note_row(of.row_key, text_of(all))};
            };
        default: return keep_theirs;
    }
}

} // namespace entitable_test
