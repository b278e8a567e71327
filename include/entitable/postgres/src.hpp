// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The bodies of the PostgreSQL backend, for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for all files of the program, and
/// include this header in exactly one of them, and `entitable/src.hpp` too.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/postgres/src.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/postgres/impl/pg_connection.ipp>
#include <entitable/postgres/impl/pg_key.ipp>
#include <entitable/postgres/impl/pg_open.ipp>
#include <entitable/postgres/impl/pg_pool.ipp>
#include <entitable/postgres/impl/pg_schema.ipp>
#include <entitable/postgres/impl/pg_target.ipp>
#include <entitable/postgres/impl/postgres_commit.ipp>
#include <entitable/postgres/impl/postgres_scan.ipp>
#include <entitable/postgres/impl/postgres_store.ipp>
#include <entitable/postgres/postgres_backend.hpp>

ENTITABLE_BEGIN_NAMESPACE
template class local<postgres_store>;
template detail::transport_interface* detail::make_model(postgres_backend const&);
ENTITABLE_END_NAMESPACE
