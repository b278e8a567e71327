// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The macros alone, for a file that imports the library: `ENTITABLE`, `ENTITABLE_TRY`, `ENTITABLE_CHECK`, `ENTITABLE_EXTERN`,
/// `ENTITABLE_INSTANTIATE`, `ENTITABLE_STORE_KINDS`, `ENTITABLE_HANA`. A module cannot export a macro. This header has none of the library's types, so it may
/// stand before or after `import entitable;`, and beside the other headers of the library. It includes the standard headers that the macros
/// need in the file that uses them; `<coroutine>` is one of them where the compiler has coroutines.

#include <entitable/client/extern_macro.hpp>
#include <entitable/client/instantiate_macro.hpp>
#include <entitable/client/mapping/entity_macro.hpp>
#include <entitable/client/mapping/hana_macro.hpp>
#include <entitable/core/address/store_kinds_macro.hpp>
#include <entitable/core/try_macros.hpp>

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__cpp_impl_coroutine)
#include <coroutine>
#endif
