// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// A webhook that is delivered more than once: each customer gets one welcome mail, although the deliveries repeat, a mail server refuses one
/// mail at first, and one program ends between the mail and its record.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/once.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>

namespace {

/// A mail service that takes an idempotency key: a second request with the same key sends nothing.
struct mail_service {
    std::set<std::string, std::less<>> seen;
    bool busy{};

    entitable::result<void> send(std::string const& to, std::string_view id) {
        if (std::exchange(busy, false)) {
            return entitable::failure{entitable::error_code::server_busy, "the mail service is busy"};
        }
        bool const fresh = seen.emplace(id).second;
        std::printf("  %s %s\n", fresh ? "mail to" : "no second mail to", to.c_str());
        return {};
    }
};

} // namespace

int main() {
    entitable::testing::manual_clock time; // a real program uses the system's clock, which is the default
    entitable::memory_backend const store{entitable::local_options{.time = &time}};
    entitable::once_options options;
    options.time = &time;
    entitable::once const welcome{store, "welcome", options};
    mail_service post;

    auto const deliver = [&](std::string const& customer, bool ends = false) {
        std::printf("delivery for %s\n", customer.c_str());
        try {
            auto const sent = welcome.run(customer, [&](entitable::once_run const& run) -> entitable::result<void> {
                auto done = post.send(customer, run.id);
                if (ends) { throw std::runtime_error{"the program ends before it records the mail"}; }
                return done;
            });
            std::printf("  %s\n", !sent ? sent.error().message.c_str() : sent->ran ? "done" : "already done");
        } catch (std::runtime_error const& problem) { std::printf("  %s\n", problem.what()); }
    };
    deliver("ann");
    deliver("ann");

    post.busy = true;
    deliver("bob"); // refused without effect: the key is free again
    deliver("bob");

    deliver("eve", true);
    deliver("eve");                        // within the claim of the program that ended
    time.advance(std::chrono::minutes{2}); // the claim has ended
    deliver("eve");                        // runs again, with the same id
    std::printf("mails: %zu\n", post.seen.size());
    return 0;
}
