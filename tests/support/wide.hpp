// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A transport that keeps many requests under way, answers the latest first, and notes what it was asked.

#include <entitable/backends/memory/memory_backend.hpp>
#include <entitable/transport/many.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace entitable_test {

/// What it saw, and what it is to do.
struct wide_log {
    std::vector<entitable::query_entities> queries;
    std::size_t most{};   ///< requests under way at once
    std::size_t rounds{}; ///< calls of execute_many
    std::string failing;  ///< a query whose row range begins with this key fails
    bool silent{};        ///< takes requests and answers none
    std::function<void()> before_query;
};

/// Copies share the log and the store.
struct wide_transport {
    using is_transport = void;
    entitable::memory_backend store;
    std::shared_ptr<wide_log> log = std::make_shared<wide_log>();

    [[nodiscard]] entitable::profile profile() const { return store.profile(); }

    template <entitable::table_request Request>
    entitable::result<entitable::response_of<Request>> execute(Request const& request, entitable::call& context) const {
        if constexpr (std::same_as<Request, entitable::query_entities>) {
            log->queries.push_back(request);
            if (log->before_query) {
                log->before_query();
            }
            if (!log->failing.empty() && request.range.row.lower.key == log->failing) {
                return entitable::failure{entitable::error_code::server_busy, "failing " + log->failing};
            }
        }
        return store.execute(request, context);
    }

    void execute_many(entitable::request_feed<entitable::query_entities>& feed, std::size_t in_flight,
        entitable::call& context) const {
        struct sent {
            entitable::query_entities const* request;
            std::size_t slot;
        };
        ++log->rounds;
        std::vector<sent> under_way;
        for (;;) {
            while (under_way.size() < in_flight) {
                std::size_t slot = 0;
                auto const* const request = feed.next(slot);
                if (request == nullptr) {
                    break;
                }
                under_way.push_back({request, slot});
            }
            if (under_way.empty() || log->silent) {
                return;
            }
            log->most = under_way.size() > log->most ? under_way.size() : log->most;
            sent const latest = under_way.back();
            under_way.pop_back();
            feed.answer(latest.slot, execute(*latest.request, context));
        }
    }
};

} // namespace entitable_test
