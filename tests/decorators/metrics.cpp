// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/decorators/metered.hpp>
#include <entitable/core/decorators/metrics.hpp>
#include <entitable/core/decorators/retrying.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>
#include <entitable/testing/scripted.hpp>

#include <support/catch.hpp>
#include <support/openmetrics_parser.hpp>
#include <support/watcher.hpp>

#include <thread>

using namespace entitable;
using entitable_test::metric_labels;
using entitable_test::openmetrics_parser;
using testing::make_row;
using namespace std::chrono_literals;

namespace {

/// One family whose samples are `samples`.
std::string text_of(std::string const& samples, std::string const& type = "counter", std::string const& name = "a") {
    return "# TYPE " + name + " " + type + "\n# HELP " + name + " Words.\n" + samples + "# EOF\n";
}

void refused(std::string const& text) {
    INFO(text);
    CHECK_THROWS_AS(openmetrics_parser::parse(text), std::runtime_error);
}

operation_record operation_of(std::string_view table, std::chrono::nanoseconds took = 3ms) {
    operation_record done;
    done.name = "get_entity";
    done.table = table;
    done.ended = done.begun + std::chrono::duration_cast<steady_time::duration>(took);
    done.server = {"sqlite", {}, 0};
    return done;
}

} // namespace

TEST_CASE("the parser of these tests is strict") {
    std::string const good = "a_total{b=\"c\"} 1\na_created{b=\"c\"} 1.5\n";
    CHECK(openmetrics_parser::parse(text_of(good)).value("a_total") == 1);
    CHECK(openmetrics_parser::parse("# EOF\n").samples.empty());
    refused("");
    refused("# EOF");
    refused("# EOF\n\n");
    refused("# EOF\n# EOF\n");
    refused(good + "# EOF\n");
    refused("# TYPE a counter\n" + good + "# EOF\n");
    refused(text_of("a_total{b=\"c\"} 1\n"));
    refused(text_of("a{b=\"c\"} 1\n"));
    refused(text_of("b_total 1\nb_created 1.5\n"));
    refused(text_of(good + good));
    refused(text_of("a_total{b=\"c\"} -1\na_created{b=\"c\"} 1.5\n"));
    refused(text_of("a_total{b=\"c\"} NaN\na_created{b=\"c\"} 1.5\n"));
    refused(text_of("a_total{b=\"c\",b=\"d\"} 1\na_created{b=\"c\",b=\"d\"} 1.5\n"));
    refused(text_of("a_total{b=\"c\",} 1\na_created{b=\"c\",} 1.5\n"));
    refused(text_of("a_total{b=\"\"} 1\na_created{b=\"\"} 1.5\n"));
    refused(text_of("a_total{b=\"\\t\"} 1\na_created{b=\"\\t\"} 1.5\n"));
    refused(text_of("a_total{b.c=\"d\"} 1\na_created{b.c=\"d\"} 1.5\n"));
    refused(text_of("a_total{b=\"c\"}  1\na_created{b=\"c\"} 1.5\n"));
    refused(text_of("a_total{b=\"c\"} 1\r\na_created{b=\"c\"} 1.5\r\n"));
    refused(text_of("a_total{b=\"\xff\"} 1\na_created{b=\"\xff\"} 1.5\n"));
    refused(text_of("a_total{b=\"1\"} 1\na_total{b=\"2\"} 1\na_created{b=\"1\"} 1.5\na_created{b=\"2\"} 1.5\n"));
    refused("# TYPE a counter\n# UNIT a seconds\n# HELP a Words.\n" + good + "# EOF\n");
    refused("# TYPE a counter\n# HELP a Words.\n# TYPE a_created counter\n# HELP a_created Words.\n# EOF\n");
    std::string const end = "a_count 2\na_sum 3.5\na_created 1.5\n";
    std::string const buckets = "a_bucket{le=\"0.1\"} 1\na_bucket{le=\"+Inf\"} 2\n";
    CHECK(openmetrics_parser::parse(text_of(buckets + end, "histogram")).value("a_sum") == 3.5);
    refused(text_of("a_bucket{le=\"0.1\"} 1\n" + end, "histogram"));
    refused(text_of("a_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 2\n" + end, "histogram"));
    refused(text_of("a_bucket{le=\"0.2\"} 1\na_bucket{le=\"0.1\"} 1\na_bucket{le=\"+Inf\"} 2\n" + end, "histogram"));
    refused(text_of("a_bucket{le=\"0.1\"} 3\na_bucket{le=\"+Inf\"} 2\n" + end, "histogram"));
    refused(text_of("a_bucket{le=\"0.1\"} 1\na_bucket{le=\"+Inf\"} 3\n" + end, "histogram"));
    refused(text_of("a_bucket{le=\"0.1\"} 1.0\na_bucket{le=\"+Inf\"} 2\n" + end, "histogram"));
}

TEST_CASE("metrics: the text is empty if nothing was counted") {
    metrics const counted;
    CHECK(counted.to_openmetrics() == "# EOF\n");
}

TEST_CASE("metrics: operations, attempts and retry waits have the names of OpenTelemetry") {
    testing::manual_clock time;
    testing::scripted service;
    metrics counted{{.time = &time}};
    error busy{error_code::server_busy, "busy"};
    auto const slow = [&](result<get_entity::response> answer) {
        service.expect<get_entity>().does([&time, answer = std::move(answer)](get_entity const&) {
            time.advance(30ms);
            return answer;
        });
    };
    slow(failure{busy});
    slow(failure{busy});
    slow(get_entity::response{});
    retrying const patient{service, {.policy = retry_policy::fixed(3, 250ms), .time = &time}};
    call context;
    context.watch = &counted;
    REQUIRE(patient.execute(get_entity{"Orders", "p", "r", {}}, context));

    auto const read = openmetrics_parser::parse(counted.to_openmetrics());
    metric_labels const of{{"db_operation_name", "get_entity"}, {"db_collection_name", "Orders"}};
    // 500 ms of waits, and the latencies on the script's own clock
    CHECK(read.types.at("db_client_operation_duration_seconds") == "histogram");
    CHECK(read.units.at("db_client_operation_duration_seconds") == "seconds");
    CHECK(read.value("db_client_operation_duration_seconds_count", of) == 1);
    CHECK(read.value("db_client_operation_duration_seconds_sum", of) == 0.59);
    auto with = [&](metric_labels labels, std::string const& name, std::string const& value) {
        labels.emplace(name, value);
        return labels;
    };
    for (char const* const bound : {"0.001", "0.005", "0.01", "0.05", "0.1", "0.5"}) {
        CHECK(read.value("db_client_operation_duration_seconds_bucket", with(of, "le", bound)) == 0);
    }
    for (char const* const bound : {"1.0", "5.0", "10.0", "+Inf"}) {
        CHECK(read.value("db_client_operation_duration_seconds_bucket", with(of, "le", bound)) == 1);
    }
    CHECK(read.value("db_client_response_returned_rows_sum", of) == 1);
    CHECK(read.value("entitable_attempts_total", with(of, "error_type", "ServerBusy")) == 2);
    CHECK(read.value("entitable_attempts_total", with(of, "db_response_status_code", "503")) == 2);
    CHECK(read.samples.at({"entitable_attempts_total", of}) == "1");
    CHECK(read.value("entitable_waits_total", with(of, "cause", "back_off")) == 2);
    CHECK(read.samples.at({"entitable_wait_seconds_total", with(of, "cause", "back_off")}) == "0.5");
    // 2026-01-01, and 590 ms
    CHECK(read.samples.at({"db_client_operation_duration_seconds_created", of}) == "1767225600.59");
    counted.clear();
    CHECK(counted.to_openmetrics() == "# EOF\n");
}

TEST_CASE("metrics: a value on a bucket bound is counted in that bucket") {
    for (auto const& [took, bound, under] : std::vector<std::tuple<std::chrono::nanoseconds, char const*, char const*>>{
             {1ms, "0.001", nullptr}, {1ms + 1ns, "0.005", "0.001"}, {10s, "10.0", "5.0"}, {10s + 1ns, "+Inf", "10.0"},
             {0ns, "0.001", nullptr}, {-1s, "0.001", nullptr}}) {
        metrics counted;
        counted.on_operation(operation_of("Orders", took));
        auto const read = openmetrics_parser::parse(counted.to_openmetrics());
        CHECK(read.value("db_client_operation_duration_seconds_bucket", {{"le", bound}}) == 1);
        if (under != nullptr) {
            CHECK(read.value("db_client_operation_duration_seconds_bucket", {{"le", under}}) == 0);
        }
    }
}

TEST_CASE("metrics: every byte that a name can contain is escaped or replaced") {
    std::string const replaced = "\xEF\xBF\xBD";
    for (auto const& [name, shown] : std::vector<std::pair<std::string, std::string>>{{"a\"b", "a\"b"},
             {"a\\b", "a\\b"}, {"a\nb", "a\nb"}, {"\\n", "\\n"}, {"\\\"", "\\\""}, {"\xC3\xA9", "\xC3\xA9"},
             {"a\rb", "a" + replaced + "b"}, {"\xff", replaced}, {"a\xC3", "a" + replaced},
             {std::string{"a\0b", 3}, "a" + replaced + "b"}, {std::string(200, 'x'), std::string(128, 'x')}}) {
        metrics counted;
        counted.on_operation(operation_of(name));
        auto const read = openmetrics_parser::parse(counted.to_openmetrics());
        CHECK(read.value("db_client_operation_duration_seconds_count", {{"db_collection_name", shown}}) == 1);
    }
}

TEST_CASE("metrics: the number of series is bounded, and every request is counted") {
    metrics counted{{.max_series = 5}};
    for (int index = 0; index < 100; ++index) { counted.on_operation(operation_of("Table" + std::to_string(index))); }
    auto const read = openmetrics_parser::parse(counted.to_openmetrics());
    CHECK(read.value("db_client_operation_duration_seconds_count", {{"otel_metric_overflow", "true"}}) == 95);
    CHECK(read.value("db_client_operation_duration_seconds_count", {{"db_collection_name", "Table4"}}) == 1);
    CHECK(std::isnan(read.value("db_client_operation_duration_seconds_count", {{"db_collection_name", "Table5"}})));
}

TEST_CASE("metrics: several threads can count while the text is read") {
    metrics counted;
    std::vector<std::thread> running;
    for (int thread = 0; thread < 4; ++thread) {
        running.emplace_back([&] {
            memory_backend const store;
            call context;
            context.watch = &counted;
            for (int index = 0; index < 200; ++index) {
                (void)store.execute(get_entity{"Orders", "p", "r", {}}, context);
            }
        });
    }
    for (int index = 0; index < 5; ++index) { CHECK_NOTHROW(openmetrics_parser::parse(counted.to_openmetrics())); }
    for (std::thread& each : running) { each.join(); }
    auto const read = openmetrics_parser::parse(counted.to_openmetrics());
    CHECK(read.value("db_client_operation_duration_seconds_count") == 800);
    CHECK(read.value("entitable_attempts_total") == 800);
}

TEST_CASE("metered: the text contains its requests, and the attempts and waits in the layers below") {
    testing::manual_clock time;
    testing::scripted service;
    entitable_test::watcher eyes;
    service.expect<get_entity>().fails(error_code::server_busy);
    service.expect<get_entity>().answers({});
    metered const counted{retrying{service, {.policy = retry_policy::fixed(2, 250ms), .time = &time}}, {.time = &time}};
    for (bool const watched : {false, true}) {
        call context;
        context.watch = watched ? &eyes : nullptr;
        auto const answered = counted.execute(get_entity{"Orders", "SECRETp", "r", {}}, context);
        CHECK(answered.has_value() != watched); // the script has ended
        CHECK(context.watch == (watched ? &eyes : nullptr));
    }
    std::string const text = counted.to_openmetrics();
    auto const read = openmetrics_parser::parse(text);
    CHECK(read.value("db_client_operation_duration_seconds_count", {{"error_type", "NotSupported"}}) == 1);
    CHECK(read.value("db_client_response_returned_rows_count") == 1);
    CHECK(read.value("db_client_operation_duration_seconds_sum", {{"error_type", "NotSupported"}}) == 0);
    CHECK(read.value("entitable_attempts_total", {{"error_type", "ServerBusy"}}) == 1);
    CHECK(read.value("entitable_waits_total") == 1);
    CHECK(read.value("entitable_wait_seconds_total") == 0.25);
    CHECK(text.find("SECRET") == std::string::npos);
    // The observer of the call gets its events as always.
    CHECK(eyes.lines == std::vector<std::string>{"operation get_entity Orders attempts 1 NotSupported"});
    counted.clear();
    CHECK(counted.to_openmetrics() == "# EOF\n");
}

TEST_CASE("metered: reports which system answered") {
    metered<memory_backend> const counted{memory_backend{}};
    call context;
    (void)counted.execute(get_entity{"Orders", "p", "r", {}}, context);
    (void)counted.execute(get_entity{"Orders", "a/b", "r", {}}, context);
    auto const read = openmetrics_parser::parse(counted.to_openmetrics());
    CHECK(read.value("db_client_operation_duration_seconds_count",
              {{"db_system_name", "entitable.memory"}, {"error_type", "TableNotFound"},
                  {"db_response_status_code", "404"}}) == 1);
    CHECK(read.value("entitable_attempts_total") == 1);
}

TEST_CASE("metered: below retries it counts each attempt") {
    testing::manual_clock time;
    testing::scripted service;
    service.expect<get_entity>().fails(error_code::server_busy);
    service.expect<get_entity>().answers({});
    metered const counted{service, {.time = &time}};
    retrying const patient{counted, {.policy = retry_policy::fixed(2, 250ms), .time = &time}};
    call context;
    REQUIRE(patient.execute(get_entity{"Orders", "p", "r", {}}, context));
    auto const read = openmetrics_parser::parse(counted.to_openmetrics());
    CHECK(read.value("db_client_operation_duration_seconds_count", {{"error_type", "ServerBusy"}}) == 1);
    CHECK(read.samples.size() > 20);
    CHECK(std::isnan(read.value("entitable_waits_total")));
}
