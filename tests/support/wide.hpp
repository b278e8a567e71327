// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A transport with many requests in flight that answers the latest first and records the requests.

#include <entitable/core/transport/channel.hpp>
#include <entitable/local/memory/memory_backend.hpp>

#include <support/many.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace entitable_test {

/// Its records and its settings.
struct wide_log {
    std::vector<entitable::query_entities> queries;
    std::size_t most{};  ///< requests in flight at once
    std::string failing; ///< fails queries whose row range begins with this key
    bool silent{};       ///< accepts requests and answers none
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
            if (log->before_query) { log->before_query(); }
            if (!log->failing.empty() && request.range.row.lower.key == log->failing) {
                return entitable::failure{entitable::error_code::server_busy, "failing " + log->failing};
            }
        }
        return store.execute(request, context);
    }

    /// Latest first. If it is to be silent, it answers nothing.
    [[nodiscard]] entitable::shared<entitable::channel> open(entitable::io_driver&) const {
        struct silence final : entitable::channel {
            void send(entitable::request_ref, entitable::call&, void*) override {}
            void cancel(void*, entitable::error const&) override {}
            void poll(entitable::steady_time, entitable::completion_sink) override {}
            [[nodiscard]] entitable::steady_time wakes_at() const noexcept override {
                return entitable::steady_time::max();
            }
        };
        return log->silent ? entitable::shared<entitable::channel>{new silence} : open_latest_first(*this, &log->most);
    }
};

} // namespace entitable_test
