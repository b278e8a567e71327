// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/pattern/detail/copy_operation.hpp>
#include <entitable/row/compare.hpp>
#include <entitable/row/system_rows.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL copy_operation::copy_operation(std::string from_table, std::string to_table, row_replacement change,
    profile const& target, copy_options const& options)
    : change_(change), target_(target), options_(options) {
    reading_.table = std::move(from_table);
    reading_.page_size = options.page_size;
    reading_.continuation = options.from;
    batch_.table = to_table;
    one_.table = to_table;
    comparing_.table = to_table;
    looking_.table = std::move(to_table);
}

ENTITABLE_DECL failure copy_operation::about(row const& offender, error_code code, std::string message) const {
    failure made{code, std::move(message)};
    made.error().detail = text::joined({"PartitionKey \"", text::printable(text::shortened(offender.partition_key())),
        "\", RowKey \"", text::printable(text::shortened(offender.row_key())), "\""});
    return made;
}

// ---- reading ----------------------------------------------------------------------------------------

ENTITABLE_DECL void copy_operation::answer(result<query_entities::response> page) {
    if (!page) {
        stop(std::move(page).as_failure());
    } else if (step_ == step::read) {
        take_page(*std::move(page));
    } else {
        for (std::size_t index = 0; index < page->rows.size(); ++index) {
            row_view const found = page->rows[index];
            for (std::size_t at = first_; at < end_; ++at) {
                row const& wanted = rows_[order_[at]];
                if (wanted.row_key() == found.row_key && same_properties(wanted, found)) {
                    found_[at - first_] = true;
                }
            }
        }
        looking_.continuation = std::move(page->continuation);
        if (looking_.continuation) {
            return;
        }
        if (step_ == step::verify) {
            end_verifying();
        } else {
            progress_.present += static_cast<std::uint64_t>(std::count(found_.begin(), found_.end(), true));
            write_rest(first_);
        }
    }
}

ENTITABLE_DECL void copy_operation::take_page(query_entities::response page) {
    rows_.clear();
    for (std::size_t index = 0; index < page.rows.size(); ++index) {
        if (system_row::is_one(page.rows[index].row_key)) {
            continue;
        }
        if (auto whole = check_payload(page.rows[index].payload); !whole) {
            return stop(std::move(whole).as_failure());
        }
        auto made = change_(page.rows[index]);
        if (!made) {
            return stop(std::move(made).as_failure());
        }
        ++progress_.read;
        if (*made && system_row::is_one((*made)->row_key())) {
            return stop(about(**made, error_code::key_reserved,
                text::joined({"the row key of a changed row begins with \"", system_row::prefix,
                    "\", which belongs to rows of the library's own"})));
        }
        if (*made) {
            rows_.push_back(**std::move(made));
        } else {
            ++progress_.left_out;
        }
    }
    progress_.next = std::move(page.continuation);
    if (auto arranged = arrange(); !arranged) {
        return stop(std::move(arranged).as_failure());
    }
    end_ = 0;
    begin_batch();
}

/// Those of one partition together, each in the order of its key.
ENTITABLE_DECL result<void> copy_operation::arrange() {
    auto const compare = [this](std::size_t left, std::size_t right) {
        int const partitions = text::compare_utf16(rows_[left].partition_key(), rows_[right].partition_key());
        return partitions != 0 ? partitions : text::compare_utf16(rows_[left].row_key(), rows_[right].row_key());
    };
    order_.resize(rows_.size());
    for (std::size_t index = 0; index < order_.size(); ++index) {
        order_[index] = index;
    }
    std::sort(
        order_.begin(), order_.end(), [&](std::size_t left, std::size_t right) { return compare(left, right) < 0; });
    for (std::size_t at = 1; at < order_.size(); ++at) {
        if (compare(order_[at - 1], order_[at]) == 0) {
            return about(rows_[order_[at]], error_code::invalid_duplicate_row,
                "two rows of the source would get the same key in the copy");
        }
    }
    return {};
}

// ---- writing ----------------------------------------------------------------------------------------

/// As many rows of one partition as a transaction takes, from where the last one ended.
ENTITABLE_DECL void copy_operation::begin_batch() {
    first_ = end_;
    if (first_ == order_.size()) {
        return end_page();
    }
    std::string_view const partition = rows_[order_[first_]].partition_key();
    std::size_t size = 0;
    batch_.changes.clear();
    while (end_ < order_.size() && end_ - first_ < target_.max_operations) {
        row const& next = rows_[order_[end_]];
        size += service_size(next);
        if (next.partition_key() != partition || (end_ != first_ && size > target_.max_transaction_size / 2)) {
            break;
        }
        batch_.changes.push_back(mutation::insert(next));
        ++end_;
    }
    found_.assign(end_ - first_, false);
    if (end_ - first_ == 1) {
        write_rest(first_);
    } else {
        step_ = step::write_batch;
    }
}

ENTITABLE_DECL void copy_operation::answer(result<transact::response> done) {
    if (done) {
        progress_.written += end_ - first_;
        begin_verifying();
    } else if (done.error().code == error_code::entity_already_exists) {
        look_for_rows(step::look); // an earlier copy came so far, or further
    } else {
        stop(std::move(done).as_failure());
    }
}

/// Asks for the rows of the batch, and what stands between them.
ENTITABLE_DECL void copy_operation::look_for_rows(step why) {
    row const& least = rows_[order_[first_]];
    row const& most = rows_[order_[end_ - 1]];
    found_.assign(end_ - first_, false);
    looking_.range.partition = key_interval::only(std::string{least.partition_key()});
    looking_.range.row = {
        key_bound::including(std::string{least.row_key()}), key_bound::including(std::string{most.row_key()})};
    looking_.continuation.reset();
    step_ = why;
}

/// One by one, those of the batch that were not found.
ENTITABLE_DECL void copy_operation::write_rest(std::size_t from) {
    at_ = from;
    while (at_ < end_ && found_[at_ - first_]) {
        ++at_;
    }
    if (at_ < end_) {
        write_one();
    } else if (std::find(found_.begin(), found_.end(), false) == found_.end()) {
        end_verifying(); // all of them were found
    } else {
        begin_verifying();
    }
}

ENTITABLE_DECL void copy_operation::write_one() {
    one_.change = mutation::insert(current());
    step_ = step::write_one;
}

ENTITABLE_DECL void copy_operation::answer(result<written> done) {
    if (done) {
        ++progress_.written;
        write_rest(at_ + 1);
    } else if (done.error().code == error_code::entity_already_exists && one_.change.kind == mutation_kind::insert) {
        comparing_.partition_key = current().partition_key();
        comparing_.row_key = current().row_key();
        step_ = step::compare;
    } else {
        stop(std::move(done).as_failure());
    }
}

ENTITABLE_DECL void copy_operation::answer(result<get_entity::response> found) {
    if (!found && found.error().code == error_code::resource_not_found) {
        write_one(); // gone in between
    } else if (!found) {
        stop(std::move(found).as_failure());
    } else if (same_properties(found->entity, current())) {
        ++progress_.present;
        write_rest(at_ + 1);
    } else if (options_.overwrite) {
        one_.change = mutation::insert_or_replace(current());
        step_ = step::write_one;
    } else {
        stop(about(current(), error_code::entity_already_exists,
            text::joined({"the table \"", one_.table, "\" has this row already, with other properties"})));
    }
}

// ---- reading back -----------------------------------------------------------------------------------

ENTITABLE_DECL void copy_operation::begin_verifying() {
    if (options_.verify) {
        look_for_rows(step::verify);
    } else {
        begin_batch();
    }
}

ENTITABLE_DECL void copy_operation::end_verifying() {
    for (std::size_t at = first_; at < end_; ++at) {
        if (!found_[at - first_]) {
            return stop(about(rows_[order_[at]], error_code::row_mismatch,
                text::joined({"a row of the table \"", one_.table, "\" is not what was copied there a moment ago"})));
        }
    }
    progress_.verified += end_ - first_;
    begin_batch();
}

ENTITABLE_DECL void copy_operation::end_page() {
    ++progress_.pages;
    if (progress_.next) {
        reading_.continuation = progress_.next;
        step_ = step::read;
    } else {
        outcome_.emplace(progress_);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
