// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The reported outcome of a write whose first answer was lost is true, whatever was stored and whatever other writers did in
// between: every form of a write, on every state of the store, with every sequence of up to two events after the lost
// attempt, which was applied, was not applied, or is late.

#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

#include <functional>
#include <memory>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::rounds;
using testing::make_row;

namespace {

/// The outcome of the attempt whose answer is lost.
enum class lost_attempt : std::uint8_t {
    applied, ///< at once
    never,
    late,  ///< after the answer was returned
    later, ///< after the answer and the second event
};

/// Loses the answer of the first write, lets others write, and counts how often the write is applied.
struct lossy {
    using is_transport = void;
    struct state {
        lost_attempt how{};
        std::function<void()> between;
        std::function<void()> late;
        std::size_t writes{};
        std::size_t applied{};
    };
    memory_backend below;
    std::shared_ptr<state> at;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        constexpr bool reads = std::same_as<Request, get_entity> || std::same_as<Request, query_entities> ||
            std::same_as<Request, list_tables>;
        if constexpr (reads) {
            return below.execute(request, context);
        } else {
            auto const apply = [below = below, at = at, request] {
                call own;
                auto answered = below.execute(request, own);
                at->applied += answered && counts(request) ? 1U : 0U;
                return answered;
            };
            if (++at->writes > 1) { return apply(); }
            if (at->how == lost_attempt::applied) {
                (void)apply();
            } else if (at->how != lost_attempt::never) {
                at->late = [apply] { (void)apply(); };
            }
            at->between();
            failure lost{error_code::transport_failed, "lost"};
            lost.error().effect = effect::unknown;
            return lost;
        }
    }

private:
    /// A row that only records something about the write is not the write.
    template <class Request>
    static bool counts(Request const& request) {
        if constexpr (std::same_as<Request, write_entity>) {
            return !request.change.entity.row_key().starts_with("~!");
        } else {
            return true;
        }
    }
};

constexpr char const* states[] = {"no row", "the version", "another version", "full", "large", "no table"};
constexpr char const* events[] = {
    "nothing", "insert alike", "insert other", "fill", "grow", "merge", "remove", "drop", "create"};
constexpr char const* forms[] = {"insert", "replace", "merge", "replace any", "merge any", "insert_or_replace",
    "insert_or_merge", "remove", "remove any", "batch", "batch that merges", "create_table", "delete_table"};
constexpr std::size_t table_forms = 2;

struct trial {
    trial() {
        options.time = &time;
        options.limits.max_properties = 3;
        options.limits.max_entity_size = 200;
        store = memory_backend{options};
    }

    void write(mutation change) const {
        call own;
        (void)store.execute(write_entity{"Orders", std::move(change)}, own);
    }
    void make(bool table) const {
        call own;
        if (table) {
            (void)store.execute(create_table{"Orders"}, own);
        } else {
            (void)store.execute(delete_table{"Orders"}, own);
        }
    }
    static row filled() { return make_row("p", "r", {{"A", 1}, {"B", 1}, {"C", 1}}); }
    static row grown() { return make_row("p", "r", {{"A", std::string(60, 'x')}}); }
    static row sent() { return make_row("p", "r", {{"Mine", std::string(10, 'y')}}); }

    /// The ETag that the writer has.
    etag begin(std::size_t state) const {
        make(true);
        etag held = etag::of(date_time{7});
        if (state >= 1 && state <= 4) {
            write(mutation::insert(make_row("p", "r", {{"A", 1}})));
            call own;
            if (state == 3) {
                write(mutation::insert_or_replace(filled()));
            } else if (state == 4) {
                write(mutation::insert_or_replace(grown()));
            }
            held = store.execute(get_entity{"Orders", "p", "r", {}}, own)->etag;
            if (state == 2) { write(mutation::merge(make_row("p", "r", {{"A", 2}}), any_etag)); }
        } else if (state == 5) {
            make(false);
        }
        return held;
    }
    void happen(std::size_t event) const {
        switch (event) {
            case 1: write(mutation::insert(sent())); break;
            case 2: write(mutation::insert(make_row("p", "r", {{"A", 3}}))); break;
            case 3: write(mutation::insert_or_replace(filled())); break;
            case 4: write(mutation::insert_or_replace(grown())); break;
            case 5: write(mutation::merge(make_row("p", "r", {{"A", 4}}), any_etag)); break;
            case 6: write(mutation::remove(make_row("p", "r"), any_etag)); break;
            case 7: make(false); break;
            case 8: make(true); break;
            default: break;
        }
    }

    testing::manual_clock time;
    local_options options;
    memory_backend store;
};

struct told {
    bool good{};
    effect left{};
    error_code code{};
};

template <class T>
told told_by(result<T> const& outcome) {
    return {outcome.has_value(), outcome ? effect::none : outcome.error().effect,
        outcome ? error_code{} : outcome.error().code};
}

told send(retrying<lossy> const& through, std::size_t form, etag const& held) {
    call context;
    auto const write = [&](mutation change) {
        return told_by(through.execute(write_entity{"Orders", std::move(change)}, context));
    };
    row const sent = trial::sent();
    row const beside = make_row("p", "beside", {{"N", 1}});
    switch (form) {
        case 0: return write(mutation::insert(sent));
        case 1: return write(mutation::replace(sent, held));
        case 2: return write(mutation::merge(sent, held));
        case 3: return write(mutation::replace(sent, any_etag));
        case 4: return write(mutation::merge(sent, any_etag));
        case 5: return write(mutation::insert_or_replace(sent));
        case 6: return write(mutation::insert_or_merge(sent));
        case 7: return write(mutation::remove(sent, held));
        case 8: return write(mutation::remove(sent, any_etag));
        case 9:
            return told_by(through.execute(
                transact{"Orders", {mutation::insert_or_replace(beside), mutation::replace(sent, held)}}, context));
        case 10:
            return told_by(through.execute(
                transact{"Orders", {mutation::insert_or_replace(beside), mutation::merge(sent, any_etag)}}, context));
        case 11: return told_by(through.execute(create_table{"Orders"}, context));
        default: return told_by(through.execute(delete_table{"Orders"}, context));
    }
}

struct counts {
    std::size_t trials{}, succeeded{}, unknown{}, none{};
    std::string problem;
};

void try_one(std::size_t state, std::size_t form, lost_attempt how, std::size_t first, std::size_t second,
    bool with_rows, counts& sum) {
    trial const on;
    etag const held = on.begin(state);
    lossy const service{on.store, std::make_shared<lossy::state>()};
    service.at->how = how;
    service.at->between = [&] {
        on.happen(first);
        if (how != lost_attempt::later) { on.happen(second); }
    };
    retrying const through{service, {.policy = retry_policy::fixed(4, 0s), .operation_rows = with_rows, .seed = 1}};
    told const outcome = send(through, form, held);
    std::size_t const at_once = service.at->applied;
    if (how == lost_attempt::later) { on.happen(second); }
    if (auto const late = std::exchange(service.at->late, {})) { late(); }
    std::size_t const applied = service.at->applied;

    ++sum.trials;
    sum.succeeded += outcome.good ? 1U : 0U;
    sum.unknown += !outcome.good && outcome.left == effect::unknown ? 1U : 0U;
    sum.none += !outcome.good && outcome.left == effect::none ? 1U : 0U;
    // With operation rows a write is applied once or never, whatever its form. A removal, a new table and a dropped table
    // count as done, whoever did it; so does an insert if another writer has inserted the same entity.
    bool const by_another =
        form == 7 || form == 8 || form >= std::size(forms) - table_forms || (form == 0 && (first == 1 || second == 1));
    // Dropping the table drops the operation rows: then they prove nothing.
    bool const dropped = with_rows && (first == 7 || second == 7);
    bool const honest = dropped ||
        (outcome.good ? at_once >= 1 || (by_another && !with_rows) : outcome.left == effect::unknown || applied == 0);
    bool const once = !with_rows || dropped || applied <= 1;
    if ((!honest || !once) && sum.problem.empty()) {
        sum.problem = std::string{forms[form]} + " on " + states[state] + ", then " + events[first] + ", " +
            events[second] + "; the lost attempt " +
            (how == lost_attempt::applied        ? "was applied"
                    : how == lost_attempt::never ? "was not"
                    : how == lost_attempt::late  ? "came late, after the answer"
                                                 : "came late, after the answer and the second") +
            (with_rows ? ", with operation rows" : "") + ": told " +
            (outcome.good                             ? "success"
                    : outcome.left == effect::unknown ? "unknown"
                                                      : "none") +
            " (" + std::string{to_string(outcome.code)} + "), applied " + std::to_string(applied) + " times";
    }
}

counts try_all(bool with_rows) {
    counts sum;
    std::size_t number = 0; // number of the trial
    std::size_t const last = std::size(forms) - (with_rows ? table_forms : 0);
    for (std::size_t state = 0; state < std::size(states); ++state) {
        for (std::size_t form = 0; form < last; ++form) {
            for (lost_attempt const how :
                {lost_attempt::applied, lost_attempt::never, lost_attempt::late, lost_attempt::later}) {
                for (std::size_t first = 0; first < std::size(events); ++first) {
                    for (std::size_t second = 0;
                        second < (first == 0 && how != lost_attempt::later ? 1 : std::size(events)); ++second) {
                        if (++number % rounds(4, 1, 1) != 0) { continue; }
                        try_one(state, form, how, first, second, with_rows, sum);
                    }
                }
            }
        }
    }
    return sum;
}

} // namespace

TEST_CASE("lost writes: the reported effect is correct, whatever was stored and whichever client wrote in between") {
    counts const sum = try_all(false);
    CHECK(sum.problem == "");
    CHECK(sum.trials == 6 * 13 * (3 * (1 + 8 * 9) + 81) / rounds(4, 1, 1));
    CHECK(sum.succeeded > sum.trials / 5);
    CHECK(sum.unknown > sum.trials / 5);
}

TEST_CASE("lost writes: with operation rows the reported effect is true, and no write is applied twice") {
    counts const sum = try_all(true);
    CHECK(sum.problem == "");
    CHECK(sum.trials == 6 * 11 * (3 * (1 + 8 * 9) + 81) / rounds(4, 1, 1));
    CHECK(sum.succeeded > sum.trials / 5);
    CHECK(sum.none > sum.trials / 12);
}
