// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The calls of a table and of a batch as operations: for asynchronous callers, and for the bodies of the calls.

#include <entitable/client/detail/partition_search.hpp>
#include <entitable/core/request/single_request.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

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
