// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Memory runs out at each allocation of the first request of a backend: the call throws std::bad_alloc or returns its answer,
// and the program never ends.

#include <entitable/azure.hpp>

#include <support/catch.hpp>
#include <support/failing_new_definitions.hpp>

#include <new>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Sends nothing.
struct no_client {
    using is_http_client = void;
    result<http_response> send(http_request const&, http_call const&) const {
        return failure{error_code::transport_failed, "nothing is sent"};
    }
};

} // namespace

TEST_CASE("rest: a failed allocation in the first request of a backend throws std::bad_alloc") {
    constexpr auto where = "DefaultEndpointsProtocol=http;AccountName=account;AccountKey=bm8gc2VjcmV0;"
                           "TableEndpoint=http://127.0.0.1:1/account";
    std::size_t failures = 0;
    for (bool done = false; !done; ++failures) {
        REQUIRE(failures < 2'000);
        rest<no_client> const backend{where};
        call context;
        get_entity const request{"Orders", "p", "r", {}};
        allocation_limit const limit{failures};
        try {
            done = !backend.execute(request, context);
        } catch (std::bad_alloc const&) { continue; }
    }
    CHECK(failures > 5);
}
