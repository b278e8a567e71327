// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/feed/feed.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL result<void> feed::check_lag(std::chrono::nanoseconds most) const {
    ENTITABLE_TRY(feed_status const now, status());
    for (group_status const& each : now.groups) {
        std::chrono::nanoseconds const age{(now.time.ticks - each.processed_until.ticks) * 100};
        if (each.partitions_behind == 0 || age <= most) { continue; }
        auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
        return failure{error_code::group_behind,
            text::joined({"the group \"", each.name, "\" of the feed of the table \"", core_->table(), "\" is ",
                std::to_string(seconds), " s behind, in ", std::to_string(each.partitions_behind),
                " partitions: run its workers, or call leave()"})};
    }
    return {};
}

ENTITABLE_END_NAMESPACE
