// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Stores by name. Each is opened once and checked before its first use, then periodically, so that an emptied or
/// exchanged store is noticed. The owner of this object judges the rows found in a store.

#include <entitable/core/clock.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/request/single_request.hpp>
#include <entitable/shards/map/store_opener.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Requests one page of one shard, in a lane.
class shard_page_request : public single_request<query_entities> {
public:
    shard_page_request(query_entities const& asked, std::size_t place) noexcept
        : single_request<query_entities>(asked), place_(place) {}
    [[nodiscard]] operation_step next() const noexcept {
        operation_step due = single_request<query_entities>::next();
        due.place = place_;
        return due;
    }

private:
    std::size_t place_;
};

/// The table in each store with its identifying rows: the headers of hashed stores, the identity of a store of a map.
inline constexpr std::string_view store_rows_table = "entitableshards";
/// The partition of these rows.
inline constexpr std::string_view store_rows_partition = "stores";
/// Queries these rows.
[[nodiscard]] query_entities query_of_store_rows();
/// Returns WrongStore with the message "the store NAME FOUND".
[[nodiscard]] failure wrong_store(std::string_view name, std::string_view found);

/// Thread safety: safe to use from several threads.
class watched_stores {
public:
    /// Whether a store is checked now, because a check is due.
    using wants_type = function_ref<bool(std::string_view name)>;
    /// Judges the rows of a store; an error is returned to the caller that requested the store.
    using judge_type = function_ref<result<void>(std::string_view name, result<query_entities::response> const& found)>;

    watched_stores(store_opener open, std::chrono::nanoseconds check_every, clock& time)
        : open_(std::move(open)), check_every_(check_every), time_(time) {}

    /// Opens a store without checking it.
    [[nodiscard]] result<any_store> open(std::string_view name);
    /// Returns a store after any check that is due.
    [[nodiscard]] result<any_store> checked(
        std::string_view name, call const& caller, wants_type wants, judge_type judge);
    /// Returns several stores, after concurrently running the checks that are due.
    [[nodiscard]] std::vector<result<any_store>> checked(
        std::vector<std::string_view> const& names, call const& caller, wants_type wants, judge_type judge);
    /// Makes the next use of a store check it.
    void doubt(std::string_view name);

private:
    struct watched {
        std::optional<any_store> through;
        std::optional<steady_time> checked_at;
        bool checking{};
    };
    /// Whether the caller must check the store. During a repeated check, other callers do not wait. Called with the
    /// lock held.
    [[nodiscard]] bool is_due(watched const& store, steady_time now) const noexcept {
        bool const good = store.checked_at && now < *store.checked_at + check_every_;
        return !good && !(store.checked_at && store.checking);
    }

    store_opener open_;
    std::chrono::nanoseconds check_every_;
    clock& time_;
    std::mutex lock_;
    std::map<std::string, watched, std::less<>> stores_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/map/impl/watched_stores.ipp>
#endif
