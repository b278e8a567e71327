// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/copy/detail/copy_operation.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL copy_operation::copy_operation(std::string from_table, std::string to_table, row_replacement change,
    copy_watcher watch, profile const& target, copy_options const& options, bool changes)
    : change_(change), changes_(changes), watch_(watch), options_(options), packer_(to_table, target) {
    reading_.table = std::move(from_table);
    reading_.page_size = options.page_size;
    reading_.continuation = options.from;
    one_.table = to_table;
    comparing_.table = to_table;
    looking_.table = std::move(to_table);
}

ENTITABLE_DECL failure copy_operation::about(row const& offender, error_code code, std::string message) const {
    failure made{code, std::move(message)};
    made.error().detail = keys_text(offender.partition_key(), offender.row_key());
    return made;
}

ENTITABLE_DECL operation_step copy_operation::next() const noexcept {
    constexpr std::size_t target = 1;
    if (outcome_) { return {}; }
    operation_step due{reading_};
    switch (phase_) {
        case phase::read: break;
        case phase::write_batch: due = {batch_, {}, target}; break;
        case phase::write_one: due = {one_, {}, target}; break;
        case phase::compare: due = {comparing_, {}, target}; break;
        case phase::look:
        case phase::verify: due = {looking_, {}, target}; break;
    }
    return due;
}

// ---- reading ----------------------------------------------------------------------------------------

ENTITABLE_DECL void copy_operation::answer(result<query_entities::response> page, steady_time) {
    if (!page) {
        stop(std::move(page).as_failure());
    } else if (phase_ == phase::read) {
        take_page(*std::move(page));
    } else {
        for (std::size_t index = 0; index < page->rows.size(); ++index) {
            row_view const found = page->rows[index];
            for (std::size_t at = 0; at < batch_.changes.size(); ++at) {
                row const& wanted = batch_.changes[at].entity;
                if (wanted.row_key() == found.row_key && same_properties(wanted, found)) { found_[at] = true; }
            }
        }
        looking_.continuation = std::move(page->continuation);
        if (looking_.continuation) { return; }
        if (phase_ == phase::verify) {
            end_verifying();
        } else {
            progress_.present += static_cast<std::uint64_t>(std::count(found_.begin(), found_.end(), true));
            write_rest(0);
        }
    }
}

ENTITABLE_DECL failure copy_operation::refused(system_row::kind const& kind) const {
    bool const whole = kind.copied == system_row::copying::taken_along; // an unchanged copy could include these rows
    return failure{error_code::not_supported,
        text::joined({"the table \"", reading_.table, "\" holds ", kind.holds,
            whole ? "; a copy that changes rows would lose them: copy the table as it is, or use "
                  : ", and cannot be copied: use ",
            kind.keeper, whole ? "" : " at the target"})};
}

ENTITABLE_DECL void copy_operation::take_page(query_entities::response page) {
    std::vector<row> rows;
    for (std::size_t index = 0; index < page.rows.size(); ++index) {
        system_row::kind const* const kind = system_row::kind_of(page.rows[index].row_key);
        system_row::copying const how = kind == nullptr ? system_row::copying::taken_along
            : changes_                                  ? kind->changed
                                                        : kind->copied;
        if (how == system_row::copying::left_behind) { continue; }
        if (how == system_row::copying::refused) { return stop(refused(*kind)); }
        if (auto whole = check_payload(page.rows[index].payload); !whole) {
            return stop(std::move(whole).as_failure());
        }
        if (kind != nullptr) {
            ++progress_.read;
            ++progress_.system_rows;
            rows.emplace_back(page.rows[index]);
            continue;
        }
        auto made = change_(page.rows[index]);
        if (!made) { return stop(std::move(made).as_failure()); }
        ++progress_.read;
        if (*made && system_row::is_one((*made)->row_key())) {
            return stop(about(**made, error_code::key_reserved,
                text::joined({"the row key of a changed row begins with \"", system_row::prefix,
                    "\", which is reserved for the library"})));
        }
        if (*made) {
            rows.push_back(**std::move(made));
        } else {
            ++progress_.left_out;
        }
    }
    progress_.next = std::move(page.continuation);
    // Groups the rows of each partition, in key order.
    auto const compare = [](row const& left, row const& right) {
        int const partitions = text::compare_utf16(left.partition_key(), right.partition_key());
        return partitions != 0 ? partitions : text::compare_utf16(left.row_key(), right.row_key());
    };
    std::sort(rows.begin(), rows.end(), [&](row const& left, row const& right) { return compare(left, right) < 0; });
    for (std::size_t at = 1; at < rows.size(); ++at) {
        if (compare(rows[at - 1], rows[at]) == 0) {
            return stop(about(rows[at], error_code::invalid_duplicate_row,
                "two rows of the source would get the same key in the copy"));
        }
    }
    for (row& each : rows) {
        if (auto added = packer_.add(mutation::insert(std::move(each))); !added) {
            return stop(std::move(added).as_failure());
        }
    }
    begin_batch();
}

// ---- writing ----------------------------------------------------------------------------------------

ENTITABLE_DECL void copy_operation::begin_batch() {
    auto next = packer_.take();
    if (!next) { return end_page(); }
    batch_ = *std::move(next);
    found_.assign(batch_.changes.size(), false);
    if (batch_.changes.size() == 1) {
        write_rest(0);
    } else {
        phase_ = phase::write_batch;
    }
}

ENTITABLE_DECL void copy_operation::answer(result<transact::response> done, steady_time) {
    if (done) {
        progress_.written += batch_.changes.size();
        begin_verifying();
    } else if (done.error().code == error_code::entity_already_exists) {
        look_for_rows(phase::look); // an earlier copy has reached or passed this position
    } else {
        stop(std::move(done).as_failure());
    }
}

/// Requests the rows of the batch, and the rows between them.
ENTITABLE_DECL void copy_operation::look_for_rows(phase why) {
    row const& least = batch_.changes.front().entity;
    row const& most = batch_.changes.back().entity;
    found_.assign(batch_.changes.size(), false);
    looking_.range.partition = key_interval::only(std::string{least.partition_key()});
    looking_.range.row = {
        key_bound::including(std::string{least.row_key()}), key_bound::including(std::string{most.row_key()})};
    looking_.continuation.reset();
    phase_ = why;
}

/// Writes the rows of the batch that were not found, one by one.
ENTITABLE_DECL void copy_operation::write_rest(std::size_t from) {
    at_ = from;
    while (at_ < found_.size() && found_[at_]) { ++at_; }
    if (at_ < found_.size()) {
        write_one();
    } else if (std::find(found_.begin(), found_.end(), false) == found_.end()) {
        end_verifying(); // all rows were found
    } else {
        begin_verifying();
    }
}

ENTITABLE_DECL void copy_operation::write_one() {
    one_.change = mutation::insert(current());
    phase_ = phase::write_one;
}

ENTITABLE_DECL void copy_operation::answer(result<written> done, steady_time) {
    if (done) {
        ++progress_.written;
        write_rest(at_ + 1);
    } else if (done.error().code == error_code::entity_already_exists && one_.change.kind == mutation_kind::insert) {
        comparing_.partition_key = current().partition_key();
        comparing_.row_key = current().row_key();
        phase_ = phase::compare;
    } else {
        stop(std::move(done).as_failure());
    }
}

ENTITABLE_DECL void copy_operation::answer(result<get_entity::response> found, steady_time) {
    if (!found && found.error().code == error_code::resource_not_found) {
        write_one(); // the row was removed in between
    } else if (!found) {
        stop(std::move(found).as_failure());
    } else if (same_properties(found->entity, current())) {
        ++progress_.present;
        write_rest(at_ + 1);
    } else if (options_.overwrite) {
        one_.change = mutation::insert_or_replace(current());
        phase_ = phase::write_one;
    } else {
        stop(about(current(), error_code::entity_already_exists,
            text::joined({"the table \"", one_.table, "\" already has this row, with different properties"})));
    }
}

// ---- reading back -----------------------------------------------------------------------------------

ENTITABLE_DECL void copy_operation::begin_verifying() {
    if (options_.verify) {
        look_for_rows(phase::verify);
    } else {
        begin_batch();
    }
}

ENTITABLE_DECL void copy_operation::end_verifying() {
    for (std::size_t at = 0; at < found_.size(); ++at) {
        if (!found_[at]) {
            return stop(about(batch_.changes[at].entity, error_code::row_mismatch,
                text::joined({"a row of the table \"", one_.table, "\" differs from the row that was just copied"})));
        }
    }
    progress_.verified += batch_.changes.size();
    begin_batch();
}

ENTITABLE_DECL void copy_operation::end_page() {
    ++progress_.pages;
    if (progress_.next) {
        reading_.continuation = progress_.next;
        phase_ = phase::read;
    } else {
        outcome_.emplace(progress_);
    }
    watch_(progress_);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
