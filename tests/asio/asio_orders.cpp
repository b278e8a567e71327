// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Calls in random orders of completion, cancelled at random suspension points by each type of cancellation, and loops destroyed at random
// points. Each handler is called exactly once, and an abort without effect leaves nothing behind. The seed is printed.

#include <entitable/asio.hpp>
#include <entitable/memory.hpp>

#include <boost/asio/version.hpp>
#if BOOST_ASIO_VERSION >= 102400
#include <async/books.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <support/catch.hpp>
#include <support/long.hpp>

#include <cstdlib>
#include <deque>
#include <random>
#include <vector>

using namespace entitable;
namespace asio = boost::asio;
using entitable_test::book;
using entitable_test::book_of;
using b = fields<book>;

namespace {

/// A store whose channel executes and answers requests in an order drawn from a seed.
struct drawn_order {
    using is_transport = void;
    any_store below;
    std::mt19937* random;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        return below.execute(request, context);
    }
    [[nodiscard]] shared<channel> open(io_driver&) const { return shared<channel>{new orders{below, *random}}; }

private:
    class orders final : public channel {
    public:
        orders(any_store below, std::mt19937& random) : below_(std::move(below)), random_(random) {}

        void send(request_ref request, call& context, void* tag) override {
            waiting_.push_back({request, &context, tag, {}});
        }
        void cancel(void* tag, error const& why) override {
            for (sent& each : waiting_) {
                if (each.tag == tag) { each.cancelled.emplace(why); }
            }
        }
        void poll(steady_time, completion_sink sink) override {
            for (std::size_t left = waiting_.size(); left > 0; --left) {
                sent next = std::move(waiting_.front());
                waiting_.pop_front();
                if (random_() % 2 == 0 && !next.cancelled) {
                    waiting_.push_back(std::move(next));
                    continue;
                }
                next.request.visit([&]<class Request>(Request const& asked) {
                    bool const lost = next.cancelled.has_value();
                    bool const applied = !lost || random_() % 2 == 0;
                    result<response_of<Request>> answer{failure{lost ? *next.cancelled : error{}}};
                    if (applied) {
                        auto real = below_.execute(asked, *next.context);
                        if (!lost) { answer = std::move(real); }
                    }
                    if (lost) {
                        error why = *next.cancelled;
                        why.effect = next.request.writes() ? effect::unknown : effect::none;
                        answer = failure{why};
                    }
                    completion done{asked, answer, *next.context, next.tag, steady_time{}};
                    sink(done);
                });
            }
        }
        [[nodiscard]] steady_time wakes_at() const noexcept override {
            return waiting_.empty() ? (steady_time::max)() : (steady_time::min)();
        }

    private:
        struct sent {
            request_ref request;
            call* context;
            void* tag;
            std::optional<error> cancelled;
        };

        any_store below_;
        std::mt19937& random_;
        std::deque<sent> waiting_;
    };
};

struct one_call {
    asio::cancellation_signal signal;
    call_diagnostics whole;
    int told = 0;
    bool writes_row = false; ///< inserts the row with the number of the call
    boost::system::error_code ended;
};

task<result<void>> sleep_task(event_loop& in) { co_return co_await sleep_for(in, std::chrono::hours{1}); }

void one_schedule(std::uint32_t seed) {
    INFO("seed " << seed);
    std::mt19937 random{seed};
    auto const one_of = [&](std::uint32_t count) { return random() % count; };
    memory_backend const store;
    table<book> const plain{store, "Books"};
    plain.create().value();
    for (std::int32_t number = 0; number < 3; ++number) { plain.insert(book_of("kept", number, 0)).value(); }
    std::deque<one_call> calls;
    auto context = std::make_unique<asio::io_context>();
    loop_options options;
    options.in_flight = 1 + one_of(4);
    options.steps = 1 + one_of(20);
    auto loop = std::make_unique<asio_loop>(context->get_executor(), options);
    asio_table<book> const books{*loop, drawn_order{store, &random}, "Books"};
    std::uint32_t const count = static_cast<std::uint32_t>(1 + one_of(8));
    auto const begin = [&](one_call& of, std::int32_t number) {
        auto told = [&of](auto failed, auto&&...) {
            ++of.told;
            of.ended = failed;
        };
        auto token = asio::bind_cancellation_slot(of.signal.slot(), told);
        switch (one_of(7)) {
            case 0: books.async_get("kept", "1", of.whole, token); break;
            case 1:
                of.writes_row = true;
                books.async_insert(book_of("new", number), of.whole, token);
                break;
            case 2: books.async_update("kept", "1", [](book& one) { ++one.price; }, of.whole, token); break;
            case 3: books.where(b::shelf == "kept").page_size(1).async_to_vector(of.whole, token); break;
            case 4: books.scan_table().async_count(of.whole, token); break;
            case 5:
                books.async_transact(
                    "kept",
                    [](transaction<book>& all) -> result<void> {
                        ENTITABLE_CHECK(all.update("0", [](book& one) { --one.price; }));
                        ENTITABLE_CHECK(all.update("2", [](book& one) { ++one.price; }));
                        return {};
                    },
                    of.whole, token);
                break;
            default: async_call(*loop, [](event_loop& in) { return sleep_task(in); }, of.whole, token);
        }
    };
    for (std::uint32_t each = 0; each < count; ++each) {
        calls.emplace_back();
        begin(calls.back(), static_cast<std::int32_t>(each));
    }
    std::uint32_t const destroyed_at = one_of(4) == 0 ? static_cast<std::uint32_t>(one_of(40)) : ~0U;
    constexpr asio::cancellation_type types[] = {asio::cancellation_type::terminal, asio::cancellation_type::partial,
        asio::cancellation_type::total, asio::cancellation_type::all};
    for (std::uint32_t step = 0; step < 10'000 && step != destroyed_at; ++step) {
        if (one_of(6) == 0) { calls[one_of(count)].signal.emit(types[one_of(4)]); }
        if (context->stopped()) { break; }
        if (context->poll_one() == 0 && !context->stopped()) { // only sleepers are left, which nothing else ends
            for (one_call& each : calls) { each.signal.emit(asio::cancellation_type::terminal); }
        }
    }
    bool const destroyed = !context->stopped();
    loop.reset();
    context.reset();
    for (std::size_t number = 0; number < calls.size(); ++number) {
        one_call const& each = calls[number];
        CHECK(each.told <= 1);
        if (!destroyed) { CHECK(each.told == 1); }
        if (each.told == 1 && each.writes_row) {
            bool const stored = plain.find("new", std::to_string(number)).value().has_value();
            if (!each.ended) { CHECK(stored); }
            if (each.ended && each.whole.problem->effect == effect::none) { CHECK_FALSE(stored); }
        }
    }
    std::int32_t sum = 0;
    for (char const* const moved : {"0", "2"}) { sum += plain.get("kept", moved).value().price; }
    CHECK(sum == 0); // whole transactions
}

} // namespace

TEST_CASE("calls in drawn orders, cancelled at drawn suspension points") {
    std::size_t const rounds = entitable_test::rounds(150, 100'000, 2'000);
    auto const number_of = [](char const* variable, std::size_t otherwise) {
        char const* const given = std::getenv(variable); // for a long run in parts
        return given == nullptr ? otherwise : static_cast<std::size_t>(std::strtoul(given, nullptr, 10));
    };
    std::size_t const first = number_of("ENTITABLE_FIRST_SCHEDULE", 1);
    std::size_t const last = number_of("ENTITABLE_LAST_SCHEDULE", rounds);
    for (std::size_t seed = first; seed <= last; ++seed) { one_schedule(static_cast<std::uint32_t>(seed)); }
}

TEST_CASE("a call is cancelled at each of its suspension points in turn") {
    for (auto const type :
        {asio::cancellation_type::terminal, asio::cancellation_type::partial, asio::cancellation_type::total}) {
        for (int point = 0; point < 60; ++point) {
            INFO("at " << point);
            std::mt19937 random{7};
            memory_backend const store;
            table<book> const plain{store, "Books"};
            plain.create().value();
            for (std::int32_t number = 0; number < 5; ++number) { plain.insert(book_of("kept", number, 0)).value(); }
            asio::io_context context;
            asio_loop loop{context.get_executor()};
            asio_table<book> const books{loop, drawn_order{store, &random}, "Books"};
            asio::cancellation_signal signals[3];
            int told = 0;
            auto const count = [&](boost::system::error_code, auto const&) { ++told; };
            books.async_update(
                "kept", "1", [](book& one) { ++one.price; }, asio::bind_cancellation_slot(signals[0].slot(), count));
            books.where(b::shelf == "kept")
                .page_size(1)
                .async_to_vector(asio::bind_cancellation_slot(signals[1].slot(), count));
            books.async_transact(
                "kept",
                [](transaction<book>& all) -> result<void> {
                    ENTITABLE_CHECK(all.update("2", [](book& one) { ++one.price; }));
                    return {};
                },
                asio::bind_cancellation_slot(signals[2].slot(), count));
            for (int step = 0; step < point && !context.stopped(); ++step) { (void)context.poll_one(); }
            for (auto& each : signals) { each.emit(type); }
            context.run_for(std::chrono::seconds{20});
            CHECK(told == 3);
        }
    }
}
#endif
