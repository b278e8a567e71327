// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Queues on the emulator: the suite of all queues, in real time. Visibility follows the service's reference there, on updates as well.

#include "emulator.hpp"
#include <entitable/azure_queue.hpp>

#include <support/queue_conformance.hpp>

#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

queue_world<azure_queue<errand>> world(queue_text text) {
    static int number = 0;
    queue_options how;
    how.visibility = 4s;
    how.max_deliveries = 3;
    azure_queue<errand> const queue{std::getenv("ENTITABLE_AZURITE"), "errands-" + std::to_string(++number), how, text};
    queue.create().value();
    return {queue, [](std::chrono::nanoseconds by) { std::this_thread::sleep_for(by); },
        [](azure_queue<errand> const& of) {
            auto dead = of.dead_letters().claim().value();
            return dead ? std::string{dead->id()} + ": " + dead->reason().value() : std::string{"none"};
        }};
}

} // namespace

TEST_CASE("message_queue: azure_queue on the emulator") {
    if (has_emulator()) {
        check_message_queue<azure_queue<errand>>([] { return world(queue_text::plain); });
    }
}

TEST_CASE("azure_queue on the emulator: base64, counting, peeking and deleting a queue work") {
    if (!has_emulator()) { return; }
    auto const in = world(queue_text::base64);
    in.queue.enqueue({"Ulm", 1, "\xEF\xBF\xBF"}).value();
    CHECK(in.queue.approximate_count().value() == 1);
    CHECK(in.queue.peek().value().at(0).what == "\xEF\xBF\xBF");
    CHECK(in.queue.claim().value()->complete());
    CHECK(in.queue.remove().value());
    CHECK_FALSE(in.queue.remove().value());
    CHECK(in.queue.claim().error().code == error_code::resource_not_found);
}

TEST_CASE("azure_queue on the emulator: a wrong key is refused") {
    if (!has_emulator()) { return; }
    std::string wrong = std::getenv("ENTITABLE_AZURITE");
    wrong.replace(wrong.find("Eby8"), 4, "Abcd");
    CHECK(azure_queue<errand>{wrong, "errands"}.create().error().http_status == 403);
}
