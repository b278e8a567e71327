// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../exchange/progress.hpp"
#include "../serve/serve_command.hpp"

#include <algorithm>
#include <fstream>

namespace tool {

namespace {

struct serve_options {
    std::string store;
    std::string accounts;
    std::string seed;
    std::string export_file;
    entitable::tls_files tls;
    std::string oauth;
    std::vector<std::string> issuers;
    std::vector<std::string> audiences;
    std::vector<std::string> objects;
    std::uint16_t port{10002};
    std::uint16_t admin_port{};
    bool oauth_over_http{};
    bool resets{};
    bool logs{};
    bool json{};
    bool yes{};
};

/// The address of an account's own store, next to that of the first account. Errors: NotSupported for stores that cannot be multiplied.
entitable::result<std::string> address_of(std::string const& store, std::string const& account) {
    std::string const identity = store_identity(store);
    if (identity.starts_with("memory:")) { return std::string{"memory:"}; }
    if (!identity.starts_with("file:")) {
        return refuse("this store serves one account; the file of accounts may name one only");
    }
    std::size_t const query = (std::min)(store.find('?'), store.size());
    std::string place = store.substr(0, query);
    if (!place.starts_with("file:")) { place.insert(0, "file:"); }
    return place + "." + account + store.substr(query);
}

outcome serve(serve_options const& given, bool administers, console& with) {
    if (given.resets && !administers) {
        with.err << "entitable: --reset needs --admin-port, which receives the requests\n";
        return exit_code::usage;
    }
    if (given.tls.certificate.empty() != given.tls.key.empty()) {
        with.err << "entitable: --tls-certificate and --tls-key belong together\n";
        return exit_code::usage;
    }
    bool const rules =
        given.oauth_over_http || !given.issuers.empty() || !given.audiences.empty() || !given.objects.empty();
    if (given.oauth.empty() && rules) {
        with.err << "entitable: the other options of --oauth need --oauth\n";
        return exit_code::usage;
    }
    if (!given.oauth.empty() && given.tls.key.empty() && !given.oauth_over_http) {
        with.err << "entitable: --oauth needs --tls-certificate and --tls-key, or --oauth-over-http behind a proxy\n";
        return exit_code::usage;
    }
    if (given.resets) {
        auto const permitted =
            confirm(with, given.yes, "--reset lets anyone who reaches the admin port delete all tables. Permit it?");
        if (!permitted) { return entitable::failure{permitted.error()}; }
    }
    if (!given.accounts.empty() && !std::ifstream{given.accounts}) { return refuse("cannot read " + given.accounts); }
    serving::settings from;
    from.accounts = given.accounts;
    from.seed = given.seed;
    from.export_file = given.export_file;
    from.tls = given.tls;
    from.oauth = given.oauth;
    from.tokens.issuers = given.issuers;
    if (!given.audiences.empty()) { from.tokens.audiences = given.audiences; }
    from.tokens.objects = given.objects;
    from.oauth_over_http = given.oauth_over_http;
    from.port = given.port;
    if (administers) { from.admin_port = given.admin_port; }
    from.resets = given.resets;
    from.logs = given.logs;
    from.json = given.json;
    from.opens = [&](std::string const& account, bool first) -> entitable::result<entitable::any_store> {
        if (first) { return open_or_create_store(given.store); }
        auto const address = address_of(given.store, account);
        return address ? open_or_create_store(*address)
                       : entitable::result<entitable::any_store>{entitable::failure{address.error()}};
    };
    with.out.flush();
    return serving::serve_tables(from) == 0 ? exit_code::success : exit_code::failure;
}

} // namespace

void add_serve(command_list& all) {
    auto given = std::make_shared<serve_options>();
    auto administers = std::make_shared<CLI::Option*>(nullptr);
    CLI::App& command = all.add("serve", "Serves the tables of a store to clients in every language",
        "entitable serve shop.db\n"
        "entitable serve memory: --port 0 --json\n"
        "entitable serve shop.db --accounts accounts.txt --admin-port 10003 --log",
        [given, administers](console& with) { return serve(*given, (*administers)->count() != 0, with); });
    command.description(
        "Serves the tables of a store to clients in every language, by the protocol of the table service.\n"
        "Prints the connection string of each account. Programs on this computer can connect, over HTTP, or over HTTPS "
        "alone with a certificate. SIGHUP reads the certificate and the key set again. Ctrl-C completes the requests "
        "in "
        "progress. GET /health and GET /metrics answer on the admin port.");
    command.add_option("STORE", given->store, store_help)->required();
    command.add_option("--port", given->port, "Port of the tables; 0 selects a free one; default: 10002");
    command.add_option("--accounts", given->accounts,
        "File with a line for each account: NAME KEY [SECOND_KEY]; default: the account of the emulator. The second "
        "and later accounts of a file have files of their own, FILE.NAME");
    *administers = command.add_option("--admin-port", given->admin_port,
        "Port for GET /health, GET /metrics and, with --reset, POST /reset; 0 selects a free one");
    command.add_option("--seed", given->seed,
        "Entities to insert at the start: JSON lines with \"table\" as the first member; rows that exist are kept");
    command.add_option("--export", given->export_file,
        "File for the first account's entities at the end, in the form of --seed; the admin port answers GET /export");
    command.add_option("--tls-certificate", given->tls.certificate, "Certificate chain in PEM form: serve HTTPS alone");
    command.add_option("--tls-key", given->tls.key, "Private key of the certificate in PEM form");
    command.add_option("--oauth", given->oauth,
        "Accept bearer tokens: FILE is a JSON web key set whose keys verify them (RS256, ES256); basic checks issuer, "
        "audience and times, and NOT the signature, so that anyone can write a token: for tests on this computer");
    command.add_option(
        "--oauth-issuer", given->issuers, "Issuer that tokens may have; may be repeated; a key set needs it");
    command.add_option("--oauth-audience", given->audiences, "Audience that tokens may have; may be repeated");
    command.add_option("--oauth-object", given->objects, "Object (oid) that tokens may have; may be repeated");
    command.add_flag(
        "--oauth-over-http", given->oauth_over_http, "Accept tokens without TLS: behind a proxy that ends TLS");
    command.add_flag("--reset", given->resets, "Permit POST /reset, with a header field x-reset: deletes all tables");
    command.add_flag("--yes", given->yes, "Permit --reset without a question");
    command.add_flag(
        "--log", given->logs, "Print a line for each request on the standard error, without data of users");
    command.add_flag("--json", given->json, "Print ports and connection strings as one line of JSON");
}

} // namespace tool
