// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Random histories of three devices and a cloud with a change log: edits and removals everywhere, also in the middle of a synchronisation;
// requests and responses that are lost, requests that arrive late, programs that end, logs that are trimmed, files that are restored from
// backups, and clocks that jump. In the end all have the same rows, nothing is lost without a report, and a quiet synchronisation is
// one request.

#include "support/defects.hpp"
#include "support/long.hpp"
#include "support/synced_devices.hpp"
#include <entitable/changes.hpp>
#include <entitable/testing/fault.hpp>

#include <array>
#include <deque>
#include <functional>

using namespace entitable;
using namespace entitable_test;

namespace {

struct note {
    std::string owner;
    std::string name;
    std::string Text; // NOLINT: as the record of edits spells it
};
ENTITABLE(note, partition_key(owner), row_key(name), properties(Text))

using notes = table<note, logged>;

constexpr std::size_t devices = 3;

/// What the history does wrong on purpose.
enum class planted : std::uint8_t { nothing, edits_past_the_log };

class history {
public:
    history(std::uint64_t seed, bool restores, planted defect)
        : random_(seed), restores_(restores), defect_(defect), conflicts_(edit_policy(random_)) {
        for (std::size_t place = 0; place <= devices; ++place) {
            clocks_[place].jump(random_);
            stores_[place] = memory_backend{local_options{.time = &clocks_[place]}};
            open(place, any_store{stores_[place]}).create().value();
            backups_[place] = rows_in(stores_[place]);
        }
    }

    void step() {
        std::size_t const place = 1 + below(devices);
        switch (below(12)) {
            case 0:
            case 1: edit(place); break;
            case 2:
            case 3: edit(0); break;
            case 4: backups_[place] = rows_in(stores_[place]); break;
            case 5:
                if (restores_ && below(3) == 0 && has_state(backups_[place])) { restore(place); }
                break;
            case 6: deliver(); break;
            case 7: clocks_[below(devices + 1)].jump(random_); break;
            case 8: trim(); break;
            default: synchronize_device(place, below(3) == 0 ? 0 : 14, true); break;
        }
    }
    [[nodiscard]] std::string end() {
        while (!late_.empty()) {
            if (below(2) == 0) {
                deliver();
            } else {
                late_.pop_front();
            }
        }
        for (int round = 0; round < 4; ++round) {
            for (std::size_t place = 1; place <= devices; ++place) { synchronize_device(place, 0, false); }
        }
        if (!record_->problem.empty()) { return record_->problem; }
        for (char name = 'p'; name < 't'; ++name) {
            std::string const key{name};
            auto const last = text_in(stores_[0], key);
            for (std::size_t place = 1; place <= devices; ++place) {
                if (text_in(stores_[place], key) != last) {
                    return "device " + std::to_string(place) + " and the cloud differ for good: row " + key;
                }
            }
            if (auto wrong = record_->wrong(key, last); !wrong.empty()) { return wrong; }
        }
        for (std::size_t place = 1; place <= devices; ++place) {
            // The first request of a handle asks for the companions of the table.
            bool ended = false;
            std::size_t sent = 0;
            notes const here = open(place, any_store{stores_[place]});
            notes const cloud = open(0, passing(0, 0, false, ended, &sent));
            sync_options how;
            how.partitions = {"ann"};
            for (std::size_t const most : {2U, 1U}) {
                sent = 0;
                if (!synchronize(here, cloud, how)) { return "a quiet synchronisation fails"; }
                if (sent > most) { return "a quiet synchronisation took " + std::to_string(sent) + " requests"; }
            }
        }
        return "";
    }
    [[nodiscard]] std::size_t trimmed() const noexcept { return trimmed_; }
    [[nodiscard]] std::size_t restored() const noexcept { return restored_; }

private:
    [[nodiscard]] std::size_t below(std::size_t limit) { return random_.bits() % limit; }
    notes open(std::size_t place, any_store through) {
        table_options how;
        how.seed = ++seeds_;
        how.time = &clocks_[place];
        how.max_attempts = 4;
        return notes{std::move(through), "notes", how};
    }
    /// What was in the cloud at some time.
    void publish() {
        for (char name = 'p'; name < 't'; ++name) {
            record_->published.merge(edits_of(text_in(stores_[0], std::string{name}).value_or("")));
        }
    }
    void deliver() {
        if (late_.empty()) { return; }
        late_.front()();
        late_.pop_front();
        publish();
    }
    void edit(std::size_t place) {
        std::string const key{static_cast<char>('p' + below(4))};
        std::string const made = below(4) == 0 ? "" : "e" + std::to_string(++edited_);
        if (place == 0 && defect_ != planted::edits_past_the_log) {
            edit_cloud(key, made);
        } else {
            edit_rows(place, key, made);
        }
        publish();
    }
    /// An edit through the table, which logs the edit; its requests may be lost, or late. Without `made` it is a removal.
    void edit_cloud(std::string const& key, std::string const& made) {
        bool ended = false;
        edits seen;
        bool changes = false;
        auto const done = open(0, passing(0, below(2) == 0 ? 0 : 8, false, ended, nullptr))
                              .transact("ann", [&](auto& all) -> result<void> {
                                  auto found = all.get(key);
                                  if (!found && found.error().code != error_code::resource_not_found) {
                                      return failure{found.error()};
                                  }
                                  seen = found ? edits_of(found->Text) : edits{};
                                  changes = found.has_value() || !made.empty();
                                  edits now = seen;
                                  now.insert(made);
                                  note const one{"ann", key, text_of(now)};
                                  if (made.empty()) {
                                      if (found) { all.remove(*found, any_etag); }
                                  } else if (found) {
                                      all.replace(one);
                                  } else {
                                      all.insert(one);
                                  }
                                  return {};
                              });
        if (made.empty() && changes) { record_->begun[key].push_back(seen); }
        if (!done || !changes) { return; }
        if (made.empty()) {
            record_->removed[key].push_back({seen, 0});
        } else {
            record_->made[key].insert(made);
        }
    }
    /// An edit by a program that does not know logs.
    void edit_rows(std::size_t place, std::string const& key, std::string const& made) {
        call context;
        auto const found = stores_[place].execute(get_entity{"notes", "ann", key, {}}, context);
        edits const seen = found ? edits_of(found->entity.view().find("Text")->as_string()) : edits{};
        if (made.empty()) {
            if (!found) { return; }
            row const keys{"ann", key, {}};
            stores_[place].execute(write_entity{"notes", mutation::remove(keys, found->etag)}, context).value();
            // A restored device may have no base of the row, so that its removal looks like a row that it has never had.
            record_->begun[key].push_back(seen);
            if (!record_->restored.contains(place)) { record_->removed[key].push_back({seen, place}); }
            return;
        }
        edits now = seen;
        now.insert(made);
        row content = note_row(key, text_of(now));
        auto change = found ? mutation::replace(std::move(content), found->etag) : mutation::insert(std::move(content));
        stores_[place].execute(write_entity{"notes", std::move(change)}, context).value();
        record_->made[key].insert(made);
    }
    /// Removes entries up to a position that is the present one, or an earlier one.
    void trim() {
        notes const cloud = open(0, any_store{stores_[0]});
        auto const now = changes_of(cloud, "ann").value().position;
        bool const all = below(2) == 0 || trim_at_.log != now.log;
        if (auto const removed = trim_changes(cloud, "ann", all ? now : trim_at_, {std::chrono::nanoseconds{}})) {
            trimmed_ += *removed;
        }
        trim_at_ = now;
    }
    /// What other programs do while a device synchronises.
    void meanwhile(std::size_t place) {
        switch (below(8)) {
            case 0:
            case 1: edit(0); break;
            case 2:
            case 3: edit(place); break;
            case 4: trim(); break;
            case 5: deliver(); break;
            case 6: synchronize_device(1 + place % devices, 14, false); break;
            default: break;
        }
    }
    /// A store whose requests go wrong: one in how many; 0 for none. After the end of the program no request is sent.
    any_store passing(
        std::size_t place, std::size_t faults, bool others, bool& ended, std::size_t* sent, std::size_t device = 0) {
        return with_defect([this, place, faults, others, &ended, sent, device]<class Request>(any_store const& below_it,
                               Request const& request, call& context) -> result<response_of<Request>> {
            error gone = testing::lost_request();
            gone.effect = Request::writes ? effect::unknown : effect::none;
            result<response_of<Request>> lost{failure{gone}}; // named: GCC 12 warns about a temporary
            if (ended) { return lost; }
            if (others && below(6) == 0) { meanwhile(device); }
            if (sent != nullptr) { ++*sent; }
            std::size_t const luck = faults != 0 ? below(faults) : 9;
            if (luck == 0 || luck == 1) {
                ended = luck == 0; // the program ends, before or after the request
                if (luck == 1 || below(2) == 0) { static_cast<void>(below_it.execute(request, context)); }
                publish();
                return lost;
            }
            if (luck == 2 && place == 0) { // arrives later, or never
                late_.push_back([below_it, request] {
                    call own;
                    static_cast<void>(below_it.execute(request, own));
                });
            }
            if (luck <= 3) { return lost; }
            auto answered = below_it.execute(request, context);
            if (place == 0 && Request::writes) { publish(); }
            return answered;
        })(any_store{stores_[place]});
    }
    void synchronize_device(std::size_t place, std::size_t faults, bool others) {
        if (running_[place]) { return; } // a program has one synchronisation at a time
        running_[place] = true;
        bool ended = false;
        sync_options how;
        how.partitions = {"ann"};
        how.allow_many_removals = true;
        how.max_attempts = 6;
        how.delays = {.base = {}, .least = {}, .most = {}, .jitter = 0};
        how.seed = ++seeds_;
        how.conflicts = [this, place](sync_conflict const& of) {
            record_->add(of, place, false); // the policy may be called in vain: another was faster
            return conflicts_(of);
        };
        auto const made = synchronize(open(place, passing(place, faults, others, ended, nullptr, place)),
            open(0, passing(0, faults, others, ended, nullptr, place)), how);
        bool const done = made && made->failed.empty();
        if (done) { record_->restored.erase(place); }
        if (made) {
            for (settled_conflict const& each : made->conflicts) { record_->add(each.sides, place, done); }
        }
        running_[place] = false;
    }
    /// Whether a backup shows that it is one: it has no rows, or a state. A backup from before the first push is that of another device.
    [[nodiscard]] static bool has_state(page const& backup) {
        bool is_empty = true;
        bool found = false;
        for (std::size_t index = 0; index < backup.size(); ++index) {
            is_empty = is_empty && backup[index].row_key.starts_with(system_row::prefix);
            found = found || backup[index].row_key == system_row::synced;
        }
        return found || is_empty;
    }
    void restore(std::size_t place) {
        for (char name = 'p'; name < 't'; ++name) {
            std::string const key{name};
            std::vector<std::optional<std::string>> others;
            for (std::size_t other = 0; other <= devices; ++other) {
                if (other != place) { others.push_back(text_in(stores_[other], key)); }
            }
            record_->keep_only(key, others, place, may_have_unsent_removal(stores_[place], key));
        }
        record_->restores = true;
        record_->restored.insert(place);
        restore_rows(stores_[place], backups_[place]);
        ++restored_;
    }

    random_source random_;
    std::shared_ptr<edit_record> record_{std::make_shared<edit_record>()};
    bool restores_;
    planted defect_;
    sync_policy conflicts_;
    std::array<jumping_clock, devices + 1> clocks_{};
    std::array<memory_backend, devices + 1> stores_{}; ///< the cloud, and the devices
    std::array<page, devices + 1> backups_{};
    std::array<bool, devices + 1> running_{};
    std::deque<std::function<void()>> late_{};
    log_position trim_at_{};
    std::uint64_t seeds_{};
    int edited_{};
    std::size_t trimmed_{};
    std::size_t restored_{};
};

std::string problem_of(std::uint64_t seed, planted defect, std::size_t& trimmed, std::size_t& restored) {
    history one{seed, seed % 2 == 0, defect};
    for (int step = 0; step < 60; ++step) { one.step(); }
    std::string found = one.end();
    trimmed += one.trimmed();
    restored += one.restored();
    return found;
}

} // namespace

TEST_CASE("synchronize: random histories of three devices and a cloud whose change log is trimmed") {
    std::uint64_t const begin = first_history();
    std::uint64_t const end = begin + histories(200, 100'000, 3'000);
    std::size_t trimmed = 0;
    std::size_t restored = 0;
    for (std::uint64_t seed = begin; seed < end; ++seed) {
        tell_histories("synchronize, logged", seed - begin);
        INFO("seed " << seed);
        REQUIRE(problem_of(seed, planted::nothing, trimmed, restored) == "");
    }
    CHECK(trimmed > 500);
    CHECK(restored > 50);
}
TEST_CASE("synchronize: random histories detect edits that are not in the log") {
    std::size_t ignored = 0;
    std::string found;
    for (std::uint64_t seed = 1; seed < 200 && found.empty(); ++seed) {
        found = problem_of(seed, planted::edits_past_the_log, ignored, ignored);
    }
    CHECK(found != "");
}
