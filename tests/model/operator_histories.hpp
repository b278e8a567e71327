// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What happened to a partition, and whether some order of it explains what was seen. Each value is written once. What came of a write that
/// has no answer is open; rows may be lost at once only where somebody said so.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace operator_worlds {

inline constexpr std::uint64_t still_open = (std::numeric_limits<std::uint64_t>::max)();
inline constexpr std::size_t rows_of_partition = 4; ///< the last one never changes

/// Something that happened to a partition between two moments.
struct happened {
    std::uint64_t begun{};
    std::uint64_t ended{still_open};
    std::vector<std::pair<std::size_t, int>> sees{};  ///< rows and their values, at once; 0 for no row
    std::vector<std::pair<std::size_t, int>> makes{}; ///< rows and their new values
    bool wipes{};                                     ///< every row is gone
    std::string told{};                               ///< who, for people
    /// A backup of a shard that is sealed may have what came late to its table and is never seen: a write that has no answer proves nothing there.
    bool of_backup{};
    bool keeps_rows{}; ///< a write with an operation row
};

/// A partition of a table.
class partition_history {
public:
    void add(happened what) { all_.push_back(std::move(what)); }
    /// A value that was refused for good: nobody may see it.
    void refuse(int value) { refused_.insert(value); }

    /// Empty where some order explains everything; else what cannot be explained.
    [[nodiscard]] std::string explain() {
        std::set<int> unanswered;
        for (happened const& each : all_) {
            for (auto const& [row, value] : each.makes) {
                if (each.ended == still_open) { unanswered.insert(value); }
            }
        }
        std::erase_if(all_, [&](happened const& each) {
            return each.of_backup && each.sees.front().second != 0 && unanswered.contains(each.sees.front().second);
        });
        std::set<int> seen;
        for (happened const& each : all_) {
            for (auto const& [row, value] : each.sees) {
                seen.insert(value);
                if (refused_.contains(value)) { return "a write that was refused for good is seen: " + text_of(each); }
            }
        }
        std::erase_if(all_, [&](happened const& each) { // what nobody has seen may as well not have happened
            return each.ended == still_open && !each.wipes && !each.makes.empty() &&
                std::none_of(each.makes.begin(), each.makes.end(),
                    [&](auto const& made) { return made.second == 0 || seen.contains(made.second); });
        });
        // Operation rows are lost with the store: a write that was under way then may have been applied before it and behind it.
        std::vector<happened> again;
        for (happened const& each : all_) {
            bool const lost_rows = each.keeps_rows && each.ended != still_open && !each.makes.empty() &&
                std::any_of(all_.begin(), all_.end(),
                    [&](happened const& wiping) { return wiping.wipes && wiping.begun < each.ended; });
            if (lost_rows) {
                again.push_back(each);
                again.back().ended = still_open;
            }
        }
        all_.insert(all_.end(), again.begin(), again.end());
        std::stable_sort(all_.begin(), all_.end(), [](auto const& a, auto const& b) { return a.begun < b.begun; });
        done_.assign(all_.size(), '.');
        left_ = static_cast<std::size_t>(
            std::count_if(all_.begin(), all_.end(), [](auto const& each) { return each.ended != still_open; }));
        best_ = all_.size() + 1;
        if (find({})) { return {}; }
        if (places_.size() >= most_places) {
            ++undecided();
            return {};
        }
        std::string told = "no order explains this; " + std::to_string(best_) + " answers are left at best, among them";
        std::size_t shown = 0;
        for (std::size_t index = 0; index < all_.size() && shown < 3; ++index) {
            if (best_done_[index] == '.' && all_[index].ended != still_open) {
                told += "\n    " + text_of(all_[index]);
                ++shown;
            }
        }
        told += "\n  with the state";
        for (int const value : best_state_) { told += ' ' + std::to_string(value); }
        told += "; all:";
        for (std::size_t index = 0; index < all_.size(); ++index) {
            told += std::string{"\n    "} + best_done_[index] + ' ' + text_of(all_[index]);
        }
        return told;
    }
    /// Histories that were too much to search.
    [[nodiscard]] static std::size_t& undecided() {
        static std::size_t count = 0;
        return count;
    }

private:
    using state = std::array<int, rows_of_partition>;
    static constexpr std::size_t most_places = 300'000;

    static std::string text_of(happened const& each) {
        std::string told = std::to_string(each.begun) + "-" +
            (each.ended == still_open ? std::string{"?"} : std::to_string(each.ended)) + " " + each.told;
        for (auto const& [row, value] : each.sees) {
            told += " sees " + std::to_string(row) + "=" + std::to_string(value);
        }
        for (auto const& [row, value] : each.makes) {
            told += " makes " + std::to_string(row) + "=" + std::to_string(value);
        }
        return told + (each.wipes ? " wipes" : "");
    }
    bool may_be(happened const& each, state const& now) const {
        return std::all_of(
            each.sees.begin(), each.sees.end(), [&](auto const& seen) { return now[seen.first] == seen.second; });
    }
    /// What can be next: it began before anything that is left, and has an end, had ended.
    [[nodiscard]] std::vector<std::size_t> candidates() const {
        std::vector<std::size_t> found;
        std::uint64_t first_end = still_open;
        for (std::size_t index = 0; index < all_.size(); ++index) {
            if (done_[index] == '.') {
                if (all_[index].begun > first_end) { break; }
                first_end = std::min(first_end, all_[index].ended);
                found.push_back(index);
            }
        }
        std::erase_if(found, [&](std::size_t index) { return all_[index].begun > first_end; });
        return found;
    }
    bool find(state const& now) {
        std::vector<std::size_t> took;
        auto const take = [&](std::size_t index) {
            done_[index] = 'x';
            left_ -= all_[index].ended != still_open ? 1U : 0U;
            took.push_back(index);
        };
        auto const give_back = [&](std::size_t index) {
            done_[index] = '.';
            left_ += all_[index].ended != still_open ? 1U : 0U;
        };
        std::vector<std::size_t> next;
        for (bool again = true; again;) { // what changes nothing is best taken as soon as it fits
            again = false;
            next = candidates();
            for (std::size_t const index : next) {
                happened const& each = all_[index];
                if (each.makes.empty() && !each.wipes && may_be(each, now)) {
                    take(index);
                    again = true;
                }
            }
        }
        if (left_ < best_) {
            best_ = left_;
            best_done_ = done_;
            best_state_ = now;
        }
        bool found = left_ == 0;
        if (!found && places_.size() < most_places && places_.insert(key_of(now)).second) {
            for (std::size_t const index : next) {
                happened const& each = all_[index];
                if ((each.makes.empty() && !each.wipes) || done_[index] != '.' || !may_be(each, now)) { continue; }
                state then = now;
                if (each.wipes) { then = {}; }
                for (auto const& [row, value] : each.makes) { then[row] = value; }
                take(index);
                found = find(then);
                took.pop_back();
                give_back(index);
                if (found) { break; }
            }
        }
        for (std::size_t const index : took) { give_back(index); }
        return found;
    }
    [[nodiscard]] std::string key_of(state const& now) const {
        std::string key = done_;
        for (int const value : now) { key += ',' + std::to_string(value); }
        return key;
    }

    std::vector<happened> all_;
    std::set<int> refused_;
    std::string done_;
    std::size_t left_{};
    std::size_t best_{};
    std::string best_done_;
    state best_state_{};
    std::unordered_set<std::string> places_;
};

} // namespace operator_worlds
