// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The parts of `local` that do not depend on the store: key bytes in the service's order, the effect of a write on a row, and the state of
/// a backend besides its store.

#include <entitable/core/atomic.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/transport.hpp>
#include <entitable/local/detail/page_reader.hpp>
#include <entitable/local/detail/rw_lock.hpp>
#include <entitable/local/local_options.hpp>

#include <concepts>
#include <cstring>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns a row with only those of its properties that are named; with all properties if no names are given.
ENTITABLE_LAZY [[nodiscard]] row selected_row(row_view stored, projection const& names);

/// Returns a change that is not a merge, as `write_row` takes it.
ENTITABLE_LAZY [[nodiscard]] row_write write_of(mutation const& change) noexcept;

/// The bytes of a row, copied out of a store while its lock is held. Most rows fit into this object without an allocation.
class payload_copy {
public:
    payload_copy() noexcept {} // NOLINT: leaves the bytes uninitialized: zeroing them would cost more than the copy
    payload_copy(payload_copy const&) = delete;
    payload_copy& operator=(payload_copy const&) = delete;

    void take(std::string_view payload) {
        if (payload.size() <= sizeof small_) {
            if (!payload.empty()) { std::memcpy(small_, payload.data(), payload.size()); }
            view_ = {small_, payload.size()};
        } else {
            large_ = payload;
            view_ = large_;
        }
    }
    [[nodiscard]] std::string_view view() const noexcept { return view_; }

private:
    char small_[1024];
    std::string large_;
    std::string_view view_;
};

/// The state of a backend besides its store. Safe to use from several threads.
class local_state : public counted {
public:
    explicit local_state(local_options options) noexcept
        : options_(std::move(options)), random_(options_.nasty ? options_.nasty->seed : 0) {}

    [[nodiscard]] profile const& limits() const noexcept { return options_.limits; }
    [[nodiscard]] clock& time() const noexcept { return *options_.time; }

    /// Refuses invalid requests and calls that have ended.
    template <class Request>
    [[nodiscard]] result<void> begin(Request const& request, call const& context) {
        if (auto allowed = check_call(context, *options_.time); !allowed) { return allowed; }
        if constexpr (std::same_as<Request, write_entity> || std::same_as<Request, transact>) {
            known_good known{{}, {}, &layouts_};
            return validate_write(request, options_.limits, known);
        } else {
            return validate(request, options_.limits);
        }
    }

    /// Returns the key of a table in the store.
    ENTITABLE_LAZY [[nodiscard]] stored_key table_key(std::string_view name) const {
        return options_.limits.table_names_without_case ? stored_key{stored_key::folded, name} : stored_key{name};
    }

    /// Applies `change` to a stored payload (null if the row does not exist): puts the new payload into `payload`, empty for a removal; or
    /// returns the error. `last_version` is the last version that the store remembers; null if it does not remember any. `drawn` is the new
    /// version, if the store draws versions.
    ENTITABLE_LAZY [[nodiscard]] result<written> prepare(mutation const& change, std::string_view const* stored,
        std::string_view table, std::string& payload, std::int64_t* last_version,
        std::optional<std::int64_t> drawn = std::nullopt);

    /// The same for `update_row`. `merged` receives the bytes of a merge. An error is in `outcome`, and nothing is changed.
    ENTITABLE_LAZY [[nodiscard]] row_update decide(mutation const& change, std::string_view const* stored,
        std::string_view table, std::string& merged, result<written>& outcome);

    /// Returns the error of a write that the store refused.
    ENTITABLE_LAZY [[nodiscard]] failure refused_write(
        mutation const& change, std::string_view table, row_written::outcome why) const;

    /// Returns the limits of the next page.
    ENTITABLE_LAZY [[nodiscard]] page_limits next_page(std::uint32_t rows);

    /// Calls `create` if the name is free again after an earlier deletion. Takes the table's name as the caller spells it, and its key.
    ENTITABLE_LAZY [[nodiscard]] result<void> create(
        std::string_view name, std::string_view key, function_ref<result<bool>()> create);
    ENTITABLE_LAZY [[nodiscard]] result<void> remove(
        std::string_view name, std::string_view key, function_ref<result<bool>()> remove);

    ENTITABLE_LAZY [[nodiscard]] failure no_table(std::string_view name) const;
    ENTITABLE_LAZY [[nodiscard]] failure no_entity(
        std::string_view table, std::string_view partition_key, std::string_view row_key) const;

private:
    struct gone_table {
        std::string key;
        steady_time until;
    };

    /// Returns the version that a change replaces, 1601 if there is none; or the error of the change.
    ENTITABLE_LAZY [[nodiscard]] result<date_time> replaced_version(
        mutation const& change, std::string_view const* stored, std::string_view table) const;
    /// Merges a change into stored bytes, within the limits.
    ENTITABLE_LAZY [[nodiscard]] result<void> merge_into(
        std::string& payload, mutation const& change, std::string_view stored);
    /// Returns a Timestamp later than all earlier Timestamps and later than `least`, even if the clock is set back.
    ENTITABLE_LAZY [[nodiscard]] date_time next_timestamp(std::int64_t least) noexcept;
    ENTITABLE_LAZY [[nodiscard]] std::uint64_t next_random() noexcept;

    local_options const options_;
    known_layouts layouts_;
    atomic<std::int64_t> last_timestamp_{0};
    atomic<std::uint64_t> random_;
    rw_lock gone_lock_;
    std::vector<gone_table> gone_; ///< deleted tables whose names are not free yet; guarded by gone_lock_
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/impl/local_rules.ipp>
#endif
