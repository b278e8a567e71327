// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/http/curl_client.hpp>

#include <http/requests.hpp>
#include <support/catch.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

/// A client of an application that answers from memory.
struct canned {
    using is_http_client = void;
    result<http_response> send(http_request const& request, http_call const&) const {
        if (request.url == "bad") { return failure{error_code::transport_failed, "no"}; }
        http_response response;
        response.status = 200;
        response.body = request.url;
        return response;
    }
};

} // namespace

static_assert(opens_http_channels<curl_client>);
static_assert(http_client<curl_client const>);
static_assert(!std::is_convertible_v<curl_options, curl_client>);

TEST_CASE("a client without concurrent sending sends requests one by one") {
    canned client;
    listed_requests feed{{a_request("1"), a_request("bad"), a_request("3")}};
    feed.send(client, 16, {});
    REQUIRE(feed.answers().size() == 3);
    CHECK(feed.answers().at(0)->body == "1");
    CHECK_FALSE(feed.answers().at(1));
    CHECK(feed.answers().at(2)->body == "3");
}
