// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Whether some order of the requests explains the answers that several threads got: the search of Wing and Gong (1993)
/// with Lowe's memory of tried states (2017). The object is a partition of a few rows, so that batches and queries are
/// judged together with the writes of single rows. A version stands for the content of a row: each is created once.

#include <entitable/core/request/requests.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace entitable_test {

/// One request with its answer, and when it began and ended.
struct timed_operation {
    static constexpr std::size_t rows = 3;
    enum what { changes, one_row, all_rows };
    struct change {
        std::size_t row{};
        entitable::mutation_kind kind{};
        std::string version; ///< the condition; empty for any
        std::string made;    ///< the new version; empty after a removal
    };

    void succeeded(std::vector<entitable::written> const& results) {
        for (std::size_t index = 0; index < parts.size(); ++index) {
            parts[index].made = results[index].etag.to_string();
        }
    }
    void failed(entitable::error_code code, std::size_t index) {
        refused = code;
        refused_at = index;
    }

    std::uint64_t begun{};
    std::uint64_t ended{};
    what kind{};
    std::vector<change> parts;
    std::optional<entitable::error_code> refused;
    std::size_t refused_at{};
    std::size_t row{};
    std::array<std::string, rows> found; ///< versions; empty for no row
};

/// The versions of the rows of a partition; empty for no row.
using partition_state = std::array<std::string, timed_operation::rows>;

inline std::optional<entitable::error_code> refusal_of(timed_operation::change const& change, std::string const& now) {
    using entitable::error_code;
    using entitable::mutation_kind;
    bool const conditional = change.kind == mutation_kind::replace || change.kind == mutation_kind::merge ||
        change.kind == mutation_kind::remove;
    if (change.kind == mutation_kind::insert && !now.empty()) { return error_code::entity_already_exists; }
    if (conditional && now.empty()) { return error_code::resource_not_found; }
    if (conditional && !change.version.empty() && change.version != now) {
        return error_code::update_condition_not_satisfied;
    }
    return std::nullopt;
}

/// The state after the operation, if it could have given its answer in `state`.
inline std::optional<partition_state> after(timed_operation const& done, partition_state const& state) {
    if (done.kind == timed_operation::one_row) {
        return done.found[done.row] == state[done.row] ? std::optional{state} : std::nullopt;
    }
    if (done.kind == timed_operation::all_rows) { return done.found == state ? std::optional{state} : std::nullopt; }
    partition_state next = state;
    for (std::size_t index = 0; index < done.parts.size(); ++index) {
        auto const& part = done.parts[index];
        if (auto const refused = refusal_of(part, next[part.row])) {
            bool const said = done.refused == refused && done.refused_at == index;
            return said ? std::optional{state} : std::nullopt;
        }
        next[part.row] = part.made;
    }
    return done.refused ? std::nullopt : std::optional{next};
}

/// The result of a search.
enum class linear : std::uint8_t { yes, no, not_decided };

/// The search for an order. An operation without changes is placed at the first position where its answer fits: if there is an order
/// with a later position, there is one with this position. So only the positions of changes are tried.
class linear_search {
public:
    /// Gives up after this number of positions.
    explicit linear_search(std::vector<timed_operation> history, std::size_t most_places = 1'000'000)
        : history_(std::move(history)), most_places_(most_places) {
        std::sort(history_.begin(), history_.end(), [](auto const& a, auto const& b) { return a.begun < b.begun; });
        done_.assign(history_.size(), '.');
    }
    /// Starts with a partition without rows.
    [[nodiscard]] linear run() {
        bool const found = find({});
        return found ? linear::yes : tried_.size() >= most_places_ ? linear::not_decided : linear::no;
    }

private:
    bool find(partition_state const& state) {
        std::size_t const before = order_.size();
        take_what_fits(state);
        if (order_.size() == history_.size()) { return true; }
        if (tried_.size() < most_places_ && tried_.insert(place(state)).second) {
            for (std::size_t const index : candidates()) {
                if (auto const next = after(history_[index], state)) {
                    take(index);
                    if (find(*next)) { return true; }
                    put_back_to(order_.size() - 1);
                }
            }
        }
        put_back_to(before);
        return false;
    }
    void take_what_fits(partition_state const& state) {
        for (bool more = true; more;) {
            more = false;
            for (std::size_t const index : candidates()) {
                if (after(history_[index], state) == state) {
                    take(index);
                    more = true;
                }
            }
        }
    }
    /// Every operation that began before the end of all remaining ones may be next.
    [[nodiscard]] std::vector<std::size_t> candidates() const {
        std::vector<std::size_t> found;
        std::uint64_t first_end = UINT64_MAX;
        for (std::size_t at = done_.find('.'); at < history_.size() && history_[at].begun < first_end; ++at) {
            if (done_[at] == '.') {
                found.push_back(at);
                first_end = std::min(first_end, history_[at].ended);
            }
        }
        std::erase_if(found, [&](std::size_t at) { return history_[at].begun > first_end; });
        return found;
    }
    /// The position of the search: all operations before the first pending one are done, and a few after it.
    [[nodiscard]] std::string place(partition_state const& state) const {
        std::size_t const first = done_.find('.');
        std::size_t const last = done_.find_last_of('+');
        std::string text =
            std::to_string(first) + done_.substr(first, last == std::string::npos || last < first ? 0 : last - first);
        for (std::string const& version : state) { text += ' ' + version; }
        return text;
    }
    void take(std::size_t index) {
        done_[index] = '+';
        order_.push_back(index);
    }
    void put_back_to(std::size_t size) {
        for (; order_.size() > size; order_.pop_back()) { done_[order_.back()] = '.'; }
    }

    std::vector<timed_operation> history_;
    std::size_t most_places_;
    std::string done_;               ///< + for each that has its place in the order
    std::vector<std::size_t> order_; ///< those
    std::set<std::string> tried_;
};

/// Whether there is an order, starting with a partition without rows. Throws if that could not be decided.
inline bool linearizable(std::vector<timed_operation> const& history) {
    switch (linear_search{history}.run()) {
        case linear::yes: return true;
        case linear::no: return false;
        case linear::not_decided: break;
    }
    throw std::runtime_error{"the search for an order takes too long"};
}

inline std::string shown(std::vector<timed_operation> history) {
    std::sort(history.begin(), history.end(), [](auto const& a, auto const& b) { return a.begun < b.begun; });
    std::string text;
    for (auto const& each : history) {
        text += std::to_string(each.begun) + ".." + std::to_string(each.ended);
        for (auto const& part : each.parts) {
            text += " " + std::string{entitable::to_string(part.kind)} + " " + std::to_string(part.row) + " if " +
                part.version + " made " + part.made;
        }
        text += each.refused ? " " + std::string{entitable::to_string(*each.refused)} : "";
        for (std::string const& version : each.found) {
            text += each.kind == timed_operation::changes ? "" : " [" + version + "]";
        }
        text += '\n';
    }
    return text;
}

} // namespace entitable_test
