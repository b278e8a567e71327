// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A world of hashed stores: the next generation is made and the first one retired by programs that end in the middle, a store is emptied,
/// and programs of long ago begin again.

#include "operator_clients.hpp"

namespace operator_worlds {

/// What was done in worlds of hashed stores.
struct hash_figures {
    std::size_t worlds{}, made{}, retired{}, refused{}, emptied{};
};

class hash_world {
public:
    hash_world(std::uint64_t seed, figures& counted, hash_figures& told) : in_(seed, counted), told_(told) {
        ++told_.worlds;
        in_.old_map = true; // its clients may meet a table that is not there
        in_.by_ranges = false;
        in_.generation = 1;
        in_.hashed = {in_.names.begin(), in_.names.begin() + 3};
    }

    std::string run() {
        for (int number = 0; number < 2; ++number) {
            in_.on.run([this] { make(1); });
        }
        in_.on.run_until(in_.on.now() + 1h);
        in_.on.run([this] { fill(1); });
        in_.on.run_until(in_.on.now() + 1h);
        if (!in_.wrong.empty()) { return in_.wrong; }
        in_.made = in_.guarded = true;
        for (int number = 0; number < 4; ++number) {
            clients_.push_back(std::make_unique<client>(in_, number, number % 2 == 0));
            in_.on.run([own = clients_.back().get()] { own->run(); });
        }
        in_.on.run([this] { forgotten(); });
        in_.on.run([this] { misfortune(); });
        bool const grows = !in_.from.one_in(4);
        in_.on.run([this, grows] {
            in_.on.sleep_until(in_.on.now() + 5s + in_.from.upto(15s));
            if (grows) { grow(); }
        });
        steady_time const ends = in_.on.now() + 45s;
        in_.on.run_until(ends);
        in_.closing = true;
        in_.in.faults = false;
        for (auto const& [name, store] : in_.stores) { store->away = false; }
        in_.on.run_until(ends + 10min);
        if (in_.on.alive() > 0) {
            in_.complain("somebody has not ended after 10 minutes without faults");
            return in_.wrong;
        }
        in_.on.run([this] { settle(); });
        in_.on.run_until(ends + 1h);
        for (auto& [name, each] : in_.histories) {
            if (std::string const problem = each.explain(); !problem.empty()) { in_.complain(name + ": " + problem); }
        }
        in_.told.requests += in_.in.requests;
        return in_.wrong;
    }

private:
    [[nodiscard]] store_opener opener(std::shared_ptr<process> const& by) { return in_.opener(by); }
    /// Makes a generation, by programs that may end, until it is made.
    void make(std::int64_t generation) {
        for (bool done = false; !done;) {
            auto const by = in_.new_process();
            auto const made = hash_stores::make(in_.hashed, opener(by), in_.hash_options(*by, generation));
            done = made || made.error().code == error_code::already_made;
            told_.made += made ? 1U : 0U;
            if (!made && made.error().code == error_code::wrong_store && emptied_) { return; }
            in_.on.sleep_until(in_.on.now() + 200ms);
        }
    }
    void fill(std::int64_t generation) {
        bool const faults = std::exchange(in_.in.faults, false);
        auto const by = in_.new_process(false);
        if (auto const here = in_.open_hashed(by, generation)) {
            call own;
            static_cast<void>(here->cloud.execute(create_table{here->items()}, own));
            for (std::string const& partition : in_.partitions) {
                std::uint64_t const begun = ++in_.on.order;
                int const value = ++in_.value;
                call writing;
                auto const done = here->cloud.execute(
                    write_entity{here->items(), mutation::insert(in_.entity(partition, 3, value))}, writing);
                in_.history(here->items(), partition)
                    .add({begun, done ? ++in_.on.order : still_open, {{3, 0}}, {{3, value}}, false, "setup"});
            }
        } else {
            in_.complain("hashed stores cannot be opened: " + here.error().to_string());
        }
        in_.in.faults = faults;
    }
    /// The next generation, and an end of the first one.
    void grow() {
        make(2);
        if (in_.closing || emptied_) { return; }
        in_.generation = 2;
        for (bool done = false; !done;) {
            auto const by = in_.new_process();
            done = hash_stores::retire(in_.hashed, opener(by), in_.hash_options(*by, 1)).has_value();
            in_.on.sleep_until(in_.on.now() + 200ms);
        }
        in_.retired_at = in_.on.now();
        in_.tell("generation 1 is retired");
        ++told_.retired;
    }
    /// A program of long ago that begins by making.
    void forgotten() {
        while (!in_.closing) {
            in_.on.sleep_until(in_.on.now() + in_.from.upto(4s));
            auto const by = in_.new_process();
            bool const retired = in_.retired_at.has_value();
            bool const emptied = emptied_;
            std::int64_t const generation = in_.from.one_in(3) ? in_.generation : 1;
            auto const made = hash_stores::make(in_.hashed, opener(by), in_.hash_options(*by, generation));
            told_.refused += made ? 0U : 1U;
            in_.tell("make of generation " + std::to_string(generation), made);
            if (made && (generation == 1 || emptied)) { in_.complain("a generation is made a second time"); }
            auto const opened = in_.open_hashed(by, 1);
            if (opened && retired) { in_.complain("a generation that was retired is opened"); }
        }
    }
    void misfortune() {
        bool const empties = in_.from.one_in(3);
        while (!in_.closing) {
            in_.on.sleep_until(in_.on.now() + 1s + in_.from.upto(6s));
            place& at = *in_.stores.at(in_.from.any_of(in_.hashed));
            if (empties && !emptied_ && in_.from.one_in(4)) {
                emptied_ = true;
                ++told_.emptied;
                at.below = in_.fresh();
                in_.tell("emptied: " + at.name);
                in_.blind_now = true;
                in_.on.at(in_.on.now() + check_every * 11 / 10, [this] {
                    in_.blind_now = false;
                    in_.blind_until = ++in_.on.order;
                });
            } else {
                at.away = true;
                in_.on.sleep_until(in_.on.now() + in_.from.upto(3s));
                at.away = false;
            }
        }
    }
    void settle() {
        auto const by = in_.new_process(false);
        if (auto const here = in_.open_hashed(by, in_.generation); here && !emptied_) {
            call own;
            static_cast<void>(here->cloud.execute(create_table{here->items()}, own));
            client::read_all(in_, any_store{here->cloud}, "who settles", here->items());
        } else if (!emptied_) {
            in_.complain("in the end hashed stores cannot be opened: " + here.error().to_string());
        } else { // what there is may be read; what was there is missing for nobody
            for (std::string const& partition : in_.partitions) {
                if (here) {
                    static_cast<void>(
                        in_.read_partition(any_store{here->cloud}, here->items(), partition, "who settles"));
                }
            }
        }
        if (in_.retired_at) {
            in_.on.sleep_until(in_.on.now() + 20s);
            auto const made = hash_stores::make(in_.hashed, opener(by), in_.hash_options(*by, 1));
            if (made || in_.open_hashed(by, 1)) { in_.complain("in the end a generation that was retired is used"); }
        }
    }

    world in_;
    hash_figures& told_;
    bool emptied_{};
    std::vector<std::unique_ptr<client>> clients_;
};

} // namespace operator_worlds
