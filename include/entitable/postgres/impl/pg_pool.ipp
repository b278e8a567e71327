// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/postgres/detail/pg_pool.hpp>
#include <entitable/transport/transport.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<pg_pool::borrowed> pg_pool::borrow(call const& context) {
    if (forks_ != platform::forks()) { // before the lock, which a thread of the parent may have had
        return failure{error_code::store_failed,
            "the database was opened before this process was forked off, and belongs to its parent; open it again "
            "here"};
    }
    std::list<pg_connection> one;
    {
        auto const give_up = std::chrono::steady_clock::now() + options_.longest_wait;
        std::unique_lock lock{mutex_};
        while (idle_.empty() && lent_ >= options_.connections) {
            if (auto allowed = check_call(context, *options_.local.time); !allowed) {
                return std::move(allowed).as_failure();
            }
            auto const now = std::chrono::steady_clock::now();
            if (now >= give_up) {
                return failure{error_code::store_busy,
                    "every connection to the database is in use (postgres_options::connections)"};
            }
            returned_.wait_for(lock, std::chrono::milliseconds{20});
        }
        ++lent_;
        if (!idle_.empty()) {
            one.splice(one.end(), idle_, --idle_.end());
            return result<borrowed>{std::in_place, *this, std::move(one), false};
        }
    }
    auto opened = pg_connection::open(connection_string_, options_, false, context);
    if (!opened) {
        take_back(one);
        return std::move(opened).as_failure();
    }
    one.push_back(*std::move(opened));
    return result<borrowed>{std::in_place, *this, std::move(one), true};
}

ENTITABLE_DECL void pg_pool::take_back(std::list<pg_connection>& one) noexcept {
    {
        std::lock_guard const lock{mutex_};
        --lent_;
        if (!one.empty() && !one.front().broken()) {
            idle_.splice(idle_.end(), one);
        }
    }
    returned_.notify_one();
    one.clear();
}

ENTITABLE_DECL void pg_pool::forget_idle() noexcept {
    std::list<pg_connection> old;
    std::lock_guard const lock{mutex_};
    old.swap(idle_);
}

ENTITABLE_DECL result<void> pg_pool::open_first(call const& context) {
    auto opened = pg_connection::open(connection_string_, options_, options_.create, context);
    if (!opened) {
        return std::move(opened).as_failure();
    }
    std::lock_guard const lock{mutex_};
    idle_.push_back(*std::move(opened));
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
