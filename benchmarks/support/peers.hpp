// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How the programs beside_*.cpp are measured by `benchmarks/run`: each row of its table compares what the library does with what a user would
/// use instead. With the argument `instructions` each side runs once between `cost_begins` and `cost_ends`, for callgrind; otherwise the
/// sides alternate and the least CPU time counts. Arguments after it are parts of the names of the rows to measure.

#include <benchmarks/support/measure.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
// The counters are reset before the first, and written before the second.
[[gnu::noinline, gnu::used]] inline void cost_begins() { __asm__ volatile(""); }
[[gnu::noinline, gnu::used]] inline void cost_ends() { __asm__ volatile(""); }
}

namespace measure {

class peers {
public:
    /// Work that is measured; made anew for each time it runs.
    using work = std::function<void()>;
    using maker = std::function<work()>;

    peers(int count, char** arguments) : wanted_(arguments + 1, arguments + count) {
        counts_ = !wanted_.empty() && wanted_.front() == "instructions";
        if (counts_) { wanted_.erase(wanted_.begin()); }
    }

    /// Compares `ours` with the peer: `limit` is the ratio of their costs that is allowed, `operations` how many of them each side runs.
    void row(std::string const& name, double limit, std::size_t operations, maker const& peer, maker const& ours) {
        if (!wanted(name)) { return; }
        for (maker const* side : {&peer, &ours}) { (*side)()(); } // fills caches
        if (counts_) {
            for (maker const* side : {&peer, &ours}) {
                work const one = (*side)();
                cost_begins();
                one();
                cost_ends();
            }
            std::printf("%s\t%zu\t%.2f\n", name.c_str(), operations, limit);
        } else {
            constexpr int rounds = 7;
            double least[2] = {1e300, 1e300};
            for (int round = 0; round < rounds; ++round) {
                for (int side = 0; side < 2; ++side) {
                    work const one = (side == 0 ? peer : ours)();
                    least[side] = std::min(least[side], timed(operations, one));
                }
            }
            std::printf("%s\t%zu\t%.2f\t%.2f\t%.2f\n", name.c_str(), operations, limit, least[0], least[1]);
        }
        std::fflush(stdout);
    }
    /// For work that changes nothing.
    void reads(std::string const& name, double limit, std::size_t operations, work const& peer, work const& ours) {
        row(name, limit, operations, [&] { return peer; }, [&] { return ours; });
    }
    /// Compares bytes instead: of what `ours` keeps allocated with `peer`.
    template <class Kept>
    void bytes(std::string const& name, double limit, std::size_t peer, std::function<Kept()> const& ours) {
        if (!wanted(name)) { return; }
        malloc_trim(0);
        std::size_t const before = allocated_bytes();
        Kept const kept = ours();
        std::printf("%s\t1\t%.2f\t%zu\t%zu\tbytes\n", name.c_str(), limit, peer, allocated_bytes() - before);
        std::fflush(stdout);
    }
    [[nodiscard]] bool wanted(std::string_view name) const {
        return wanted_.empty() || std::any_of(wanted_.begin(), wanted_.end(), [&](std::string const& each) {
            return name.find(each) != name.npos;
        });
    }

private:
    std::vector<std::string> wanted_;
    bool counts_;
};

} // namespace measure
