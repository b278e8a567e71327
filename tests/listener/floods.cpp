// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What floods of requests cost a server: its resident memory before, during and after each flood. The figures are printed.

#include "listening.hpp"
#include <entitable/cloud/http/curl_client.hpp>
#include <entitable/memory.hpp>
#include <entitable/tls.hpp>

#include <http/certificates.hpp>
#include <server/served.hpp>
#include <support/child_process.hpp>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <deque>
#include <fstream>
#include <string>
#include <string_view>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

/// A server in a process of its own.
class flooded {
public:
    explicit flooded(listener_options options)
        : process_([&] {
              raise_files();
              options.port = 0;
              http_listener listener{table_server{memory_backend{}, with_account()}, options};
              if (!listener.listen()) { return false; }
              *port_ = listener.port();
              return listener.run().has_value();
          }) {
        raise_files();
        while (*port_ == 0) { std::this_thread::sleep_for(1ms); }
        static_cast<void>(answer_to(port(), "GET /acct/Tables HTTP/1.1\r\nHost: h\r\n\r\n"));
    }
    [[nodiscard]] std::uint16_t port() const { return static_cast<std::uint16_t>(port_->load()); }
    [[nodiscard]] std::size_t megabytes() const {
        std::ifstream from{"/proc/" + std::to_string(process_.id()) + "/statm"};
        std::size_t pages = 0;
        from >> pages >> pages;
        return pages * 4096 / 1'000'000;
    }
    /// The memory once it has stopped to fall, at most some seconds later.
    [[nodiscard]] std::size_t megabytes_later(std::size_t wanted) const {
        std::size_t now = megabytes();
        for (int waited = 0; waited < 60 && now > wanted; ++waited) {
            std::this_thread::sleep_for(100ms);
            now = megabytes();
        }
        return now;
    }

private:
    static void raise_files() {
        rlimit files{};
        ::getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    shared_memory<std::atomic<int>> port_;
    child_process process_;
};

void print(char const* flood, std::size_t before, std::size_t during, std::size_t after) {
    std::printf("%s: %zu MB before, %zu MB during, %zu MB after\n", flood, before, during, after);
    std::fflush(stdout);
}

/// A request to /Tables, up to its empty line. `fields` are not signed, and end with CRLF.
std::string signed_head(http_method method, std::string_view fields = {}) {
    asker const by{table_server{memory_backend{}, with_account()}};
    http_request request = by.request(method, "/Tables");
    by.sign(request);
    std::string head = text::joined({to_string(method), " /acct/Tables HTTP/1.1\r\nHost: 127.0.0.1:10002\r\n", fields});
    request.headers.for_each([&](std::string_view name, std::string_view value) {
        head.append(name).append(": ").append(value).append("\r\n");
    });
    return head + "\r\n";
}

/// Whether a new client gets a response of the service.
bool serves(flooded const& server) {
    return answer_to(server.port(), "GET /acct/Tables HTTP/1.1\r\nHost: h\r\n\r\n").find("AuthenticationFailed") !=
        std::string::npos;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool has_figures = false; // a sanitizer keeps freed memory
#else
constexpr bool has_figures = true;
#endif

} // namespace

TEST_CASE("floods: bodies of unknown senders take no memory") {
    flooded const server{listener_options{}};
    std::size_t const before = server.megabytes();
    std::size_t during = before;
    std::string const piece(512 * 1024, 'x');
    {
        std::deque<raw_connection> senders;
        for (int number = 0; number < 200; ++number) {
            raw_connection const& each = senders.emplace_back(server.port());
            each.send("POST /acct/t HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
                      "4194000\r\n\r\n");
            for (int part = 0; part < 7; ++part) { each.send(piece); }
            during = (std::max)(during, server.megabytes());
        }
        CHECK(serves(server));
    }
    std::size_t const after = server.megabytes_later(before + 8);
    print("200 unsigned bodies of 4 MB", before, during, after);
    if (has_figures) {
        CHECK(during < before + 30);
        CHECK(after < before + 16);
    }
}

TEST_CASE("floods: bodies of known senders stay within the budget, and their memory is returned") {
    listener_options options;
    options.max_body_bytes = 64 * 1024 * 1024;
    flooded const server{options};
    std::size_t const before = server.megabytes();
    std::size_t during = before;
    std::size_t refused = 0;
    std::string const piece(4'000'000, ' ');
    std::string const head = signed_head(http_method::post, "Content-Length: 4194000\r\n");
    {
        std::deque<raw_connection> senders;
        for (int number = 0; number < 200; ++number) {
            raw_connection const& each = senders.emplace_back(server.port());
            each.send(head);
            each.send(piece);
            during = (std::max)(during, server.megabytes());
        }
        CHECK(serves(server));
        for (raw_connection const& each : senders) {
            refused += each.read_all(0).find("503") != std::string::npos ? 1U : 0U;
        }
    }
    std::size_t const after = server.megabytes_later(before + 16);
    print("200 signed bodies of 4 MB, budget 64 MiB", before, during, after);
    CHECK(refused >= 180);
    if (has_figures) {
        CHECK(during < before + 110);
        CHECK(after < before + 24);
    }
    CHECK(serves(server));
}

TEST_CASE("floods: idle connections and slow headers do not shut anybody out") {
    struct flood {
        char const* name;
        std::string sent;
        std::size_t most; ///< megabytes
    };
    for (flood const& each : {flood{"1,500 connections that say nothing", {}, 30},
             flood{"1,500 connections idle after a signed request", signed_head(http_method::get), 40},
             flood{"1,500 headers of 30 KB without an end", "GET / HTTP/1.1\r\nX: " + std::string(30'000, 'x'), 80}}) {
        CAPTURE(each.name);
        flooded const server{listener_options{}};
        std::size_t const before = server.megabytes();
        std::size_t during = before;
        {
            std::deque<raw_connection> senders;
            for (int number = 0; number < 1'500; ++number) { // more than the limit
                senders.emplace_back(server.port()).send(each.sent);
                if (number % 100 == 99) {
                    CHECK(serves(server));
                    during = (std::max)(during, server.megabytes());
                }
            }
            for (int asked = 0; asked < 20; ++asked) { CHECK(serves(server)); }
        }
        std::size_t const after = server.megabytes_later(before + 8);
        print(each.name, before, during, after);
        if (has_figures) {
            CHECK(during < before + each.most);
            CHECK(after < before + 16);
        }
    }
}

TEST_CASE("floods: unfinished TLS handshakes give way, and their memory is returned") {
    authority const trusted;
    temporary_folder const folder;
    tls_files const files{folder / "server.pem", folder / "server.key"};
    trusted.write_pair(files.certificate, files.key);
    auto const certificate = tls_certificate::load(files);
    REQUIRE(certificate);
    listener_options options;
    options.encryption = certificate->encryption();
    flooded const server{options};
    curl_options trusts;
    trusts.ca_file = trusted.file();
    http_request request;
    request.url = "https://127.0.0.1:" + std::to_string(server.port()) + "/acct/Tables";
    auto const answered = [&] {
        http_call call;
        call.deadline = std::chrono::steady_clock::now() + 20s;
        curl_client const fresh{trusts}; // a connection of its own
        auto const response = fresh.send(request, call);
        return response && response->status == 403;
    };
    CHECK(answered());
    std::size_t const before = server.megabytes();
    std::size_t silent = before;
    std::size_t during = before;
    {
        std::deque<raw_connection> senders;
        for (int number = 0; number < 1'000; ++number) { senders.emplace_back(server.port()); }
        CHECK(answered());
        silent = server.megabytes();
    }
    {
        // The beginning of a handshake, whose end is announced and does not come.
        std::string const half{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11};
        std::deque<raw_connection> senders;
        for (int number = 0; number < 1'500; ++number) {
            senders.emplace_back(server.port()).send(half);
            if (number % 100 == 99) { CHECK(answered()); }
        }
        during = (std::max)(during, server.megabytes());
        for (int asked = 0; asked < 20; ++asked) { CHECK(answered()); }
    }
    std::size_t const after = server.megabytes_later(before + 16);
    print("1,000 silent connections to a TLS port", before, silent, after);
    print("1,500 unfinished TLS handshakes", before, during, after);
    if (has_figures) {
        CHECK(silent < before + 16);
        CHECK(during < before + 140);
        CHECK(after < before + 24);
    }
}
