// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/fleet.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void in_parallel(std::size_t count, std::size_t in_flight, function_ref<void(std::size_t)> body) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr thrown;
    [[maybe_unused]] std::mutex lock;
    auto const work = [&] {
        for (std::size_t at = next++; at < count; at = next++) {
#if ENTITABLE_HAS_EXCEPTIONS
            try {
                body(at);
            } catch (...) {
                std::lock_guard<std::mutex> const guard{lock};
                thrown = thrown ? thrown : std::current_exception();
            }
#else
            body(at);
#endif
        }
    };
    std::vector<std::thread> others;
    for (std::size_t made = 1; made < (std::min)(count, in_flight); ++made) { others.emplace_back(work); }
    work(); // the calling thread takes part
    for (std::thread& each : others) { each.join(); }
#if ENTITABLE_HAS_EXCEPTIONS
    if (thrown) { std::rethrow_exception(thrown); }
#endif
}

} // namespace detail

ENTITABLE_DECL result<std::vector<std::string>> fleet::stores() const {
    ENTITABLE_TRY(auto const map, cloud_.state().map.state().fresh({}));
    std::set<std::string> names{options_.stores.begin(), options_.stores.end()};
    for (detail::shard_place const& each : map->places) { names.insert(each.row.store); }
    return std::vector<std::string>{names.begin(), names.end()};
}

ENTITABLE_DECL result<any_store> fleet::store(std::string_view name) const { return cloud_.state().store(name); }

ENTITABLE_END_NAMESPACE
