// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Point reads of one entity over HTTP: the entity, its response, a backend for the server of the benchmark, and a store that never responds.

#include <entitable/async.hpp>
#include <entitable/azure.hpp>
#include <entitable/memory.hpp>

#include <benchmarks/support/loopback_server.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

struct book {
    std::string shelf;
    std::string isbn;
    std::string name;
    std::int32_t n{};
    double m{};
};
ENTITABLE(book,
    partition_key(shelf),
    row_key(isbn),
    properties(name, n, m))

namespace measure {

constexpr std::size_t reads = 5'000;

/// Bytes of the response to a point read, with its header.
inline std::string point_read_response() {
    std::string const body =
        R"({"odata.etag":"W/\"datetime'2026-11-20T15%3A27%3A36.1234567Z'\"","PartitionKey":"a",)"
        R"("RowKey":"b","Timestamp":"2026-11-20T15:27:36.1234567Z","name":"a name","n":1,"m":2.5})";
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\nContent-Type: application/json;odata=minimalmetadata;charset=utf-8\r\n"
        "ETag: W/\"datetime'2026-11-20T15%3A27%3A36.1234567Z'\"\r\nx-ms-request-id: "
        "3f2b8c9e-5c1f-4d4c-9a55-2f6f3f0c1a11\r\n"
        "x-ms-version: 2019-02-02\r\nDate: Fri, 20 Nov 2026 15:27:36 GMT\r\n\r\n" +
        body;
}

inline entitable::azure_backend backend_of(loopback_server const& server) {
    return entitable::azure_backend{"DefaultEndpointsProtocol=http;AccountName=acct;AccountKey="
                                    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/"
                                    "K1SZFPTOtr/KBHBeksoGMGw==;TableEndpoint=" +
        server.origin() + "/acct;"};
}

[[noreturn]] inline void fail(std::string const& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::abort();
}

inline entitable::task<entitable::result<void>> read_one(
    entitable::async_table<book> books, std::string shelf, std::string isbn) {
    auto found = co_await books.get(shelf, isbn);
    co_return found ? entitable::result<void>{} : std::move(found).as_failure();
}

/// Reads `reads` times, as one task each.
inline void read_in_a_loop(entitable::any_store const& store, std::size_t in_flight) {
    entitable::event_loop loop{{.in_flight = in_flight}};
    entitable::async_table<book> const books{loop, store, "Reads"};
    for (std::size_t each = 0; each < reads; ++each) { loop.spawn(read_one(books, "a", "b")); }
    loop.run();
    if (loop.error()) { fail(loop.error()->to_string()); }
}

/// Never answers.
struct silent {
    using is_transport = void;
    entitable::memory_backend below;

    class way final : public entitable::channel {
    public:
        void send(entitable::request_ref, entitable::call&, void*) override {}
        void cancel(void*, entitable::error const&) override {}
        void poll(entitable::steady_time, entitable::completion_sink) override {}
        [[nodiscard]] entitable::steady_time wakes_at() const noexcept override {
            return entitable::steady_time::max();
        }
    };
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <entitable::table_request Request>
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        return below.execute(request, context);
    }
    [[nodiscard]] entitable::shared<entitable::channel> open(entitable::io_driver&) const {
        return entitable::shared<entitable::channel>{new way};
    }
};

} // namespace measure
