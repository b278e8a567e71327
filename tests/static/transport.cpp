// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/channel.hpp>

#include <transport/archetypes.hpp>

using namespace entitable;

// What a transport is.
static_assert(transport<archetypes::minimal>);
static_assert(transport<archetypes::constant>);
static_assert(transport<archetypes::constant const>);
static_assert(transport<archetypes::with_profile_reference>);
static_assert(transport<archetypes::not_assignable>);
static_assert(transport<archetypes::decorated<archetypes::minimal>>);
static_assert(transport<archetypes::decorated<archetypes::decorated<archetypes::minimal>>>);
static_assert(transport<archetypes::decorated<any_store>>);
static_assert(transport<any_store>);

// What is not a transport: each of these lacks one requirement.
static_assert(!transport<archetypes::untagged>);
static_assert(!transport<archetypes::with_private_tag>);
static_assert(!transport<archetypes::with_tag_as_value>);
static_assert(!transport<archetypes::not_copyable>);
static_assert(!transport<archetypes::without_profile>);
static_assert(!transport<archetypes::with_changing_profile>);
static_assert(!transport<archetypes::with_other_profile>);
static_assert(!transport<archetypes::without_get_entity>);
static_assert(!transport<archetypes::without_query_entities>);
static_assert(!transport<archetypes::without_write_entity>);
static_assert(!transport<archetypes::with_other_response>);
static_assert(!transport<archetypes::with_bare_response>);
static_assert(!transport<archetypes::that_changes_requests>);
static_assert(!transport<archetypes::that_needs_no_call>);
static_assert(!transport<archetypes::minimal const>);
static_assert(!transport<int>);

// A transport declares its answer for each request.
static_assert(answers<archetypes::minimal, get_entity>);
static_assert(!answers<archetypes::minimal, transact>);
static_assert(!answers<archetypes::minimal, create_table>);
static_assert(!answers<archetypes::without_get_entity, get_entity>);
static_assert(answers<archetypes::without_get_entity, write_entity>);
static_assert(answers<any_store, transact>);
static_assert(!answers<any_store, int>);

// Any transport becomes an any_store, and nothing else does.
static_assert(std::is_constructible_v<any_store, archetypes::minimal>);
static_assert(std::is_convertible_v<archetypes::constant, any_store>);
static_assert(!std::is_constructible_v<any_store, archetypes::untagged>);
static_assert(!std::is_constructible_v<any_store, archetypes::not_copyable>);
static_assert(!std::is_default_constructible_v<any_store>);
static_assert(std::is_nothrow_move_constructible_v<any_store>);

namespace {

struct with_channels : archetypes::minimal {
    [[nodiscard]] shared<channel> open(io_driver&) const { return {}; }
};

} // namespace

static_assert(transport<with_channels>);
static_assert(opens_channels<with_channels>);
static_assert(!opens_channels<archetypes::minimal>);
