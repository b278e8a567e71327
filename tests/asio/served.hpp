// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Services for the tests of programs of Boost.Asio: one that serves tables, and one that accepts connections and never answers.

#include <entitable/azure.hpp>
#include <entitable/listener.hpp>
#include <entitable/memory.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <string>
#include <thread>

namespace entitable_test {

/// An account at a port of this machine.
[[nodiscard]] inline entitable::azure_backend account_at(unsigned port) {
    auto const account = entitable::served_account::development();
    return entitable::azure_backend{"DefaultEndpointsProtocol=http;AccountName=" + account.name + ";AccountKey=" +
        account.key + ";TableEndpoint=http://127.0.0.1:" + std::to_string(port) + "/" + account.name + ";"};
}

/// A service on a socket.
struct served_tables {
    entitable::memory_backend behind;
    entitable::http_listener listener{entitable::table_server{behind}, {.port = 0}};
    std::thread serving;
    served_tables() {
        listener.listen().value();
        serving = std::thread{[this] { listener.run().value(); }};
    }
    ~served_tables() {
        listener.stop();
        serving.join();
    }
    [[nodiscard]] entitable::azure_backend store() const { return account_at(listener.port()); }
};

/// The system accepts connections, and nobody reads them.
struct silent_service {
    boost::asio::io_context context;
    boost::asio::ip::tcp::acceptor door{context, {boost::asio::ip::address_v4::loopback(), 0}};

    [[nodiscard]] entitable::azure_backend store() const { return account_at(door.local_endpoint().port()); }
};

} // namespace entitable_test
