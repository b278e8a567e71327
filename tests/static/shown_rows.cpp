// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A transport that wraps others answers each kind of request that they answer, so that a layer does not turn rows that are shown in place into
// copied pages. The exceptions are named here.

#include <entitable/async.hpp>
#include <entitable/core/decorators/breaking.hpp>
#include <entitable/core/decorators/limited.hpp>
#include <entitable/core/decorators/metered.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/shards.hpp>

using namespace entitable;

template <class T>
inline constexpr bool shows_rows = answers<T, read_entity> && answers<T, read_entities>;

static_assert(shows_rows<memory_backend>);
static_assert(shows_rows<any_store>);
static_assert(shows_rows<limited<any_store>>);
static_assert(shows_rows<breaking<any_store>>);
static_assert(shows_rows<metered<any_store>>);
static_assert(shows_rows<sharded>);
static_assert(shows_rows<loop_transport>);

// What was shown cannot be taken back, and a repetition starts over: `retrying` reads pages.
static_assert(!answers<retrying<any_store>, read_entity> && !answers<retrying<any_store>, read_entities>);
