// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "books.hpp"
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

#include <deque>
#include <map>

using namespace entitable;
using namespace bulk_test;

namespace {

/// A service that accepts a number of rows per second and answers 503 to more: a bucket with the rows of a tenth of a second. Answers
/// come over a channel after a delay. Accepts rows and stores none.
struct limited_service : counted {
    testing::manual_clock clock;
    double rate{};                              ///< rows per second, in total
    std::map<std::string, double> of_partition; ///< rows per second
    std::chrono::nanoseconds latency{std::chrono::milliseconds{10}};
    std::optional<std::chrono::milliseconds> retry_after;
    std::chrono::seconds left_out{30};

    struct bucket {
        double tokens{};
        steady_time at{steady_time::min()};
        bool take(double wanted, double refill, steady_time now) {
            double const most = refill / 10;
            tokens = at == steady_time::min()
                ? most
                : std::min(most, tokens + refill * std::chrono::duration<double>(now - at).count());
            at = now;
            bool const enough = tokens >= wanted;
            tokens -= enough ? wanted : 0;
            return enough;
        }
    };
    bucket all;
    std::map<std::string, bucket> buckets;
    std::uint64_t rows{}, requests{}, refused{}; ///< after the parts that were omitted
    steady_time begun{clock.steady()};

    bool take(std::string const& partition, std::size_t count) {
        steady_time const now = clock.steady();
        auto const limit = of_partition.find(partition);
        double const wanted = static_cast<double>(count);
        bool good = limit == of_partition.end() || buckets[partition].take(wanted, limit->second, now);
        good = good && all.take(wanted, rate, now);
        if (now - begun >= left_out) {
            ++requests;
            rows += good ? count : 0;
            refused += good ? 0 : 1;
        }
        return good;
    }
};

class limited_channel final : public channel {
public:
    limited_channel(shared<limited_service> service, io_driver& io) : service_(std::move(service)), io_(io) {}
    void send(request_ref request, call& context, void* tag) override {
        sent_.push_back({request, &context, tag, io_.time().steady() + service_->latency});
    }
    void cancel(void*, error const&) override {}
    void poll(steady_time now, completion_sink sink) override {
        while (!sent_.empty() && sent_.front().due <= now) {
            sent const each = sent_.front();
            sent_.pop_front();
            auto const answer = [&](auto const& request, std::string const& partition, std::size_t rows, auto good) {
                using response = decltype(good);
                result<response> answered{good};
                if (!service_->take(partition, rows)) {
                    error busy{error_code::server_busy, "busy"};
                    busy.retry_after = service_->retry_after;
                    answered = failure{std::move(busy)};
                }
                completion done{request, answered, *each.context, each.tag, now};
                sink(done);
            };
            if (auto const* many = each.request.as<transact>()) {
                answer(*many, std::string{many->changes.front().entity.partition_key()}, many->changes.size(),
                    transact::response{std::vector<written>(many->changes.size())});
            } else if (auto const* one = each.request.as<write_entity>()) {
                answer(*one, std::string{one->change.entity.partition_key()}, 1, written{});
            }
        }
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override {
        return sent_.empty() ? steady_time::max() : sent_.front().due;
    }

private:
    struct sent {
        request_ref request;
        call* context;
        void* tag;
        steady_time due;
    };
    shared<limited_service> service_;
    io_driver& io_;
    std::deque<sent> sent_;
};

struct adapting_store {
    using is_transport = void;
    shared<limited_service> service;
    [[nodiscard]] entitable::profile profile() const {
        entitable::profile made;
        made.max_operations = 5; // a twentieth of the usual size, and so are the rates
        return made;
    }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const&, call&) const {
        return failure{error_code::not_supported, "by channel only"};
    }
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        return shared<channel>{new limited_channel{service, io}};
    }
};

/// More rows than there is time for, in this number of partitions; ends after 300 seconds.
void load(adapting_store const& into, std::int32_t partitions) {
    table<book> const books{into, "books"};
    auto const input =
        numbered{1'000'000'000, [&](std::int32_t id) { return book{id % partitions, id / partitions, "a book", {}}; }};
    bulk_options options;
    options.time = &into.service->clock;
    options.timeout = std::chrono::seconds{300};
    options.seed = 1;
    options.window = 1'000;
    auto const ended = bulk_insert(books, input, options);
    REQUIRE_FALSE(ended);
    REQUIRE(ended.error().code == error_code::deadline_exceeded);
}

} // namespace

TEST_CASE("a load uses nine tenths of the allowed rate, and at most two percent of its requests are refused") {
    struct way {
        double rate;
        std::int32_t partitions;
        std::optional<std::chrono::milliseconds> retry_after;
        int latency;
    };
    using std::chrono::milliseconds;
    auto const each = GENERATE(
        way{100, 10, {}, 100}, way{100, 1, {}, 10}, way{100, 150, {}, 40}, way{250, 40, milliseconds{100}, 10});
    if (each.partitions > 1 && each.latency != 100 && entitable_test::rounds(0, 1) == 0) { return; }
    CAPTURE(each.rate, each.partitions, each.latency);
    adapting_store const into{shared<limited_service>::make()};
    into.service->rate = each.rate;
    into.service->retry_after = each.retry_after;
    into.service->latency = milliseconds{each.latency};
    load(into, each.partitions);
    double const rows = static_cast<double>(into.service->rows) / 270;
    double const refused = static_cast<double>(into.service->refused) / static_cast<double>(into.service->requests);
    INFO("rows a second " << rows << ", refused " << refused);
    CHECK(rows >= 0.9 * each.rate);
    CHECK(refused <= 0.02);
    if (std::getenv("ENTITABLE_SHOW") != nullptr) {
        WARN(each.rate << " rows a second in " << each.partitions << " partitions: " << rows / each.rate << ", refused "
                       << refused);
    }
}

TEST_CASE("one partition with a lower limit does not reduce the rate of the others") {
    adapting_store const into{shared<limited_service>::make()};
    into.service->rate = 1e9;
    into.service->of_partition["0000000003"] = 100;
    table<book> const books{into, "books"};
    std::int32_t const rows = 2'000;
    auto const input = numbered{10 * rows, [&](std::int32_t id) { return book{id % 10, id / 10, "a book", {}}; }};
    bulk_options options;
    options.time = &into.service->clock;
    options.seed = 1;
    options.watch_every = {};
    options.window = 30'000;
    steady_time others{};
    options.watch = [&](bulk_progress const& now) {
        if (now.written >= 9 * static_cast<std::uint64_t>(rows) && others == steady_time{}) {
            others = into.service->clock.steady();
        }
    };
    auto const report = bulk_insert(books, input, options).value();
    auto const took = into.service->clock.steady() - into.service->begun;
    CHECK(report.written == 10 * static_cast<std::uint64_t>(rows));
    CHECK(others - into.service->begun < std::chrono::seconds{4});
    CHECK(took < std::chrono::seconds{40}); // 20 at its full rate
}
