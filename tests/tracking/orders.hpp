// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The orders for the tests of units of work, on both local backends, and a transport to them that loses answers.

#include "support/temporary_folder.hpp"
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/unit_of_work.hpp>

#include <memory>

namespace tracking {

struct order {
    std::string customer;
    std::int32_t id{};
    std::string status;
    std::int32_t total{};
    std::optional<std::string> note;
};
ENTITABLE(order, partition_key(customer), row_key(id), properties(status, total, note))

using o = entitable::fields<order>;
using orders_table = entitable::table<order>;
using work_on_orders = entitable::unit_of_work<order>;

/// "mine/1", and the note if there is one.
inline std::string shown(order const& one) {
    return one.status + "/" + std::to_string(one.total) + (one.note ? "/" + *one.note : "");
}
/// The stored row: "mine/1", or "gone".
inline std::string stored_order(orders_table const& orders, std::int32_t id = 17) {
    auto const one = orders.find("ann", id).value();
    return one ? shown(*one) : "gone";
}

struct in_memory {
    entitable::memory_backend const store;
};
struct in_file {
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    entitable::file_backend const store{folder / "orders.db"};
};

/// Loses writes on request: before they reach the store, or their answers.
struct losing {
    using is_transport = void;
    enum class loss : std::uint8_t { none, request, answer };
    struct counters {
        loss next{};
        std::size_t requests{};
        std::size_t operations{100}; ///< operations in a transaction
    };

    entitable::any_store below;
    std::shared_ptr<counters> told = std::make_shared<counters>();

    [[nodiscard]] entitable::profile profile() const {
        auto of = below.profile();
        of.max_operations = told->operations;
        return of;
    }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        ++told->requests;
        loss const now = Request::writes ? std::exchange(told->next, loss::none) : loss::none;
        if (now == loss::none) { return below.execute(request, context); }
        if (now == loss::answer) { (void)below.execute(request, context); }
        entitable::error gone{entitable::error_code::transport_failed, "lost"};
        gone.effect = entitable::effect::unknown;
        return entitable::failure{std::move(gone)};
    }
};

} // namespace tracking
