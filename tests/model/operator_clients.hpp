// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Clients of a world: they begin, read, write and end, and note what they were told.

#include "operator_world.hpp"
#include <entitable/retrying.hpp>

namespace operator_worlds {

/// A client. Half of them keep operation rows under `retrying`; the others send once, and what has no answer is open.
class client {
public:
    client(world& in, int number, bool keeps_rows) : in_(in), number_(number), keeps_rows_(keeps_rows) {}

    void run() {
        while (!in_.closing) {
            auto const by = in_.new_process();
            if (auto opened = in_.open(by)) { live(*opened); }
            in_.told.crashes += by->dead() ? 1U : 0U;
            rest(300ms);
        }
    }
    /// Reads everything once, and has to be able to.
    static void read_all(
        world& in, any_store const& through, std::string const& who, std::string const& items = "items") {
        for (std::string const& partition : in.partitions) {
            if (!in.read_partition(through, items, partition, who)) {
                in.complain("in the end " + partition + " cannot be read by " + who);
            }
        }
        if (!in.scan(through, items, 1000, who)) { in.complain("in the end nothing can be scanned by " + who); }
    }

private:
    void rest(std::chrono::nanoseconds length) { in_.on.sleep_until(in_.on.now() + length); }
    [[nodiscard]] std::string who() const { return "client " + std::to_string(number_); }

    void live(program const& here) {
        any_store through{here.cloud};
        if (keeps_rows_) {
            retrying_options how;
            how.policy = retry_policy::fixed(4, 60ms);
            how.operation_rows = true;
            how.time = here.by.get();
            how.seed = in_.from.bits();
            through = any_store{retrying<sharded>{here.cloud, how}};
        }
        std::set<std::string> ready;
        std::string const items = here.items();
        for (std::size_t left = 20 + in_.from.below(60); left > 0 && !here.by->dead() && !in_.closing; --left) {
            std::string const table = in_.from.one_in(6) && here.generation == 0 ? "tasks" : items;
            if (!ready.contains(table)) {
                if (table == items && !begins(through, items)) {
                    rest(in_.from.upto(400ms));
                    continue;
                }
                ready.insert(table);
            }
            steady_time const begun = in_.on.now();
            auto const before = answers_;
            act(through, table, in_.from.any_of(in_.partitions));
            if (answers_ != before) { in_.answered(here, begun); }
            rest(in_.from.upto(500ms));
        }
    }
    /// As every program begins.
    bool begins(any_store const& through, std::string const& items) {
        call own;
        auto const done = through.execute(create_table{items}, own);
        if (done && in_.made && in_.generation == 0 &&
            !keeps_rows_) { // `retrying` takes the second answer for that to a lost one
            in_.complain(who() + " has made a table that was there");
        }
        return done || done.error().code == error_code::table_already_exists;
    }

    void act(any_store const& through, std::string const& table, std::string const& partition) {
        std::size_t const row = in_.from.below(rows_of_partition - 1);
        switch (in_.from.below(14)) {
            case 0:
            case 1:
            case 2:
            case 3: {
                int const value = ++in_.value;
                return write(through, table, partition,
                    {{}, {{row, value}}, mutation::insert_or_replace(in_.entity(partition, row, value))});
            }
            case 4: {
                int const value = ++in_.value;
                return write(through, table, partition,
                    {{{row, 0}}, {{row, value}}, mutation::insert(in_.entity(partition, row, value))});
            }
            case 5:
            case 6: return write_several(through, table, partition);
            case 7:
            case 8: return change(through, table, partition, row);
            case 9:
            case 10: static_cast<void>(read(through, table, partition, in_.from.below(rows_of_partition))); return;
            case 11:
            case 12: static_cast<void>(in_.read_partition(through, table, partition, who())); return;
            default:
                static_cast<void>(in_.scan(through, table, 2 + static_cast<std::uint32_t>(in_.from.below(6)), who()));
        }
    }
    struct writing {
        std::vector<std::pair<std::size_t, int>> sees;
        std::vector<std::pair<std::size_t, int>> makes;
        mutation change;
    };
    void write(any_store const& through, std::string const& table, std::string const& partition, writing what) {
        std::uint64_t const begun = ++in_.on.order;
        call own;
        auto const done = through.execute(write_entity{table, std::move(what.change)}, own);
        note(table, partition, begun, done ? nullptr : &done.error(), std::move(what.sees), std::move(what.makes));
    }
    void write_several(any_store const& through, std::string const& table, std::string const& partition) {
        std::vector<std::pair<std::size_t, int>> makes;
        transact sent{table, {}};
        for (std::size_t row = in_.from.below(2); row < rows_of_partition - 1; ++row) {
            makes.emplace_back(row, ++in_.value);
            sent.changes.push_back(mutation::insert_or_replace(in_.entity(partition, row, in_.value)));
        }
        std::uint64_t const begun = ++in_.on.order;
        call own;
        auto const done = through.execute(sent, own);
        note(table, partition, begun, done ? nullptr : &done.error(), {}, std::move(makes));
    }
    struct found {
        int value{};
        etag version;
    };
    std::optional<found> read(
        any_store const& through, std::string const& table, std::string const& partition, std::size_t row) {
        std::uint64_t const begun = ++in_.on.order;
        call own;
        auto const got = through.execute(get_entity{table, partition, row_names[row], {}}, own);
        bool const absent = !got && got.error().code == error_code::resource_not_found;
        if (!got && !absent) {
            in_.judge(table, got.error());
            return std::nullopt;
        }
        ++in_.told.reads;
        ++answers_;
        found const seen{got ? world::value_of(got->entity.view()) : 0, got ? got->etag : etag{}};
        if (in_.blind(begun)) { return std::nullopt; }
        in_.history(table, partition).add({begun, ++in_.on.order, {{row, seen.value}}, {}, false, who()});
        return seen;
    }
    /// Reads a row, and replaces or removes just that version.
    void change(any_store const& through, std::string const& table, std::string const& partition, std::size_t row) {
        auto const seen = read(through, table, partition, row);
        if (!seen || seen->value == 0) { return; }
        rest(in_.from.upto(300ms));
        if (in_.from.one_in(5)) {
            return write(through, table, partition,
                {{{row, seen->value}}, {{row, 0}}, mutation::remove(in_.entity(partition, row, 0), seen->version)});
        }
        int const value = ++in_.value;
        write(through, table, partition,
            {{{row, seen->value}}, {{row, value}},
                mutation::replace(in_.entity(partition, row, value), seen->version)});
    }
    void note(std::string const& table, std::string const& partition, std::uint64_t begun, error const* why,
        std::vector<std::pair<std::size_t, int>> sees, std::vector<std::pair<std::size_t, int>> makes) {
        ++in_.told.writes;
        partition_history& all = in_.history(table, partition);
        std::string const told = who() + (keeps_rows_ ? " with rows" : "");
        if (why == nullptr && in_.blind(begun)) {
            all.add({begun, still_open, std::move(sees), std::move(makes), false, told});
        } else if (why == nullptr) {
            ++answers_;
            if (in_.injured || begun < in_.last_injury) { // may be applied again, where its operation row is lost
                all.add({begun, still_open, {}, makes, false, told});
            }
            all.add({begun, ++in_.on.order, std::move(sees), std::move(makes), false, told, false, keeps_rows_});
        } else if (why->effect == effect::none && !in_.injured && !in_.blind(begun) &&
            begun > in_.last_injury) { // else what tells is lost
            in_.judge(table, *why);
            for (auto const& [row, value] : makes) {
                if (value != 0) { all.refuse(value); }
            }
        } else {
            in_.told.unknown += why->effect == effect::none ? 0U : 1U;
            all.add({begun, still_open, std::move(sees), std::move(makes), false, told});
        }
    }

    world& in_;
    int number_;
    bool keeps_rows_;
    std::size_t answers_{}; ///< to reads of a row, and writes
};

} // namespace operator_worlds
