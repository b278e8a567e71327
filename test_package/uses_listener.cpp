// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/listener.hpp>
#include <entitable/local/memory/memory_backend.hpp>

#include <cstdio>
#include <thread>

int main() {
    // Tables in memory, served on a free port for a moment.
    entitable::http_listener listener{entitable::table_server{entitable::memory_backend{}}, {.port = 0}};
    listener.listen().value();
    std::thread serving{[&] { listener.run().value(); }};
    bool const has_port = listener.port() != 0;
    listener.stop();
    serving.join();
    std::puts(has_port ? "served and stopped" : "no port");
    return has_port ? 0 : 1;
}
