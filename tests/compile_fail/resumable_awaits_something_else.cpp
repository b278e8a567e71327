// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a resumable can await ask(request), another resumable (as an rvalue), delay_next and answer_time only"

#include <entitable/core/request/resumable.hpp>

entitable::resumable<int> inner() { co_return 1; }

entitable::resumable<int> outer() {
    auto made = inner();
#ifdef BROKEN
    static_cast<void>(co_await made);
#else
    static_cast<void>(co_await std::move(made));
#endif
    co_return 1;
}
