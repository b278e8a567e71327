// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Awaited tables of several types: the same outcomes as the blocking calls, and companions that are right after random histories.

#include <entitable/async_tables.hpp>
#include <entitable/bulk.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/unit_of_work.hpp>

#include <async/books.hpp>
#include <async/shuffled.hpp>
#include <companions/drawn.hpp>
#include <support/catch.hpp>
#include <support/long.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

using namespace companion_tests;
using namespace std::chrono_literals;
using entitable_test::in_channel;
using entitable_test::mishap;
using entitable_test::shuffled;

namespace {

using awaited_books = async_table<counter, invoice, refund, by_customer, unique<by_reference>, elsewhere<by_account>,
    daily_sales, salted_aggregate<balance, &balance::part, 3>>;

awaited_books open_awaited(event_loop& loop, any_store const& store, table_options how = {}) {
    return awaited_books{loop, store, "books", std::move(how), in_table<by_account>{store, "accounts"}};
}

std::string number(std::int64_t value) { return std::to_string(value); }
std::string text(counter const& one) { return "counter " + number(one.last); }
std::string text(invoice const& one) {
    return "invoice " + number(one.number) + " " + one.customer + " " + one.account + " " + one.day + " " +
        number(one.cents) + one.reference.value_or("");
}
std::string text(refund const& one) { return "refund " + number(one.number) + " " + number(one.cents); }
std::string text(daily_sales const& one) { return one.day + " " + number(one.cents) + " of " + number(one.invoices); }
std::string text(balance const& one) { return "balance " + number(one.cents); }
std::string text(std::string const& one) { return one; }
std::string text(written const&) { return "written"; }
std::string text(transacted const& one) { return one.changed ? "changed" : "unchanged"; }
template <std::integral T>
std::string text(T one) {
    return std::to_string(one);
}
std::string text(index_state one) { return std::string{to_string(one)}; }
std::string text(table_verification const& one) { return one.good() ? "good" : "faults"; }
std::string text(index_repair const& one) { return number(static_cast<std::int64_t>(one.written + one.removed)); }
std::string text(explanation const& one) { return one.to_string(); }
std::string text(index_explanation const& one) { return one.index + " " + one.table; }
template <class T>
std::string text(stored<T> const& one) {
    return text(one.entity);
}
template <class T>
std::string text(updated<T> const& one) {
    return text(one.entity) + (one.changed ? "!" : "");
}
template <class T>
std::string text(std::optional<T> const& one) {
    return one ? text(*one) : "none";
}
template <class... T>
std::string text(std::tuple<T...> const& all) {
    return std::apply([](auto const&... each) { return (std::string{} + ... + (text(each) + " ")); }, all);
}
template <class K, class T>
std::string text(std::pair<K, T> const& both) {
    return text(both.first) + ": " + text(both.second);
}
template <class E, class... Fields>
std::string text(selected<E, Fields...> const& one) {
    return (std::string{} + ... + (text(one[Fields{}]) + " "));
}
template <class T>
std::string text(std::vector<T> const& all) {
    std::string made;
    for (T const& each : all) { made += text(each) + "; "; }
    return made;
}
template <class T>
std::string told(result<T> const& outcome) {
    return outcome ? text(*outcome) : outcome.error().to_string();
}
std::string told(result<void> const& outcome) { return outcome ? "done" : outcome.error().to_string(); }

using lines = std::vector<std::string>;
void raise_cents(invoice& one) { one.cents += 1; }

invoice bill(std::int32_t number, std::int64_t cents = 100, std::string day = "mon") {
    return {"ACME", number, "ann", {}, "red", std::move(day), cents};
}
refund back(std::int32_t number, std::int64_t cents) { return {"ACME", number, "mon", cents}; }
counter count_of(std::int64_t last) { return {"ACME", last}; }
daily_sales day_of(std::string day) { return {"ACME", std::move(day), {}, {}}; }
balance of_tenant(std::string tenant) { return {std::move(tenant), {}, {}}; }
std::string keep_text(std::string value) { return value; }

/// Every call of the list, with successes and errors. `ask` awaits or does nothing.
#define ENTITABLE_TEST_CALLS(ask)                                                                                   \
    SAY(ask books.insert(bill(1)));                                                                                 \
    SAY(ask books.create());                                                                                        \
    SAY(ask books.create());                                                                                        \
    SAY(ask books.create_if_absent());                                                                              \
    for (std::int32_t each = 1; each < 9; ++each) { SAY(ask books.insert(bill(each, 100 * each))); }                \
    SAY(ask books.insert(bill(1)));                                                                                 \
    SAY(ask books.insert(bill(11)));                                                                                \
    SAY(ask books.insert(bill(12, 200)));                                                                           \
    SAY(ask books.insert(count_of(7)));                                                                             \
    SAY(ask books.insert(back(1, 30)));                                                                             \
    SAY(ask books.template get<invoice>("ACME", 3));                                                                \
    SAY(ask books.template get<invoice>(keep_text("ACME"), 33));                                                    \
    SAY(ask books.template get<counter>("ACME"));                                                                   \
    SAY(ask books.template get<by_customer>(keep_text("ACME"), keep_text("ann"), 3));                               \
    SAY(ask books.template get<daily_sales>("ACME", "mon"));                                                        \
    SAY(ask books.get(books.template reference_to<invoice>("ACME", 4).value()));                                    \
    SAY(ask books.get(books.template reference_to<daily_sales>("ACME", "tue").value()));                            \
    SAY(ask books.template get<refund>("ACME", 1));                                                                 \
    SAY(ask books.template find<invoice>("ACME", 44));                                                              \
    SAY(ask books.template find<invoice>("ACME", 4));                                                               \
    SAY(ask books.template find<by_customer>("ACME", "ann", 44));                                                   \
    SAY(ask books.find(books.template reference_to<invoice>("ACME", 5).value()));                                   \
    SAY(ask books.template get_stored<invoice>("ACME", 5));                                                         \
    SAY(ask books.template get_stored<daily_sales>("ACME", "mon"));                                                 \
    SAY(ask books.replace(bill(3, 50, "tue"), any_etag));                                                           \
    SAY(ask books.replace(bill(33), any_etag));                                                                     \
    SAY(ask books.merge(bill(4, 55), any_etag));                                                                    \
    SAY(ask books.merge(at(keep_text("ACME"), 5), i::day = keep_text("tue"), any_etag));                            \
    SAY(ask books.merge(at("ACME", 5), i::reference = absent, i::cents = 7, any_etag));                             \
    SAY(ask books.merge(at("ACME", 55), i::cents = 7, any_etag));                                                   \
    SAY(ask books.insert_or_replace(bill(8, 8)));                                                                   \
    SAY(ask books.insert_or_merge(bill(9, 9)));                                                                     \
    SAY(ask books.template update<invoice>(keep_text("ACME"), 6, raise_cents));                                     \
    SAY(ask books.template update<invoice>("ACME", 6, any_etag, raise_cents, update_options{}));                    \
    SAY(ask books.template update<invoice>("ACME", 6, [](invoice&) { return false; }));                             \
    SAY(ask books.template update<invoice>("ACME", 66, raise_cents));                                               \
    SAY(ask books.template update_if_present<invoice>("ACME", 66, raise_cents));                                    \
    SAY(ask books.template update_if_present<invoice>("ACME", 6, raise_cents));                                     \
    SAY(ask books.template remove<invoice>("ACME", 1, any_etag));                                                   \
    SAY(ask books.template remove<invoice>("ACME", 1, any_etag));                                                   \
    SAY(ask books.remove(bill(2), any_etag));                                                                       \
    SAY(ask books.template remove_if_present<invoice>("ACME", 2, any_etag));                                        \
    SAY(ask books.template remove_if_present<refund>("ACME", 1, any_etag));                                         \
    SAY(ask books.where(i::tenant == keep_text("ACME")).page_size(3).to());                                         \
    SAY(ask books.where(i::tenant == "ACME" && i::cents > 50).take(2).to());                                        \
    SAY(ask books.where(i::tenant == "ACME").page_size(2).in_flight(2).count());                                    \
    SAY(ask books.where(i::tenant == "ACME").first());                                                              \
    SAY(ask books.where(i::tenant == "none").first());                                                              \
    SAY(ask books.where(i::tenant == "ACME").select(i::customer, i::day).to());                                     \
    SAY(ask books.where(i::tenant == "ACME").resume("nonsense").to());                                              \
    SAY(ask books.where(i::tenant == "ACME").explain());                                                            \
    SAY(ask books.where(i::tenant == "ACME").fold(std::uint64_t{}, [](std::uint64_t so_far, invoice const& one) {   \
        return so_far + static_cast<std::uint64_t>(one.cents);                                                      \
    }));                                                                                                            \
    SAY(ask books.where(i::tenant == "ACME").fold(count(), sum(i::cents)));                                         \
    SAY(ask books.where(i::tenant == "ACME").group_by(i::day, sum(i::cents)));                                      \
    SAY(ask(books.where(i::tenant == "ACME").min)(i::cents));                                                       \
    SAY(ask(books.where(i::tenant == "ACME").max)(i::cents));                                                       \
    SAY(ask books.where(i::tenant == "ACME").sum(i::cents));                                                        \
    SAY(ask books.where(fields<daily_sales>::tenant == "ACME").to());                                               \
    SAY(ask books.template scan_table<refund>().count());                                                           \
    SAY(ask books.scan_table(i::cents > 100).to());                                                                 \
    SAY(ask books.template by<by_customer>()                                                                        \
            .where(of_customer::tenant == "ACME" && of_customer::customer == "ann")                                 \
            .to());                                                                                                 \
    SAY(ask books.template by<by_customer>().where(of_customer::tenant == "ACME").page_size(1).take(2).first());    \
    SAY(ask books.template by<by_customer>().where(of_customer::tenant == "ACME").select(of_customer::cents).to()); \
    SAY(ask books.template by<by_customer>().where(of_customer::tenant == "ACME").unverified().count());            \
    SAY(ask books.template by<by_account>().where(of_account::account == "red").in_flight(2).to());                 \
    SAY(ask books.template by<by_account>().where(of_account::account == "red").explain());                         \
    SAY(ask books.template by<by_account>().scan_index().to());                                                     \
    SAY(ask books.sum(day_of("mon")));                                                                              \
    SAY(ask books.sum(of_tenant("ACME")));                                                                          \
    SAY(ask books.partitions());                                                                                    \
    SAY(ask books.transact("ACME", raise_both));                                                                    \
    SAY(ask books.transact(keep_text("ACME"), fails, transaction_options{}));                                       \
    SAY(ask books.for_each_in_partition(keep_text("ACME"), [&](auto const&) { ++visited; }));                       \
    said.push_back(number(visited));                                                                                \
    SAY(ask(books.verify)());                                                                                       \
    SAY(ask books.repair());                                                                                        \
    SAY(ask books.template state<by_customer>());                                                                   \
    SAY(ask books.template retire<by_customer>());                                                                  \
    SAY(ask books.template by<by_customer>().where(of_customer::tenant == "ACME").to());                            \
    SAY(ask books.template get<by_customer>("ACME", "ann", 4));                                                     \
    SAY(ask books.template build<by_customer>());                                                                   \
    SAY(ask books.retire("by_nobody"));                                                                             \
    SAY(ask books.retire("daily_sales"));                                                                           \
    SAY(ask books.sum(day_of("mon")));                                                                              \
    SAY(ask books.where(fields<daily_sales>::tenant == "ACME").count())
#define SAY(...) said.push_back(told(__VA_ARGS__))

constexpr auto raise_both = [](transaction<counter, invoice, refund>& all) -> result<void> {
    auto const one = all.update<invoice>(7, raise_cents);
    auto const other = all.update<counter>([](counter& it) { ++it.last; });
    return one && other ? result<void>{} : failure{error_code::internal_error, "not there"};
};
constexpr auto fails = [](transaction<counter, invoice, refund>& all) -> result<void> {
    all.insert(bill(70));
    return failure{error_code::invalid_input, "changed my mind"};
};

lines blocking_calls(all_books const& books) {
    lines said;
    int visited = 0;
    ENTITABLE_TEST_CALLS();
    auto changes = books.batch();
    changes.insert(bill(21)).insert(bill(22, 9'000)).insert_or_replace(count_of(3));
    SAY(changes.submit());
    SAY(changes.submit());
    SAY(books.drop());
    SAY(books.drop_if_present());
    return said;
}
task<lines> awaited_calls(awaited_books books) {
    lines said;
    int visited = 0;
    ENTITABLE_TEST_CALLS(co_await);
    auto changes = books.batch();
    changes.insert(bill(21)).insert(bill(22, 9'000)).insert_or_replace(count_of(3));
    SAY(co_await books.submit(changes));
    SAY(co_await books.submit(std::move(changes)));
    SAY(co_await books.drop());
    SAY(co_await books.drop_if_present());
    co_return said;
}

// ---- random histories ----

struct world : entitable_test::shuffled_world {
    explicit world(std::uint64_t seed, std::size_t faulty) : shuffled_world(seed), faults(seed + 1) {
        fault_of = [this, faulty](request_ref of) {
            if (faulty == 0 || faults.bits() % faulty != 0) { return mishap::none; }
            constexpr mishap all[] = {mishap::applied_lost, mishap::lost, mishap::late, mishap::busy};
            return of.writes() ? all[faults.bits() % 4] : mishap::busy;
        };
    }
    random_source faults;
    std::size_t ended{};
    std::size_t refused{};
    std::size_t unknown{};
};

template <class T>
task<result<T>> limited(event_loop& loop, std::size_t milliseconds, task<result<T>> write) {
    co_return co_await with_timeout(loop, milliseconds * 1ms, std::move(write));
}
/// Awaits a write, which may be cancelled after some milliseconds, and counts its outcome.
template <class T>
task<> outcome_of(world& in, event_loop& loop, task<result<T>> write, std::size_t limit) {
    if (limit != 0) { write = limited(loop, limit, std::move(write)); }
    result<T> const made = co_await std::move(write);
    ++in.ended;
    in.refused += made ? 0U : 1U;
    in.unknown += !made && made.error().effect == effect::unknown ? 1U : 0U;
}

struct changing { // not a lambda: GCC 12 gives lambdas of a coroutine no linkage
    std::int64_t more;
    std::string customer;
    std::string account;

    void operator()(invoice& each) const {
        each.cents += more;
        each.customer = customer;
        each.account = account;
    }
};
struct moving {
    invoice one;
    std::int32_t refunded;

    result<void> operator()(transaction<counter, invoice, refund>& all) const {
        ENTITABLE_TRY(auto const found, all.find<invoice>(one.number));
        if (found) {
            all.remove(*found).insert_or_replace(refund{"ACME", refunded, found->day, found->cents});
        } else {
            all.insert(one);
        }
        return {};
    }
};
struct saving {
    awaited_books books;
    changing change;
    refund back;
    bool together;

    result<bool> operator()() const {
        unit_of_work work{books.blocking()};
        for (std::int32_t number = 1; number <= 3; ++number) {
            auto const found = work.find<invoice>("ACME", number);
            if (found && *found != nullptr) { change(**found); }
        }
        auto const refunded = work.find<refund>("ACME", back.number);
        if (refunded && *refunded != nullptr) {
            work.remove(**refunded);
        } else if (refunded) {
            work.add(back);
        }
        save_options how;
        how.mode = together ? save_mode::batch : save_mode::each;
        static_cast<void>(work.save(how));
        static_cast<void>(work.save(how)); // settles what was lost
        return true;
    }
};
struct loading {
    awaited_books books;
    std::vector<invoice> rows;
    changing change;
    std::int32_t kind;
    entitable::clock* time;

    result<bool> operator()() const {
        bulk_options how;
        how.time = time;
        how.seed = 5;
        auto const here = i::tenant == "ACME";
        auto const done = kind == 0 ? bulk_insert(books.of<invoice>(), rows, how)
            : kind == 1             ? bulk_upsert(books.of<invoice>(), rows, how)
            : kind == 2
            ? bulk_update(books.of<invoice>(), books.blocking().where(here), change, how)
            : bulk_remove(books.of<invoice>(), books.blocking().where(here && i::number <= rows.front().number), how);
        return done.has_value();
    }
};

/// Makes some writes, and ignores their outcomes.
task<> writes(world& in, event_loop& loop, awaited_books books, std::uint64_t seed, std::int32_t count) {
    drawn from{random_source{seed}};
    for (std::int32_t each = 0; each < count; ++each) {
        auto const one = from.any_invoice();
        auto const back = from.any_refund();
        changing const change{from.below(3), from.one_of({"ann", "b!b", ""}), from.one_of({"red", "blue"})};
        std::size_t const limit = from.below(4) == 0 ? static_cast<std::size_t>(1 + from.below(8)) : 0;
        auto const told = [&](auto write) { return outcome_of(in, loop, std::move(write), limit); };
        auto const kind = from.below(18);
        if (kind == 0) { co_await told(books.insert(one)); }
        if (kind == 1) { co_await told(books.insert_or_replace(one)); }
        if (kind == 2) { co_await told(books.insert_or_merge(one)); }
        if (kind == 3) { co_await told(books.replace(one, any_etag)); }
        if (kind == 4) { co_await told(books.merge(one, any_etag)); }
        if (kind == 5) { co_await told(books.update<invoice>("ACME", one.number, change)); }
        if (kind == 6) { co_await told(books.remove<invoice>("ACME", one.number, any_etag)); }
        if (kind == 7) { co_await told(books.insert_or_replace(back)); }
        if (kind == 8) { co_await told(books.remove_if_present<refund>("ACME", back.number, any_etag)); }
        if (kind == 9) {
            co_await told(books.merge(at("ACME", one.number), i::reference = absent, i::day = one.day, any_etag));
        }
        if (kind == 10) {
            auto all = books.batch();
            counter const counted{"ACME", from.below(9)};
            all.insert_or_replace(one).insert_or_replace(back).insert_or_replace(counted);
            invoice other = one;
            other.number = 1 + one.number % 3;
            if (from.below(2) == 0) { all.remove(other, any_etag); }
            co_await told(books.submit(std::move(all)));
        }
        if (kind == 11) {
            moving const body{one, back.number};
            co_await told(books.transact("ACME", body));
        }
        if (kind == 12) {
            saving const work{books, change, back, from.below(2) == 0};
            co_await told(on_own_stack(loop, work));
        }
        if (kind >= 13 && kind <= 16) {
            std::vector<invoice> rows;
            for (std::int32_t number = 1; number <= 3; ++number) {
                rows.push_back(from.any_invoice());
                rows.back().number = number;
            }
            loading const work{books, std::move(rows), change, kind - 13, &loop_clock(loop)};
            co_await told(on_own_stack(loop, work));
        }
        if (kind == 17) {
            auto const stored = co_await books.get_stored<invoice>("ACME", one.number);
            if (stored) { co_await told(books.replace(one, stored->etag)); }
        }
    }
}

table_options options_for(entitable::clock& time, std::uint64_t seed) {
    table_options how;
    how.time = &time;
    how.seed = seed;
    how.max_attempts = 4;
    return how;
}

struct told_of_runs {
    std::size_t ended{}, refused{}, unknown{}, answers{};
};

/// Runs writers of one loop; stops or destroys it after some answers. Returns what is wrong.
std::string run(std::uint64_t seed, std::size_t faulty, std::size_t stopped, std::size_t destroyed, told_of_runs& all) {
    world in{seed, faulty};
    any_store const store{in.store};
    auto const plain = open_books(store, options_for(in.time, 99));
    plain.create().value();
    drawn start{random_source{seed}};
    for (int each = 0; each < 2; ++each) { static_cast<void>(plain.insert(start.any_invoice())); }
    auto loop = std::make_unique<event_loop>(loop_options{.time = &in.time, .letters = false});
    any_store const cloud{shuffled{&in}};
    for (std::uint64_t writer = 1; writer <= 3; ++writer) {
        loop->spawn(writes(in, *loop, open_awaited(*loop, cloud, options_for(in.time, writer)), seed * 3 + writer, 3));
    }
    std::size_t seen = 0;
    bool more = true;
    for (std::size_t turn = 0; more && in.completed < destroyed; ++turn) {
        if (in.completed >= stopped) { loop->stop(); }
        more = loop->turn();
        if (turn > 200'000) { return "the loop does not end"; } // a load waits for late requests in steps of 5 ms
        if (more) { in.time.wait_until(std::min(loop->wakes_at(), in.time.steady() + 1s)); }
        if (std::exchange(seen, in.completed) == in.completed) { continue; }
        if (std::string wrong = wrong_in(store, false); !wrong.empty()) {
            return "turn " + std::to_string(turn) + ": " + wrong;
        }
    }
    loop.reset();
    in.time.advance(1s);
    in.deliver(in.time.steady());
    if (std::string wrong = wrong_in(store, false); !wrong.empty()) { return "at the end: " + wrong; }
    plain.repair().value();
    if (std::string wrong = wrong_in(store, true); !wrong.empty()) { return "after repair: " + wrong; }
    all.ended += in.ended;
    all.refused += in.refused;
    all.unknown += in.unknown;
    all.answers += in.completed;
    return (plain.verify)().value().good() ? std::string{} : std::string{"verify finds faults"};
}

/// The public functions of the classes of a header that return something, by the layout of clang-format.
std::set<std::string> functions_of(std::string const& header) {
    auto folder = std::filesystem::current_path(); // tests run in a build folder inside the sources
    while (!exists(folder / "include/entitable" / header) && folder != folder.parent_path()) {
        folder = folder.parent_path();
    }
    std::ifstream file{folder / "include/entitable" / header};
    REQUIRE(file);
    std::string text;
    bool shown = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("class ") || line == "protected:" || line == "private:") { shown = false; }
        if (shown) { text += line + "\n"; }
        if (line == "public:") { shown = true; }
        if (line == "};") { shown = false; }
    }
    std::set<std::string> names;
    constexpr std::string_view mark = "[[nodiscard]]";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
        std::size_t open = text.find('(', at);
        if (text[open + 1] != ')' && text.find(")(", open) == text.find(')', open)) { // (verify)(...)
            names.insert(text.substr(open + 1, text.find(')', open) - open - 1));
            continue;
        }
        std::size_t const begin = text.find_last_not_of("abcdefghijklmnopqrstuvwxyz_", open - 1) + 1;
        names.insert(text.substr(begin, open - begin));
    }
    names.erase("");
    return names;
}
std::set<std::string> missing_in(std::set<std::string> const& have, std::set<std::string> wanted) {
    std::erase_if(wanted, [&](std::string const& each) { return have.contains(each); });
    return wanted;
}

constexpr auto never = ~std::size_t{0};

} // namespace

TEST_CASE("async_table of several types: every call has the same outcome as the blocking call") {
    memory_backend one;
    memory_backend other;
    testing::manual_clock time;
    table_options how;
    how.time = &time;
    auto const expected = blocking_calls(open_books(one, how));
    bool const spot = GENERATE(true, false);
    testing::manual_clock in_loop;
    event_loop loop{{.time = &in_loop, .letters = false}};
    auto const books = open_awaited(loop, spot ? any_store{other} : any_store{in_channel{other}});
    auto const made = loop.run(awaited_calls(books));
    REQUIRE(made.size() == expected.size());
    for (std::size_t each = 0; each < made.size(); ++each) {
        INFO("call " << each);
        CHECK(made[each] == expected[each]);
    }
    CHECK(expected.size() > 90);
}

TEST_CASE("async_table of several types: random histories by several writers in one loop are correct") {
    std::size_t const faulty = GENERATE(0U, 12U);
    told_of_runs all;
    auto const count = entitable_test::rounds(12, 20'000, 1'000);
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
        std::string const wrong = run(seed, faulty, never, never, all);
        INFO("seed " << seed << ": " << wrong);
        REQUIRE(wrong.empty());
    }
    CHECK(all.ended > 5 * count);
    CHECK(all.refused > count); // of absent rows, and cancelled
    CHECK((faulty == 0 || all.unknown > 0));
}

TEST_CASE("async_table of several types: the loop can be stopped or destroyed while writes are in flight") {
    auto const count = entitable_test::rounds(12, 20'000, 1'000);
    told_of_runs whole;
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
        told_of_runs one;
        std::string const wrong = run(seed, 12, never, never, one);
        INFO("seed " << seed << ": " << wrong);
        REQUIRE(wrong.empty());
        std::size_t const at = seed * 7 % one.answers;
        std::string const stopped = run(seed, 12, at, never, whole);
        std::string const destroyed = run(seed, 12, never, at, whole);
        INFO("seed " << seed << ", answer " << at << ": " << stopped << destroyed);
        REQUIRE((stopped.empty() && destroyed.empty()));
    }
}

TEST_CASE("async_table of several types: supports every function of the blocking table and of its queries") {
    auto have = functions_of("async/async_several_types.hpp");
    have.merge(functions_of("async/detail/listed_place.hpp"));
    auto wanted = functions_of("client/companions/several_types.hpp");
    CHECK(wanted.contains("verify"));
    wanted.merge(functions_of("client/companions/reader_of_several.hpp"));
    wanted.merge(functions_of("client/companions/listed_partition.hpp"));
    CHECK(wanted.contains("transact"));
    CHECK(wanted.size() > 30);
    wanted.erase("sending_core");  // for code that sends requests itself
    wanted.erase("logged_family"); // for changes_of, which takes a blocking table
    CHECK(missing_in(have, wanted) == std::set<std::string>{});

    auto endings = functions_of("async/listed_query.hpp");
    endings.merge(functions_of("async/detail/awaited_folds.hpp"));
    auto queries = functions_of("client/query.hpp");
    queries.merge(functions_of("client/detail/query_folds.hpp"));
    queries.merge(functions_of("client/companions/index/indexed_query.hpp"));
    for (char const* each : {"group_by", "fold", "min", "max", "sum"}) { CHECK(queries.contains(each)); }
    // Stores with channels merge pages, in any order or not.
    for (char const* each : {"begin", "end", "at_end", "cursor", "analyze", "operator", "in_any_order"}) {
        queries.erase(each);
    }
    CHECK(missing_in(endings, queries) == std::set<std::string>{});

    auto sorted_endings = functions_of("async/detail/awaited_order.hpp");
    sorted_endings.merge(functions_of("async/detail/awaited_folds.hpp"));
    auto sorted = functions_of("client/ordered_query.hpp");
    for (char const* each : {"take", "most_rows", "select", "to", "first"}) { CHECK(sorted.contains(each)); }
    for (char const* each : {"begin", "end", "operator"}) { sorted.erase(each); }
    CHECK(missing_in(sorted_endings, sorted) == std::set<std::string>{});
}
