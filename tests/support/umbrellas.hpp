// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Every existing umbrella header whose libraries are available; with ENTITABLE_TEST_STANDARD those that need only the standard library
/// and SQLite.

#if __has_include(<entitable/entitable.hpp>)
#include <entitable/entitable.hpp>
#endif
#if __has_include(<entitable/file.hpp>) && __has_include(<sqlite3.h>)
#include <entitable/file.hpp>
#endif
#if __has_include(<entitable/azure.hpp>) && __has_include(<curl/curl.h>) && !defined(ENTITABLE_TEST_STANDARD)
#include <entitable/azure.hpp>
#endif
#if __has_include(<entitable/azure_queue.hpp>) && __has_include(<curl/curl.h>) && !defined(ENTITABLE_TEST_STANDARD)
#include <entitable/azure_queue.hpp>
#endif
#if __has_include(<entitable/retrying.hpp>)
#include <entitable/retrying.hpp>
#endif
#if __has_include(<entitable/sequence.hpp>)
#include <entitable/sequence.hpp>
#endif
#if __has_include(<entitable/server.hpp>) && __has_include(<curl/curl.h>) && !defined(ENTITABLE_TEST_STANDARD)
#include <entitable/server.hpp>
#endif
#if __has_include(<entitable/testing.hpp>)
#include <entitable/testing.hpp>
#endif
