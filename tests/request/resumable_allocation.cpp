// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What operations of nested coroutines do when memory runs out.

#include <entitable/core/request/resumable.hpp>
#include <entitable/core/try.hpp>

#include <support/catch.hpp>
#include <support/failing_new_definitions.hpp>

#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

resumable<std::string> read_one(std::string key) {
    get_entity const request{"Counts", std::move(key), "a row key that is longer than a short string", {}};
    ENTITABLE_CO_TRY(auto const found, co_await ask(request));
    co_return std::string{found.entity.view().row_key} + ", which is longer than a short string";
}

resumable<std::size_t> read_three() {
    std::size_t all = 0;
    for (char const* const each : {"the first partition of these", "the second partition of these", "third"}) {
        ENTITABLE_CO_TRY(auto const found, co_await read_one(each));
        all += found.size();
    }
    co_return all;
}

using answers = std::vector<result<get_entity::response>>;

answers make_answers(bool succeed) {
    answers made;
    for (int each = 0; each < 3; ++each) {
        if (succeed) {
            made.emplace_back(std::in_place);
        } else {
            made.emplace_back(failure{error_code::server_busy, "busy"});
        }
    }
    return made;
}

/// Runs an operation to its end; whether it ended as its answers demand.
bool run_through(answers given, bool succeeds) {
    auto op = read_three();
    try {
        for (std::size_t each = 0; !op.next().done(); ++each) { op.answer(std::move(given[each]), {}); }
    } catch (std::bad_alloc const&) {
        allocation_limit const unlimited;
        if (!op.next().done() || op.finish().has_value()) { return false; }
        throw;
    }
    return op.finish().has_value() == succeeds;
}

} // namespace

TEST_CASE("resumable: std::bad_alloc is propagated from any allocation, ends the operation, and nothing leaks") {
    for (bool const succeeds : {true, false}) {
        std::size_t failures = 0;
        std::optional<bool> ended;
        for (; !ended; ++failures) {
            std::size_t const before = blocks_in_use();
            {
                auto given = make_answers(succeeds);
                allocation_limit const limit{failures};
                try {
                    ended = run_through(std::move(given), succeeds);
                } catch (std::bad_alloc const&) { ended.reset(); }
            }
            std::size_t const after = blocks_in_use();
            CAPTURE(succeeds, failures);
            REQUIRE(after == before);
        }
        CHECK(*ended);
        CHECK(failures > (succeeds ? 8 : 3));
    }
}
