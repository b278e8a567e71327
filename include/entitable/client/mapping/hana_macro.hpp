// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// ENTITABLE_HANA, the macro of `<entitable/hana.hpp>`, without the types that its expansion names.

#include <entitable/client/mapping/entity_macro.hpp>

/// Makes an entity from a struct that is adapted for Hana; see `<entitable/hana.hpp>`.
#define ENTITABLE_HANA(entitable_type, ...) ENTITABLE_DECLARE(entitable_type, ENTITABLE_HANA_PROPERTIES, __VA_ARGS__)
/// \cond
#define ENTITABLE_HANA_PROPERTIES(...)                                                                                \
    ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_HANA_NO_, __VA_ARGS__)                                          \
    using adapted_properties =                                                                                        \
        ::entitable::detail::adapted_properties<decltype(::entitable::detail::adapted_accessors<entitable_entity>()), \
            partition_components, row_components>::type;                                                              \
    using properties = adapted_properties::members;                                                                   \
    static_assert(::entitable::detail::all_stored(properties{}));                                                     \
    static constexpr auto const& property_names = adapted_properties::names

#define ENTITABLE_HANA_NO_partition_key(...)
#define ENTITABLE_HANA_NO_row_key(...)
#define ENTITABLE_HANA_NO_properties(...) \
    static_assert(false,                  \
        "ENTITABLE_HANA: there is no clause properties(...): all members that are not part of a key are properties");
/// \endcond
