// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Operations that were moved from: they have ended, with InvalidInput.

#include <entitable/core/request/resumable.hpp>

#include <support/catch.hpp>

using namespace entitable;

namespace {

resumable<int> read_one() {
    get_entity const request{"Counts", "p", "r", {}};
    auto const found = co_await ask(request);
    co_return found ? 1 : 0;
}

resumable<int> await_one(resumable<int> inner) { co_return co_await std::move(inner); }

void answer_missing(resumable<int>& op) {
    op.answer(result<get_entity::response>{failure{error_code::resource_not_found, "absent"}}, {});
}

} // namespace

TEST_CASE("moved from: resumable, including between next() and answer()") {
    auto op = read_one();
    auto const* const asked = op.next().request.as<get_entity>();
    auto kept = std::move(op);
    CHECK(kept.next().request.as<get_entity>() == asked);
    CHECK(op.next().done()); // NOLINT: what a moved-from operation does
    answer_missing(op);
    op.begin({});
    op.abandon(error{error_code::cancelled, "stopped"});
    CHECK(op.finish().error().code == error_code::invalid_input);
    answer_missing(kept);
    CHECK(kept.finish().value() == 0);

    auto nesting = await_one(std::move(op));
    CHECK(nesting.next().done());
    CHECK(nesting.finish().error().code == error_code::invalid_input);
}
