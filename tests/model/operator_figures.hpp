// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What was done in worlds of operators, counted; and what was lost there.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace operator_worlds {

/// What was done in all worlds.
struct figures {
    std::size_t worlds{}, moves{}, splits{}, merges{}, cancels{}, accesses{}, writes{}, unknown{}, reads{}, pages{},
        scans{}, backups{}, resumed{}, restored{}, forgets{}, repairs{}, adoptions{}, emptied{}, gone{}, parts_lost{},
        created{}, dropped{}, left_over{}, late_makes{}, second_maps{}, wrong_names{}, crashes{}, ended{};
    std::uint64_t requests{};

    [[nodiscard]] std::string to_string() const {
        std::string text;
        auto const add = [&](char const* name, std::uint64_t count) {
            text += (text.empty() ? "" : ", ") + std::to_string(count) + ' ' + name;
        };
        add("worlds", worlds), add("moves", moves), add("splits", splits), add("merges", merges);
        add("cancels", cancels), add("accesses set", accesses), add("writes", writes),
            add("of unknown effect", unknown);
        add("reads", reads), add("pages", pages), add("scans", scans), add("backups", backups);
        add("of them resumed", resumed), add("restored", restored), add("stores forgotten", forgets);
        add("parts repaired", repairs), add("adoptions", adoptions), add("stores emptied", emptied);
        add("gone for good", gone), add("parts lost", parts_lost), add("tables made", created);
        add("dropped", dropped), add("left-over tables", left_over), add("late makes refused", late_makes);
        add("second maps refused", second_maps), add("programs with wrong names", wrong_names);
        add("crashes", crashes), add("requests", requests);
        return text;
    }
};

/// A store that lost something.
struct injury {
    std::string store;
    std::uint64_t since{};
    bool gone{};      ///< it never answers again
    bool part_only{}; ///< a table of it is lost, and nothing else
};

/// Somebody who gives rows up, while that lasts.
struct giving_up {
    std::string store;
    std::uint64_t begun{};
    std::set<std::string> partitions; ///< that may lose their rows by it
    bool alone{true};                 ///< nobody else has given up the same store in the meantime
};

} // namespace operator_worlds
