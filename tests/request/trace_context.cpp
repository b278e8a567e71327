// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/trace_context.hpp>

#include <support/catch.hpp>

using namespace entitable;

namespace {

std::string const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

void refused(std::string const& text) {
    INFO(text);
    auto const read = trace_context::parse(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == error_code::invalid_input);
    CHECK(read.error().effect == effect::none);
    CHECK_FALSE(read.error().message.empty());
}

} // namespace

TEST_CASE("a traceparent is parsed and written unchanged") {
    auto const read = trace_context::parse(good);
    REQUIRE(read);
    CHECK(read->trace_high == 0x0af7651916cd43ddU);
    CHECK(read->trace_low == 0x8448eb211c80319cU);
    CHECK(read->span_id == 0xb7ad6b7169203331U);
    CHECK(read->flags == trace_context::sampled);
    CHECK(static_cast<bool>(*read));
    CHECK(read->trace_id() == "0af7651916cd43dd8448eb211c80319c");
    CHECK(read->to_string() == good);
    CHECK(trace_context::parse("00-00000000000000000000000000000001-0000000000000001-00")->to_string() ==
        "00-00000000000000000000000000000001-0000000000000001-00");
    CHECK(trace_context::parse("00-10000000000000000000000000000000-1000000000000000-02")->flags ==
        trace_context::random);
}

TEST_CASE("unknown flags are not forwarded") {
    CHECK(trace_context::parse(good.substr(0, 53) + "ff")->to_string() == good.substr(0, 53) + "03");
    CHECK(trace_context::parse(good.substr(0, 53) + "fc")->to_string() == good.substr(0, 53) + "00");
}

TEST_CASE("a traceparent of a later version is parsed as far as it is known") {
    std::string const later = "01" + good.substr(2);
    CHECK(trace_context::parse(later)->to_string() == good);
    CHECK(trace_context::parse(later + "-what-comes-then")->to_string() == good);
    CHECK(trace_context::parse("fe" + good.substr(2) + "-")->to_string() == good);
    refused(later + "x");
    refused(later + "00");
    refused(good + "-00");
    refused(good + "0");
    refused("ff" + good.substr(2));
}

TEST_CASE("a traceparent is parsed strictly") {
    refused("");
    refused("00");
    for (std::size_t length = 0; length < good.size(); ++length) { refused(good.substr(0, length)); }
    refused(good.substr(0, 3) + std::string(32, '0') + good.substr(35));
    refused(good.substr(0, 36) + std::string(16, '0') + good.substr(52));
    refused(" " + good);
    refused(good + " ");
    for (std::size_t index = 0; index < good.size(); ++index) {
        for (char const other : {'g', 'A', 'F', '/', ':', '`', ' ', '_', '\0', '\xff'}) {
            std::string changed = good;
            changed[index] = other;
            refused(changed);
        }
        if (good[index] != '-') {
            std::string changed = good;
            changed[index] = '-';
            refused(changed);
        }
    }
}

TEST_CASE("an empty trace context converts to false") {
    CHECK_FALSE(static_cast<bool>(trace_context{}));
    CHECK_FALSE(static_cast<bool>(trace_context{0, 0, 1, 0}));
    CHECK_FALSE(static_cast<bool>(trace_context{1, 1, 0, 1}));
    CHECK(static_cast<bool>(trace_context{1, 0, 1, 0}));
}
