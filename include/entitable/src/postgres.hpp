// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of the PostgreSQL backend, for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for all files of the
/// program, and include this header in exactly one of them, and `entitable/src.hpp` too.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/postgres.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/local/postgres/impl/pg_connection.ipp>
#include <entitable/local/postgres/impl/pg_fiber.ipp>
#include <entitable/local/postgres/impl/pg_key.ipp>
#include <entitable/local/postgres/impl/pg_lane.ipp>
#include <entitable/local/postgres/impl/pg_open.ipp>
#include <entitable/local/postgres/impl/pg_place.ipp>
#include <entitable/local/postgres/impl/pg_pool.ipp>
#include <entitable/local/postgres/impl/pg_schema.ipp>
#include <entitable/local/postgres/impl/pg_statements.ipp>
#include <entitable/local/postgres/impl/pg_target.ipp>
#include <entitable/local/postgres/impl/pg_view.ipp>
#include <entitable/local/postgres/impl/postgres_backend.ipp>
#include <entitable/local/postgres/impl/postgres_channel.ipp>
#include <entitable/local/postgres/impl/postgres_commit.ipp>
#include <entitable/local/postgres/impl/postgres_scan.ipp>
#include <entitable/local/postgres/impl/postgres_store.ipp>
#include <entitable/local/postgres/impl/postgres_write.ipp>
#include <entitable/local/postgres/postgres_backend.hpp>

ENTITABLE_BEGIN_NAMESPACE
template class local<postgres_store>;
template detail::transport_interface* detail::make_model(postgres_backend const&);
ENTITABLE_END_NAMESPACE
