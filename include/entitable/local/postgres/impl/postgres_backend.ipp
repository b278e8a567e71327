// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/postgres/postgres_backend.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<any_store> open_postgres_address(store_address& address, std::span<store_kind const> kinds) {
    static_cast<void>(kinds);
    for (std::string_view const each : {"create", "schema", "connections"}) {
        ENTITABLE_CHECK(address.take_from_query(each));
    }
    postgres_options options;
    ENTITABLE_TRY(options.create, address.flag("create", false));
    if (auto schema = address.text("schema")) { options.schema = *std::move(schema); }
    ENTITABLE_TRY(auto const connections, address.number("connections", 1, 1000));
    options.connections = connections.value_or(options.connections);
    ENTITABLE_TRY(auto opened, postgres_backend::connect(address.place(), std::move(options)));
    return any_store{opened};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
