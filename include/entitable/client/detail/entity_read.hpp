// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entity_read`: a point read as an operation that owns its keys, for callers that continue before it ends.

#include <entitable/client/detail/found_entity.hpp>
#include <entitable/client/table_core.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads one entity; `Found` as for `found_entity`. Must not be moved. The table must outlive it.
template <class Entity, class Found>
class entity_read {
public:
    using request_type = read_entity;

    /// Copies the keys.
    entity_read(table_core const& table, result<std::string_view>&& partition_key, result<std::string_view>&& row_key)
        : partition_(partition_key ? *partition_key : std::string_view{}),
          row_(row_key ? *row_key : std::string_view{}),
          shown_{&found_, table.options().reading},
          visitor_(shown_),
          read_(table.to_read(own(partition_key, partition_), own(row_key, row_), visitor_)) {}
    entity_read(entity_read const&) = delete;
    entity_read& operator=(entity_read const&) = delete;

    [[nodiscard]] read_entity const* request() const noexcept { return read_.request(); }
    [[nodiscard]] operation_step next() const noexcept { return read_.next(); }
    void answer(result<void> answered, steady_time now) { read_.answer(std::move(answered), now); }
    void abandon(error const& reason) { read_.abandon(reason); }
    [[nodiscard]] result<Found> finish() {
        shown_.conclude(read_.finish());
        return std::move(found_);
    }

private:
    /// Returns the key, pointing to the copy, unless it is an error.
    [[nodiscard]] static result<std::string_view>&& own(result<std::string_view>& key, std::string const& copy) {
        if (key) { *key = copy; }
        return std::move(key);
    }

    std::string partition_;
    std::string row_;
    result<Found> found_{std::in_place};
    found_entity<Entity, Found> shown_;
    entity_visitor visitor_;
    own_request<read_entity> read_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
