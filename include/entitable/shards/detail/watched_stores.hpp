// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Stores by their names. Each is opened once; it is looked at before its first use, and every so often from then on, so that a store that was emptied,
/// or is another one, is noticed. What the rows in it have to say is judged by the owner.

#include <entitable/core/clock.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/request/requests.hpp>
#include <entitable/shards/store_opener.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The table in each store with the rows that say what it is: the headers of stores on a hash, the identity of a store of a map.
inline constexpr std::string_view store_rows_table = "entitableshards";
/// The partition of these rows.
inline constexpr std::string_view store_rows_partition = "stores";
/// Asks for them.
[[nodiscard]] query_entities query_of_store_rows();
/// Whether the answer says that there is no such table.
[[nodiscard]] bool is_table_missing(error const& why) noexcept;
/// WrongStore: "the store NAME FOUND".
[[nodiscard]] failure wrong_store(std::string_view name, std::string_view found);

/// Thread safety: safe to use from several threads.
class watched_stores {
public:
    /// Whether a store is looked at now that it would be due.
    using wants_type = function_ref<bool(std::string_view name)>;
    /// Judges the rows of a store; an error is the answer to whoever wanted the store.
    using judge_type = function_ref<result<void>(std::string_view name, result<query_entities::response> const& found)>;

    watched_stores(store_opener open, std::chrono::nanoseconds check_every, clock& time)
        : open_(std::move(open)), check_every_(check_every), time_(time) {}

    /// Opens a store, and does not look at it.
    [[nodiscard]] result<any_transport> open(std::string_view name);
    /// A store that was looked at in time.
    [[nodiscard]] result<any_transport> checked(
        std::string_view name, call const& caller, wants_type wants, judge_type judge);
    /// Several, those that are due looked at all at once.
    [[nodiscard]] std::vector<result<any_transport>> checked(
        std::vector<std::string_view> const& names, call const& caller, wants_type wants, judge_type judge);
    /// The next use of a store looks at it.
    void doubt(std::string_view name);

private:
    struct watched {
        std::optional<any_transport> through;
        std::optional<steady_time> checked_at;
        bool checking{};
    };
    /// Whether the caller has to look at it: who looks again makes nobody wait. With the lock.
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
#include <entitable/shards/impl/watched_stores.ipp>
#endif
