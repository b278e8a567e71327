// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/row_walk.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY void narrow_to_type(query_plan& plan, type_pattern const& type) {
    for (key_range& each : plan.ranges) { each.row = intersection(each.row, type.row.interval()); }
    std::erase_if(plan.ranges, [](key_range const& each) { return each.is_empty(); });
}

ENTITABLE_LAZY_BODY void only_of_type(query_source& source, type_pattern const& type, bool shares_partitions) {
    source.type = &type;
    if (source.watch) { source.watch->migrated.type = &type; } // a new source shares its watch with nobody
    if (!shares_partitions) { return; }
    narrow_to_type(source.plan, type);
    if (source.watch) { narrow_to_type(source.watch->migrated.plan, type); }
}

ENTITABLE_LAZY_BODY shared<query_source> only_older(query_source const& all, date_time limit) {
    query_plan plan = all.plan;
    if (plan.shortened_to == 0 && plan.server.comparisons() < max_condition_comparisons(all.through.profile())) {
        bool const alone = plan.server.empty();
        plan.server.nodes.push_back({filter_operator::less, "Timestamp", value{value_view{limit}}});
        if (!alone) { plan.server.nodes.push_back({filter_operator::all_of, {}, {}}); }
    }
    auto source = with_transport(all, all.through);
    source->plan = std::move(plan);
    source->watch = {}; // its plan lacks the limit
    return source;
}

ENTITABLE_LAZY_BODY void row_walk::take_marks(result<query_entities::response> response) {
    asks_marks_ = false;
    if (!response) {
        reading_.abandon(response.error());
        return;
    }
    former_watch const& watch = *source_->watch;
    if (!watch.all_in(response->rows)) { return; }
    watch.done.store(true, memory_order::relaxed);
    if (watch.known) { watch.known->add(watch.wanted); }
    is_migrated_ = true;
    projection select = reading_.select();
    reading_ = query_reading{watch.migrated, std::move(select), limits_.in_flight};
}

ENTITABLE_LAZY_BODY void row_walk::read_marks() {
    if (!asks_marks_) { return; }
    call context{source_->options, system_clock()};
    take_marks(source_->through.execute(source_->watch->request, context));
}

ENTITABLE_LAZY_BODY result<void> row_walk::read_marks_shown() {
    if (!asks_marks_) { return {}; }
    read_marks();
    if (!reading_.page_is_here()) { return {}; }
    auto failed = reading_.finish();
    return failed ? result<void>{} : std::move(failed).as_failure();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
