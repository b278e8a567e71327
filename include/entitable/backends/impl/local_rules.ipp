// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/backends/detail/local_rules.hpp>
#include <entitable/request/validate.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY stored_key::stored_key(std::string_view key) : view_(key) {
    for (char const character : key) {
        if (static_cast<unsigned char>(character) >= 0xEE) {
            copy_ = key;
            for (char& changed : copy_) {
                changed = static_cast<char>(text::utf16_rank(static_cast<unsigned char>(changed)));
            }
            view_ = copy_;
            return;
        }
    }
}

ENTITABLE_LAZY_BODY stored_key::stored_key(folding, std::string_view table) : view_(table) {
    for (char const character : table) {
        if (character >= 'A' && character <= 'Z') {
            copy_ = text::ascii_lower(table);
            view_ = copy_;
            return;
        }
    }
}

ENTITABLE_LAZY_BODY std::string_view shown_key(std::string_view bytes, std::string& buffer) {
    bool changed = false;
    for (char const character : bytes) {
        changed = changed || static_cast<unsigned char>(character) >= 0xFE;
    }
    if (!changed) {
        return bytes;
    }
    buffer = bytes;
    for (char& character : buffer) {
        if (static_cast<unsigned char>(character) >= 0xFE) {
            character = static_cast<char>(static_cast<unsigned char>(character) - 0x10U);
        }
    }
    return buffer;
}

ENTITABLE_LAZY_BODY failure refused(error_code code, std::string_view table) {
    std::string const quoted = "\"" + std::string{table} + "\"";
    switch (code) {
        case error_code::table_already_exists: return failure{code, "the table " + quoted + " exists already"};
        case error_code::table_not_found:
            return failure{
                code, "the table " + quoted + " does not exist; create it first, for example with create_if_absent()"};
        case error_code::entity_already_exists:
            return failure{code, "the table " + quoted + " has an entity with this key already"};
        case error_code::resource_not_found:
            return failure{code, "the table " + quoted + " has no entity with this key"};
        case error_code::update_condition_not_satisfied:
            return failure{code, "the entity in table " + quoted + " was changed since its ETag was read"};
        default: return failure{code, "refused by table " + quoted};
    }
}

ENTITABLE_LAZY_BODY failure missing(
    lookup found, std::string_view table, std::string_view partition_key, std::string_view row_key) {
    failure gone =
        refused(found == lookup::no_table ? error_code::table_not_found : error_code::resource_not_found, table);
    gone.error().detail = "PartitionKey \"" + text::printable(text::shortened(partition_key)) + "\", RowKey \"" +
        text::printable(text::shortened(row_key)) + "\"";
    return gone;
}

ENTITABLE_LAZY_BODY row selected_row(row_view whole, projection const& names) {
    if (names.empty()) {
        return row{whole};
    }
    row_builder builder{whole.partition_key, whole.row_key};
    for (std::string const& name : names) {
        if (auto const found = whole.find(name)) {
            builder.add(name, *found);
        }
    }
    row const chosen = builder.build();
    std::string payload{chosen.payload()};
    set_timestamp(payload, whole.timestamp());
    return row{whole.partition_key, whole.row_key, payload};
}

ENTITABLE_LAZY_BODY result<std::string> new_payload(mutation const& change, std::string const* stored,
    date_time timestamp, std::string_view table, profile const& limits) {
    auto const with_key = [&](failure problem) {
        problem.error().detail = "PartitionKey \"" + text::printable(text::shortened(change.entity.partition_key())) +
            "\", RowKey \"" + text::printable(text::shortened(change.entity.row_key())) + "\"";
        return problem;
    };
    if (change.kind == mutation_kind::insert && stored != nullptr) {
        return with_key(refused(error_code::entity_already_exists, table));
    }
    if (change.needs_existing()) {
        if (stored == nullptr) {
            return with_key(refused(error_code::resource_not_found, table));
        }
        if (!change.condition.accepts(row_view{{}, {}, *stored}.etag())) {
            return with_key(refused(error_code::update_condition_not_satisfied, table));
        }
    }
    if (change.kind == mutation_kind::remove) {
        return std::string{};
    }
    bool const merges = change.kind == mutation_kind::merge || change.kind == mutation_kind::insert_or_merge;
    std::string payload = merges && stored != nullptr ? merged_payload(*stored, change.entity.payload())
                                                      : std::string{change.entity.payload()};
    if (merges && stored != nullptr) {
        // Each part was within the limits; together they may not be.
        if (auto checked = validate_entity({change.entity.partition_key(), change.entity.row_key(), payload}, limits);
            !checked) {
            return std::move(checked).as_failure();
        }
    }
    set_timestamp(payload, timestamp);
    return payload;
}

// A token of this backend: "1" and the key of the next row to read, as
// "1 <bytes of the partition key>:<partition key><row key>".
ENTITABLE_LAZY std::string make_continuation(std::string_view partition_key, std::string_view row_key) {
    std::string token = "1 ";
    text::append_decimal(token, partition_key.size());
    token += ':';
    token.append(partition_key).append(row_key);
    return token;
}

ENTITABLE_LAZY bool read_continuation(std::string_view token, std::string& partition_key, std::string& row_key) {
    std::size_t size = 0;
    std::size_t at = 2;
    if (!token.starts_with("1 ")) {
        return false;
    }
    for (; at < token.size() && at < 12 && token[at] >= '0' && token[at] <= '9'; ++at) {
        size = size * 10 + static_cast<std::size_t>(token[at] - '0');
    }
    if (at == 2 || at >= token.size() || token[at] != ':' || size > token.size() - at - 1) {
        return false;
    }
    partition_key = token.substr(at + 1, size);
    row_key = token.substr(at + 1 + size);
    return text::valid_utf8_prefix(partition_key) == partition_key.size() &&
        text::valid_utf8_prefix(row_key) == row_key.size();
}

ENTITABLE_LAZY_BODY result<page_reader> page_reader::start(
    query_entities const& request, std::size_t max_bytes, std::size_t max_examined) {
    page_reader reader{request};
    reader.max_bytes_ = max_bytes;
    reader.max_examined_ = max_examined;
    key_interval const& partitions = request.range.partition;
    if (request.continuation) {
        std::string partition_key;
        std::string row_key;
        if (!read_continuation(*request.continuation, partition_key, row_key) || !partitions.contains(partition_key)) {
            return failure{
                error_code::continuation_invalid, "the continuation token is not one that this query has given"};
        }
        reader.from_partition_ = stored_key{partition_key};
        reader.from_row_ = stored_key{row_key};
    } else {
        reader.from_partition_ = stored_key{partitions.lower.key};
        if (partitions.lower.end == key_bound::kind::exclusive) {
            reader.from_partition_ += '\0'; // the least key behind it
        } else if (partitions.is_point()) {
            reader.from_row_ = stored_key{request.range.row.lower.key};
        }
    }
    if (partitions.upper.end != key_bound::kind::open) {
        reader.last_partition_.emplace(static_cast<std::string_view>(stored_key{partitions.upper.key}));
    }
    return reader;
}

ENTITABLE_LAZY_BODY scan_range page_reader::range() const noexcept {
    return {
        from_partition_, from_row_, last_partition_ ? std::optional<std::string_view>{*last_partition_} : std::nullopt};
}

ENTITABLE_LAZY_BODY void page_reader::stop_before(std::string_view partition_key, std::string_view row_key) {
    response_.continuation = make_continuation(partition_key, row_key);
}

ENTITABLE_LAZY_BODY bool page_reader::visit(
    std::string_view partition, std::string_view stored_row, std::string_view payload) {
    key_range const& wanted = request_->range;
    row_view const row{shown_key(partition, partition_buffer_), shown_key(stored_row, row_buffer_), payload};
    if (!wanted.partition.contains(row.partition_key)) {
        // Before the range nothing is visited: this is behind it.
        return false;
    }
    bool const inside = wanted.row.contains(row.row_key);
    if (!inside && wanted.partition.is_point() && response_.examined > 0) {
        return false; // behind the last row that could count; the first row may be the excluded lower bound
    }
    if (response_.rows.size() == request_->page_size || response_.examined >= max_examined_ ||
        response_.rows.bytes() >= max_bytes_) {
        stop_before(row.partition_key, row.row_key);
        return false;
    }
    ++response_.examined;
    if (inside && satisfies(row, request_->filter)) {
        if (request_->select.empty()) {
            response_.rows.append(row);
        } else {
            response_.rows.append(selected_row(row, request_->select));
        }
    }
    return true;
}

ENTITABLE_LAZY_BODY query_entities::response page_reader::finish() && { return std::move(response_); }

} // namespace detail
ENTITABLE_END_NAMESPACE
