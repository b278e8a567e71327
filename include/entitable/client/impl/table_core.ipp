// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companion_writer.hpp>
#include <entitable/client/detail/found_entity.hpp>
#include <entitable/client/detail/table_operations.hpp>
#include <entitable/client/mapping/detail/key_from.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/detail/known_names.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY void table_core::keep_marks() { marks_ = shared<known_names>::make(); }

ENTITABLE_DECL table_core::table_core(any_store through, std::string name, call_options options)
    : through_(std::move(through)), name_(std::move(name)), options_(std::move(options)) {}
ENTITABLE_DECL table_core::table_core(table_arguments const& from)
    : through_(std::move(from.through)), name_(std::move(from.name)) {
    if (from.options != nullptr) { options_ = std::move(*from.options); }
}
ENTITABLE_DECL table_core::table_core(
    any_store through, std::string name, call_options options, shared<companion_writer> writer)
    : through_(std::move(through)), name_(std::move(name)), options_(std::move(options)), writer_(std::move(writer)) {}
ENTITABLE_DECL table_core::table_core(table_core const& other) = default;
ENTITABLE_DECL table_core::table_core(table_core&& other) noexcept = default;
ENTITABLE_DECL table_core& table_core::operator=(table_core const& other) = default;
ENTITABLE_DECL table_core& table_core::operator=(table_core&& other) noexcept = default;
ENTITABLE_DECL table_core::~table_core() = default;

ENTITABLE_LAZY_BODY result<std::string_view> borrowed_key(key_part part, std::string_view text) {
    if (part == key_part::row && system_row::is_one(text)) { return key_reserved(text); }
    return text;
}

ENTITABLE_LAZY_BODY result<std::string_view> key_text(
    std::string& buffer, key_part part, key_layout layout, key_source const* sources) {
    if (layout.size() == 1 && sources->append == &append_value<key_codec<std::string>, std::string_view>) {
        return borrowed_key(part, *static_cast<std::string_view const*>(sources->value));
    }
    buffer.clear();
    ENTITABLE_CHECK(append_key(buffer, layout, sources));
    return borrowed_key(part, buffer);
}

ENTITABLE_LAZY_BODY creation_of_table table_core::to_create(bool may_exist) const {
    return creation_of_table{own_request<create_table>{std::in_place, name_, may_exist}};
}

ENTITABLE_LAZY_BODY deletion_of_table table_core::to_drop(bool may_be_absent) const {
    return deletion_of_table{own_request<delete_table>{std::in_place, name_, may_be_absent}};
}

ENTITABLE_LAZY_BODY own_request<write_entity> table_core::to_write(result<mutation>&& change) const {
    if (!change) { return own_request<write_entity>{std::move(change).as_failure()}; }
    if (auto kept = check_operation_id(); !kept) { return own_request<write_entity>{std::move(kept).as_failure()}; }
    return own_request<write_entity>{std::in_place, name_, *std::move(change)};
}

ENTITABLE_LAZY_BODY own_request<write_entity> table_core::to_write(
    mutation_kind kind, result<row>&& made, etag_condition& condition) const {
    if (!made) { return own_request<write_entity>{std::move(made).as_failure()}; }
    return to_write(mutation{kind, *std::move(made), std::move(condition)});
}

ENTITABLE_LAZY_BODY single_request<transact> table_core::to_submit(transact const& request) const {
    auto kept = check_operation_id();
    return kept ? single_request{request} : single_request<transact>{std::move(kept).as_failure()};
}

ENTITABLE_LAZY_BODY own_request<read_entity> table_core::to_read(
    result<std::string_view>&& partition_key, result<std::string_view>&& row_key, entity_visitor const& visit) const {
    if (!partition_key) { return own_request<read_entity>{std::move(partition_key).as_failure()}; }
    if (!row_key) { return own_request<read_entity>{std::move(row_key).as_failure()}; }
    return own_request<read_entity>{std::in_place, name_, *partition_key, *row_key, &visit};
}

ENTITABLE_LAZY_BODY result<void> table_core::create() const {
    call context{options_};
    return run_one(to_create(), context, through_);
}

ENTITABLE_LAZY_BODY result<bool> table_core::create_if_absent() const {
    call context{options_};
    return run_one(creation_if_absent{to_create(true)}, context, through_);
}

ENTITABLE_LAZY_BODY result<void> table_core::drop() const {
    call context{options_};
    return run_one(to_drop(), context, through_);
}

ENTITABLE_LAZY_BODY result<bool> table_core::drop_if_present() const {
    call context{options_};
    return run_one(deletion_if_present{to_drop(true)}, context, through_);
}

ENTITABLE_LAZY_BODY result<void> table_core::check_operation_id() const {
    if (options_.operation_id.empty() || through_.profile().operation_ids) { return {}; }
    return failure{error_code::not_supported, "an operation id needs `retrying`: wrap the backend of this table in it"};
}

ENTITABLE_LAZY_BODY result<written> table_core::write(result<mutation>&& change) const {
    if (writer_) { return change ? writer_->write_one(*std::move(change)) : std::move(change).as_failure(); }
    call context{options_};
    return run_one(to_write(std::move(change)), context, through_);
}

ENTITABLE_LAZY_BODY result<std::optional<written>> table_core::write_if_present(result<mutation>&& change) const {
    return if_present{}(write(std::move(change)));
}

ENTITABLE_LAZY_BODY result<written> table_core::write(
    mutation_kind kind, result<row>&& made, etag_condition& condition) const {
    if (writer_) {
        if (!made) { return std::move(made).as_failure(); }
        return writer_->write_one(mutation{kind, *std::move(made), std::move(condition)});
    }
    call context{options_};
    return run_one(to_write(kind, std::move(made), condition), context, through_);
}

ENTITABLE_LAZY_BODY result<written> table_core::write(
    mutation_kind kind, void const* entity, entity_kind const& of, etag_condition& condition) const {
    write_entity request{name_, {kind, {}, std::move(condition)}}; // filled in place, because rows are dear to move
    ENTITABLE_CHECK(of.write(entity, request.change.entity));
    if (writer_) { return writer_->write_one(std::move(request.change)); }
    ENTITABLE_CHECK(check_operation_id());
    call context{options_};
    return through_.execute(request, context);
}

ENTITABLE_LAZY_BODY result<written> table_core::write(
    mutation_kind kind, void const* entity, entity_kind const& of) const {
    etag_condition any{any_etag};
    return write(kind, entity, of, any);
}

ENTITABLE_LAZY_BODY result<transact::response> table_core::submit(transact const& request) const {
    if (writer_) { return writer_->write(request, {}); }
    call context{options_};
    return run_one(to_submit(request), context, through_);
}

ENTITABLE_LAZY_BODY result<void> table_core::read(
    result<std::string_view>&& partition_key, result<std::string_view>&& row_key, entity_visitor const& visit) const {
    call context{options_};
    return run_one(to_read(std::move(partition_key), std::move(row_key), visit), context, through_);
}

ENTITABLE_LAZY_BODY result<void> table_core::read(
    result<std::string_view>&& partition_key, result<std::string_view>&& row_key, void* to, row_reader read_row) const {
    auto const take = [&](row_view const& stored, etag const&, bool) { return read_row(stored, to, options_.reading); };
    return read(std::move(partition_key), std::move(row_key), entity_visitor{take});
}

ENTITABLE_LAZY_BODY result<void> table_core::read(
    entity_kind const& of, key_source const* partition, key_source const* row, void* to) const {
    auto const take = [&](row_view const& stored, etag const&, bool) { return of.read(stored, to, options_.reading); };
    return read(of, partition, row, entity_visitor{take});
}

ENTITABLE_LAZY_BODY result<void> table_core::read(
    entity_kind const& of, key_source const* partition, key_source const* row, entity_visitor const& visit) const {
    std::string partition_buffer;
    std::string row_buffer;
    return read(key_text(partition_buffer, key_part::partition, of.layout.partition_layout, partition),
        key_text(row_buffer, key_part::row, of.layout.row_layout, row), visit);
}

ENTITABLE_LAZY_BODY result<void> table_core::for_each_row(key_range const& range, filter const& condition,
    bool with_system_rows, function_ref<void(row_view)> function) const {
    query_entities request;
    request.table = name_;
    request.range = range;
    request.filter = condition;
    page_cursor pages{std::move(request)};
    while (pages.more()) {
        call context{options_, system_clock()};
        ENTITABLE_TRY(auto const found, pages.take(through_.execute(pages.request(), context)));
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            row_view const row = found.rows[index];
            if (!with_system_rows && system_row::is_one(row.row_key)) { continue; }
            ENTITABLE_CHECK(check_payload(row.payload));
            function(row);
        }
    }
    return {};
}

ENTITABLE_LAZY_BODY result<void> table_core::for_each_row_of(
    type_pattern const& type, key_interval const& partitions, function_ref<void(row_view)> function) const {
    return for_each_row({partitions, type.row.interval()}, {}, false, [&](row_view each) {
        if (type.matches(each.partition_key, each.row_key)) { function(each); }
    });
}

ENTITABLE_LAZY_BODY result<void> table_core::for_each_shown_row_of(type_pattern const& type,
    key_interval const& partitions, bool in_place, function_ref<void(row_view)> function) const {
    page rows;
    query_entities asked;
    asked.table = name_;
    asked.range = {partitions, type.row.interval()};
    auto const look = [&](std::span<row_view const> run) {
        for (row_view const& each : run) {
            if (system_row::is_one(each.row_key) || !type.matches(each.partition_key, each.row_key)) { continue; }
            in_place ? function(each) : rows.append(each);
        }
    };
    page_visitor const visit{look};
    do {
        call context{options_, system_clock()};
        read_entities request{name_, &asked, &visit};
        request.versions = false;
        rows.clear();
        ENTITABLE_TRY(auto found, through_.execute(request, context));
        for (row_view const each : rows) { function(each); }
        asked.continuation = std::move(found.continuation);
        asked.kept = std::move(found.kept);
    } while (asked.continuation);
    return {};
}

ENTITABLE_LAZY_BODY partition_search table_core::to_search_partitions(bool any_row) const {
    result<void> allowed;
    if (!through_.profile().ordered) { // without an order, the smallest greater key may not be the next row
        allowed = failure{error_code::not_supported,
            "this service does not return rows in key order, so partitions cannot be skipped"};
    }
    return partition_search{name_, std::move(allowed), any_row};
}

ENTITABLE_LAZY_BODY result<std::vector<std::string>> table_core::partitions(bool any_row) const {
    auto searching = to_search_partitions(any_row);
    return run(searching, options_, system_clock(), through_);
}

ENTITABLE_LAZY_BODY result<mutation> removal(
    result<std::string> partition_key, result<std::string> row_key, etag_condition condition, entitable::removal sums) {
    if (!partition_key) { return std::move(partition_key).as_failure(); }
    if (!row_key) { return std::move(row_key).as_failure(); }
    return mutation::remove(row{*partition_key, *row_key, {}}, std::move(condition), sums);
}

ENTITABLE_LAZY_BODY result<mutation> removal(entity_kind const& of, key_source const* partition, key_source const* row,
    etag_condition&& condition, entitable::removal sums) {
    return removal(write_key(of.layout.partition_layout, partition),
        checked_row_key(write_key(of.layout.row_layout, row)), std::move(condition), sums);
}

ENTITABLE_LAZY_BODY result<written> table_core::remove(entity_kind const& of, key_source const* partition,
    key_source const* row, etag_condition& condition, entitable::removal sums) const {
    return write(removal(of, partition, row, std::move(condition), sums));
}

} // namespace detail
ENTITABLE_END_NAMESPACE
