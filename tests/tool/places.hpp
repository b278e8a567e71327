// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The stores on which commands are tested: memory, a file, a served store, and those that the environment names.

#include "tool_run.hpp"
#include <entitable/listener.hpp>
#include <entitable/memory.hpp>
#include <entitable/server.hpp>

#include <support/catch.hpp>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace entitable_test {

/// A store served over HTTP in this process.
class served_store {
public:
    served_store() : listener_(entitable::table_server{entitable::memory_backend{}, options()}, {.port = 0}) {
        REQUIRE(listener_.listen());
        running_ = std::thread{[this] { static_cast<void>(listener_.run()); }};
    }
    served_store(served_store const&) = delete;
    served_store& operator=(served_store const&) = delete;
    ~served_store() {
        listener_.stop();
        running_.join();
    }
    [[nodiscard]] std::string address() const {
        return "DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=" + key() +
            ";TableEndpoint=http://127.0.0.1:" + std::to_string(listener_.port()) + "/acct;";
    }

private:
    [[nodiscard]] static std::string key() { return "c2VjcmV0IGtleSBvZiBhIHRlc3QgYWNjb3VudA=="; }
    [[nodiscard]] static entitable::server_options options() {
        entitable::server_options made;
        made.accounts.push_back({"acct", {key()}});
        return made;
    }

    entitable::http_listener listener_;
    std::thread running_;
};

/// A kind of store, and its address in a test.
struct place {
    std::string kind;
    std::string address;
    std::shared_ptr<void> holder;
    std::string table{"runners"};
};

inline std::vector<place> places() {
    static int number = 0;
    ++number;
    std::vector<place> all;
    auto file = std::make_shared<scratch_store>();
    auto served = std::make_shared<served_store>();
    std::string const table = "runners" + std::to_string(::getpid()) + "n" + std::to_string(number);
    all.push_back({"memory", "memory:tool-" + table, nullptr});
    all.push_back({"file", file->path(), file});
    all.push_back({"served", served->address(), served});
    if (char const* const postgres = std::getenv("ENTITABLE_POSTGRES")) {
        std::string options = postgres;
        for (char& each : options) { each = each == ' ' ? '&' : each; }
        all.push_back({"postgres", "postgresql:///?" + options + "&create=true", nullptr, table});
    }
    if (char const* const azurite = std::getenv("ENTITABLE_AZURITE")) {
        all.push_back({"azurite", azurite, nullptr, table});
    }
    return all;
}

} // namespace entitable_test
