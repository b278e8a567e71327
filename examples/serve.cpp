// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// Run as a test with: --memory --check

/// \file
/// Serves tables to every client of the table service, in any language: from a file, or from memory.
///
///   serve FILE [--port N]        tables in a file, which is created if it does not exist
///   serve --memory [--port N]    tables that are lost at the end
///   serve --postgres DATABASE    tables in PostgreSQL, by a connection string; if the example was built with libpq
///   serve --memory --check       starts, stores and reads an entity as a client would, and stops; not in the fully static program, which
///                                has no client
///
/// Prints the connection string of each account, one a line. Port 0 selects a free one. Ctrl-C completes the requests in progress and
/// closes the file. tool/serve/serve_command.hpp has all options: accounts, HTTPS, bearer tokens, log, health, seed,
/// export and reset.

#include <entitable/azure.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/listener.hpp>
#include <entitable/tls.hpp>
#if defined(EXAMPLES_HAVE_POSTGRES) // if libpq is available
#include <entitable/postgres.hpp>
#endif

#include "tool/serve/serve_command.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#if !defined(EXAMPLES_WITHOUT_CLIENT)

struct runner {
    std::string event;
    std::string name;
    int age{};
};

ENTITABLE(runner, partition_key(event), row_key(name), properties(age))

namespace {

/// Does what a client does with the printed line.
bool stores_and_reads(std::string const& connection_string) {
    entitable::table<runner> const runners{entitable::azure_backend{connection_string}, "runners"};
    bool const good = runners.create() && runners.insert({"Berlin", "Ada", 36}) && runners.get("Berlin", "Ada");
    std::puts(good ? "an entity was stored and read" : "an entity was NOT stored and read");
    return good;
}

} // namespace

#endif

int main(int count, char** words) {
    std::vector<std::string> arguments(words + 1, words + count);
#if defined(EXAMPLES_WITHOUT_CLIENT)
    return serving::serve_command(arguments);
#else
    auto const checks = std::find(arguments.begin(), arguments.end(), "--check");
    if (checks == arguments.end()) { return serving::serve_command(arguments); }
    arguments.erase(checks);
    arguments.insert(arguments.end(), {"--port", "0"});
    return serving::serve_command(arguments, stores_and_reads);
#endif
}
