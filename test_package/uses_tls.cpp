// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/tls.hpp>

#include <cstdio>

int main() {
    // A certificate that does not exist: its error names the file.
    auto const certificate = entitable::tls_certificate::load({"absent.pem", "absent.key"});
    if (certificate) {
        entitable::http_listener listener{
            entitable::table_server{entitable::memory_backend{}}, {.port = 0, .encryption = certificate->encryption()}};
        return listener.listen() ? 0 : 1;
    }
    bool const named = certificate.error().message.find("absent.pem") != std::string::npos;
    std::puts(named ? "the missing certificate was named" : "the missing certificate was NOT named");
    return named ? 0 : 1;
}
