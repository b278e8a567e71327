// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A listener with TLS: clients, versions, protocols, files that are replaced, and senders who do not finish a handshake.

#include "listening.hpp"
#include <entitable/cloud/http/curl_client.hpp>
#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/text.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/rows.hpp>
#include <entitable/tls.hpp>

#include <http/certificates.hpp>
#include <server/served.hpp>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

authority const& trusted() {
    static authority const instance;
    return instance;
}

/// The files of a server in a folder of their own.
struct pair_of_files {
    temporary_folder folder;
    tls_files files{folder / "server.pem", folder / "server.key"};

    explicit pair_of_files(certificate_terms const& terms = {}) { write(terms); }
    void write(certificate_terms const& terms = {}) const { trusted().write_pair(files.certificate, files.key, terms); }
};

listener_options encrypted(tls_certificate const& certificate) {
    listener_options options;
    options.encryption = certificate.encryption();
    return options;
}

/// The client side of TLS, by hand.
class tls_client {
public:
    struct wishes {
        std::string protocols{}; ///< in the form of ALPN
        int newest{TLS1_3_VERSION};
    };
    explicit tls_client(std::uint16_t port) : tls_client(port, wishes{}) {}
    tls_client(std::uint16_t port, wishes const& wanted)
        : context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::connect(socket_, reinterpret_cast<sockaddr const*>(&to), sizeof to) == 0);
        timeval const patience{10, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        SSL_CTX_set_security_level(context_.get(), 0); // so that old versions are refused by the server alone
        SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
        SSL_CTX_set_max_proto_version(context_.get(), wanted.newest);
        SSL_CTX_load_verify_locations(context_.get(), trusted().file().c_str(), nullptr);
        SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
        if (!wanted.protocols.empty()) {
            SSL_CTX_set_alpn_protos(context_.get(), reinterpret_cast<unsigned char const*>(wanted.protocols.data()),
                static_cast<unsigned int>(wanted.protocols.size()));
        }
        tls_ = SSL_new(context_.get());
        SSL_set_fd(tls_, socket_);
        good_ = SSL_connect(tls_) == 1;
    }
    ~tls_client() {
        SSL_free(tls_);
        ::close(socket_);
    }
    tls_client(tls_client const&) = delete;
    tls_client& operator=(tls_client const&) = delete;

    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] SSL* native() const { return tls_; }
    [[nodiscard]] std::string protocol() const {
        unsigned char const* text = nullptr;
        unsigned int size = 0;
        SSL_get0_alpn_selected(tls_, &text, &size);
        return {reinterpret_cast<char const*>(text), size};
    }
    [[nodiscard]] long serial() const {
        certificate_ptr const held{SSL_get1_peer_certificate(tls_), &X509_free};
        return held ? ASN1_INTEGER_get(X509_get_serialNumber(held.get())) : 0;
    }
    void send(std::string_view bytes) const {
        if (!bytes.empty()) { SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size())); }
    }
    /// Everything received until the end, or until `marker` has arrived this number of times.
    [[nodiscard]] std::string read_until(std::string_view marker, std::size_t times = 1) const {
        std::string all;
        std::array<char, 4096> piece{};
        for (;;) {
            std::size_t found = 0;
            for (std::size_t at = 0; !marker.empty() && (at = all.find(marker, at)) != std::string::npos;
                at += marker.size()) {
                ++found;
            }
            if (!marker.empty() && found >= times) { return all; }
            int const got = SSL_read(tls_, piece.data(), static_cast<int>(piece.size()));
            if (got <= 0) { return all; }
            all.append(piece.data(), static_cast<std::size_t>(got));
        }
    }
    /// Whether the other side has said that nothing more comes.
    [[nodiscard]] bool ended_cleanly() const { return (SSL_get_shutdown(tls_) & SSL_RECEIVED_SHUTDOWN) != 0; }

private:
    tls_ptr context_;
    int socket_;
    SSL* tls_{};
    bool good_{};
};

/// A handler that returns what it was sent.
http_response echo(http_request const& request, request_sender const& from) {
    http_response made;
    made.status = 200;
    made.body = text::joined({request.url, from.encrypted ? " encrypted " : " plain ", request.body, "<end>"});
    return made;
}
http_handler echoing() { return http_handler{&echo}; }

struct printed {
    int status{};
    std::string text;
};
printed output_of(std::string const& command) {
    printed made;
    std::FILE* const from = ::popen((command + " 2>&1").c_str(), "r");
    REQUIRE(from != nullptr);
    std::array<char, 4096> piece{};
    while (std::size_t const got = std::fread(piece.data(), 1, piece.size(), from)) {
        made.text.append(piece.data(), got);
    }
    int const status = ::pclose(from);
    made.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return made;
}

std::string load_error(tls_files const& files) {
    auto const loaded = tls_certificate::load(files);
    if (loaded) { return {}; }
    CHECK(loaded.error().code == error_code::invalid_input);
    return loaded.error().message;
}
bool names(std::string const& message, std::string const& file) { return message.find(file) != std::string::npos; }

void write_text(std::string const& path, std::string_view text) { std::ofstream{path} << text; }

} // namespace

TEST_CASE("tls: this library's own client stores and reads over HTTPS") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listening const local{table_server{memory_backend{}, with_account()}, encrypted(*certificate)};
    curl_options trusts;
    trusts.ca_file = trusted().file();
    std::string const text =
        entitable::text::joined({"DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=", planted_key,
            ";TableEndpoint=https://127.0.0.1:", std::to_string(local.port()), "/acct"});
    rest<curl_client> const client{curl_client{trusts}, text};
    call context;
    REQUIRE(client.execute(create_table{"Things"}, context));
    for (int number = 0; number < 20; ++number) {
        std::string const key = std::to_string(number);
        std::string const big(number == 7 ? 30'000 : 3, 'x');
        REQUIRE(client.execute(
            write_entity{"Things", mutation::insert(testing::make_row("p", key, {{"N", number}, {"S", big}}))},
            context));
        REQUIRE(client.execute(get_entity{"Things", "p", key, {}}, context));
    }
    query_entities everything;
    everything.table = "Things";
    auto const page = client.execute(everything, context);
    REQUIRE(page);
    CHECK(page->rows.size() == 20);
    // A client that does not trust the authority sends nothing.
    rest<curl_client> const other{curl_client{}, text};
    call mine;
    auto const refused = other.execute(get_entity{"Things", "p", "1", {}}, mine);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::transport_failed);
}

TEST_CASE("tls: the handler learns that a request was encrypted; bodies, pipelines and 100-continue work") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listening const local{echoing(), encrypted(*certificate)};
    tls_client const by{local.port()};
    REQUIRE(by.good());
    by.send("GET /a HTTP/1.1\r\nHost: h:1\r\n\r\nGET /b HTTP/1.1\r\nHost: h:1\r\n\r\n");
    std::string const two = by.read_until("<end>", 2);
    CHECK(two.find("https://h:1/a encrypted ") < two.find("https://h:1/b encrypted "));
    // An absolute target has the scheme of the connection.
    by.send("GET https://h:1/c HTTP/1.1\r\nHost: h:1\r\n\r\n");
    CHECK(by.read_until("<end>").find("https://h:1/c encrypted") != std::string::npos);
    by.send("POST /d HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    CHECK(by.read_until("\r\n\r\n").starts_with("HTTP/1.1 100"));
    by.send("abc");
    CHECK(by.read_until("<end>").find("abc<end>") != std::string::npos);
    by.send("HEAD /e HTTP/1.1\r\nHost: h\r\n\r\nGET /f HTTP/1.1\r\nHost: h\r\n\r\n");
    std::string const head = by.read_until("<end>");
    CHECK(head.find("/e encrypted") == std::string::npos);
    CHECK(head.find("/f encrypted") != std::string::npos);
    for (std::size_t const size : {0, 1, 16'000, 16'384, 16'385, 100'000, 4'000'000}) {
        by.send(text::joined({"POST /g HTTP/1.1\r\nHost: h\r\nContent-Length: ", std::to_string(size), "\r\n\r\n"}));
        by.send(std::string(size, 'y'));
        std::string const got = by.read_until("<end>");
        CHECK(got.size() > size);
        CHECK(std::count(got.begin(), got.end(), 'y') == static_cast<std::ptrdiff_t>(size + 1)); // one in "encrypted"
    }
    by.send("GET http://h:1/h HTTP/1.1\r\nHost: h:1\r\n\r\n");
    std::string const refused = by.read_until("");
    CHECK(refused.starts_with("HTTP/1.1 400"));
    CHECK(by.ended_cleanly());
}

TEST_CASE("tls: a response that ends the connection ends with a close notification") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listener_options options = encrypted(*certificate);
    options.max_body_size = 1000;
    listening const local{echoing(), options};
    {
        tls_client const by{local.port()};
        REQUIRE(by.good());
        by.send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        CHECK(by.read_until("").find("<end>") != std::string::npos);
        CHECK(by.ended_cleanly());
    }
    // The response arrives although a body of which nothing was read is still being sent.
    tls_client const by{local.port()};
    REQUIRE(by.good());
    by.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\n" + std::string(300'000, 'x'));
    CHECK(by.read_until("").starts_with("HTTP/1.1 413"));
    CHECK(by.ended_cleanly());
}

TEST_CASE("tls: versions before 1.2 are refused, and http/1.1 is selected") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listening const local{echoing(), encrypted(*certificate)};
    CHECK_FALSE(tls_client(local.port(), {"", TLS1_1_VERSION}).good());
    CHECK_FALSE(tls_client(local.port(), {"", TLS1_VERSION}).good());
    CHECK(tls_client(local.port(), {"", TLS1_2_VERSION}).good());
    CHECK(tls_client(local.port(), {"", TLS1_3_VERSION}).good());
    CHECK(tls_client(local.port(), {"\x02h2\x08http/1.1", TLS1_3_VERSION}).protocol() == "http/1.1");
    CHECK(tls_client(local.port(), {"\x08http/1.1", TLS1_2_VERSION}).protocol() == "http/1.1");
    CHECK(tls_client(local.port()).protocol().empty());
    CHECK_FALSE(tls_client(local.port(), {"\x02h2", TLS1_3_VERSION}).good());
    tls_client const old{local.port(), {"", TLS1_2_VERSION}};
    REQUIRE(old.good());
    CHECK(SSL_renegotiate(old.native()) == 1);
    old.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(old.read_until("<end>").find("<end>") == std::string::npos); // a renegotiation is refused
}

TEST_CASE("tls: the command curl is served") {
    if (output_of("curl --version").status != 0) { return; }
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listening const local{echoing(), encrypted(*certificate)};
    std::string const address = "localhost:" + std::to_string(local.port()) + "/x";
    std::string const curl = "curl -s -S --ipv4 --noproxy '*' --max-time 20 --cacert " + trusted().file() + " ";
    printed const good = output_of(curl + "-w '%{http_version}' https://" + address);
    CHECK(good.status == 0);
    CHECK(good.text.find("encrypted <end>1.1") != std::string::npos);
    CHECK(output_of(curl + "--ciphers DEFAULT@SECLEVEL=0 --tls-max 1.1 https://" + address).status == 35);
    printed const plain = output_of(curl + "-i http://" + address);
    CHECK(plain.text.starts_with("HTTP/1.1 400"));
    CHECK(plain.text.find("served over HTTPS") != std::string::npos);
    CHECK(output_of("curl -s --ipv4 --noproxy '*' --max-time 20 https://" + address).status == 60); // unknown authority
}

TEST_CASE("tls: bytes without TLS are refused, and others are served meanwhile") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listener_options options = encrypted(*certificate);
    options.header_timeout = 500ms;
    listening const local{echoing(), options};
    std::string const plain = answer_to(local.port(), "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(plain.starts_with("HTTP/1.1 400 Bad Request\r\n"));
    CHECK(plain.ends_with("\r\n\r\nthis port is served over HTTPS\r\n"));
    CHECK(answer_to(local.port(), std::string(5, '\0')).empty());
    CHECK(answer_to(local.port(), "").empty());
    // Records that are not a handshake get at most an alert.
    for (std::string const& each :
        {std::string{"\x16\x03\x01\x00\x05hello", 10}, std::string{"\x16"}, std::string{"\x16\x03\x01\xff\xff", 5},
            std::string{"\x16\x03\x01\x40\x00", 5} + std::string(0x4000, '\x01'),
            std::string{"\x15\x03\x01\x00\x02\x02\x28", 7}}) {
        CHECK(answer_to(local.port(), each).size() < 16);
    }
    tls_client const by{local.port()};
    CHECK(by.good());
}

TEST_CASE("tls: a handshake has the time of a header, however slowly its bytes arrive") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listener_options options = encrypted(*certificate);
    options.header_timeout = 600ms;
    listening const local{echoing(), options};
    auto const begun = std::chrono::steady_clock::now();
    raw_connection const silent{local.port()};
    raw_connection const slow{local.port()};
    slow.send(std::string_view{"\x16\x03\x01\x02\x00\x01", 6});
    CHECK(silent.closed());
    for (int sent = 0; sent < 100 && !slow.closed(0); ++sent) {
        slow.send("x");
        std::this_thread::sleep_for(50ms);
    }
    auto const took = std::chrono::steady_clock::now() - begun;
    CHECK(took > 500ms);
    CHECK(took < 4s);
}

TEST_CASE("tls: unfinished handshakes give way to new connections") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listener_options options = encrypted(*certificate);
    options.max_connections = 20;
    listening const local{echoing(), options};
    tls_client const known{local.port()};
    known.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(known.read_until("<end>").find("<end>") != std::string::npos);
    std::deque<raw_connection> strangers;
    for (int number = 0; number < 100; ++number) {
        raw_connection const& each = strangers.emplace_back(local.port());
        if (number % 2 == 0) { each.send(std::string_view{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11}); }
        if (number % 10 == 9) { CHECK(tls_client(local.port()).good()); }
    }
    known.send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n"); // a known sender is the last to give way
    CHECK(known.read_until("<end>").find("<end>") != std::string::npos);
}

TEST_CASE("tls: a reload changes new connections, and open connections are kept") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    date_time const first_end = certificate->expires();
    listening const local{echoing(), encrypted(*certificate)};
    tls_client const before{local.port()};
    REQUIRE(before.good());
    pair.write({.ends = 7200});
    CHECK(tls_client(local.port()).serial() == before.serial()); // not before the reload
    REQUIRE(certificate->reload());
    CHECK(certificate->expires() > first_end);
    long const replaced = tls_client(local.port()).serial();
    CHECK(replaced > before.serial());
    before.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(before.read_until("<end>").find("<end>") != std::string::npos);
    // Half of a new pair, or a file that is being written, leaves the certificate as it was.
    pair_of_files const other;
    write_text(pair.files.key, [&] {
        std::ifstream from{other.files.key};
        return std::string{std::istreambuf_iterator<char>{from}, {}};
    }());
    auto const mismatched = certificate->reload();
    REQUIRE_FALSE(mismatched);
    CHECK(mismatched.error().message.find("does not belong") != std::string::npos);
    CHECK(tls_client(local.port()).serial() == replaced);
    write_text(pair.files.certificate, "-----BEGIN CERTIF");
    CHECK_FALSE(certificate->reload());
    ::unlink(pair.files.certificate.c_str());
    CHECK_FALSE(certificate->reload());
    CHECK(tls_client(local.port()).serial() == replaced);
}

TEST_CASE("tls: reloads while connections are made") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listening const local{echoing(), encrypted(*certificate)};
    std::thread reloading{[&] {
        for (int round = 0; round < 50; ++round) { CHECK(certificate->reload()); }
    }};
    for (int round = 0; round < 30; ++round) {
        tls_client const by{local.port()};
        REQUIRE(by.good());
        by.send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        CHECK(by.read_until("").find("<end>") != std::string::npos);
    }
    reloading.join();
}

TEST_CASE("tls: errors of files are typed, and name the file") {
    pair_of_files const pair;
    pair_of_files const other;
    std::string const absent = pair.folder / "absent.pem";
    CHECK(names(load_error({absent, pair.files.key}), absent));
    CHECK(load_error({absent, pair.files.key}).find("No such file") != std::string::npos);
    CHECK(names(load_error({pair.files.certificate, absent}), absent));
    CHECK(load_error({"", pair.files.key}).find("certificate file (no name)") != std::string::npos);
    CHECK(names(load_error({pair.files.certificate, other.files.key}), other.files.key));
    CHECK(names(load_error({pair.files.certificate, other.files.key}), pair.files.certificate));
    CHECK(names(load_error({pair.files.key, pair.files.key}), "certificate file " + pair.files.key));
    CHECK(names(load_error({pair.files.certificate, pair.files.certificate}), "key file " + pair.files.certificate));
    std::string const empty = pair.folder / "empty.pem";
    write_text(empty, "");
    CHECK(names(load_error({empty, pair.files.key}), empty));
    CHECK(names(load_error({pair.files.certificate, empty}), empty));
    CHECK(names(load_error({pair.folder / "", pair.files.key}), "certificate file"));
    pair_of_files const expired{{.begins = -7200, .ends = -3600}};
    CHECK(load_error(expired.files).find(expired.files.certificate + " expired at 20") != std::string::npos);
    // A key with a password is refused, and asks nobody.
    std::string const locked = pair.folder / "locked.key";
    std::FILE* const written = std::fopen(locked.c_str(), "w");
    REQUIRE(written != nullptr);
    auto const key = make_key();
    PEM_write_PrivateKey(written, key.get(), EVP_aes_128_cbc(), nullptr, 0, nullptr, const_cast<char*>("secret"));
    std::fclose(written);
    CHECK(load_error({pair.files.certificate, locked}).find("without a password") != std::string::npos);
}

TEST_CASE("tls: a pipe in the place of a file is refused at once, and a reload keeps what it has") {
    pair_of_files const pair;
    std::string const pipe = pair.folder / "pipe.pem";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(load_error({pipe, pair.files.key}).find("certificate file " + pipe + ": it is not a regular file") !=
        std::string::npos);
    CHECK(load_error({pair.files.certificate, pipe}).find("key file " + pipe + ": it is not a regular file") !=
        std::string::npos);
    std::string const link = pair.folder / "link.pem"; // as orchestrators give certificates
    REQUIRE(::symlink(pair.files.certificate.c_str(), link.c_str()) == 0);
    auto const certificate = tls_certificate::load({link, pair.files.key});
    REQUIRE(certificate);
    listening const local{echoing(), encrypted(*certificate)};
    REQUIRE(::unlink(link.c_str()) == 0);
    REQUIRE(::symlink(pipe.c_str(), link.c_str()) == 0);
    auto const reloaded = certificate->reload();
    REQUIRE_FALSE(reloaded);
    CHECK(names(reloaded.error().message, link));
    CHECK(tls_client{local.port()}.good());
}

TEST_CASE("tls: a listener without its certificate does not listen") {
    pair_of_files const pair;
    auto loaded = tls_certificate::load(pair.files);
    REQUIRE(loaded);
    tls_certificate certificate = *loaded;
    tls_certificate const moved = std::move(certificate);
    CHECK_FALSE(certificate.reload()); // NOLINT(bugprone-use-after-move)
    CHECK(certificate.expires() == date_time{});
    listener_options options;
    options.port = 0;
    options.encryption = certificate.encryption();
    CHECK(bool{options.encryption});
    http_listener unserved{echoing(), options};
    auto const refused = unserved.listen();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::invalid_input);
    options.encryption = moved.encryption();
    listener_encryption const taken = std::move(options.encryption);
    http_listener emptied{echoing(), options}; // NOLINT(bugprone-use-after-move)
    CHECK_FALSE(emptied.listen());
    CHECK_FALSE(bool{listener_encryption{}});
}

TEST_CASE("tls: a stop ends handshakes that are not finished") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listening local{echoing(), encrypted(*certificate)};
    raw_connection const silent{local.port()};
    raw_connection const half{local.port()};
    half.send(std::string_view{"\x16\x03\x01\x02\x00\x01", 6});
    tls_client const idle{local.port()};
    REQUIRE(idle.good());
    auto const begun = std::chrono::steady_clock::now();
    local.stop();
    CHECK(std::chrono::steady_clock::now() - begun < 5s);
    CHECK(silent.closed());
    CHECK(half.closed());
}

TEST_CASE("tls: the metrics stay on their plain port, and count failed handshakes") {
    pair_of_files const pair;
    auto const certificate = tls_certificate::load(pair.files);
    REQUIRE(certificate);
    listener_options options = encrypted(*certificate);
    options.metrics_port = 0;
    listening const local{echoing(), options};
    CHECK_FALSE(tls_client(local.port(), {"", TLS1_1_VERSION}).good());
    // The client may see the end of its connection before the server counts it.
    bool counted = false;
    for (auto const end = std::chrono::steady_clock::now() + 10s; !counted && std::chrono::steady_clock::now() < end;) {
        std::string const metrics = answer_to(local.metrics_port(), "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
        counted = metrics.find("entitable_failed_handshakes_total 1\n") != std::string::npos;
    }
    CHECK(counted);
}
