// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// 2,000 point reads of two accounts from one thread, 100 in flight, each answered after 20 ms: bare libcurl (one multi handle), then
// channels of two REST backends in one driver, which sign and decode; then with retries, when each tenth answer is a 503 and the
// back-off is 20 ms. The servers are other processes; CPU time is that of this one. Interleaved rounds, medians.
//   g++ -std=c++20 -O3 -I . -I include -I tests benchmarks/channels.cpp -o channels -lcurl -lssl -lcrypto -lsimdjson

#include <entitable/azure.hpp>
#include <entitable/core/transport/run_all.hpp>
#include <entitable/retrying.hpp>

#include <benchmarks/support/bare_curl.hpp>
#include <benchmarks/support/count_allocations.hpp>
#include <benchmarks/support/loopback_server.hpp>
#include <benchmarks/support/measure.hpp>

#include <optional>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t reads = 2'000;
constexpr std::size_t in_flight = 100;
constexpr std::string_view key =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A point read of one of two places.
struct read_of {
    get_entity const* request;
    std::size_t place;
    std::optional<result<get_entity::response>> answered{};

    [[nodiscard]] operation_step next() const {
        return answered ? operation_step{} : operation_step{*request, steady_time::min(), place};
    }
    void answer(result<get_entity::response> came, steady_time) { answered.emplace(std::move(came)); }
    void abandon(error const& why) { answered.emplace(failure{why}); }
    result<get_entity::response> finish() { return *std::move(answered); }
};

template <class Backend>
void channels(Backend const& first, Backend const& second) {
    poll_driver io;
    auto const one = open_channel(first, io);
    auto const other = open_channel(second, io);
    get_entity const request{"Reads", "a", "b", {}};
    std::vector<read_of> all;
    for (std::size_t index = 0; index < reads; ++index) { all.push_back({&request, index % 2}); }
    std::vector<call> calls(reads);
    if (!run_all(all, calls, {one.get(), other.get()}, io, in_flight)) { std::abort(); }
    for (read_of& each : all) {
        if (auto const answered = each.finish(); !answered) {
            std::fprintf(stderr, "%s\n", answered.error().to_string().c_str());
            std::abort();
        }
    }
}

struct figures {
    std::vector<double> elapsed; ///< ms
    std::vector<double> cpu;     ///< us a read
};

template <class Work>
void measured(figures& of, Work const& work) {
    auto const begin = std::chrono::steady_clock::now();
    of.cpu.push_back(measure::timed(reads, work) / 1e3);
    of.elapsed.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
}

} // namespace

int main() {
    std::string const body =
        R"({"odata.etag":"W/\"datetime'2026-11-20T15%3A27%3A36.1234567Z'\"","PartitionKey":"a",)"
        R"("RowKey":"b","Timestamp":"2026-11-20T15:27:36.1234567Z","Name":"a name","N":1,"M":2.5})";
    auto const answer = [&](std::string const& status, std::string const& text) {
        return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(text.size()) +
            "\r\nContent-Type: application/json;odata=minimalmetadata;charset=utf-8\r\n"
            "ETag: W/\"datetime'2026-11-20T15%3A27%3A36.1234567Z'\"\r\nx-ms-request-id: "
            "3f2b8c9e-5c1f-4d4c-9a55-2f6f3f0c1a11\r\n"
            "x-ms-version: 2019-02-02\r\nDate: Fri, 20 Nov 2026 15:27:36 GMT\r\n\r\n" +
            text;
    };
    measure::loopback_options const late{20ms, 0, {}};
    measure::loopback_options const flaky{20ms, 10, answer("503 Server Busy", "")};
    measure::loopback_server const servers[] = {{answer("200 OK", body), nullptr, late},
        {answer("200 OK", body), nullptr, late}, {answer("200 OK", body), nullptr, flaky},
        {answer("200 OK", body), nullptr, flaky}};
    curl_global_init(CURL_GLOBAL_DEFAULT);

    auto const backend = [&](std::size_t index) {
        return azure_backend{"DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=" + std::string{key} +
            ";TableEndpoint=" + servers[index].origin() + "/acct;"};
    };
    retrying_options const again{.policy = retry_policy::fixed(5, 20ms), .quota = 0};
    azure_backend const steady[] = {backend(0), backend(1)};
    retrying<azure_backend> const retried[] = {retrying{backend(2), again}, retrying{backend(3), again}};
    measure::bare_curl yardstick{{servers[0].origin(), servers[1].origin()}, reads, in_flight};

    figures curl;
    figures ours;
    figures repeated;
    for (int round = 0; round < 12; ++round) {
        figures warm;
        measured(round == 0 ? warm : curl, [&] { yardstick.run(); });
        measured(round == 0 ? warm : ours, [&] { channels(steady[0], steady[1]); });
        measured(round == 0 ? warm : repeated, [&] { channels(retried[0], retried[1]); });
    }
    double const base = measure::median(curl.elapsed);
    double const base_cpu = measure::median(curl.cpu);
    auto const line = [&](char const* name, figures const& of, double limit, double against, double limit_cpu) {
        double const ratio = measure::median(of.elapsed) / against;
        double const cpu = measure::median(of.cpu) / base_cpu;
        std::printf("%-34s %7.0f ms  %5.2f limit %.2f%s   CPU %6.1f us a read  %5.2f limit %.2f%s\n", name,
            measure::median(of.elapsed), ratio, limit, ratio <= limit ? "" : " MISSED", measure::median(of.cpu), cpu,
            limit_cpu, cpu <= limit_cpu ? "" : " MISSED");
    };
    std::printf("2,000 reads of two accounts, 100 under way, 20 ms\n");
    std::printf("%-34s %7.0f ms                      CPU %6.1f us a read\n", "bare libcurl multi", base, base_cpu);
    line("channels", ours, 1.15, base, 1.15);
    line("each tenth answer 503, retried", repeated, 1.3, measure::median(ours.elapsed), 1.3 * 1.15);
}
