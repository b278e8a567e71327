// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/query/reading.hpp>
#include <entitable/client/row_walk.hpp>
#include <entitable/core/transport/channel.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/transport/run_all.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY query_source::query_source(
    any_store to, call_options how, std::string name, result<query_plan> planned, key_layout partition, key_layout row)
    : query_parts{std::move(name), planned ? std::move(*planned) : query_plan{}, partition, row},
      through(std::move(to)),
      options(std::move(how)) {
    if (!planned) { problem = std::move(planned).as_failure(); }
}

ENTITABLE_DECL query_source::~query_source() = default;

struct way_of_pages : counted {
    ENTITABLE_LAZY explicit way_of_pages(any_store const& through) : opened(open_channel(through, io)) {}

    poll_driver io;
    shared<channel> opened; ///< destroyed before its driver
};

ENTITABLE_DECL row_walk::row_walk(shared<query_source> source, query_limits limits, query_reading reading)
    : source_(std::move(source)), limits_(std::move(limits)), reading_(std::move(reading)) {}

ENTITABLE_DECL row_walk::~row_walk() = default;

ENTITABLE_LAZY_BODY shared<query_source> ask(
    table_core const& table, predicate_nodes const& condition, access_path path, entity_layout const& of) {
    auto source = shared<query_source>::make(table.store(), table.options(), table.name(),
        make_plan(condition, path, of.partition_layout, of.row_layout, table.store().profile()), of.partition_layout,
        of.row_layout);
    if (source->problem) { source->watch = watch_for(*source, condition, table.store().profile(), table.marks()); }
    if (table.type() != nullptr) { only_of_type(*source, *table.type(), true); }
    return source;
}

ENTITABLE_LAZY_BODY shared<query_source> with_transport(query_source const& all, any_store through) {
    result<query_plan> planned{all.plan};
    if (!all.problem) { planned = failure{all.problem.error()}; }
    auto source = shared<query_source>::make(
        std::move(through), all.options, all.table, std::move(planned), all.partition_layout, all.row_layout);
    source->type = all.type;
    source->watch = all.watch;
    return source;
}

ENTITABLE_LAZY_BODY result<void> check_source(query_source const* source) {
    if (source == nullptr) {
        return failure{error_code::invalid_input, "this query is empty: it was default-constructed, or moved from"};
    }
    return source->problem;
}

ENTITABLE_LAZY_BODY result<shared<row_walk>> row_walk::begin(
    shared<query_source> source, query_limits limits, projection select) {
    ENTITABLE_CHECK(check_source(source.get()));
    std::optional<query_position> resumed;
    query_parts const* used = &source->current();
    if (limits.read != nullptr) { // a store continues only the request that it began
        used = &*source;
        auto position = limits.read(*source, select, limits.token);
        if (!position && source->watch) {
            if (auto other = limits.read(source->watch->migrated, select, limits.token)) {
                used = &source->watch->migrated;
                position = std::move(other);
            }
        }
        if (!position) { return std::move(position).as_failure(); }
        resumed = *std::move(position);
    }
    query_reading reading{*used, std::move(select), limits.in_flight};
    std::uint64_t const taken = resumed ? resumed->taken : 0;
    if (resumed) { reading.go_to(*std::move(resumed)); }
    if (limits.only_one && (!limits.take || *limits.take > taken)) { limits.take = taken + 1; }
    bool const is_migrated = used != &*source;
    bool const asks_marks = source->watch && !is_migrated && limits.read == nullptr;
    auto walk = shared<row_walk>::make(std::move(source), std::move(limits), std::move(reading));
    walk->taken_ = taken;
    walk->asks_marks_ = asks_marks;
    walk->is_migrated_ = is_migrated;
    return walk;
}

ENTITABLE_LAZY_BODY std::uint32_t row_walk::rows_of_next_page() const noexcept {
    constexpr std::uint32_t most = 1000; // larger pages are refused, however many rows are taken
    std::uint32_t const rows = limits_.page_size;
    bool const fewer = limits_.take && rows <= most && parts().plan.client.empty() && *limits_.take - taken_ < rows;
    return fewer ? static_cast<std::uint32_t>(*limits_.take - taken_) : rows; // does not read rows that will not be
                                                                              // used
}

ENTITABLE_LAZY_BODY void row_walk::read_round() {
    reading_.set_page_size(rows_of_next_page());
    reading_.begin_round();
    std::size_t slot = 0;
    std::vector<std::size_t> range_slots;
    std::vector<single_request<query_entities>> pages;
    while (query_entities const* const due = reading_.next_request(slot)) {
        range_slots.push_back(slot);
        pages.emplace_back(*due);
    }
    std::vector<call> calls(pages.size(), call{source_->options});
    // Is destroyed before the calls, unless it is stored: an exception leaves requests in the channel.
    shared<way_of_pages> way = std::move(way_);
    if (!way) { way = shared<way_of_pages>::make(source_->through); }
    if (run_all(pages, calls, {&*way->opened}, way->io, limits_.in_flight)) { way_ = std::move(way); }
    for (std::size_t index = 0; index < pages.size(); ++index) {
        reading_.answer(range_slots[index], pages[index].finish());
    }
}

ENTITABLE_LAZY_BODY void row_walk::begin_page() {
    at_ = 0;
    if (!keeps_page_) {
        used_ = 0; // an error is returned again
        before_ = reading_.cost();
    }
}

ENTITABLE_LAZY_BODY void row_walk::end_with(error const& reason) {
    failed_ = failure{reason};
    at_ = used_; // rows after the failed row are not returned
}

ENTITABLE_LAZY_BODY bool row_walk::take_pages() {
    while (failed_ && used_ == 0 && !taken_all() && !reading_.at_end()) {
        if (!reading_.page_is_here()) { return true; }
        auto read = reading_.finish();
        if (!read) {
            failed_ = std::move(read).as_failure();
            return false;
        }
        page_ = *std::move(read);
        std::uint64_t const left = limits_.take ? *limits_.take - taken_ : page_.size();
        used_ = left < page_.size() ? static_cast<std::size_t>(left) : page_.size();
        taken_ += used_;
    }
    return false;
}

ENTITABLE_LAZY_BODY operation_step row_walk::due() {
    if (!take_pages()) { return {}; }
    if (asks_marks_) { return operation_step{std::as_const(source_->watch->request)}; }
    reading_.set_page_size(rows_of_next_page());
    return reading_.next();
}

ENTITABLE_LAZY_BODY void row_walk::answer(result<query_entities::response> response, steady_time now) {
    if (asks_marks_) {
        take_marks(std::move(response));
        return;
    }
    reading_.answer(std::move(response), now);
}

ENTITABLE_LAZY_BODY void row_walk::abandon(error const& reason) {
    asks_marks_ = false;
    reading_.abandon(reason);
}

ENTITABLE_LAZY_BODY result<bool> row_walk::end_page() {
    if (used_ == 0) { page_ = {}; }
    if (!failed_) { return failure{failed_.error()}; }
    return used_ > 0;
}

ENTITABLE_LAZY_BODY operation_step page_reading::next() { return walk_->due(); }
ENTITABLE_LAZY_BODY void page_reading::answer(result<query_entities::response> response, steady_time now) {
    walk_->answer(std::move(response), now);
}
ENTITABLE_LAZY_BODY void page_reading::abandon(error const& reason) { walk_->abandon(reason); }
ENTITABLE_LAZY_BODY result<bool> page_reading::finish() { return walk_->end_page(); }

ENTITABLE_LAZY_BODY result<bool> row_walk::next_page() {
    one_thread const here{inside_};
    if (limits_.in_flight <= 1) {
        page_reading one{*this};
        return run(one, source_->options, system_clock(), source_->through);
    }
    begin_page();
    while (take_pages()) {
        read_marks();
        if (!reading_.page_is_here()) { read_round(); }
    }
    return end_page();
}

ENTITABLE_LAZY_BODY result<void> row_walk::show_page(
    page_visitor const& watcher, shown_uses uses, std::uint64_t* number) {
    reading_.set_page_size(rows_of_next_page());
    query_entities const& asked = reading_.page_to_show();
    call context{source_->options, system_clock()};
    bool const counts = number != nullptr;
    bool const each_counts = parts().plan.client.empty() && source_->type == nullptr && !limits_.take;
    auto shown = source_->through.execute(
        read_entities{asked.table, &asked, &watcher, uses.row_keys, counts, counts && source_->plan.meets_system_rows,
            uses.versions, (uses.any_order || limits_.any_order) && !limits_.take,
            each_counts ? uses.rows_to_come : nullptr},
        context);
    if (shown && counts) { *number += shown->shown - reading_.refused(); }
    return reading_.finish(std::move(shown));
}

ENTITABLE_LAZY_BODY result<void> row_walk::show_rows(
    page_visitor visit, function_ref<result<void>()> page_done, shown_uses uses) {
    auto const look = [&](std::span<row_view const> run) {
        while (!run.empty()) {
            auto accepted = reading_.accept(run);
            if (limits_.take && accepted.size() > *limits_.take - taken_) {
                accepted = accepted.first(static_cast<std::size_t>(*limits_.take - taken_));
            }
            if (!accepted.empty()) {
                taken_ += accepted.size();
                visit(accepted);
            }
        }
    };
    page_visitor const watcher{look};
    if (!taken_all() && !reading_.at_end()) { ENTITABLE_CHECK(read_marks_shown()); }
    uses.row_keys = uses.row_keys || !parts().plan.client.empty() || source_->type != nullptr;
    while (!taken_all() && !reading_.at_end()) {
        auto read = show_page(watcher, uses);
        if (read) { read = page_done(); }
        if (!read) { return read; }
    }
    return {};
}

ENTITABLE_LAZY_BODY result<std::uint64_t> row_walk::count_rows() {
    if (can_show_rows() && !taken_all() && !reading_.at_end()) { ENTITABLE_CHECK(read_marks_shown()); }
    // If each row of the range counts, except system rows, the store may count them itself.
    query_plan const& plan = parts().plan;
    if (can_show_rows() && plan.client.empty() && source_->type == nullptr && !limits_.take) {
        std::uint64_t shown = 0;
        auto const look = [&](std::span<row_view const> run) { // counts the partitions, and the system rows
            while (!run.empty()) { static_cast<void>(reading_.accept(run)); }
        };
        page_visitor const watcher{look};
        while (!reading_.at_end()) {
            auto read = show_page(watcher, {false, false, true}, &shown);
            if (!read) { return std::move(read).as_failure(); }
        }
        return shown;
    }
    if (can_show_rows()) {
        std::uint64_t shown = 0;
        auto const add = [&](std::span<row_view const> run) { shown += run.size(); };
        auto read = show_rows(add, [] { return result<void>{}; }, {false, false, true});
        return read ? result<std::uint64_t>{shown} : std::move(read).as_failure();
    }
    for (std::uint64_t rows = 0;; rows += used_) {
        auto more = next_page();
        if (!more) { return std::move(more).as_failure(); }
        if (!*more) { return rows; }
    }
}

ENTITABLE_LAZY_BODY result<std::optional<row_view>> row_walk::next() {
    if (at_ == used_) {
        auto more = next_page();
        if (!more) { return std::move(more).as_failure(); }
        if (!*more) { return std::optional<row_view>{}; }
    }
    return std::optional{page_[at_++]};
}

ENTITABLE_LAZY_BODY result<bool> row_walk::read_next(void* to, row_reader read) {
    auto found = next();
    if (!found) { return std::move(found).as_failure(); }
    if (!*found) { return false; }
    --at_; // user code may throw, and an unread row must not be skipped
    if (auto decoded = read(**found, to, mode()); !decoded) {
        end_with(decoded.error());
        return std::move(decoded).as_failure();
    }
    ++at_;
    return true;
}

ENTITABLE_LAZY_BODY result<void> row_walk::read_rows(
    void* all, void* (*add)(void*, std::size_t), row_reader read, bool shown) {
    if (shown && can_read_shown()) {
        result<void> problem;
        std::size_t ahead = 0;
        auto const look = [&](std::span<row_view const> run) {
            for (std::size_t at = 0; problem && at < run.size(); ++at) {
                fetch_ahead(run, at);
                // A row that cannot be read ends the walk; an error of its page takes precedence.
                problem = read(run[at], add(all, std::exchange(ahead, 0)), mode());
            }
        };
        return show_rows(look, [&] { return std::exchange(problem, {}); }, {.rows_to_come = &ahead});
    }
    for (;;) {
        auto found = next();
        if (!found) { return std::move(found).as_failure(); }
        if (!*found) { return {}; }
        if (auto decoded = read(**found, add(all, 0), mode()); !decoded) { return decoded; }
    }
}

/// Objects for the rows that are read; their memory is reused from page to page. A template, so that its members are compiled only if they
/// are called.
template <class Kind>
class row_objects {
public:
    explicit row_objects(Kind const& kind) noexcept : kind_(kind) {}
    row_objects(row_objects const&) = delete;
    row_objects& operator=(row_objects const&) = delete;
    ~row_objects() { clear(); }

    [[nodiscard]] void* at(std::size_t index) {
        if (index == made_.size()) {
            made_.push_back(nullptr);
            made_.back() = kind_.make();
        }
        return made_[index];
    }
    void clear() noexcept {
        for (void* const each : made_) {
            if (each != nullptr) { // null if memory ran out
                kind_.remove(each);
            }
        }
        made_.clear();
    }

private:
    Kind const& kind_;
    std::vector<void*> made_;
};

ENTITABLE_LAZY_BODY result<void> row_walk::call_rows(
    row_kind const& kind, bool shown, void* function, void (*call)(void*, void const*)) {
    row_objects<row_kind> objects{kind};
    if (!shown || !can_read_shown()) {
        void* const current = objects.at(0);
        for (;;) {
            auto read = read_next(current, kind.read);
            if (!read) { return std::move(read).as_failure(); }
            if (!*read) { return {}; }
            call(function, current);
        }
    }
    std::size_t used = 0;
    std::size_t bytes = 0;
    result<void> problem;
    auto const look = [&](std::span<row_view const> run) {
        for (std::size_t at = 0; problem && at < run.size(); ++at) {
            fetch_ahead(run, at);
            problem = kind.read(run[at], objects.at(used), mode());
            if (!problem) { return; }
            ++used;
            bytes += run[at].payload.size();
        }
    };
    auto const after_page = [&]() -> result<void> {
        for (std::size_t index = 0; index < used; ++index) { call(function, objects.at(index)); }
        used = 0;
        if (constexpr std::size_t most = 32'000'000; bytes > most) { // long values would accumulate from page to page
            objects.clear(); // not after each page, because the system would take the memory and give it back
            bytes = 0;
        }
        return std::exchange(problem, {});
    };
    return show_rows(look, after_page, {true, kind.versions});
}

ENTITABLE_DECL row_cursor::~row_cursor() { kind_.remove(current_); }

ENTITABLE_LAZY_BODY void row_cursor::advance() {
    ENTITABLE_ASSERT(at_ != place::end, "a query's iterator was incremented past its end", no_row());
    at_ = place::failed; // holds even if the store throws
    bool const found = walk_->read_next(current_, kind_.read).value();
    at_ = found ? place::row : place::end;
}

ENTITABLE_LAZY_BODY error row_cursor::no_row() {
    return misuse("compare the iterator with end() before each step, and do not read rows after an error");
}

ENTITABLE_LAZY_BODY std::optional<std::string> row_walk::token() const {
    if (taken_all() || reading_.at_end()) { return std::nullopt; }
    query_position here = reading_.position();
    here.taken = taken_;
    return make_token(parts(), reading_.select(), here);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
