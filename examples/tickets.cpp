// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Run as a test with: {scratch}

/// \file
/// Tickets with numbers 1, 2, 3 ...: four clerks, each a process of its own, draw them from one sequence in one file. The newest
/// ten are the first ten rows, because the number is stored descending.
///
///     tickets FILE
///
/// Output that differs from run to run (who was faster, how often a draw was repeated) goes to standard error.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/sequence.hpp>

#if __has_include(<sys/wait.h>)
#include <sys/wait.h>
#include <unistd.h>
#else
#include <thread>
#endif

#include <cstdio>
#include <string>
#include <vector>

struct ticket {
    std::string desk;
    std::int64_t number{};
    std::int32_t clerk{};
    std::int32_t attempts{};
};

ENTITABLE(ticket,
    partition_key(desk),
    row_key(descending(number)), // the newest first: 1000 is "09223372036854774807"
    properties(clerk, attempts))

namespace {

constexpr std::int32_t clerks = 4;
constexpr int tickets_each = 250;

entitable::file_backend open(char const* path) {
    entitable::file_options options;
    options.durability =
        entitable::durability::relaxed; // a crash of a clerk loses nothing; a power cut may lose the last
    return entitable::file_backend{path, options};
}

void work(char const* path, std::int32_t clerk) {
    auto const store = open(path);
    entitable::table<ticket> const tickets{store, "tickets"};
    entitable::sequence const numbers{store, "tickets"};
    for (int count = 0; count < tickets_each; ++count) {
        auto const number = numbers.next().value();
        tickets.insert({"main hall", number.value, clerk, static_cast<std::int32_t>(number.attempts)}).value();
    }
}

/// Lets all clerks work at once, each in a process of its own if the system has fork.
bool work_all(char const* path) {
#if __has_include(<sys/wait.h>)
    std::vector<pid_t> working;
    for (std::int32_t clerk = 1; clerk <= clerks; ++clerk) {
        pid_t const process = fork();
        if (process == 0) {
            work(path, clerk);
            _exit(0);
        }
        working.push_back(process);
    }
    bool good = true;
    for (pid_t const process : working) {
        int status = 1;
        good = waitpid(process, &status, 0) == process && status == 0 && good;
    }
    return good;
#else
    std::vector<std::thread> working;
    for (std::int32_t clerk = 1; clerk <= clerks; ++clerk) {
        working.emplace_back([path, clerk] { work(path, clerk); });
    }
    for (std::thread& each : working) { each.join(); }
    return true;
#endif
}

} // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: tickets FILE\n");
        return 1;
    }
    {
        // Each run begins with number 1. The file is not open while processes are created: open stores do not survive
        // that.
        auto const store = open(arguments[1]);
        entitable::table<ticket> const tickets{store, "tickets"};
        tickets.drop_if_present().value();
        entitable::table<ticket>{store, "identities"}.drop_if_present().value();
        tickets.create().value();
    }
    if (!work_all(arguments[1])) { return 1; }
    auto const store = open(arguments[1]);
    entitable::table<ticket> const tickets{store, "tickets"};
    using t = entitable::fields<ticket>;

    auto const hall = tickets.where(t::desk == "main hall");
    std::int64_t next = clerks * tickets_each; // the newest comes first
    bool complete = true;
    for (ticket const& each : hall) { complete = each.number == next-- && complete; }
    std::printf("tickets 1 to %d, each once: %s\n", clerks * tickets_each, complete && next == 0 ? "yes" : "no");

    std::printf("the newest ten\n");
    auto newest = tickets.where(t::desk == "main hall").take(10);
    for (ticket const& each : newest) { std::printf("  %lld\n", static_cast<long long>(each.number)); }
    std::printf("rows read for them: %llu\n", static_cast<unsigned long long>(newest.analyze().examined));

    std::printf("the last three before 500\n");
    for (ticket const& each : tickets.where(t::desk == "main hall" && between(t::number, 497, 499))) {
        std::printf("  %lld\n", static_cast<long long>(each.number));
    }
    std::fprintf(stderr, "attempts for a number: %.2f on average, %d at most\n",
        static_cast<double>(hall.sum(t::attempts).value()) / static_cast<double>(hall.count().value()),
        static_cast<int>(hall.max(t::attempts).value().value_or(0)));
    return 0;
}
