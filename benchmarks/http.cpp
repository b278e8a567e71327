// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Signing compared with bare OpenSSL with a reused context; curl_client compared with bare libcurl in the same threading form,
// over loopback to a fast server in another process, plain and with TLS. CPU time is that of this process, which is the client.
//   g++ -std=c++20 -O3 -I . -I include -I tests benchmarks/http.cpp -o http -lcurl -lssl -lcrypto -lpthread

#include <entitable/cloud/account/credential.hpp>
#include <entitable/cloud/http/curl_client.hpp>

#include <benchmarks/support/count_allocations.hpp>
#include <benchmarks/support/loopback_server.hpp>
#include <benchmarks/support/measure.hpp>
#include <http/certificates.hpp>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <cstring>

using namespace entitable;

namespace {

constexpr std::string_view emulator_key =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

std::uint64_t checksum = 0; ///< so that nothing is optimised away

// ---- signing ------------------------------------------------------------------------------------------------

/// The hand-written form: one context whose key is set once.
class by_hand {
public:
    by_hand() {
        EVP_MAC* const method = EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
        context_ = EVP_MAC_CTX_new(method);
        EVP_MAC_free(method);
        char digest[] = "SHA256";
        OSSL_PARAM const parameters[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
        auto const key = *detail::decode_account_key(emulator_key);
        EVP_MAC_init(
            context_, reinterpret_cast<unsigned char const*>(key.reveal().data()), key.reveal().size(), parameters);
    }
    by_hand(by_hand const&) = delete;
    by_hand& operator=(by_hand const&) = delete;
    ~by_hand() { EVP_MAC_CTX_free(context_); }

    void sign(std::string_view text, unsigned char (&base64)[45]) {
        unsigned char mac[32];
        std::size_t size = 0;
        EVP_MAC_init(context_, nullptr, 0, nullptr);
        EVP_MAC_update(context_, reinterpret_cast<unsigned char const*>(text.data()), text.size());
        EVP_MAC_final(context_, mac, &size, sizeof mac);
        EVP_EncodeBlock(base64, mac, sizeof mac);
    }

private:
    EVP_MAC_CTX* context_;
};

void signing() {
    constexpr std::size_t count = 100'000;
    std::string const text(129, 's');
    by_hand hand;
    auto const key = detail::decode_account_key(emulator_key);
    key_signer const ours{key->reveal()};
    measure::compare(
        "signature of 129 bytes in base64", 1.2, 15,
        [&] {
            return measure::timed(count, [&] {
                for (std::size_t done = 0; done < count; ++done) {
                    unsigned char base64[45];
                    hand.sign(text, base64);
                    checksum += base64[0];
                }
            });
        },
        [&] {
            return measure::timed(count, [&] {
                for (std::size_t done = 0; done < count; ++done) {
                    key_signer::signature base64;
                    if (ours.sign([&](std::string& to) { to.append(text); }, base64)) {
                        checksum += static_cast<unsigned char>(base64[0]);
                    }
                }
            });
        });

    // The whole signature: string to sign, date and both header fields, with all checks.
    auto const who = credential::account_key("acct", emulator_key, key_scheme::shared_key).value();
    auto const at = endpoint::parse("https://acct.table.core.windows.net").value();
    http_request request;
    request.url = at.primary + "/businesses(PartitionKey='region-000001',RowKey='business0000000007')";
    for (auto const& [name, value] : {std::pair{"Accept", "application/json;odata=minimalmetadata"},
             {"DataServiceVersion", "3.0"}, {"x-ms-version", "2019-02-02"}, {"x-ms-client-request-id", "1"}}) {
        (void)request.headers.add(name, value);
    }
    std::vector<double> each;
    std::uint64_t allocations = 0;
    for (int round = 0; round < 15; ++round) {
        allocations = measure::allocations;
        each.push_back(measure::timed(count, [&] {
            for (std::size_t done = 0; done < count; ++done) {
                (void)who.authorize(request, at, date_time::from_date(2026, 11, 20));
                checksum += request.headers.size();
            }
        }));
        allocations = measure::allocations - allocations;
    }
    std::printf("%-46s          %8.0f   %.2f allocations\n", "  the whole of authorize, for a point read",
        measure::median(each), static_cast<double>(allocations) / count);
}

// ---- over loopback ------------------------------------------------------------------------------------------

constexpr char const* fields[][2] = {{"Accept", "application/json;odata=minimalmetadata"},
    {"x-ms-version", "2019-02-02"}, {"x-ms-date", "Fri, 20 Nov 2026 15:27:36 GMT"}, {"DataServiceVersion", "3.0"},
    {"Authorization", "SharedKey acct:RNeMV4QhAsdhJ2sGUgufA/AfRsaKXZU2cEJdUsvj4NY="}};

/// Only libcurl.
class bare_curl {
public:
    bare_curl(std::string url, std::string const& ca) : url_(std::move(url)) {
        for (auto const& [name, value] : fields) {
            list_ = curl_slist_append(list_, (std::string{name} + ": " + value).c_str());
        }
        easy_ = curl_easy_init();
        curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy_, CURLOPT_CAINFO, ca.c_str());
        curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, list_);
        curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &bare_curl::on_body);
        curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
        curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
    }
    bare_curl(bare_curl const&) = delete;
    bare_curl& operator=(bare_curl const&) = delete;
    ~bare_curl() {
        curl_easy_cleanup(easy_);
        curl_slist_free_all(list_);
    }

    void prepare() {
        body_.clear();
        curl_easy_setopt(easy_, CURLOPT_URL, url_.c_str());
    }
    [[nodiscard]] CURL* easy() const { return easy_; }
    [[nodiscard]] bool send() {
        prepare();
        return curl_easy_perform(easy_) == CURLE_OK && !body_.empty();
    }

private:
    static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
        static_cast<bare_curl*>(self)->body_.append(bytes, size * count);
        return size * count;
    }

    std::string const url_;
    CURL* easy_;
    curl_slist* list_{};
    std::string body_;
};

/// The result of a time window.
struct window {
    double cpu{};  ///< ns of this process per request
    double rate{}; ///< requests per second
};

template <class Work>
window measured(std::size_t requests, Work const& work) {
    auto const begin = std::chrono::steady_clock::now();
    double const cpu = measure::timed(requests, work);
    std::chrono::duration<double> const time = std::chrono::steady_clock::now() - begin;
    return {cpu, static_cast<double>(requests) / time.count()};
}

void compare(std::string const& name, std::function<window()> const& yardstick, std::function<window()> const& ours) {
    std::vector<double> columns[6];
    (void)yardstick();
    (void)ours();
    for (int round = 0; round < 11; ++round) {
        window const first = yardstick();
        window const second = ours();
        double const values[] = {
            first.cpu, second.cpu, second.cpu / first.cpu, first.rate, second.rate, second.rate / first.rate};
        for (std::size_t column = 0; column < 6; ++column) { columns[column].push_back(values[column]); }
    }
    double const cpu = measure::median(columns[2]);
    double const rate = measure::median(columns[5]);
    std::printf("%-26s CPU us %6.1f %6.1f  %.2f limit 1.25%s   req/s %6.0f %6.0f  %.2f limit 0.80%s\n", name.c_str(),
        measure::median(columns[0]) / 1e3, measure::median(columns[1]) / 1e3, cpu, cpu <= 1.25 ? "" : " MISSED",
        measure::median(columns[3]), measure::median(columns[4]), rate, rate >= 0.8 ? "" : " MISSED");
}

http_request signed_request(std::string url) {
    http_request request;
    request.url = std::move(url);
    for (auto const& [name, value] : fields) { (void)request.headers.add(name, value); }
    return request;
}

/// One thread, `in_flight` requests at once.
void compare_multi(std::string const& name, std::string const& url, std::string const& ca, std::size_t in_flight) {
    std::size_t const requests = 3'000;
    std::vector<std::unique_ptr<bare_curl>> handles;
    for (std::size_t index = 0; index < in_flight; ++index) { handles.push_back(std::make_unique<bare_curl>(url, ca)); }
    CURLM* const multi = curl_multi_init();
    auto const bare = [&] {
        std::size_t started = 0;
        std::size_t done = 0;
        auto const start = [&](CURL* easy, bare_curl* of) {
            of->prepare();
            curl_multi_add_handle(multi, easy);
            ++started;
        };
        for (auto const& handle : handles) { start(handle->easy(), handle.get()); }
        while (done < requests) {
            int running = 0;
            curl_multi_perform(multi, &running);
            int left = 0;
            bool any = false;
            while (CURLMsg const* const message = curl_multi_info_read(multi, &left)) {
                bare_curl* of = nullptr;
                CURL* const easy = message->easy_handle;
                curl_easy_getinfo(easy, CURLINFO_PRIVATE, &of);
                curl_multi_remove_handle(multi, easy);
                ++done;
                any = true;
                if (started < requests) { start(easy, of); }
            }
            if (!any) { curl_multi_poll(multi, nullptr, 0, 1000, nullptr); }
        }
    };
    curl_options options;
    options.ca_file = ca;
    curl_client const client{options};
    auto const request = signed_request(url);
    compare(
        name + ", multi, " + std::to_string(in_flight), [&] { return measured(requests, bare); },
        [&] {
            return measured(requests, [&] {
                poll_driver io;
                auto const opened = client.open(io);
                std::size_t started = 0;
                std::size_t done = 0;
                for (; started < in_flight; ++started) { opened->send(request, {}, &handles[started]); }
                while (done < requests) {
                    opened->poll(io.time().steady(), [&](void* tag, result<http_response>&& response) {
                        checksum += response.value().body.size();
                        ++done;
                        if (started < requests) {
                            ++started;
                            opened->send(request, {}, tag);
                        }
                    });
                    if (done < requests) { io.wait(opened->wakes_at()); }
                }
            });
        });
    handles.clear();
    curl_multi_cleanup(multi);
}

template <class Work>
void on_threads(std::size_t threads, Work const& work) {
    std::vector<std::thread> running;
    for (std::size_t index = 0; index < threads; ++index) {
        running.emplace_back([&, index] { work(index); });
    }
    for (auto& thread : running) { thread.join(); }
}

/// One request at a time on each of `threads` threads.
void compare_threads(std::string const& name, std::string const& url, std::string const& ca, std::size_t threads) {
    std::size_t const each = 3'000 / threads;
    std::vector<std::unique_ptr<bare_curl>> handles;
    for (std::size_t index = 0; index < threads; ++index) { handles.push_back(std::make_unique<bare_curl>(url, ca)); }
    curl_options options;
    options.ca_file = ca;
    curl_client const client{options};
    auto const request = signed_request(url);
    compare(
        name + ", threads, " + std::to_string(threads),
        [&] {
            return measured(each * threads, [&] {
                on_threads(threads, [&](std::size_t index) {
                    for (std::size_t done = 0; done < each; ++done) {
                        if (!handles[index]->send()) { std::abort(); }
                    }
                });
            });
        },
        [&] {
            return measured(each * threads, [&] {
                on_threads(threads, [&](std::size_t) {
                    std::uint64_t sum = 0;
                    for (std::size_t done = 0; done < each; ++done) {
                        sum += client.send(request, {}).value().body.size();
                    }
                    checksum += sum == 0 ? 1 : 0;
                });
            });
        });
}

} // namespace

int main() {
    std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 1024\r\nCache-Control: no-cache\r\nContent-Type: "
                         "application/json;odata=minimalmetadata;streaming=true;charset=utf-8\r\nETag: "
                         "W/\"datetime'2026-11-20T15%3A27%3A36.1234567Z'\"\r\nServer: Windows-Azure-Table/1.0\r\n"
                         "x-ms-request-id: 3f2b8c9e-5c1f-4d4c-9a55-2f6f3f0c1a11\r\nx-ms-version: 2019-02-02\r\n"
                         "X-Content-Type-Options: nosniff\r\nDate: Fri, 20 Nov 2026 15:27:36 GMT\r\n\r\n";
    answer.append(1024, 'x');
    entitable_test::authority const trusted;
    auto const tls = trusted.server_side();
    measure::loopback_server const plain{answer, nullptr};
    measure::loopback_server const encrypted{answer, tls.get()};
    curl_global_init(CURL_GLOBAL_DEFAULT);

    measure::heading();
    signing();
    std::printf("\n1 KB over loopback: bare libcurl, ours, ratio\n");
    for (auto const* const server : {&plain, &encrypted}) {
        std::string const name = server == &plain ? "plain" : "TLS";
        for (std::size_t const in_flight : {1U, 8U, 32U}) {
            compare_multi(name, server->origin() + "/T(PartitionKey='a',RowKey='b')", trusted.file(), in_flight);
        }
        for (std::size_t const threads : {1U, 8U, 32U}) {
            compare_threads(name, server->origin() + "/T(PartitionKey='a',RowKey='b')", trusted.file(), threads);
        }
    }
    return checksum == 0 ? 1 : 0;
}
