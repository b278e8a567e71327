// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// Data for a tracing program from an observer: spans with the names and attributes of OpenTelemetry's conventions for database
/// clients, children of the caller's own span, and the header `traceparent` that joins them to the service's. A program with a
/// tracing SDK passes it the data that `span_printer` prints. Here an HTTP client with a script plays a service on a bad day,
/// nothing waits, and the ids of spans are numbered, because they are drawn at random.

#include <entitable/azure.hpp>
#include <entitable/core/decorators/metered.hpp>
#include <entitable/entitable.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

struct ticket {
    std::string show;
    std::int32_t seat{};
    std::string guest;
};

ENTITABLE(ticket, partition_key(show), row_key(seat), properties(guest))

namespace {

using namespace std::chrono_literals;

/// Numbers for ids, in the order in which they appear.
class id_numbers {
public:
    std::string operator()(std::uint64_t id) {
        auto const number = static_cast<unsigned>(seen_.size() + 1);
        return "span " + std::to_string(seen_.emplace(id, number).first->second);
    }

private:
    std::map<std::uint64_t, unsigned> seen_;
};

/// The service: scripted answers, 20 ms after each request.
class service_on_a_bad_day {
public:
    using is_http_client = void;
    struct answer {
        std::uint16_t status;
        std::string retry_after;
        std::string body;
    };

    service_on_a_bad_day(std::vector<answer> script, entitable::testing::manual_clock& time, id_numbers& numbers)
        : played_(std::make_shared<state>(state{std::move(script), 0})), time_(&time), numbers_(&numbers) {}

    [[nodiscard]] entitable::result<entitable::http_response> send(
        entitable::http_request const& request, entitable::http_call const&) const {
        auto const parent = entitable::trace_context::parse(request.headers.find("traceparent").value_or("")).value();
        std::printf("service: %s of trace %s...\n", (*numbers_)(parent.span_id).c_str(),
            parent.trace_id().substr(0, 8).c_str());
        time_->advance(20ms);
        answer const& next = played_->script.at(played_->next++);
        entitable::http_response made;
        made.status = next.status;
        made.body = next.body;
        if (!next.retry_after.empty()) { static_cast<void>(made.headers.add("Retry-After", next.retry_after)); }
        static_cast<void>(made.headers.add("ETag", "W/\"datetime'2026-01-01T00%3A00%3A00Z'\""));
        static_cast<void>(made.headers.add("x-ms-request-id", "request-" + std::to_string(played_->next)));
        return made;
    }

private:
    struct state {
        std::vector<answer> script;
        std::size_t next;
    };
    std::shared_ptr<state> played_;
    entitable::testing::manual_clock* time_;
    id_numbers* numbers_;
};

/// Prints a span when it has ended. Attempts end before their operation does: an exporter sends them in that order, and the
/// collector builds the tree.
class span_printer final : public entitable::observer {
public:
    span_printer(entitable::steady_time start, id_numbers& numbers) : start_(start), numbers_(&numbers) {}

    void on_operation(entitable::operation_record const& done) noexcept override {
        span(done);
        if (done.batch_size > 0) { attribute("db.operation.batch.size", std::to_string(done.batch_size)); }
        outcome(done.outcome);
        attribute("entitable.attempts", std::to_string(done.attempts));
    }
    void on_attempt(entitable::attempt_record const& done) noexcept override {
        span(done);
        if (done.number > 1) { attribute("http.request.resend_count", std::to_string(done.number - 1)); }
        attribute("http.response.status_code", std::to_string(done.outcome.status));
        attribute("http.request.body.size", std::to_string(done.request_size));
        attribute("az.service_request_id", done.request_id);
        outcome(done.outcome);
    }
    void on_wait(entitable::wait_record const& wait) noexcept override {
        std::printf("event of %s: %s waits %s, from %s to %s\n", (*numbers_)(wait.span.own.span_id).c_str(),
            std::string{wait.name}.c_str(), std::string{to_string(wait.cause)}.c_str(), moment(wait.begun).c_str(),
            moment(wait.until).c_str());
    }

private:
    template <class Record>
    void span(Record const& done) {
        std::string const name = std::string{done.name} + (done.table.empty() ? "" : " " + std::string{done.table});
        std::string const parent =
            done.span.parent == 0xb7ad6b7169203331 ? "the caller's span" : (*numbers_)(done.span.parent);
        std::printf("%s, CLIENT \"%s\", child of %s, from %s to %s\n", (*numbers_)(done.span.own.span_id).c_str(),
            name.c_str(), parent.c_str(), moment(done.begun).c_str(), moment(done.ended).c_str());
        attribute("db.system.name", done.server.system);
        attribute("db.operation.name", done.name);
        attribute("db.collection.name", done.table);
        attribute("server.address", done.server.address);
        if (done.server.port != 0) { attribute("server.port", std::to_string(done.server.port)); }
    }
    void outcome(entitable::outcome_record const& ended) {
        if (ended.error) { attribute("error.type", to_string(*ended.error)); }
        if (ended.rows) { attribute("db.response.returned_rows", std::to_string(*ended.rows)); }
    }
    static void attribute(char const* name, std::string_view value) {
        std::printf("    %-28s %s\n", name, std::string{value}.c_str());
    }
    [[nodiscard]] std::string moment(entitable::steady_time time) const {
        return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time - start_).count()) + " ms";
    }

    entitable::steady_time start_;
    id_numbers* numbers_;
};

} // namespace

int main() {
    entitable::testing::manual_clock time;
    id_numbers numbers;
    service_on_a_bad_day const service{
        {{503, "2", ""}, {500, "", ""}, {204, "", ""}, {409, "", R"({"odata.error":{"code":"EntityAlreadyExists"}})"}},
        time, numbers};
    entitable::rest_options options;
    options.time = &time;
    entitable::metered const cloud{entitable::retrying{entitable::rest{service, "UseDevelopmentStorage=true", options},
                                       {.policy = entitable::retry_policy::fixed(4, 250ms), .time = &time}},
        {.time = &time}};

    // The span in which this program works: that of the request it is answering, from the header of that request.
    span_printer printer{time.steady(), numbers};
    entitable::call_options calls;
    calls.watch = &printer;
    calls.trace = entitable::trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").value();
    entitable::table<ticket> const tickets{cloud, "tickets", calls};

    bool const sold = tickets.insert({"Hamlet", 7, "Ann"}).has_value();
    bool const twice = tickets.insert({"Hamlet", 7, "Bob"}).has_value();
    std::printf("sold: %d, twice: %d\n\n", sold, twice);

    // A part of the data that a collector of metrics would get.
    std::string const text = cloud.to_openmetrics();
    for (std::size_t at = 0; at < text.size();) {
        std::string const line = text.substr(at, text.find('\n', at) - at);
        at += line.size() + 1;
        for (char const* const wanted :
            {"duration_seconds_count", "attempts_total", "waits_total", "wait_seconds_total"}) {
            if (line.find(wanted) != std::string::npos) { std::printf("%s\n", line.c_str()); }
        }
    }
}
