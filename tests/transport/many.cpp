// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "scripted.hpp"
#include <entitable/transport/many.hpp>

#include <support/catch.hpp>

#include <string>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Offers a number of requests, and one more for each that failed.
struct counted_feed final : request_feed<get_entity> {
    explicit counted_feed(std::size_t count) : left(count), requests(count + 8) {}

    get_entity const* next(std::size_t& slot) override {
        if (left == 0) {
            return nullptr;
        }
        --left;
        slot = given++;
        requests[slot].row_key = std::to_string(slot) + (slot == 1 ? "!" : "");
        return &requests[slot];
    }
    void answer(std::size_t slot, result<get_entity::response> response) override {
        answered.push_back(slot);
        left += response ? 0U : 1U;
    }

    std::size_t left;
    std::size_t given{};
    std::vector<get_entity> requests;
    std::vector<std::size_t> answered;
};

} // namespace

TEST_CASE("requests go out one by one by default, and each answer to its own slot") {
    events log;
    one_by_one plain{&log};
    call context;
    counted_feed feed{3};
    execute_many(plain, feed, 10, context);
    CHECK(log == events{"0", "1!", "2", "3"});
    CHECK(feed.answered == std::vector<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("a transport that can have many under way is asked to") {
    events log;
    std::size_t most = 0;
    many_at_once wide{{&log}, &most};
    call context;
    counted_feed feed{3};
    execute_many(wide, feed, 2, context);
    CHECK(most == 2);
    CHECK(feed.answered == std::vector<std::size_t>{1, 2, 3, 0});
}

TEST_CASE("a request that the transport does not know is answered with NotSupported, many times") {
    struct feed_of_batches final : request_feed<transact> {
        transact batch;
        int left = 2;
        std::vector<error_code> codes;
        transact const* next(std::size_t& slot) override {
            slot = 0;
            return left-- > 0 ? &batch : nullptr;
        }
        void answer(std::size_t, result<transact::response> response) override {
            codes.push_back(response.error().code);
        }
    } feed;
    events log;
    one_by_one plain{&log};
    call context;
    execute_many(plain, feed, 1, context);
    CHECK(feed.codes == std::vector<error_code>{error_code::not_supported, error_code::not_supported});
}
