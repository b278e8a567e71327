// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/request/operation.hpp>

#include <string>

using namespace entitable;

namespace {

struct minimal {
    [[nodiscard]] next_step next() const { return next_step::done; }
    [[nodiscard]] steady_time wakes_at() const { return {}; }
    template <class Visitor>
    void visit(Visitor&& visitor) const {
        visitor(1);
    }
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
    next_step next() const = delete;
};
struct with_other_step : minimal {
    [[nodiscard]] int next() const { return 0; }
};
struct without_wakes_at : minimal {
    steady_time wakes_at() const = delete;
};
struct with_other_time : minimal {
    [[nodiscard]] std::chrono::system_clock::time_point wakes_at() const { return {}; }
};
struct without_visit : minimal {
    template <class Visitor>
    void visit(Visitor&&) const = delete;
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
static_assert(!operation<without_wakes_at>);
static_assert(!operation<with_other_time>);
static_assert(!operation<without_visit>);
static_assert(!operation<without_abandon>);
static_assert(!operation<that_abandons_without_a_reason>);
static_assert(!operation<that_changes_the_reason>);
static_assert(!operation<without_finish>);
static_assert(!operation<minimal const>);
static_assert(!operation<int>);
