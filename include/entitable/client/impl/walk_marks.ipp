// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/row_walk.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY void row_walk::take_marks(result<query_entities::response> response) {
    asks_marks_ = false;
    if (!response) {
        reading_.abandon(response.error());
        return;
    }
    former_watch const& watch = *source_->watch;
    if (!watch.all_in(response->rows)) { return; }
    watch.note_migrated();
    is_migrated_ = true;
    projection select = reading_.select();
    reading_ = query_reading{watch.migrated, std::move(select), limits_.in_flight};
}

ENTITABLE_LAZY_BODY void row_walk::read_marks() {
    if (!asks_marks()) { return; }
    call context{source_->options, system_clock()};
    take_marks(source_->through.execute(source_->watch->request, context));
}

ENTITABLE_LAZY_BODY result<void> row_walk::read_marks_shown() {
    if (!asks_marks()) { return {}; }
    read_marks();
    if (!reading_.page_is_here()) { return {}; }
    auto failed = reading_.finish();
    return failed ? result<void>{} : std::move(failed).as_failure();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
