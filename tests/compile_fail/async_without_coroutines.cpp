// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// expect: "needs a compiler with coroutines"
#ifdef BROKEN
#undef __cpp_impl_coroutine // as a compiler without them
#endif
#include <entitable/async.hpp>

int main() {}
