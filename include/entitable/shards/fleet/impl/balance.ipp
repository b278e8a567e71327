// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/shards/fleet/balance.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Searches for one threshold: first builds an arrangement by heuristics, then tries all arrangements within the effort, with pruning.
class balance_search {
public:
    balance_search(balance_problem const& of, double threshold) : problem_(of) {
        double sum = 0;
        for (balance_item const& each : of.items) { sum += each.size; }
        double const weights = std::accumulate(of.weights.begin(), of.weights.end(), 0.0);
        constexpr double rounding = 1 + 1e-9;
        for (double const weight : of.weights) {
            limits_.push_back(weight > 0 ? threshold * sum * weight / weights * rounding : 0);
        }
        order_.resize(of.items.size());
        std::iota(order_.begin(), order_.end(), std::size_t{});
        std::stable_sort(order_.begin(), order_.end(),
            [&](std::size_t left, std::size_t right) { return of.items[left].size > of.items[right].size; });
    }

    [[nodiscard]] std::optional<std::vector<std::size_t>> run() {
        by_rules_of_thumb();
        effort_ = problem_.effort;
        loads_.assign(limits_.size(), 0);
        to_come_.assign(limits_.size(), 0);
        for (balance_item const& each : problem_.items) { to_come_[each.home] += each.size; }
        trial_.assign(problem_.items.size(), 0);
        if (effort_ > 0) { look(0, 0); }
        return best_;
    }

private:
    [[nodiscard]] bool may(std::size_t item, std::size_t place) const {
        balance_item const& of = problem_.items[item];
        return problem_.weights[place] > 0 && (of.may.empty() || of.may[place]);
    }
    [[nodiscard]] bool is_forced(std::size_t item) const { return !may(item, problem_.items[item].home); }
    [[nodiscard]] bool is_fixed(std::size_t item) const { return problem_.only_forced && !is_forced(item); }
    [[nodiscard]] double size(std::size_t item) const { return problem_.items[item].size; }
    [[nodiscard]] std::size_t home(std::size_t item) const { return problem_.items[item].home; }
    /// Items that are at home and must stay may exceed the limit.
    [[nodiscard]] bool fits(std::size_t item, std::size_t place, std::vector<double> const& loads) const {
        return may(item, place) && loads[place] + size(item) <= limits_[place];
    }

    void by_rules_of_thumb() {
        std::vector<double> loads(limits_.size());
        std::vector<std::size_t> at(problem_.items.size());
        std::vector<std::size_t> pool; // largest first
        for (std::size_t const item : order_) {
            at[item] = home(item);
            if (is_forced(item)) {
                pool.push_back(item);
            } else {
                loads[home(item)] += size(item);
            }
        }
        for (std::size_t place = 0; place < limits_.size(); ++place) { take_excess(place, loads, pool); }
        std::stable_sort(pool.begin(), pool.end(), [&](auto left, auto right) { return size(left) > size(right); });
        for (std::size_t const item : pool) {
            std::optional<std::size_t> roomiest;
            for (std::size_t place = 0; place < limits_.size(); ++place) {
                if (fits(item, place, loads) &&
                    (!roomiest || limits_[place] - loads[place] > limits_[*roomiest] - loads[*roomiest])) {
                    roomiest = place;
                }
            }
            if (!roomiest) {
                return; // this heuristic finds no arrangement
            }
            at[item] = *roomiest;
            loads[*roomiest] += size(item);
        }
        improve(at, loads);
        keep(at);
    }

    /// Takes items from an overfull place: among the sets of items that are large enough, it takes one that is hardly
    /// larger. Sums are counted in steps of 1/2000 of the excess.
    void take_excess(std::size_t place, std::vector<double>& loads, std::vector<std::size_t>& pool) {
        double const excess = loads[place] - limits_[place];
        if (excess <= 0) { return; }
        std::vector<std::size_t> here;
        for (std::size_t const item : order_) {
            if (home(item) == place && !is_forced(item) && !is_fixed(item)) { here.push_back(item); }
        }
        struct reached {
            double sum{-1};       ///< negative: not reached
            std::size_t item{};   ///< the last item of the set
            std::size_t before{}; ///< index of the step before this item was added
        };
        constexpr std::size_t steps = 4'001; // up to twice the excess
        double const step = excess / 2'000;
        std::vector<reached> sums(steps);
        sums[0].sum = 0;
        reached least; // the smallest sufficient sum
        auto const is_better = [&](double sum) { return sum >= excess && (least.sum < 0 || sum < least.sum); };
        for (std::size_t const item : here) {
            for (std::size_t at = steps; at-- > 0;) {
                if (sums[at].sum < 0) { continue; }
                double const sum = sums[at].sum + size(item);
                if (is_better(sum)) { least = {sum, item, at}; }
                double const to = sum / step;
                if (to < static_cast<double>(steps) && sums[static_cast<std::size_t>(to)].sum < 0) {
                    sums[static_cast<std::size_t>(to)] = {sum, item, at}; // set once, so a set never has an item twice
                }
            }
        }
        std::vector<bool> taken(problem_.items.size());
        if (least.sum < 0) { // all items together are too small
            for (std::size_t const item : here) { taken[item] = true; }
        } else {
            taken[least.item] = true;
            for (std::size_t at = least.before; at != 0; at = sums[at].before) { taken[sums[at].item] = true; }
        }
        for (std::size_t const item : here) {
            if (taken[item]) {
                pool.push_back(item);
                loads[place] -= size(item);
            }
        }
    }

    /// Sends back items that need not move, and moves smaller items instead of larger items.
    void improve(std::vector<std::size_t>& at, std::vector<double>& loads) const {
        for (bool better = true; better;) {
            better = false;
            for (std::size_t const moved : order_) {
                std::size_t const from = home(moved);
                std::size_t const to = at[moved];
                if (to == from || is_forced(moved)) { continue; }
                if (loads[from] + size(moved) <= limits_[from]) {
                    loads[from] += size(moved);
                    loads[to] -= size(moved);
                    at[moved] = from;
                    better = true;
                    continue;
                }
                for (std::size_t index = order_.size(); index-- > 0;) { // the smallest items first
                    std::size_t const other = order_[index];
                    if (at[other] == from && home(other) == from && size(other) < size(moved) && may(other, to) &&
                        loads[from] + size(moved) - size(other) <= limits_[from]) {
                        loads[from] += size(moved) - size(other);
                        loads[to] += size(other) - size(moved);
                        at[moved] = from;
                        at[other] = to;
                        better = true;
                        break;
                    }
                }
            }
        }
    }

    void keep(std::vector<std::size_t> const& at) {
        double moved = 0;
        for (std::size_t item = 0; item < at.size(); ++item) { moved += at[item] == home(item) ? 0 : size(item); }
        if (!best_ || moved < best_moved_) {
            best_ = at;
            best_moved_ = moved;
        }
    }

    /// Places the items in order, largest first. Tries each item at home first, then in all other places.
    void look(std::size_t depth, double moved) {
        if (effort_ == 0) { return; }
        --effort_;
        double least = moved; // loads over a limit must also move
        for (std::size_t place = 0; place < limits_.size(); ++place) {
            double const over = loads_[place] + to_come_[place] - limits_[place];
            least += problem_.only_forced ? 0 : (std::max)(0.0, (std::min)(over, to_come_[place]));
        }
        if (best_ && least >= best_moved_ * (1 - 1e-12)) { return; }
        if (depth == order_.size()) {
            keep(trial_);
            return;
        }
        std::size_t const item = order_[depth];
        std::size_t const own = home(item);
        to_come_[own] -= size(item);
        auto const put = [&](std::size_t place) {
            trial_[item] = place;
            loads_[place] += size(item);
            look(depth + 1, moved + (place == own ? 0 : size(item)));
            loads_[place] -= size(item);
        };
        if (is_fixed(item) || fits(item, own, loads_)) { put(own); }
        if (!is_fixed(item)) {
            for (std::size_t place = 0; place < limits_.size(); ++place) {
                if (place != own && fits(item, place, loads_)) { put(place); }
            }
        }
        to_come_[own] += size(item);
    }

    balance_problem const& problem_;
    std::vector<double> limits_;
    std::vector<std::size_t> order_; ///< items, largest first
    std::optional<std::vector<std::size_t>> best_;
    double best_moved_{};
    std::size_t effort_{};
    std::vector<double> loads_;
    std::vector<double> to_come_; ///< load of items not placed yet, at their homes
    std::vector<std::size_t> trial_;
};

ENTITABLE_DECL double imbalance_of(balance_problem const& problem, std::vector<std::size_t> const& at) {
    std::vector<double> loads(problem.weights.size());
    double sum = 0;
    for (std::size_t item = 0; item < at.size(); ++item) {
        loads[at[item]] += problem.items[item].size;
        sum += problem.items[item].size;
    }
    double const weights = std::accumulate(problem.weights.begin(), problem.weights.end(), 0.0);
    double most = sum > 0 ? 0 : 1;
    for (std::size_t place = 0; sum > 0 && place < loads.size(); ++place) {
        if (problem.weights[place] > 0) {
            most = (std::max)(most, loads[place] * weights / sum / problem.weights[place]);
        }
    }
    return most;
}

} // namespace detail

ENTITABLE_DECL balance_plan balanced(balance_problem const& problem) {
    balance_plan made;
    std::vector<std::size_t> homes;
    made.possible = true;
    for (balance_item const& each : problem.items) {
        homes.push_back(each.home);
        bool anywhere = false;
        for (std::size_t place = 0; place < problem.weights.size(); ++place) {
            anywhere = anywhere || (problem.weights[place] > 0 && (each.may.empty() || each.may[place]));
        }
        made.possible = made.possible && anywhere;
    }
    made.places = homes;
    made.before = made.after = detail::imbalance_of(problem, homes);
    double threshold = (std::max)(1.0, problem.threshold);
    for (int raised = 0; made.possible; ++raised) {
        if (auto found = detail::balance_search{problem, threshold}.run()) {
            made.places = *std::move(found);
            break;
        }
        threshold *= raised < 100 ? 1.01 : 1.2;
    }
    made.after = detail::imbalance_of(problem, made.places);
    for (std::size_t item = 0; item < homes.size(); ++item) {
        made.moved += made.places[item] == homes[item] ? 0 : problem.items[item].size;
    }
    return made;
}

ENTITABLE_END_NAMESPACE
