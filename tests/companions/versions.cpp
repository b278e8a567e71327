// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Programs with different lists over one table, started and stopped in random orders, which write while one of them builds or retires an
// index or sums, and which stop at any request. After each call an index or a sum that is ready is what the entities alone say; a program
// that does not know one of the table's is refused.

#include "companions/books.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/core/random.hpp>
#include <entitable/testing.hpp>

#include <functional>
#include <memory>

using namespace companion_tests;

namespace {

constexpr std::chrono::seconds lease{60};
constexpr std::chrono::seconds longest{90};

/// A clock that lets others work while somebody waits by it.
class busy_clock final : public entitable::clock {
public:
    date_time now() noexcept override { return time_.now(); }
    steady_time steady() noexcept override { return time_.steady(); }
    void wait_until(steady_time until) noexcept override {
        time_.wait_until(until); // the library waits in short pieces
        if (meanwhile && !inside_ && until >= next_) {
            next_ = until + std::chrono::seconds{5};
            inside_ = true;
            meanwhile();
            inside_ = false;
        }
    }
    void advance(std::chrono::nanoseconds by) noexcept { time_.advance(by); }

    std::function<void()> meanwhile;

private:
    testing::manual_clock time_;
    steady_time next_{(steady_time::min)()};
    bool inside_{};
};

enum class companion : std::uint8_t { customer, sales, account };
constexpr companion all_companions[] = {companion::customer, companion::sales, companion::account};

/// A running program: its table, behind a transport that can end it.
struct program {
    virtual ~program() = default;
    virtual result<written> insert(invoice const& one) = 0;
    virtual result<void> change(std::int32_t number, std::function<void(invoice&)> const& how) = 0;
    virtual result<written> remove(std::int32_t number) = 0;
    virtual bool knows(companion which) const = 0;
    virtual result<void> build(companion which) = 0;
    virtual result<void> retire(companion which) = 0;
    virtual result<bool> create() = 0;
    /// The invoices of an index or the sums of days as readers see them; an error unless they are ready.
    virtual result<std::multiset<std::string>> seen(companion which) = 0;
    /// Lets the program end at its request of that number from now.
    virtual void stops_at(std::size_t request) = 0;
    virtual bool stopped() const = 0;
};

/// Refuses every request from one on, as if the program had ended.
struct ending {
    using is_transport = void;
    struct state {
        std::size_t left{static_cast<std::size_t>(-1)};
    };
    any_store below;
    std::shared_ptr<state> how{std::make_shared<state>()};

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (how->left == 0) {
            failure ended{error_code::transport_failed, "the program has ended"};
            ended.error().effect = Request::writes ? effect::unknown : effect::none;
            return ended;
        }
        --how->left;
        return below.execute(request, context);
    }
};

table_options options_for(entitable::clock& time, std::uint64_t seed) {
    table_options how;
    how.time = &time;
    how.seed = seed;
    how.lease = lease;
    how.longest_request = longest;
    how.max_attempts = 5;
    return how;
}

std::string text_of(std::string const& first, invoice const& one) {
    return first + " " + std::to_string(one.number) + " " + std::to_string(one.cents);
}
std::string text_of(std::string const& day, std::int64_t cents, std::int64_t invoices) {
    return day + " " + std::to_string(cents) + " " + std::to_string(invoices);
}

template <bool Customer, bool Sales, bool Account>
struct listed;
template <>
struct listed<true, false, false> {
    using type = table<counter, invoice, by_customer>;
};
template <>
struct listed<false, true, false> {
    using type = table<counter, invoice, daily_sales>;
};
template <>
struct listed<true, true, false> {
    using type = table<counter, invoice, by_customer, daily_sales>;
};
template <>
struct listed<true, true, true> {
    using type = table<counter, invoice, by_customer, daily_sales, elsewhere<by_account>>;
};
template <>
struct listed<false, false, true> {
    using type = table<counter, invoice, elsewhere<by_account>>;
};

template <bool Customer, bool Sales, bool Account>
struct program_with final : program {
    using books_type = typename listed<Customer, Sales, Account>::type;

    program_with(any_store const& store, entitable::clock& time, std::uint64_t seed)
        : through{store}, books{open(through, options_for(time, seed))} {}
    static books_type open(any_store const& way, table_options how) {
        if constexpr (Account) {
            return books_type{way, "books", std::move(how), in_table<by_account>{way, "accounts"}};
        } else {
            return books_type{way, "books", std::move(how)};
        }
    }

    result<written> insert(invoice const& one) override { return books.insert(one); }
    result<void> change(std::int32_t number, std::function<void(invoice&)> const& how) override {
        ENTITABLE_CHECK(books.template update<invoice>("ACME", number, how));
        return {};
    }
    result<written> remove(std::int32_t number) override {
        return books.template remove<invoice>("ACME", number, any_etag);
    }
    bool knows(companion which) const override {
        return which == companion::customer ? Customer : which == companion::sales ? Sales : Account;
    }
    result<void> build(companion which) override {
        if constexpr (Customer) {
            if (which == companion::customer) { ENTITABLE_CHECK(books.template build<by_customer>()); }
        }
        if constexpr (Sales) {
            if (which == companion::sales) { ENTITABLE_CHECK(books.template build<daily_sales>()); }
        }
        if constexpr (Account) {
            if (which == companion::account) { ENTITABLE_CHECK(books.template build<by_account>()); }
        }
        return {};
    }
    result<void> retire(companion which) override {
        return books.retire(which == companion::customer ? "by_customer"
                : which == companion::sales              ? "daily_sales"
                                                         : "by_account");
    }
    result<bool> create() override { return books.create_if_absent(); }
    result<std::multiset<std::string>> seen(companion which) override {
        result<std::multiset<std::string>> made{std::in_place};
        if constexpr (Customer) {
            if (which == companion::customer) {
                ENTITABLE_TRY(auto const rows,
                    books.template by<by_customer>().where(fields<by_customer>::tenant == "ACME").to());
                for (invoice const& one : rows) { made->insert(text_of(one.customer, one)); }
            }
        }
        if constexpr (Sales) {
            if (which == companion::sales) {
                for (std::string const day : {"mon", "tue"}) {
                    ENTITABLE_TRY(auto const sums, books.sum(daily_sales{"ACME", day, 0, 0}));
                    if (sums.cents != 0 || sums.invoices != 0) {
                        made->insert(text_of(day, sums.cents, sums.invoices));
                    }
                }
            }
        }
        if constexpr (Account) {
            if (which == companion::account) {
                for (std::string const account : {"red", "blue"}) {
                    ENTITABLE_TRY(auto const rows,
                        books.template by<by_account>().where(fields<by_account>::account == account).to());
                    for (invoice const& one : rows) { made->insert(text_of(one.account, one)); }
                }
            }
        }
        return made;
    }
    void stops_at(std::size_t request) override { through.how->left = request; }
    bool stopped() const override { return through.how->left == 0; }

    ending through;
    books_type books;
};

/// Table, programs and clock of a run.
struct world {
    memory_backend store{};
    busy_clock time{};
    random_source random;
    std::vector<std::unique_ptr<program>> programs{};
    std::vector<std::string> said{};
    std::map<std::string, std::size_t> counts{};
    std::string problem{};
    std::uint64_t seed{};

    explicit world(std::uint64_t from) : random{from}, seed{from * 1'000} {
        time.meanwhile = [this] {
            if (below(2) == 0) { write(); }
        };
    }

    std::size_t below(std::size_t end) { return static_cast<std::size_t>(random.bits() % end); }
    program& any_program() { return *programs[below(programs.size())]; }
    invoice any_invoice() {
        return {"ACME", static_cast<std::int32_t>(1 + below(5)), below(2) == 0 ? "ann" : "bob", {},
            below(2) == 0 ? "red" : "blue", below(2) == 0 ? "mon" : "tue", static_cast<std::int64_t>(below(4))};
    }
    void start() {
        if (programs.size() >= 4) { programs.erase(programs.begin() + static_cast<std::ptrdiff_t>(below(4))); }
        ++seed;
        switch (below(5)) {
            case 0: programs.push_back(std::make_unique<program_with<true, false, false>>(store, time, seed)); break;
            case 1: programs.push_back(std::make_unique<program_with<false, true, false>>(store, time, seed)); break;
            case 2: programs.push_back(std::make_unique<program_with<true, true, false>>(store, time, seed)); break;
            case 3: programs.push_back(std::make_unique<program_with<false, false, true>>(store, time, seed)); break;
            default: programs.push_back(std::make_unique<program_with<true, true, true>>(store, time, seed)); break;
        }
        said.push_back("a program starts");
    }
    void note(std::string what, result<void> const& done) {
        said.push_back(what + (done ? "" : ": " + done.error().message));
        ++counts[done ? what : what + " " + std::string{to_string(done.error().code)}];
    }
    /// One write of a program, which may be refused.
    void write() {
        program& by = any_program();
        if (by.stopped()) { return; }
        invoice const one = any_invoice();
        result<void> done;
        switch (below(4)) {
            case 0:
            case 1:
                if (auto made = by.insert(one); !made) { done = std::move(made).as_failure(); }
                break;
            case 2: done = by.change(one.number, [&](invoice& each) { each = one; }); break;
            default:
                if (auto made = by.remove(one.number); !made) { done = std::move(made).as_failure(); }
        }
        note("write", done);
        if (!done && done.error().code == error_code::declaration_differs) {
            // The sentence of a program that does not know an index or a sum of the table.
            bool named = false;
            for (std::string_view const name : {"by_customer", "daily_sales", "by_account"}) {
                named = named || done.error().message.find(name) != std::string::npos;
            }
            if (!named) { problem = "the refusal does not name what the program lacks: " + done.error().message; }
        }
    }
    void care() {
        program& by = any_program();
        companion const which = all_companions[below(3)];
        bool const interrupted = below(3) == 0;
        if (interrupted) { by.stops_at(below(20)); }
        bool const retires = below(3) == 0;
        if (!retires && !by.knows(which)) { return; }
        program const* const same = &by;
        result<void> const done = retires ? by.retire(which) : by.build(which);
        note(retires ? "retire" : "build", done);
        std::erase_if(programs, [&](auto const& each) { return each.get() == same && each->stopped(); });
        for (auto const& each : programs) { each->stops_at(static_cast<std::size_t>(-1)); }
        if (programs.empty()) { start(); }
    }
    /// Compares what readers see with the entities. A program that has just read the declaration relies on it for a lease at most.
    void check() {
        std::multiset<std::string> customers;
        std::multiset<std::string> accounts;
        std::map<std::string, std::pair<std::int64_t, std::int64_t>> days;
        table<counter, invoice> const plain{store, "books"};
        for (invoice const& one : plain.where(fields<invoice>::tenant == "ACME")) {
            customers.insert(text_of(one.customer, one));
            accounts.insert(text_of(one.account, one));
            auto& day = days[one.day];
            day.first += one.cents;
            ++day.second;
        }
        std::multiset<std::string> sales;
        for (auto const& [day, sums] : days) { sales.insert(text_of(day, sums.first, sums.second)); }
        auto const look = [&](program& by, std::string_view who) {
            for (companion const which : all_companions) {
                if (!by.knows(which) || by.stopped()) { continue; }
                auto const found = by.seen(which);
                ++counts[found ? "seen" : "not ready"];
                auto const& wanted = which == companion::customer ? customers
                    : which == companion::sales                   ? sales
                                                                  : accounts;
                if (found && *found != wanted) {
                    problem = std::string{who} + " sees a wrong companion " + std::to_string(static_cast<int>(which));
                }
            }
        };
        for (auto const& each : programs) { look(*each, "a running program"); }
        program_with<true, true, true> fresh{store, time, 999};
        look(fresh, "a new program");
    }
    void run(std::size_t steps) {
        start();
        static_cast<void>(programs.front()->create());
        for (std::size_t step = 0; step < steps && problem.empty(); ++step) {
            switch (below(10)) {
                case 0: start(); break;
                case 1: care(); break;
                case 2: time.advance(std::chrono::seconds{below(90)}); break;
                default: write();
            }
            check();
        }
    }
};

} // namespace

TEST_CASE("companions: programs with different lists can start and stop at any time") {
    std::map<std::string, std::size_t> counts;
    for (std::uint64_t seed = 1; seed <= entitable_test::rounds(16, 20'000, 400); ++seed) {
        world one{seed};
        one.run(60);
        for (auto const& [what, times] : one.counts) { counts[what] += times; }
        if (!one.problem.empty()) {
            std::string text;
            for (std::string const& each : one.said) { text += each + "\n"; }
            FAIL("seed " << seed << ": " << one.problem << "\n" << text);
        }
    }
    std::string text;
    for (auto const& [what, times] : counts) { text += what + " " + std::to_string(times) + "\n"; }
    INFO(text);
    // The run is worth something only if each of these was met.
    for (char const* const what : {"write", "write DeclarationDiffers", "build", "retire", "seen", "not ready"}) {
        INFO(what);
        CHECK(counts[what] > 0);
    }
}

TEST_CASE("companions: a lease also expires by the wall clock, because the monotonic clock may stop while the computer "
          "is suspended") {
    memory_backend const store;
    testing::manual_clock time;
    table_options how;
    how.time = &time;
    table<counter, invoice, by_customer> const older{store, "books", how};
    older.create().value();
    older.insert(invoice{"ACME", 1, "ann", {}, "red", "mon", 5}).value();
    auto const begun = time.steady();
    testing::manual_clock other;
    how.time = &other;
    table<counter, invoice, by_customer, daily_sales> const newer{store, "books", how};
    newer.build<daily_sales>().value();
    CHECK(older.insert(invoice{"ACME", 2, "ann", {}, "red", "mon", 5}).has_value()); // its lease stands
    time.set({time.now().ticks + std::chrono::nanoseconds{how.lease}.count() / 100});
    CHECK(time.steady() == begun);
    CHECK(older.insert(invoice{"ACME", 3, "ann", {}, "red", "mon", 5}).error().code == error_code::declaration_differs);
}
