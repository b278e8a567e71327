// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/operation.hpp>

#include <string>
#include <type_traits>

using namespace entitable;

namespace {

struct minimal {
    [[nodiscard]] operation_step next() const { return {}; }
    void abandon(error const&) {}
    void finish() {}
};

struct with_a_result : minimal {
    std::string finish() { return {}; }
};
struct that_takes_errors_by_value : minimal {
    void abandon(error) {}
};

struct without_next : minimal {
    operation_step next() const = delete;
};
struct with_other_step : minimal {
    [[nodiscard]] int next() const { return 0; }
};
struct that_reads : minimal {
    void answer(result<get_entity::response>, steady_time) {}
};
struct without_the_time : minimal {
    void answer(result<get_entity::response>) {}
};
struct without_abandon : minimal {
    void abandon(error const&) = delete;
};
struct that_abandons_without_a_reason : minimal {
    void abandon() {}
};
struct that_changes_the_reason : minimal {
    void abandon(error&) {}
};
struct without_finish : minimal {
    void finish() = delete;
};

} // namespace

static_assert(operation<minimal>);
static_assert(operation<with_a_result>);
static_assert(operation<that_takes_errors_by_value>);

static_assert(!operation<without_next>);
static_assert(!operation<with_other_step>);
static_assert(!operation<without_abandon>);
static_assert(!operation<that_abandons_without_a_reason>);
static_assert(!operation<that_changes_the_reason>);
static_assert(!operation<without_finish>);
static_assert(!operation<minimal const>);
static_assert(!operation<int>);

static_assert(takes_answer_to<that_reads, get_entity>);
static_assert(!takes_answer_to<that_reads, query_entities>);
static_assert(!takes_answer_to<that_reads, write_entity>);
static_assert(!takes_answer_to<that_reads, read_entity>);
static_assert(!takes_answer_to<without_the_time, get_entity>);

// A reference to a request cannot be bound to a temporary.
static_assert(std::is_constructible_v<request_ref, get_entity const&>);
static_assert(!std::is_constructible_v<request_ref, get_entity>);
static_assert(!std::is_constructible_v<request_ref, get_entity const>);
static_assert(!std::is_constructible_v<request_ref, int const&>);
