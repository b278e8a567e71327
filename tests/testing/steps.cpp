// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The library's operations through each of their steps; then the same operations with known defects, each of which must be detected.
// A defect is a layer between the operation and its answers, or between the operation and its requests.

#include <entitable/client/detail/update_operation.hpp>
#include <entitable/copy.hpp>
#include <entitable/sequence.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <set>

using namespace entitable;
using namespace std::chrono_literals;
using testing::interleaving_limits;
using testing::interleaving_report;
using testing::make_row;
using testing::stage;

namespace {

/// The planted defect.
enum class defect : std::uint8_t {
    no_defect,
    unknown_is_none,    ///< reports a write of unknown effect as not applied
    unknown_is_done,    ///< treats it as a success
    unknown_is_a_clash, ///< treats it as a write by another writer, and repeats
    unconditional,      ///< writes without checking the version
    skips_pages,        ///< ends after the first page
    clash_is_done,      ///< treats an existing row as its own
    looks_at_source,    ///< compares its own reads of the source, instead of the target
    never_ends,         ///< sends the same request again and again
    wants_more,         ///< continues after it was abandoned
    says_otherwise,     ///< next() returns different steps
    deaf,               ///< does not accept answers to writes
};

/// An operation with a defect.
template <class Op, defect Planted>
class with {
public:
    template <class Make>
    explicit with(Make const& make) : sound_(make()) {}

    [[nodiscard]] operation_step next() {
        operation_step due = sound_.next();
        if (auto const* writing = due.request.template as<write_entity>(); writing != nullptr) {
            if constexpr (Planted == defect::unconditional) {
                changed_ = *writing;
                if (changed_.change.kind != mutation_kind::insert) { changed_.change.condition = any_etag; }
                due.request = changed_;
            }
        }
        if constexpr (Planted == defect::looks_at_source) {
            due.place = due.request.writes() ? due.place : 0;
        } else if constexpr (Planted == defect::says_otherwise) {
            due.not_before = steady_time{std::chrono::nanoseconds{++asked_}};
        } else if constexpr (Planted == defect::never_ends || Planted == defect::wants_more) {
            if (due.done()) { due.request = endless_; }
        }
        return due;
    }
    template <class Response>
        requires requires(Op& op, result<Response> answer) { op.answer(std::move(answer), steady_time{}); } &&
        (Planted != defect::deaf || !std::same_as<Response, written>)
    void answer(result<Response> answer, steady_time now) {
        constexpr bool write = std::same_as<Response, written> || std::same_as<Response, transact::response>;
        if constexpr (Planted == defect::skips_pages && std::same_as<Response, query_entities::response>) {
            if (answer) { answer->continuation.reset(); }
        }
        if constexpr (write) {
            if (!answer && answer.error().effect == effect::unknown) {
                if constexpr (Planted == defect::unknown_is_none) {
                    error told = answer.error();
                    told.effect = effect::none;
                    answer = failure{std::move(told)};
                } else if constexpr (Planted == defect::unknown_is_done) {
                    answer = Response{};
                } else if constexpr (Planted == defect::unknown_is_a_clash) {
                    answer = failure{error_code::update_condition_not_satisfied, "a clash"};
                }
            }
            if constexpr (Planted == defect::clash_is_done) {
                if (!answer && answer.error().code == error_code::entity_already_exists) { answer = Response{}; }
            }
        }
        sound_.answer(std::move(answer), now);
    }
    void abandon(error const& reason) {
        if constexpr (Planted != defect::wants_more) { sound_.abandon(reason); }
    }
    auto finish() { return sound_.finish(); }

private:
    Op sound_;
    write_entity changed_;
    get_entity endless_{"Counts", "p", "r", {}};
    std::int64_t asked_{};
};

std::string text_of(interleaving_report const& told) {
    std::string text = told.problem;
    for (std::string const& each : told.schedule) { text += "\n  " + each; }
    return text;
}

std::int64_t counted(stage& on) {
    call own;
    return on.store().execute(get_entity{"Counts", "p", "r", {}}, own)->entity.view().find("N")->bits();
}

// ---- update -----------------------------------------------------------------------------------------

result<std::optional<row>> add_one(row_view stored) {
    return std::optional{make_row("p", "r", {{"N", stored.find("N")->as_int32() + 1}})};
}

/// The answers to callers.
struct tally {
    int good{};
    int unknown{};
    [[nodiscard]] std::string text() const { return std::to_string(good) + ' ' + std::to_string(unknown); }
    template <class T>
    void told(result<T> const& outcome) {
        good += outcome ? 1 : 0;
        unknown += !outcome && outcome.error().effect == effect::unknown ? 1 : 0;
    }
};

/// One program, or two, add one to a number.
template <defect Planted>
interleaving_report walk_update(int programs = 1, interleaving_limits const& limits = testing::each_step()) {
    return testing::steps(
        [=](stage& on) {
            call own;
            (void)on.store().execute(create_table{"Counts"}, own);
            (void)on.store().execute(write_entity{"Counts", mutation::insert(make_row("p", "r", {{"N", 0}}))}, own);
            auto& callers = on.keep<tally>();
            for (int program = 1; program <= programs; ++program) {
                on.add(
                    "program " + std::to_string(program),
                    [] {
                        return with<detail::update_operation, Planted>{[] {
                            return detail::update_operation{
                                get_entity{"Counts", "p", "r", {}}, add_one, false, false, 5, contention_backoff, 1};
                        }};
                    },
                    [&callers](auto const& outcome) { callers.told(outcome); });
            }
            on.remember([&callers] { return callers.text(); });
            on.always(
                [&on, &callers]() -> std::string { return counted(on) < callers.good ? "an addition is gone" : ""; });
            on.at_end([&on, &callers]() -> std::string {
                auto const most = callers.good + callers.unknown + static_cast<int>(on.crashed());
                return counted(on) > most ? "one addition too many" : "";
            });
        },
        limits);
}

// ---- sequence ---------------------------------------------------------------------------------------

/// One program, or two, draw a number each.
template <defect Planted>
interleaving_report walk_sequence(int programs = 1, interleaving_limits const& limits = testing::each_step()) {
    return testing::steps(
        [=](stage& on) {
            auto& given = on.keep<std::multiset<std::int64_t>>();
            auto& counter = on.keep<detail::counter_row>(detail::counter_row{"identities", "identities", "orders"});
            for (int program = 1; program <= programs; ++program) {
                on.add(
                    "program " + std::to_string(program),
                    [&] {
                        return with<detail::reservation, Planted>{[&] {
                            return detail::reserve_numbers(
                                counter, 1, 5, contention_backoff, on.keep<random_source>(1U));
                        }};
                    },
                    [&given](result<detail::reserved> const& outcome) {
                        if (outcome) { given.insert(outcome->first); }
                    });
            }
            on.remember([&given] {
                std::string text;
                for (std::int64_t const each : given) { text += std::to_string(each) + ' '; }
                return text;
            });
            on.always([&given]() -> std::string {
                for (std::int64_t const each : given) {
                    if (given.count(each) > 1) { return "a number was given twice"; }
                }
                return "";
            });
            on.at_end([&on, &given]() -> std::string {
                call own;
                auto const now = on.store().execute(get_entity{"identities", "identities", "orders", {}}, own);
                std::int64_t const last = now ? now->entity.view().find("Value")->bits() : 0;
                return !given.empty() && *given.rbegin() > last ? "a number was given that is not taken" : "";
            });
        },
        limits);
}

// ---- copy -------------------------------------------------------------------------------------------

result<std::optional<row>> as_it_is(row_view each) { return std::optional{row{each}}; }

void unwatched(copy_progress const&) {}

detail::copy_operation copying(profile const& target, bool verify) {
    return detail::copy_table_pages(
        {"Orders", "Orders", as_it_is, unwatched}, target, {.page_size = 2, .verify = verify});
}

/// A copy of three rows in pages of two; the target has the last of them, `otherwise` or with the right value.
template <defect Planted>
interleaving_report walk_copy(bool otherwise = false, bool verify = true) {
    return testing::steps([=](stage& on) {
        call own;
        (void)on.store(0).execute(create_table{"Orders"}, own);
        (void)on.store(1).execute(create_table{"Orders"}, own);
        for (int number = 1; number <= 3; ++number) {
            auto const each = make_row("p", std::to_string(number), {{"N", number}});
            (void)on.store(0).execute(write_entity{"Orders", mutation::insert(each)}, own);
        }
        (void)on.store(1).execute(
            write_entity{"Orders", mutation::insert(make_row("p", "3", {{"N", otherwise ? 30 : 3}}))}, own);
        auto const source = testing::read_contents(on.store(0));
        auto& good = on.keep<bool>(false);
        on.add(
            "copy",
            [&on, verify] {
                return with<detail::copy_operation, Planted>{[&] { return copying(on.store(1).profile(), verify); }};
            },
            [&good](result<copy_progress> const& outcome) { good = outcome.has_value(); });
        on.remember([&good] { return std::string{good ? "good" : ""}; });
        on.always([&on, before = *source]() -> std::string {
            return testing::difference(before, *testing::read_contents(on.store(0))).empty() ? ""
                                                                                             : "the source was changed";
        });
        on.at_end([&on, &good, before = *source]() -> std::string {
            return good && !testing::difference(before, *testing::read_contents(on.store(1))).empty()
                ? "copied, and otherwise than the source"
                : "";
        });
    });
}

} // namespace

TEST_CASE("steps: an update is correct at each of its steps") {
    auto const told = walk_update<defect::no_defect>();
    CHECK(text_of(told) == "");
    CHECK(told.complete);
    CHECK(told.states > 20);
    CHECK(text_of(walk_update<defect::no_defect>(2, {.late = 1})) == "");
}

TEST_CASE("steps: defects of an update are found") {
    CHECK(walk_update<defect::unknown_is_none>().problem == "one addition too many");
    CHECK(walk_update<defect::unknown_is_a_clash>().problem == "one addition too many");
    auto const told = walk_update<defect::unknown_is_done>();
    CHECK(told.problem == "an addition is gone");
    CHECK(
        told.schedule == std::vector<std::string>{"program 1: get_entity", "program 1: write_entity, TransportFailed"});
    CHECK(walk_update<defect::unconditional>(2, {.faults = 0, .late = 0}).problem == "an addition is gone");
}

TEST_CASE("steps: a sequence is correct at each of its steps") {
    auto const told = walk_sequence<defect::no_defect>();
    CHECK(text_of(told) == "");
    CHECK(told.complete);
    CHECK(told.states > 50);
}

TEST_CASE("steps: defects of a sequence are found") {
    CHECK(walk_sequence<defect::unknown_is_done>().problem == "a number was given that is not taken");
    CHECK(walk_sequence<defect::unconditional>(2, {.faults = 0, .late = 0}).problem == "a number was given twice");
}

TEST_CASE("steps: a copy between two stores is correct at each of its steps") {
    auto const told = walk_copy<defect::no_defect>();
    CHECK(text_of(told) == "");
    CHECK(told.complete);
    CHECK(told.states > 100);
    CHECK(text_of(walk_copy<defect::no_defect>(true)) == "");
    CHECK(text_of(walk_copy<defect::no_defect>(false, false)) == "");
}

TEST_CASE("steps: defects of a copy are found, unless reading back finds them first") {
    CHECK(walk_copy<defect::skips_pages>(true).problem == "copied, and otherwise than the source");
    CHECK(walk_copy<defect::looks_at_source>(true).problem == "copied, and otherwise than the source");
    CHECK(walk_copy<defect::unknown_is_done>(false, false).problem == "copied, and otherwise than the source");
    CHECK(text_of(walk_copy<defect::unknown_is_done>(false, true)) == "");
    CHECK(walk_copy<defect::clash_is_done>(true, false).problem == "copied, and otherwise than the source");
    CHECK(text_of(walk_copy<defect::clash_is_done>(true, true)) == "");
}

TEST_CASE("steps: the rules of operations are checked along the way") {
    CHECK(walk_update<defect::never_ends>(1, {.faults = 0, .late = 0, .most_requests = 20}).problem ==
        "program 1: does not end");
    CHECK(walk_update<defect::wants_more>().problem == "program 1: was abandoned, but still sends requests");
    CHECK(walk_update<defect::says_otherwise>().problem == "program 1: two calls of next() returned different steps");
    CHECK(walk_update<defect::deaf>().problem ==
        "program 1: rejects the response to its request, or names a place that does not exist");
}

TEST_CASE("a program learns the service's time unless the answer was lost") {
    auto const told = testing::interleavings(
        [](testing::stage& on) {
            call begun;
            on.store().execute(create_table{"orders"}, begun).value();
            auto& seen = on.keep<std::vector<date_time>>();
            on.add(
                "writer",
                [] {
                    return testing::program<std::vector<date_time>>{[](any_store way, entitable::clock&) {
                        std::vector<date_time> dates;
                        for (char const* const row : {"1", "2"}) {
                            call context;
                            static_cast<void>(
                                way.execute(write_entity{"orders", mutation::insert(make_row("p", row, {}))}, context));
                            dates.push_back(context.server_date);
                        }
                        return dates;
                    }};
                },
                [&seen](std::vector<date_time> dates) { seen = std::move(dates); });
            on.remember([&seen] { return std::to_string(seen.size()); });
            on.at_end([&on, &seen] {
                auto const lost = std::count(seen.begin(), seen.end(), date_time{});
                auto const right = std::count(seen.begin(), seen.end(), on.time().now());
                return lost <= 1 && lost + right == 2 ? std::string{} : std::string{"another time"};
            });
        },
        {.faults = 1, .late = 0});
    CHECK(told.problem == "");
    CHECK(told.ends > 1);
}
