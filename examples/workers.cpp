// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Run as a test with: {scratch}

/// \file
/// Four processes work on one queue in one file; one of them is killed now and then, or asked to end, and another takes its place. Each order gets an invoice with
/// a number of its own. The numbers are reserved ahead by a worker of their own and handed out through a second queue: what a killed worker had
/// taken comes back, so no number is lost, and nobody waits for the counter.

#include <entitable/file.hpp>
#include <entitable/sequence.hpp>
#include <entitable/tables.hpp>
#include <entitable/worker.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using entitable::result;

struct order { // a message, and who it is for
    std::int32_t number{};
    std::string customer;
};
ENTITABLE(order, partition_key(literal("order")), row_key(number), properties(customer))

struct free_number { // a message: this number is on no invoice yet
    std::int64_t value{};
};
ENTITABLE(free_number, partition_key(literal("number")), row_key(value), properties())

struct invoice {
    std::int32_t order{};
    std::string customer;
    std::int64_t number{};
};
ENTITABLE(invoice, partition_key(literal("invoices")), row_key(literal("order:"), order), properties(customer, number))

struct used_number { // says on whose invoice a number is; written with the invoice, in one transaction
    std::int64_t value{};
    std::int32_t order{};
};
ENTITABLE(used_number, partition_key(literal("invoices")), row_key(literal("number:"), value), properties(order))

constexpr std::int32_t orders = 300;
constexpr std::int64_t block = 20;

struct office {
    entitable::file_backend store;
    entitable::queue_options how{.lanes = 4, .visibility = 2s, .max_deliveries = 1'000};
    entitable::table_queue<order> waiting{store, "orders", how};
    entitable::table_queue<free_number> numbers{store, "numbers", how};
    entitable::table<invoice, used_number> books{store, "invoices"};

    explicit office(char const* path)
        : store(path, entitable::file_options{.durability = entitable::durability::relaxed}) {}

    [[nodiscard]] bool done() const {
        auto const left = waiting.approximate_size().value();
        return left.ready + left.held == 0;
    }
};

/// Keeps numbers at hand for as long as there are orders. It alone reserves, and is not killed here: a block that was reserved and not yet
/// handed out would be a gap, as with each counter.
void reserve_ahead(char const* path) {
    office const in{path};
    entitable::sequence const invoices{in.store, "invoice"};
    while (!in.done()) {
        if (in.numbers.approximate_size().value().ready < block) {
            auto const reserved = invoices.reserve(block).value();
            for (std::uint32_t index = 0; index < reserved.count; ++index) {
                // Under an id: asked for twice it is there once.
                in.numbers.enqueue({reserved[index]}, {.id = std::to_string(reserved[index])}).value();
            }
        }
        std::this_thread::sleep_for(1ms);
    }
}

/// Writes the invoice of an order with a number that nobody has. Where the program ends in between, both messages come again, and the rows say
/// what was done: the order has its invoice, or the number is used.
result<void> write_invoice(office const& in, order const& one) {
    for (;;) {
        ENTITABLE_TRY(auto const there, in.books.find<invoice>(one.number));
        if (there) {
            return {}; // by a worker that ended before it could say so
        }
        ENTITABLE_TRY(auto number, in.numbers.claim({.wait = 10s}));
        if (!number) { return entitable::failure{entitable::error_code::resource_not_found, "there are no numbers"}; }
        auto const value = number->message().value;
        auto both = in.books.batch();
        both.insert(invoice{one.number, one.customer, value}).insert(used_number{value, one.number});
        auto const written = both.submit();
        if (written) { return number->complete(); }
        if (written.error().code != entitable::error_code::entity_already_exists) { return written; }
        ENTITABLE_TRY(auto const used, in.books.find<used_number>(value));
        ENTITABLE_CHECK(used ? number->complete() : number->release());
    }
}

entitable::cancellation_source stopping;

/// Until no order has come for longer than a killed worker could hold one, or the process is asked to end: the order in hand is then completed.
void work(char const* path) {
    std::signal(SIGTERM, [](int) { stopping.cancel(); });
    office const in{path};
    auto const handle = [&](order const& one) { return write_invoice(in, one); };
    (void)entitable::run_worker(in.waiting, handle, {.stop = stopping.token(), .wait = 3s}).value();
}

/// Runs it in a process of its own.
template <class Work>
pid_t begin(Work const& what) {
    std::fflush(nullptr);
    pid_t const made = ::fork();
    if (made == 0) {
        what();
        ::_exit(0);
    }
    return made;
}

int main(int, char** arguments) {
    char const* const path = arguments[1];
    {
        office const in{path};
        in.waiting.create().value();
        in.numbers.create().value();
        in.books.create().value();
        std::vector<order> all;
        for (std::int32_t number = 1; number <= orders; ++number) {
            all.push_back({number, number % 2 == 0 ? "Ann" : "Bob"});
        }
        in.waiting.enqueue_all(all).value();
    } // the children open the file themselves

    pid_t const reserves = begin([&] { reserve_ahead(path); });
    std::vector<pid_t> workers;
    for (int index = 0; index < 4; ++index) {
        workers.push_back(begin([&] { work(path); }));
    }
    int killed = 0;
    for (std::size_t turn = 0; turn < 6; ++turn) {
        std::this_thread::sleep_for(25ms);
        pid_t& one = workers[turn % workers.size()];
        bool const asked = turn % 3 == 2;
        ::kill(one, asked ? SIGTERM : SIGKILL);
        int status = 0;
        ::waitpid(one, &status, 0);
        killed += !asked && WIFSIGNALED(status) ? 1 : 0;
        one = begin([&] { work(path); });
    }
    workers.push_back(reserves);
    bool well = killed > 0;
    for (pid_t const each : workers) {
        int status = 0;
        ::waitpid(each, &status, 0);
        well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    std::cout << "workers were killed, and the others ended " << (well ? "well" : "badly") << '\n';

    office const in{path};
    std::set<std::int64_t> numbers;
    std::size_t invoices = 0;
    for (invoice const& each : in.books.where(entitable::fields<invoice>::order >= 1)) {
        ++invoices;
        numbers.insert(each.number);
    }
    std::cout << orders << " orders, " << invoices << " invoices, " << numbers.size() << " different numbers\n";
    std::this_thread::sleep_for(2100ms); // what killed workers had taken comes back
    std::int64_t highest = *numbers.rbegin();
    std::size_t left = 0;
    while (auto item = in.numbers.claim().value()) {
        auto const value = item->message().value;
        if (numbers.insert(value).second) {
            ++left;
            highest = value > highest ? value : highest;
        }
        item->complete().value();
    }
    std::cout << "numbers that are neither on an invoice nor in the queue: " << highest - std::ssize(numbers) << '\n'
              << (left < 10 * block ? "the next orders take the rest" : "too many are left") << '\n';
}
