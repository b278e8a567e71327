// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Random histories of three devices and a cloud: edits and removals everywhere, synchronisations that lose responses, send late requests or
// end at any request, files that are restored from backups, receipts that are removed, and clocks that jump. In the end all have the same
// rows, and nothing is lost without a report.

#include "support/long.hpp"
#include "support/synced_devices.hpp"
#include <entitable/testing/fault.hpp>

#include <array>
#include <deque>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr std::size_t devices = 3;

struct history {
    explicit history(std::uint64_t seed)
        : random(seed), record(std::make_shared<edit_record>()), conflicts(edit_policy(random)) {
        for (std::size_t place = 0; place <= devices; ++place) {
            clocks[place].jump(random);
            stores[place] = memory_backend{local_options{.time = &clocks[place]}};
            row_table{stores[place], "notes"}.create().value();
        }
        for (page& each : backups) { each = {}; }
    }

    [[nodiscard]] std::size_t below(std::size_t limit) { return random.bits() % limit; }

    /// Sends the next request of an operation; false at its end. `faults`: one in how many requests goes wrong; 0 for none.
    template <class Operation>
    [[nodiscard]] bool advance(Operation& op, std::size_t faults) {
        operation_step const due = op.next();
        if (due.done()) {
            static_cast<void>(op.finish());
            return false;
        }
        if (faults != 0 && below(faults * 2) == 0) { return false; } // the program ends
        due.request.visit([&]<class Request>(Request const& request) {
            if constexpr (takes_answer_to<Operation, Request>) {
                memory_backend const& to = stores[due.place];
                call context;
                std::size_t const luck = faults != 0 ? below(faults) : faults + 9;
                if (luck == 0) { static_cast<void>(to.execute(request, context)); } // the response is lost
                if (luck == 1 && due.place == 0) {                                  // arrives later, or never
                    late.push_back([&to, request] {
                        call own;
                        static_cast<void>(to.execute(request, own));
                    });
                }
                if (luck < 3) { // or the request is lost
                    error gone = testing::lost_request();
                    gone.effect = Request::writes ? effect::unknown : effect::none;
                    result<response_of<Request>> lost{failure{gone}}; // named: GCC 12 warns about a temporary
                    op.answer(std::move(lost), steady_time{});
                } else {
                    op.answer(to.execute(request, context), steady_time{});
                }
            }
        });
        return true;
    }
    /// Begins an operation, which runs concurrently with the others.
    template <class Operation>
    void begin(Operation&& made, std::size_t place, std::size_t faults) {
        auto const op = std::make_shared<std::remove_cvref_t<Operation>>(std::forward<Operation>(made));
        under_way.push_back({place, [this, op, faults] { return advance(*op, faults); }});
    }
    void go_on() {
        if (under_way.empty()) { return; }
        std::size_t const one = below(under_way.size());
        bool const more = under_way[one].advance();
        for (char name = 'p'; name < 't'; ++name) {
            record->published.merge(edits_of(text_in(stores[0], std::string{name}).value_or("")));
        }
        if (!more) { under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(one)); }
    }
    void synchronize_device(std::size_t place, std::size_t faults) {
        begin(device_run{record, place, conflicts, ++seeds}, place, faults);
    }
    void edit(std::size_t place) {
        std::string const key{static_cast<char>('p' + below(4))};
        begin(edit_row(record, place, key, below(4) == 0 ? "" : "e" + std::to_string(++edited)), place, 0);
    }
    void restore(std::size_t place) {
        for (char name = 'p'; name < 't'; ++name) {
            std::string const key{name};
            std::vector<std::optional<std::string>> others;
            for (std::size_t other = 0; other <= devices; ++other) {
                if (other != place) { others.push_back(text_in(stores[other], key)); }
            }
            record->keep_only(key, others, place, may_have_unsent_removal(stores[place], key));
        }
        record->restores = true;
        record->restored.insert(place);
        // The programs of a device end before its file is restored.
        std::erase_if(under_way, [&](running const& each) { return each.place == place; });
        restore_rows(stores[place], backups[place]);
    }
    /// Removes the receipts of all devices. No request is on its way, and no program is in the middle of a synchronisation: both would be as
    /// old as the receipts.
    void expire() {
        receipt_options how;
        how.partitions = {"ann"};
        late.clear();
        std::erase_if(under_way, [](running const& each) { return each.place != 0; });
        detail::expire_receipts_of(detail::table_core{stores[0], "notes", {}}, {}, how).value();
        record->restores = true; // the devices count as restored
        ++expired;
    }
    /// Whether a backup shows that it is one: it is empty, or has a state. If receipts are removed, the state must have seen a push.
    [[nodiscard]] bool has_state(page const& backup) const {
        bool found = backup.empty();
        for (std::size_t index = 0; index < backup.size(); ++index) {
            if (backup[index].row_key != system_row::synced) { continue; }
            found = !with_expiry || !detail::state_of_row(backup[index]).value().receipt.empty();
        }
        return found;
    }
    void step() {
        std::size_t const place = 1 + below(devices);
        switch (below(38)) {
            case 0:
            case 1:
            case 2:
            case 3: edit(below(3) == 0 ? 0 : place); break;
            case 4: backups[place] = rows_in(stores[place]); break;
            case 5:
                // A backup from before the first push is that of another device: its rows are new. The same after the receipts were
                // removed, for a backup that was made before a push was noted.
                if (with_restorations && below(4) == 0 && has_state(backups[place])) { restore(place); }
                break;
            case 6:
                if (!late.empty()) {
                    late.front()();
                    late.pop_front();
                }
                break;
            case 7:
            case 8:
            case 9:
            case 10: synchronize_device(place, below(3) == 0 ? 0 : 12); break;
            case 11: clocks[below(devices + 1)].jump(random); break;
            case 12:
                if (with_expiry && below(4) == 0) { expire(); }
                break;
            default: go_on(); break;
        }
    }
    [[nodiscard]] std::string end() {
        while (!under_way.empty()) { go_on(); }
        while (!late.empty()) {
            if (below(2) == 0) { late.front()(); }
            late.pop_front();
        }
        for (int round = 0; round < 4; ++round) {
            for (std::size_t place = 1; place <= devices; ++place) {
                synchronize_device(place, 0);
                while (!under_way.empty()) { go_on(); }
            }
        }
        if (!record->problem.empty()) { return record->problem; }
        for (char name = 'p'; name < 't'; ++name) {
            std::string const key{name};
            auto const last = text_in(stores[0], key);
            for (std::size_t place = 1; place <= devices; ++place) {
                if (text_in(stores[place], key) != last) {
                    return "device " + std::to_string(place) + " and the cloud differ for good: row " + key;
                }
            }
            if (auto wrong = record->wrong(key, last); !wrong.empty()) { return wrong; }
        }
        return "";
    }

    random_source random;
    std::shared_ptr<edit_record> record;
    sync_policy conflicts;
    std::array<jumping_clock, devices + 1> clocks{};
    std::array<memory_backend, devices + 1> stores{}; ///< the cloud, and the devices
    std::array<page, devices + 1> backups{};
    std::deque<std::function<void()>> late{};
    struct running {
        std::size_t place;
        std::function<bool()> advance;
    };
    std::vector<running> under_way{};
    bool with_restorations{};
    bool with_expiry{};
    std::size_t expired{};
    std::uint64_t seeds{};
    int edited{};
};

} // namespace

TEST_CASE("synchronize: random histories of three devices converge, and lose nothing without a report") {
    std::uint64_t const begin = first_history();
    std::uint64_t const end = begin + histories(300, 100'000, 3'000);
    std::size_t expired = 0;
    for (std::uint64_t seed = begin; seed < end; ++seed) {
        tell_histories("synchronize", seed - begin);
        history one{seed};
        one.with_restorations = seed % 2 == 0;
        one.with_expiry = seed % 3 == 0;
        for (int step = 0; step < 200; ++step) { one.step(); }
        INFO("seed " << seed);
        REQUIRE(one.end() == "");
        expired += one.expired;
    }
    CHECK(expired > 50);
}
