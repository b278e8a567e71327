// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What a cached token costs a request: finding it valid and adding it, compared with adding a field of the same size without any checks or locks.
// The header fields have their memory already. The token has 1,500 bytes, as tokens of Entra ID do. Requests for tokens are counted: one.
//   g++ -std=c++20 -O3 -I . -I include benchmarks/identity.cpp -o identity -lcurl -lssl -lcrypto -lsimdjson -lpthread

#include <entitable/identity.hpp>

#include <benchmarks/support/measure.hpp>

#include <cstdio>

using namespace entitable;

int main() {
    std::size_t requests = 0;
    identity const who{token_source{[&](std::string_view) -> result<access_token> {
        ++requests;
        return access_token{std::string(1500, 't'), date_time::now() + std::chrono::hours{1}};
    }}};
    credential const used = who;
    auto const at = endpoint::parse("https://acct.table.core.windows.net").value();
    http_request request;
    request.url = at.primary + "/Orders";
    auto const target = parse_url(request.url, "url").value();
    date_time const now = date_time::now();
    std::string const field = "Bearer " + std::string(1500, 't');
    constexpr std::size_t repeats = 200'000;
    std::size_t sum = 0;
    auto const by_hand = [&] {
        return measure::timed(repeats, [&] {
            for (std::size_t index = 0; index < repeats; ++index) {
                request.headers.clear();
                detail::known_fields::add(request.headers, "Authorization", field);
                sum += request.headers.size();
            }
        });
    };
    auto const ours = [&] {
        return measure::timed(repeats, [&] {
            for (std::size_t index = 0; index < repeats; ++index) {
                request.headers.clear();
                sum += used.authorize(request, {target, true, nullptr}, at, now) ? 1U : 0U;
            }
        });
    };
    std::vector<double> differences;
    for (int round = 0; round < 15; ++round) { differences.push_back(ours() - by_hand()); }
    measure::heading();
    measure::compare("add a cached token of 1,500 bytes", 3.0, 15, by_hand, ours);
    std::printf("over the field itself: %.1f ns   limit 50; requests for a token: %zu   limit 1 (%zu)\n",
        measure::median(differences), requests, sum % 10);
    return requests == 1 ? 0 : 1;
}
