// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// PgBouncer in front of the server of the tests, on a socket in a folder of its own.

#include <support/postgres_server.hpp>
#include <support/temporary_folder.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace entitable_test {

/// Whether PgBouncer and a server are available; otherwise prints that they are not.
inline bool has_bouncer() {
    if (postgres_server() == nullptr) { return false; }
    bool const found = std::system("PATH=$PATH:/usr/sbin command -v pgbouncer >/dev/null") == 0;
    if (!found) { std::puts("skipped: there is no PgBouncer (Debian: pgbouncer)"); }
    return found;
}

class bouncer {
public:
    /// `mode`: session, transaction, statement. `settings`: more lines of its configuration.
    explicit bouncer(std::string const& mode, std::string const& settings = {}) {
        std::string const server = postgres_server();
        std::size_t const host = server.find("host=") + 5;
        std::string const target = server.substr(host, server.find(' ', host) - host);
        std::ofstream{file_} << "[databases]\npostgres = host=" << target
                             << " port=5432 user=entitable dbname=postgres\n[pgbouncer]\n"
                             << "pool_mode = " << mode
                             << "\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = " << folder_.path().string()
                             << "\nauth_type = any\ndefault_pool_size = 3\nmax_client_conn = 200\nlog_connections = "
                                "0\nlog_disconnections = 0\n"
                             << settings << "\n";
        ::chmod(folder_.path().c_str(), 0777);
        start();
    }
    ~bouncer() { stop(); }
    bouncer(bouncer const&) = delete;
    bouncer& operator=(bouncer const&) = delete;

    void start() {
        std::fflush(nullptr);
        id_ = ::fork();
        if (id_ == 0) {
            std::string const log = folder_ / "log";
            if (std::freopen(log.c_str(), "a", stderr) == nullptr) { ::_exit(1); }
            if (::geteuid() == 0) {
                ::execlp("pgbouncer", "pgbouncer", "-q", "-u", "nobody", file_.c_str(), nullptr);
                ::execl("/usr/sbin/pgbouncer", "pgbouncer", "-q", "-u", "nobody", file_.c_str(), nullptr);
            }
            ::execlp("pgbouncer", "pgbouncer", "-q", file_.c_str(), nullptr);
            ::execl("/usr/sbin/pgbouncer", "pgbouncer", "-q", file_.c_str(), nullptr);
            ::_exit(1);
        }
        for (int waited = 0; waited < 500 && !listens(); ++waited) {
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
    }
    /// Ends it with all connections through it.
    void stop() {
        if (id_ > 0) {
            ::kill(id_, SIGKILL);
            ::waitpid(id_, nullptr, 0);
            id_ = -1;
            std::remove((folder_ / ".s.PGSQL.6432").c_str());
            std::remove((folder_ / ".s.PGSQL.6432.lock").c_str());
        }
    }
    [[nodiscard]] std::string connection_string() const {
        return "host=" + std::string{folder_.path()} + " port=6432 user=entitable dbname=postgres";
    }

private:
    /// Whether a connection is accepted: the file of the socket exists before that.
    [[nodiscard]] bool listens() const {
        ::sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::string const path = folder_ / ".s.PGSQL.6432";
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        int const handle = ::socket(AF_UNIX, SOCK_STREAM, 0);
        bool const taken = ::connect(handle, reinterpret_cast<::sockaddr const*>(&address), sizeof address) == 0;
        ::close(handle);
        return taken;
    }

    temporary_folder folder_;
    std::string file_ = folder_ / "pgbouncer.ini";
    pid_t id_{-1};
};

} // namespace entitable_test
