// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The command that serves tables to clients in every language: options, accounts, log, health, seed and reset.

#include <entitable/azure.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/listener.hpp>
#include <entitable/memory.hpp>
#include <entitable/server.hpp>
#include <entitable/tls.hpp>
#if defined(EXAMPLES_HAVE_POSTGRES) // if libpq is available
#include <entitable/postgres.hpp>
#endif

#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace serving {

inline constexpr char const* usage =
    "usage: serve FILE | --memory | --postgres DATABASE   where the tables are\n"
    "  --port N          port of the tables, 10002; 0 selects a free one\n"
    "  --accounts FILE   a line for each account: NAME KEY [SECOND_KEY]; by default the account of the emulator\n"
    "  --admin-port N    GET /health, GET /metrics and, with --reset, POST /reset; 0 selects a free one\n"
    "  --seed FILE       entities to insert at the start, one JSON object a line, with \"table\" as its first member\n"
    "  --reset           permits POST /reset, with a header field x-reset: deletes all tables, and inserts the seed "
    "again\n"
    "  --tls-certificate FILE, --tls-key FILE   serves HTTPS alone, with these files in PEM form; SIGHUP reads them "
    "again\n"
    "  --oauth basic     accepts bearer tokens by issuer, audience and times; their signatures are NOT verified, so "
    "that "
    "anyone\n"
    "                    can write one: for tests on this computer\n"
    "  --oauth FILE      accepts bearer tokens signed by a key of this JSON web key set (RS256, ES256); needs "
    "--oauth-issuer;\n"
    "                    SIGHUP reads the file again\n"
    "  --oauth-issuer TEXT, --oauth-audience TEXT, --oauth-object TEXT\n"
    "                    what the tokens must say (iss, aud, oid); each may be repeated\n"
    "  --oauth-over-http accepts tokens without TLS too: behind a proxy that ends TLS\n"
    "  --export FILE     writes the first account's entities at the end, in the form of --seed; with --admin-port, GET "
    "/export\n"
    "                    returns them meanwhile\n"
    "  --log             one line a request on stderr, and the causes of failures of the store\n"
    "  --json            prints ports and connection strings as one line of JSON\n";

/// The options of the command.
struct settings {
    std::string file{};
    std::string database{};
    std::string accounts{};
    std::string seed{};
    std::string export_file{};
    entitable::tls_files tls{};
    std::string oauth{}; ///< "basic", or the file of a key set
    entitable::token_rules tokens{};
    std::uint16_t port{10002};
    std::optional<std::uint16_t> admin_port{};
    bool memory{};
    bool resets{};
    bool logs{};
    bool json{};
    bool oauth_over_http{};
    bool audiences_given{};
    /// Opens the store of an account, instead of one of the places above: the first account has the place itself.
    std::function<entitable::result<entitable::any_store>(std::string const& account, bool first)> opens{};
};

/// Reads a port; nullopt if it is not a number from 0 to 65535.
inline std::optional<std::uint16_t> port_in(std::string_view text) {
    std::uint16_t port = 0;
    auto const read = std::from_chars(text.data(), text.data() + text.size(), port);
    bool const whole = !text.empty() && read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return whole ? std::optional{port} : std::nullopt;
}

/// Reads the arguments; nullopt if they are wrong.
inline std::optional<settings> read_arguments(std::vector<std::string> const& arguments) {
    settings made;
    for (std::size_t index = 0; index < arguments.size(); ++index) {
        std::string const& word = arguments[index];
        std::string const* const next = index + 1 < arguments.size() ? &arguments[index + 1] : nullptr;
        bool const takes_next = word == "--postgres" || word == "--port" || word == "--accounts" ||
            word == "--admin-port" || word == "--seed" || word == "--export" || word.starts_with("--tls-") ||
            (word.starts_with("--oauth") && word != "--oauth-over-http");
        if (takes_next) {
            if (next == nullptr) { return std::nullopt; }
            ++index;
        }
        if (word == "--memory") {
            made.memory = true;
        } else if (word == "--reset") {
            made.resets = true;
        } else if (word == "--log") {
            made.logs = true;
        } else if (word == "--json") {
            made.json = true;
        } else if (word == "--postgres") {
            made.database = *next;
        } else if (word == "--accounts") {
            made.accounts = *next;
        } else if (word == "--seed") {
            made.seed = *next;
        } else if (word == "--export") {
            made.export_file = *next;
        } else if (word == "--tls-certificate") {
            made.tls.certificate = *next;
        } else if (word == "--tls-key") {
            made.tls.key = *next;
        } else if (word == "--oauth") {
            made.oauth = *next;
        } else if (word == "--oauth-issuer") {
            made.tokens.issuers.push_back(*next);
        } else if (word == "--oauth-audience") {
            if (!std::exchange(made.audiences_given, true)) { made.tokens.audiences.clear(); }
            made.tokens.audiences.push_back(*next);
        } else if (word == "--oauth-object") {
            made.tokens.objects.push_back(*next);
        } else if (word == "--oauth-over-http") {
            made.oauth_over_http = true;
        } else if (word == "--port" || word == "--admin-port") {
            auto const port = port_in(*next);
            if (!port) { return std::nullopt; }
            if (word == "--port") {
                made.port = *port;
            } else {
                made.admin_port = port;
            }
        } else if (!word.starts_with('-') && made.file.empty()) {
            made.file = word;
        } else {
            return std::nullopt;
        }
    }
    bool const one_place = int{made.memory} + int{!made.file.empty()} + int{!made.database.empty()} == 1;
    bool const can_reset = !made.resets || made.admin_port;
    bool const whole_pair = made.tls.certificate.empty() == made.tls.key.empty();
    bool const rules =
        made.oauth_over_http || made.audiences_given || !made.tokens.issuers.empty() || !made.tokens.objects.empty();
    bool const tokens = made.oauth.empty() ? !rules : !made.tls.key.empty() || made.oauth_over_http;
    return one_place && can_reset && whole_pair && tokens ? std::optional{made} : std::nullopt;
}

/// Writes one line for each request, without secrets and user data. Safe to use from several threads.
class request_log final : public entitable::observer {
public:
    void on_attempt(entitable::attempt_record const& done) noexcept override {
        using std::chrono::duration_cast;
        auto const took = duration_cast<std::chrono::microseconds>(done.ended - done.begun).count();
        std::string const now = entitable::date_time::now().to_string();
        std::string const name{done.name};
        std::string const table{done.table.empty() ? std::string_view{"-"} : done.table};
        std::string const code{done.outcome.error ? entitable::to_string(*done.outcome.error) : std::string_view{"-"}};
        std::string const id{done.request_id.empty() ? std::string_view{"-"} : done.request_id};
        std::lock_guard const guard{lock_};
        std::fprintf(stderr, "%s %d %s %s %s %lld us, %zu bytes in, %zu out, %s\n", now.c_str(),
            int{done.outcome.status}, name.c_str(), table.c_str(), code.c_str(), static_cast<long long>(took),
            done.request_size, done.response_size, id.c_str());
    }
    void failed(std::string_view request, entitable::error const& problem) {
        std::string const text = problem.to_string();
        std::lock_guard const guard{lock_};
        std::fprintf(stderr, "%s: the store failed: %s\n", std::string{request}.c_str(), text.c_str());
    }

private:
    std::mutex lock_;
};

/// Passes requests on, and logs why the store could not answer: clients only get InternalError.
class logged_store {
public:
    using is_transport = void;
    logged_store(std::shared_ptr<entitable::any_store> inner, request_log& log)
        : inner_(std::move(inner)), log_(&log) {}

    [[nodiscard]] entitable::profile profile() const { return inner_->profile(); }
    template <entitable::table_request Request>
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        auto made = inner_->execute(request, context);
        if (!made) {
            switch (made.error().code) {
                case entitable::error_code::store_failed:
                case entitable::error_code::internal_error:
                case entitable::error_code::row_malformed:
                case entitable::error_code::transport_failed:
                case entitable::error_code::other_service_error: log_->failed(Request::name, made.error()); break;
                default: break;
            }
        }
        return made;
    }

private:
    std::shared_ptr<entitable::any_store> inner_;
    request_log* log_;
};

/// Opens the store of an account: the first has the given place, others a file or memory of their own.
inline entitable::result<entitable::any_store> open_store(
    settings const& from, std::string const& account, bool first) {
    if (from.opens) { return from.opens(account, first); }
    if (from.memory) { return entitable::any_store{entitable::memory_backend{}}; }
    if (!from.database.empty()) {
        if (!first) {
            return entitable::failure{
                entitable::error_code::not_supported, "--postgres serves one account: use a database for each"};
        }
#if defined(EXAMPLES_HAVE_POSTGRES)
        auto connected = entitable::postgres_backend::connect(from.database);
        if (!connected) { return std::move(connected).as_failure(); }
        return entitable::any_store{*connected};
#else
        return entitable::failure{entitable::error_code::not_supported, "this program was built without libpq"};
#endif
    }
    auto opened = entitable::file_backend::open(first ? from.file : from.file + "." + account);
    if (!opened) { return std::move(opened).as_failure(); }
    return entitable::any_store{*opened};
}

/// Whether a file is open and can be read: a folder can be opened.
inline bool can_be_read(std::ifstream& from) {
    if (!from) { return false; }
    from.peek();
    if (from.bad()) { return false; }
    from.clear(); // an empty file
    return true;
}

/// Reads the accounts. Errors: InvalidInput names the line.
inline entitable::result<std::vector<entitable::served_account>> read_accounts(std::string const& path) {
    std::vector<entitable::served_account> made;
    if (path.empty()) { return std::vector{entitable::served_account::development()}; }
    std::ifstream from{path};
    if (!can_be_read(from)) {
        return entitable::failure{entitable::error_code::invalid_input, path + " cannot be read"};
    }
    std::string line;
    for (std::size_t number = 1; std::getline(from, line); ++number) {
        std::istringstream words{line.substr(0, line.find('#'))};
        entitable::served_account each;
        std::string more;
        if (!(words >> each.name)) { continue; }
        if (!(words >> each.key)) {
            return entitable::failure{entitable::error_code::invalid_input,
                path + ", line " + std::to_string(number) + ": an account needs a name and a key"};
        }
        words >> each.second_key;
        if (words >> more) {
            return entitable::failure{entitable::error_code::invalid_input,
                path + ", line " + std::to_string(number) + ": an account has a name and at most two keys"};
        }
        made.push_back(std::move(each));
    }
    if (made.empty()) { return entitable::failure{entitable::error_code::invalid_input, path + " names no account"}; }
    return made;
}

/// Returns what is wrong with the accounts, before a name becomes part of the name of a file; empty if nothing is.
inline std::string account_problem(std::vector<entitable::served_account> accounts) {
    entitable::any_store const store{entitable::memory_backend{}};
    for (entitable::served_account& each : accounts) { each.store = store; }
    entitable::server_options options;
    options.accounts = std::move(accounts);
    auto const tried = entitable::table_server::start(store, options);
    return tried ? std::string{} : tried.error().to_string();
}

/// Whether a URL names this computer. A page in a browser can let its own name point here, and is then no stranger to this server.
inline bool names_this_computer(std::string_view url) {
    constexpr std::string_view scheme = "http://";
    url.remove_prefix(url.starts_with(scheme) ? scheme.size() : 0);
    std::string_view host = url.substr(0, url.find('/'));
    if (host.starts_with('[')) {
        host = host.substr(0, host.find(']') + 1);
    } else {
        host = host.substr(0, host.find(':'));
    }
    return host == "127.0.0.1" || host == "localhost" || host == "[::1]";
}

/// Sends a request of the program itself to a server, as the first account.
inline entitable::http_response ask_server(entitable::table_server const& server,
    entitable::served_account const& account, std::string_view path, std::string body,
    entitable::http_method method = entitable::http_method::post) {
    entitable::http_request request;
    request.method = method;
    std::string const base = "http://127.0.0.1/" + account.name;
    request.url = base + std::string{path};
    request.body = std::move(body);
    bool const reads = method == entitable::http_method::get; // with the types of properties
    bool const added = request.headers.add("Accept",
                           reads ? "application/json;odata=minimalmetadata" : "application/json;odata=nometadata") &&
        request.headers.add("Prefer", "return-no-content");
    auto const who = entitable::credential::account_key(account.name, account.key);
    auto const at = entitable::endpoint::parse(base, {}, account.name);
    if (!added || !who || !at || !who->authorize(request, *at, entitable::date_time::now())) { return {}; }
    return server.answer(request);
}

/// Inserts the lines of a seed into the first account. Rows that exist are kept. Returns a text about the first line that failed; empty if
/// all are stored.
inline std::string insert_seed(
    std::string const& path, entitable::table_server const& server, entitable::served_account const& account) {
    if (path.empty()) { return {}; }
    std::ifstream from{path};
    if (!can_be_read(from)) { return path + " cannot be read"; }
    constexpr std::string_view start = "{\"table\":\"";
    std::string line;
    for (std::size_t number = 1; std::getline(from, line); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) { continue; }
        std::size_t const end = line.find("\",", start.size());
        if (!line.starts_with(start) || end == std::string::npos) {
            return path + ", line " + std::to_string(number) + ": it must begin with {\"table\":\"NAME\",";
        }
        std::string const table = line.substr(start.size(), end - start.size());
        std::string const entity = "{" + line.substr(end + 2);
        auto made = ask_server(server, account, "/" + table, entity);
        if (made.status == 404) {
            made = ask_server(server, account, "/Tables", "{\"TableName\":\"" + table + "\"}");
            if (made.status < 300 || made.status == 409) { made = ask_server(server, account, "/" + table, entity); }
        }
        bool const stored = made.status >= 200 && made.status < 300; // 0 if no URL can name the table
        if (!stored && made.status != 409) {
            return path + ", line " + std::to_string(number) + ": " +
                std::string{made.headers.find("x-ms-error-code").value_or("it cannot be stored")};
        }
    }
    return {};
}

/// Returns the objects of the array "value" of a page. Entities have no objects in them.
inline std::vector<std::string_view> objects_of(std::string_view page) {
    std::vector<std::string_view> made;
    std::size_t const array = page.find("\"value\":[");
    bool in_text = false;
    std::size_t begin = 0;
    for (std::size_t at = array; array != std::string_view::npos && at < page.size(); ++at) {
        char const each = page[at];
        if (in_text) {
            if (each == '\\') { ++at; }
            in_text = each != '"';
        } else if (each == '"') {
            in_text = true;
        } else if (each == '{') {
            begin = at;
        } else if (each == '}' && begin != 0) {
            made.push_back(page.substr(begin, at + 1 - begin));
            begin = 0;
        }
    }
    return made;
}

/// Calls `use` with each object of each page of a list of the first account. Returns whether all pages were read.
inline bool for_each_object(entitable::table_server const& server, entitable::served_account const& account,
    std::string const& path, std::function<void(std::string_view object)> const& use) {
    std::string query;
    for (;;) {
        auto const page = ask_server(server, account, path + query, {}, entitable::http_method::get);
        if (page.status != 200) { return false; }
        for (std::string_view const each : objects_of(page.body)) { use(each); }
        query.clear();
        for (std::string_view const name : {"NextTableName", "NextPartitionKey", "NextRowKey"}) {
            auto const next = page.headers.find("x-ms-continuation-" + std::string{name});
            if (!next) { continue; }
            query += query.empty() ? "?" : "&";
            query.append(name).append("=");
            for (char const character : *next) { // base64 and ASCII
                constexpr char const* digits = "0123456789ABCDEF";
                auto const byte = static_cast<unsigned char>(character);
                query += {'%', digits[byte >> 4U], digits[byte & 15U]};
            }
        }
        if (query.empty()) { return true; }
    }
}

/// Writes the entities of the first account in the form of a seed. Entities that are written meanwhile may be missing. Returns whether all
/// were read.
inline bool export_entities(
    entitable::table_server const& server, entitable::served_account const& account, std::string& to) {
    std::vector<std::string> tables;
    constexpr std::string_view name_begin = "\"TableName\":\"";
    bool good = for_each_object(server, account, "/Tables", [&](std::string_view object) {
        std::size_t const begin = object.find(name_begin) + name_begin.size();
        tables.emplace_back(object.substr(begin, object.find('"', begin) - begin));
    });
    for (std::string const& each : tables) {
        good = good && for_each_object(server, account, "/" + each, [&](std::string_view object) {
            to.append("{\"table\":\"").append(each).append("\",").append(object.substr(1)).append("\n");
        });
    }
    return good;
}

/// Writes a file under another name first, so that a reader never sees half of it. Returns whether it is complete.
inline bool write_file(std::string const& path, std::string const& text) {
    std::string const unfinished = path + ".part";
    std::ofstream to{unfinished, std::ios::binary};
    to << text;
    to.close();
    return !to.fail() && std::rename(unfinished.c_str(), path.c_str()) == 0;
}

/// Deletes all tables. Returns whether all are gone.
inline bool delete_tables(entitable::any_store const& store) {
    for (int round = 0; round < 1000; ++round) {
        entitable::call context;
        auto const found = store.execute(entitable::list_tables{}, context);
        if (!found) { return false; }
        if (found->tables.empty()) { return true; }
        for (std::string const& each : found->tables) {
            entitable::call mine;
            auto const gone = store.execute(entitable::delete_table{each, true}, mine);
            if (!gone && gone.error().code != entitable::error_code::resource_not_found) { return false; }
        }
    }
    return false;
}

/// Returns the connection string of an account.
inline std::string connection_string(
    entitable::served_account const& account, std::uint16_t port, bool encrypted = false) {
    std::string const scheme = encrypted ? "https" : "http";
    return "DefaultEndpointsProtocol=" + scheme + ";AccountName=" + account.name + ";AccountKey=" + account.key +
        ";TableEndpoint=" + scheme + "://127.0.0.1:" + std::to_string(port) + "/" + account.name + ";";
}

/// The files that SIGHUP reads again.
struct reloaded_files {
    std::optional<entitable::tls_certificate> certificate{};
    std::optional<entitable::token_check> tokens{};

    /// Reads them again, and reports on stderr. After an error the old content is used.
    void reload() const {
        auto const report = [](char const* what, entitable::result<void> const& done) {
            std::fprintf(stderr, "%s: %s\n", what, done ? "read again" : done.error().to_string().c_str());
        };
        if (certificate) { report("certificate", certificate->reload()); }
        if (tokens) { report("token keys", tokens->reload()); }
    }
};

/// Loads the files that the options name. Errors: InvalidInput, which names the file.
inline entitable::result<reloaded_files> load_files(settings const& from) {
    reloaded_files made;
    if (!from.tls.certificate.empty()) {
        auto loaded = entitable::tls_certificate::load(from.tls);
        if (!loaded) { return std::move(loaded).as_failure(); }
        made.certificate = *loaded;
    }
    if (from.oauth == "basic") {
        made.tokens = entitable::token_check::without_signatures(from.tokens);
    } else if (!from.oauth.empty()) {
        auto loaded = entitable::token_check::with_keys(from.oauth, from.tokens);
        if (!loaded) { return std::move(loaded).as_failure(); }
        made.tokens = *loaded;
    }
    return made;
}

/// Serves until SIGINT or SIGTERM, and finishes the requests in progress. With `check`, calls it with the connection string instead, prints
/// nothing, and stops. Returns the exit code.
inline int serve_tables(settings const& from, std::function<bool(std::string const& connection)> const& check = {}) {
    auto const fail = [](std::string const& text) {
        std::fprintf(stderr, "%s\n", text.c_str());
        return 1;
    };

    // Signals go to the one thread that waits for them.
    sigset_t stopping;
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGINT);
    sigaddset(&stopping, SIGTERM);
    sigaddset(&stopping, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &stopping, nullptr);

    request_log log;
    auto accounts = read_accounts(from.accounts);
    if (!accounts) { return fail(accounts.error().to_string()); }
    if (std::string const problem = account_problem(*accounts); !problem.empty()) { return fail(problem); }
    std::vector<entitable::any_store> stores;
    for (entitable::served_account& each : *accounts) {
        auto opened = open_store(from, each.name, stores.empty());
        if (!opened) { return fail(opened.error().to_string()); }
        stores.push_back(*opened);
        each.store = from.logs
            ? entitable::any_store{logged_store{std::make_shared<entitable::any_store>(*opened), log}}
            : *opened;
    }
    entitable::server_options options;
    options.accounts = *accounts;
    options.watch = from.logs ? &log : nullptr;
    auto const files = load_files(from);
    if (!files) { return fail(files.error().to_string()); }
    if (files->tokens) { options.bearer = *files->tokens; }
    options.bearer_over_http = from.oauth_over_http;
    auto const server = entitable::table_server::start(stores.front(), options);
    if (!server) { return fail(server.error().to_string()); }
    if (std::string const problem = insert_seed(from.seed, *server, accounts->front()); !problem.empty()) {
        return fail(problem);
    }

    entitable::listener_options where;
    where.port = from.port;
    where.watch = options.watch;
    bool const encrypted = files->certificate.has_value();
    if (encrypted) { where.encryption = files->certificate->encryption(); }
    entitable::http_listener listener{*server, where};
    if (auto const opened = listener.listen(); !opened) { return fail(opened.error().to_string()); }

    std::mutex one_reset;
    auto const administer = [&](entitable::http_request const& request, entitable::request_sender const&) {
        entitable::http_response made;
        if (!names_this_computer(request.url)) {
            made.status = 403;
            made.body = "the host of the request is not this computer\n";
            return made;
        }
        made.status = 404;
        bool const gets = request.method == entitable::http_method::get;
        if (gets && request.url.ends_with("/metrics")) {
            made.status = 200;
            made.body = listener.metrics();
            static_cast<void>(
                made.headers.add("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8"));
        } else if (gets && request.url.ends_with("/health")) {
            bool good = true;
            for (entitable::any_store const& each : stores) {
                entitable::call context;
                context.deadline = std::chrono::steady_clock::now() + std::chrono::seconds{2};
                good = good && each.execute(entitable::list_tables{std::nullopt, 1}, context);
            }
            made.status = good ? 200 : 503;
            made.body = good ? "healthy\n" : "the store does not answer\n";
        } else if (gets && request.url.ends_with("/export") && !from.export_file.empty()) {
            made.status = export_entities(*server, accounts->front(), made.body) ? 200 : 500;
            if (made.status != 200) { made.body.clear(); }
            static_cast<void>(made.headers.add("Content-Type", "application/jsonl"));
        } else if (request.method == entitable::http_method::post && request.url.ends_with("/reset") && from.resets) {
            // The field keeps pages in a browser from sending this request.
            if (!request.headers.find("x-reset")) {
                made.status = 400;
                made.body = "the header field x-reset is missing\n";
                return made;
            }
            std::lock_guard const guard{one_reset};
            bool good = true;
            for (entitable::any_store const& each : stores) { good = delete_tables(each) && good; }
            std::string const problem = insert_seed(from.seed, *server, accounts->front());
            made.status = good && problem.empty() ? 204 : 500;
            made.body = problem;
        }
        return made;
    };
    entitable::http_listener admin{entitable::http_handler{administer}, {.port = from.admin_port.value_or(0)}};
    std::thread administering;
    if (from.admin_port) {
        if (auto const opened = admin.listen(); !opened) { return fail(opened.error().to_string()); }
        administering = std::thread{[&] { static_cast<void>(admin.run()); }};
    }

    std::string const connection = connection_string(accounts->front(), listener.port(), encrypted);
    if (!check) {
        if (from.json) {
            std::string line = "{\"port\":" + std::to_string(listener.port());
            if (from.admin_port) { line += ",\"adminPort\":" + std::to_string(admin.port()); }
            line += ",\"connectionString\":\"" + connection + "\",\"accounts\":{";
            for (entitable::served_account const& each : *accounts) {
                line += line.ends_with('{') ? "\"" : ",\"";
                line += each.name + "\":\"" + connection_string(each, listener.port(), encrypted) + "\"";
            }
            std::printf("%s}}\n", line.c_str());
        } else {
            for (entitable::served_account const& each : *accounts) {
                std::printf("%s\n", connection_string(each, listener.port(), encrypted).c_str());
            }
        }
        std::fflush(stdout);
    }

    bool good = true;
    std::thread until_stopped{[&] {
        if (check) {
            good = check(connection);
        } else {
            int which = 0;
            while (sigwait(&stopping, &which) == 0 && which == SIGHUP) { files->reload(); }
        }
        listener.stop();
    }};
    auto const served = listener.run();
    until_stopped.join();
    if (administering.joinable()) {
        admin.stop();
        administering.join();
    }
    if (!from.export_file.empty()) {
        std::string text;
        if (!export_entities(*server, accounts->front(), text) || !write_file(from.export_file, text)) {
            return fail(from.export_file + " cannot be written");
        }
    }
    std::puts("stopped");
    return served && good ? 0 : 1;
}

/// Does the same with the settings of these arguments. Returns 2 if they are wrong.
inline int serve_command(
    std::vector<std::string> const& arguments, std::function<bool(std::string const& connection)> const& check = {}) {
    auto const read = read_arguments(arguments);
    if (!read) {
        std::fputs(usage, stderr);
        return 2;
    }
    return serve_tables(*read, check);
}

} // namespace serving
