// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/memory/memory_address.hpp>
#include <entitable/local/memory/memory_backend.hpp>

#include <map>
#include <mutex>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The named stores of the process.
struct named_memory {
    std::mutex mutex;
    std::map<std::string, memory_backend> stores; ///< guarded by mutex
};

ENTITABLE_DECL result<any_store> open_memory_address(store_address& address, std::span<store_kind const> kinds) {
    static_cast<void>(kinds);
    ENTITABLE_CHECK(address.flag("create", true));
    ENTITABLE_CHECK(address.check_options());
    if (address.place().empty()) { return any_store{memory_backend{}}; }
    static named_memory named;
    std::lock_guard const lock{named.mutex};
    return any_store{named.stores[address.place()]};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
