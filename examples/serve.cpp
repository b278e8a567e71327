// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// Run as a test with: --memory --check

/// \file
/// Serves tables to every client of the table service, in any language: from a file, or from memory.
///
///   serve FILE [--port N]        tables in a file, which is created if it does not exist
///   serve --memory [--port N]    tables that are lost at the end
///   serve --postgres DATABASE    tables in PostgreSQL, by a connection string; if the example was built with libpq
///   serve --memory --check       starts, stores and reads an entity as a client would, and stops
///
/// Prints one line with the connection string. Port 0 selects a free one. Ctrl-C completes the requests in progress and closes
/// the file.

#include <entitable/azure.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/listener.hpp>
#include <entitable/memory.hpp>
#if defined(EXAMPLES_HAVE_POSTGRES) // if libpq is available
#include <entitable/postgres.hpp>
#endif

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

struct runner {
    std::string event;
    std::string name;
    int age{};
};

ENTITABLE(runner, partition_key(event), row_key(name), properties(age))

namespace {

/// Does what a client does with the printed line.
bool check(std::string const& connection_string) {
    entitable::table<runner> const runners{entitable::azure_backend{connection_string}, "runners"};
    bool const good = runners.create() && runners.insert({"Berlin", "Ada", 36}) && runners.get("Berlin", "Ada");
    std::puts(good ? "an entity was stored and read" : "an entity was NOT stored and read");
    return good;
}

int usage() {
    std::fputs("usage: serve FILE | --memory | --postgres DATABASE [--port N] [--check]\n", stderr);
    return 2;
}

} // namespace

int main(int count, char** words) {
    std::string file;
    std::string database;
    bool memory = false;
    bool checks = false;
    entitable::listener_options options;
    for (int index = 1; index < count; ++index) {
        if (std::strcmp(words[index], "--memory") == 0) {
            memory = true;
        } else if (std::strcmp(words[index], "--postgres") == 0 && index + 1 < count) {
            database = words[++index];
        } else if (std::strcmp(words[index], "--check") == 0) {
            checks = true;
            options.port = 0;
        } else if (std::strcmp(words[index], "--port") == 0 && index + 1 < count) {
            options.port = static_cast<std::uint16_t>(std::atoi(words[++index]));
        } else if (words[index][0] != '-' && file.empty()) {
            file = words[index];
        } else {
            return usage();
        }
    }
    if (int{memory} + int{!file.empty()} + int{!database.empty()} != 1) { return usage(); }

    // Signals go to the one thread that waits for them.
    sigset_t stopping;
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGINT);
    sigaddset(&stopping, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stopping, nullptr);

    std::optional<entitable::any_store> store;
    if (memory) {
        store.emplace(entitable::memory_backend{});
    } else if (!database.empty()) {
#if defined(EXAMPLES_HAVE_POSTGRES)
        auto connected = entitable::postgres_backend::connect(database);
        if (!connected) {
            std::fprintf(stderr, "%s\n", connected.error().to_string().c_str());
            return 1;
        }
        store.emplace(*std::move(connected));
#else
        std::fputs("this program was built without libpq\n", stderr);
        return 1;
#endif
    } else if (auto opened = entitable::file_backend::open(file)) {
        store.emplace(*std::move(opened));
    } else {
        std::fprintf(stderr, "%s\n", opened.error().to_string().c_str());
        return 1;
    }
    entitable::http_listener listener{entitable::table_server{*store}, options};
    if (auto const opened = listener.listen(); !opened) {
        std::fprintf(stderr, "%s\n", opened.error().to_string().c_str());
        return 1;
    }
    auto const account = entitable::served_account::development();
    std::string const connection_string = "DefaultEndpointsProtocol=http;AccountName=" + account.name +
        ";AccountKey=" + account.key + ";TableEndpoint=http://127.0.0.1:" + std::to_string(listener.port()) + "/" +
        account.name + ";";
    if (!checks) { // with a different port each time
        std::printf("%s\n", connection_string.c_str());
        std::fflush(stdout);
    }

    bool good = true;
    std::thread until_stopped{[&] {
        if (checks) {
            good = check(connection_string);
        } else {
            int which = 0;
            sigwait(&stopping, &which);
        }
        listener.stop();
    }};
    auto const served = listener.run();
    until_stopped.join();
    std::puts("stopped");
    return served && good ? 0 : 1;
}
