// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The calls of a table and of a batch as operations: for asynchronous callers, and for the bodies of the calls.

#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/request/single_request.hpp>

#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Finds the partition keys with an entity, in order, by reading one row of each partition. Each request is a separate call.
class partition_search {
public:
    using has_call_for_each_request = void; ///< marks it for drivers

    /// If `allowed` is an error, it sends nothing. `any_row`: partitions with only system rows count, too.
    ENTITABLE_LAZY partition_search(std::string table, result<void> allowed, bool any_row = false);

    [[nodiscard]] operation_step next() const noexcept {
        return ended_ ? operation_step{} : operation_step{pages_.request()};
    }
    ENTITABLE_LAZY void answer(result<query_entities::response> page, steady_time now);
    ENTITABLE_LAZY void abandon(error const& reason);
    ENTITABLE_LAZY [[nodiscard]] result<std::vector<std::string>> finish();

private:
    ENTITABLE_LAZY void end(failure problem);
    ENTITABLE_LAZY void go_behind(std::string partition);

    page_cursor<query_entities> pages_{query_entities{{}, {}, {}, {}, 1, {}}};
    std::optional<std::string> within_; ///< a partition that begins with system rows: continue after them
    result<std::vector<std::string>> keys_{std::in_place};
    bool any_row_;
    bool ended_{};
};

/// Converts a failure with the code `tolerated` to success.
ENTITABLE_LAZY [[nodiscard]] result<bool> unless(result<void> failed, error_code tolerated);

/// Drops the value of a response.
struct without_value {
    template <class T>
    [[nodiscard]] result<void> operator()(result<T> answered) const {
        return answered ? result<void>{} : std::move(answered).as_failure();
    }
};
/// Converts a failure with this code to success with the value false.
template <error_code Tolerated>
struct unless_code {
    [[nodiscard]] result<bool> operator()(result<void> failed) const { return unless(std::move(failed), Tolerated); }
};
/// The operation of `create()`.
class creation_of_table : public concluded<own_request<create_table>, without_value> {
public:
    using concluded::concluded;
};
/// The operation of `drop()`.
class deletion_of_table : public concluded<own_request<delete_table>, without_value> {
public:
    using concluded::concluded;
};
using creation_if_absent = concluded<creation_of_table, unless_code<error_code::table_already_exists>>;
using deletion_if_present = concluded<deletion_of_table, unless_code<error_code::resource_not_found>>;

/// Extracts the outcomes of the changes.
struct each_written {
    [[nodiscard]] result<std::vector<written>> operator()(result<transact::response> submitted) const {
        if (!submitted) { return std::move(submitted).as_failure(); }
        return std::move(submitted->results);
    }
};
/// The operation of `submit()`.
class own_submission : public concluded<own_request<transact>, each_written> {
public:
    using concluded::concluded;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/table_operations.ipp>
#endif
