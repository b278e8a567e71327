// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What `local` needs that does not depend on the store: key bytes in the service's order, what a write makes of a
/// row, and the reading of one page.

#include <entitable/backends/ordered_store.hpp>
#include <entitable/core/text.hpp>
#include <entitable/request/profile.hpp>
#include <entitable/request/requests.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A key as bytes whose memcmp order is the service's order of keys (UTF-16 code units): the lead bytes EE and EF
/// become FE and FF, which no valid UTF-8 holds. Most keys need no copy.
class stored_key {
public:
    enum folding : std::uint8_t { folded };

    ENTITABLE_LAZY explicit stored_key(std::string_view key);
    /// The name of a table, which has no case.
    ENTITABLE_LAZY stored_key(folding, std::string_view table);
    stored_key(stored_key const&) = delete;
    stored_key& operator=(stored_key const&) = delete;

    operator std::string_view() const noexcept { return view_; }

private:
    std::string copy_;
    std::string_view view_;
};

/// The key that was stored as `bytes`; `buffer` holds it where it had to be changed.
ENTITABLE_LAZY [[nodiscard]] std::string_view shown_key(std::string_view bytes, std::string& buffer);

/// A refusal with our text for `code` and the table's name.
ENTITABLE_LAZY [[nodiscard]] failure refused(error_code code, std::string_view table);
/// The same for a row or a table that was not found.
ENTITABLE_LAZY [[nodiscard]] failure missing(
    lookup found, std::string_view table, std::string_view partition_key, std::string_view row_key);

/// A row with only the named properties; with all of them when none is named.
ENTITABLE_LAZY [[nodiscard]] row selected_row(row_view whole, projection const& names);

/// What `change` makes of a stored payload (null when there is no row), or why it is refused. Empty for a removal.
ENTITABLE_LAZY [[nodiscard]] result<std::string> new_payload(mutation const& change, std::string const* stored,
    date_time timestamp, std::string_view table, profile const& limits);

/// Collects the rows of one page while a store visits them.
class page_reader {
public:
    /// ContinuationInvalid when the request carries a token that no page of this range has given.
    ENTITABLE_LAZY [[nodiscard]] static result<page_reader> start(
        query_entities const& request, std::size_t max_bytes, std::size_t max_examined);

    ENTITABLE_LAZY [[nodiscard]] scan_range range() const noexcept;
    /// One row in stored form; says whether to go on.
    ENTITABLE_LAZY [[nodiscard]] bool visit(std::string_view partition, std::string_view row, std::string_view payload);
    ENTITABLE_LAZY [[nodiscard]] query_entities::response finish() &&;

private:
    explicit page_reader(query_entities const& request) : request_(&request) {}
    ENTITABLE_LAZY void stop_before(std::string_view partition_key, std::string_view row_key);

    query_entities const* request_;
    std::size_t max_bytes_{};
    std::size_t max_examined_{};
    std::string from_partition_;
    std::string from_row_;
    std::optional<std::string> last_partition_;
    std::string partition_buffer_;
    std::string row_buffer_;
    query_entities::response response_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/backends/impl/local_rules.ipp>
#endif
