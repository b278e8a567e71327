// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `maintaining`: a transport that maintains the indexes and sums of one table. Used by code that sends its own
/// requests: units of work, bulk loads, expiry.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/index/detail/maintained_rows.hpp>
#include <entitable/core/transport/any_store.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Passes requests on. Writes of entities of the table also change index rows and sums, in the same transaction; if one of these
/// rows causes a refusal, the write is tried again and the refusal is not returned. Thread safety: safe to use from several threads.
class maintaining {
public:
    using is_transport = void; ///< opts in to `transport`

    explicit maintaining(shared<index_family> family);

    /// A transaction can have fewer entities than in the transport below, so that their index rows and sums fit into
    /// it.
    [[nodiscard]] entitable::profile profile() const;

    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, write_entity>) {
            if (is_own(request.table, request.change.entity.row_key())) { return write(request); }
        } else if constexpr (std::same_as<Request, transact>) {
            if (has_own(request)) { return writer_->write(request, {}); }
        }
        return below_.execute(request, context);
    }

private:
    /// Whether a request writes an entity of the table.
    [[nodiscard]] bool is_own(std::string_view table, std::string_view row_key) const;
    /// Whether one of the changes concerns an entity of the table. Other changes may concern system rows, such as messages.
    [[nodiscard]] bool has_own(transact const& request) const;
    [[nodiscard]] result<written> write(write_entity const& request) const;

    any_store below_;
    shared<index_family> family_;
    shared<maintained_rows> writer_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/maintaining.ipp>
#endif

#endif
