// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Point reads in an io_context, written by hand on libcurl, OpenSSL and simdjson: what the promises of `asio_table::async_get` cost without a library.

#include <benchmarks/support/point_reads.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <curl/curl.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <simdjson.h>

#include <array>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace measure {

/// Reads of `book`, with a limited number in flight. Each request has its own id, date and signature. The header and the body are limited, each
/// header field is checked, and each property is read with its type. A call may begin on any thread, has a time limit, and its handler is posted.
/// Unlike the library it neither cancels, retries, observes, nor waits for sockets; it knows one entity, one service and one kind of request.
class reads_by_hand {
    using error = boost::system::error_code;

public:
    using handler = std::function<void(error, book&&)>;

    /// `key` is the key of the account, not in base64.
    reads_by_hand(
        boost::asio::io_context& context, std::string const& origin, std::string_view key, std::size_t in_flight)
        : context_(context), strand_(context.get_executor()), timer_(strand_), look_(strand_) {
        curl_url_set(server_, CURLUPART_URL, origin.c_str(), 0); // parsed once, and not for each request
        curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &reads_by_hand::on_socket);
        curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
        curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &reads_by_hand::on_timer);
        curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
        curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(2 * in_flight));
        for (std::size_t index = 0; index < in_flight; ++index) {
            all_.push_back(std::make_unique<transfer>());
            idle_.push_back(all_.back().get());
            curl_easy_setopt(idle_.back()->easy, CURLOPT_CURLU, server_);
        }
        EVP_MAC* const method = EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
        signer_ = EVP_MAC_CTX_new(method);
        EVP_MAC_free(method);
        char digest[] = "SHA256";
        OSSL_PARAM const parameters[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
        if (EVP_MAC_init(signer_, reinterpret_cast<unsigned char const*>(key.data()), key.size(), parameters) != 1) {
            fail("no HMAC");
        }
    }
    reads_by_hand(reads_by_hand const&) = delete;
    reads_by_hand& operator=(reads_by_hand const&) = delete;
    ~reads_by_hand() {
        for (auto const& each : all_) { curl_multi_remove_handle(multi_, each->easy); }
        curl_multi_cleanup(multi_); // closes the connections, and tells `on_socket`
        for (auto const& each : all_) { curl_easy_cleanup(each->easy); }
        curl_url_cleanup(server_);
        EVP_MAC_CTX_free(signer_);
    }

    void async_get(std::string_view partition, std::string_view row, handler done) {
        call made{{}, std::move(done)};
        made.target.reserve(128);
        bool const good = append_key(made.target.append("/acct/Reads(PartitionKey='"), partition) &&
            append_key(made.target.append("',RowKey='"), row);
        made.target.append("')?timeout=30");
        if (!good) { return finish(std::move(made.done), invalid(), {}); }
        bool first = false;
        {
            std::lock_guard const guard{lock_};
            first = begun_.empty();
            begun_.push_back(std::move(made));
        }
        if (first) {
            boost::asio::post(strand_, [this] { turn(); });
        }
    }

private:
    struct call {
        std::string target;
        handler done;
    };

    /// A request in flight, and its response.
    struct transfer {
        transfer() {
            curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
            curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
            curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
            curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &transfer::on_header);
            curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
            curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &transfer::on_body);
            curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
            curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
            char* const texts[] = {id, date, authorization};
            curl_slist* next = fixed_fields();
            for (std::size_t index = 3; index-- > 0; next = &fields[index]) { fields[index] = {texts[index], next}; }
            curl_easy_setopt(easy, CURLOPT_HTTPHEADER, next);
        }
        transfer(transfer const&) = delete;
        transfer& operator=(transfer const&) = delete;

        static curl_slist* fixed_fields() {
            static curl_slist* const made = [] {
                curl_slist* list = nullptr;
                for (char const* const each : {"Accept: application/json;odata=minimalmetadata",
                         "DataServiceVersion: 3.0", "x-ms-version: 2019-02-02"}) {
                    list = curl_slist_append(list, each);
                }
                return list;
            }();
            return made;
        }
        void begin() {
            status = 0;
            header_left = 64 * 1024;
            sized = false;
            etag.clear();
            request_id.clear();
            body.clear();
            ends = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        }
        bool header_line(std::string_view line) {
            if (line.size() > header_left) { return false; }
            header_left -= line.size();
            while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) { line.remove_suffix(1); }
            if (line.starts_with("HTTP/")) {
                status = line.size() >= 12 ? std::atoi(line.data() + 9) : 0;
                return status >= 100 && status <= 999;
            }
            return line.empty() || field(line);
        }
        bool field(std::string_view line) {
            std::size_t at = 0;
            while (at < line.size() && (classes()[static_cast<unsigned char>(line[at])] & token) != 0) { ++at; }
            if (at == 0 || at == line.size() || line[at] != ':') { return false; }
            std::string_view const name = line.substr(0, at++);
            while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) { ++at; }
            std::string_view const value = line.substr(at);
            for (char const each : value) {
                if ((classes()[static_cast<unsigned char>(each)] & text) == 0) { return false; }
            }
            auto const is = [&](std::string_view wanted) {
                return name.size() == wanted.size() && ::strncasecmp(name.data(), wanted.data(), name.size()) == 0;
            };
            switch (name.size()) {
                case 4:
                    if (is("ETag")) { etag = value; }
                    break;
                case 14:
                    if (is("Content-Length") && std::exchange(sized, true)) { return false; }
                    break;
                case 15:
                    if (is("x-ms-request-id")) { request_id = value; }
                    break;
                case 16:
                    if (is("Content-Encoding")) { return false; }
                    break;
                default: break;
            }
            return true;
        }
        static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* of) {
            return static_cast<transfer*>(of)->header_line({bytes, size * count}) ? size * count : 0;
        }
        static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* of) {
            auto& self = *static_cast<transfer*>(of);
            constexpr std::size_t most = 16 * 1024 * 1024;
            if (size * count > most - self.body.size()) { return 0; }
            self.body.append(bytes, size * count);
            return size * count;
        }

        CURL* const easy = curl_easy_init();
        handler done;
        char id[80];
        char date[48];
        char authorization[128];
        curl_slist fields[3];
        int status{};
        std::size_t header_left{};
        bool sized{};
        std::string etag;
        std::string request_id;
        std::string body;
        std::chrono::steady_clock::time_point ends;
        std::size_t place{};
    };

    /// A socket of libcurl.
    struct watched {
        boost::asio::posix::stream_descriptor at;
        int wanted{};
        bool waits[2]{};
    };

    static constexpr unsigned char token = 1;
    static constexpr unsigned char text = 2;
    static std::array<unsigned char, 256> const& classes() {
        static constexpr auto made = [] {
            std::array<unsigned char, 256> of{};
            constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
            for (unsigned byte = 0; byte < 256; ++byte) {
                auto const c = static_cast<char>(byte);
                bool const in_token = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    marks.find(c) != std::string_view::npos;
                bool const in_text = c == '\t' || (byte >= 0x20 && byte != 0x7F);
                of[byte] = static_cast<unsigned char>((in_token ? token : 0) | (in_text ? text : 0));
            }
            return of;
        }();
        return made;
    }
    static error invalid() { return boost::system::errc::make_error_code(boost::system::errc::invalid_argument); }
    static bool append_key(std::string& url, std::string_view key) {
        if (key.size() > 1024) { return false; }
        for (char const c : key) {
            auto const byte = static_cast<unsigned char>(c);
            if (byte < 0x20 || byte == 0x7F || c == '/' || c == '\\' || c == '#' || c == '?') { return false; }
            bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                c == '.' || c == '_' || c == '~';
            if (plain) {
                url += c;
            } else {
                constexpr char digits[] = "0123456789ABCDEF";
                for (int times = c == '\'' ? 2 : 1; times > 0; --times) {
                    url.append({'%', digits[byte >> 4U], digits[byte & 0xFU]});
                }
            }
        }
        return true;
    }

    void write_id(char* out) {
        constexpr std::string_view name = "x-ms-client-request-id: ";
        constexpr char digits[] = "0123456789abcdef";
        name.copy(out, name.size());
        out += name.size();
        std::uint64_t const halves[] = {random_(), random_()};
        for (unsigned nibble = 0; nibble < 32; ++nibble) {
            if (nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20) { *out++ = '-'; }
            *out++ = digits[halves[nibble / 16] >> (nibble % 16 * 4) & 0xFU];
        }
        *out = '\0';
    }
    /// Writes date and signature.
    bool sign(transfer& one, std::string_view target) {
        constexpr std::string_view name = "x-ms-date: ";
        if (std::time_t const now = std::time(nullptr); now != date_of_) {
            std::tm parts{};
            ::gmtime_r(&now, &parts);
            std::strftime(date_, sizeof date_, "%a, %d %b %Y %H:%M:%S GMT", &parts);
            date_of_ = now;
        }
        name.copy(one.date, name.size());
        std::memcpy(one.date + name.size(), date_, sizeof date_);
        signed_.assign("GET\n\n\n").append(date_).append("\n/acct").append(target.substr(0, target.find('?')));
        unsigned char mac[32];
        std::size_t size = 0;
        if (EVP_MAC_init(signer_, nullptr, 0, nullptr) != 1 ||
            EVP_MAC_update(signer_, reinterpret_cast<unsigned char const*>(signed_.data()), signed_.size()) != 1 ||
            EVP_MAC_final(signer_, mac, &size, sizeof mac) != 1) {
            return false;
        }
        constexpr std::string_view prefix = "Authorization: SharedKey acct:";
        prefix.copy(one.authorization, prefix.size());
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(one.authorization) + prefix.size(), mac, sizeof mac);
        return true;
    }

    /// Reads the entity; false if a property is missing or has another type.
    bool read(std::string& json, book& out) {
        json.reserve(json.size() + simdjson::SIMDJSON_PADDING);
        simdjson::ondemand::document document;
        simdjson::ondemand::object object;
        if (parser_.iterate(json.data(), json.size(), json.capacity()).get(document) != simdjson::SUCCESS ||
            document.get_object().get(object) != simdjson::SUCCESS) {
            return false;
        }
        unsigned seen = 0;
        auto const text_into = [&](simdjson::ondemand::value value, std::string& to, unsigned bit) {
            std::string_view found;
            if (value.get_string().get(found) != simdjson::SUCCESS) { return false; }
            to.assign(found);
            seen |= bit;
            return true;
        };
        for (auto each : object) {
            std::string_view key;
            simdjson::ondemand::value value;
            bool good =
                each.unescaped_key().get(key) == simdjson::SUCCESS && each.value().get(value) == simdjson::SUCCESS;
            if (!good) { return false; }
            if (key == "PartitionKey") {
                good = text_into(value, out.shelf, 1);
            } else if (key == "RowKey") {
                good = text_into(value, out.isbn, 2);
            } else if (key == "name") {
                good = text_into(value, out.name, 4);
            } else if (key == "n") {
                std::int64_t number = 0;
                good =
                    value.get_int64().get(number) == simdjson::SUCCESS && number == static_cast<std::int32_t>(number);
                out.n = static_cast<std::int32_t>(number);
                seen |= 8;
            } else if (key == "m") {
                good = value.get_double().get(out.m) == simdjson::SUCCESS;
                seen |= 16;
            }
            if (!good) { return false; }
        }
        char const* rest = nullptr;
        return seen == 31 && document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS; // nothing follows
    }

    void finish(handler done, error problem, book found) {
        boost::asio::post(context_,
            [done = std::move(done), problem, found = std::move(found)]() mutable { done(problem, std::move(found)); });
    }
    void finish(transfer& one, CURLcode code) {
        curl_multi_remove_handle(multi_, one.easy);
        busy_[one.place] = busy_.back();
        busy_[one.place]->place = one.place;
        busy_.pop_back();
        OPENSSL_cleanse(one.authorization, sizeof one.authorization);
        error problem;
        book found;
        if (code != CURLE_OK) {
            problem = boost::system::errc::make_error_code(boost::system::errc::io_error);
        } else if (one.status == 404) {
            problem = boost::system::errc::make_error_code(boost::system::errc::no_such_file_or_directory);
        } else if (one.status != 200 || one.etag.empty() || !read(one.body, found)) {
            problem = boost::system::errc::make_error_code(boost::system::errc::bad_message);
        }
        idle_.push_back(&one);
        finish(std::exchange(one.done, nullptr), problem, std::move(found));
    }
    /// Finishes what has ended, begins what may begin, and lets libcurl send it.
    void turn() {
        int left = 0;
        while (CURLMsg const* const message = curl_multi_info_read(multi_, &left)) {
            char* of = nullptr;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &of);
            finish(*reinterpret_cast<transfer*>(of), message->data.result);
        }
        while (!idle_.empty()) {
            if (next_ == taken_.size()) {
                taken_.clear();
                next_ = 0;
                std::lock_guard const guard{lock_};
                taken_.swap(begun_);
            }
            if (taken_.empty()) { break; }
            begin(taken_[next_++]);
        }
        while (std::exchange(due_, false)) { curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &left); }
        if (busy_.empty()) {
            look_.cancel();
            looks_ = false;
        } else if (!std::exchange(looks_, true)) {
            look_for_overdue();
        }
    }
    void begin(call& next) {
        transfer& one = *idle_.back();
        idle_.pop_back();
        one.done = std::move(next.done);
        one.begin();
        write_id(one.id);
        one.place = busy_.size();
        busy_.push_back(&one);
        if (!sign(one, next.target) ||
            curl_easy_setopt(one.easy, CURLOPT_REQUEST_TARGET, next.target.c_str()) != CURLE_OK ||
            curl_multi_add_handle(multi_, one.easy) != CURLM_OK) {
            finish(one, CURLE_FAILED_INIT);
        }
    }
    void look_for_overdue() {
        look_.expires_after(std::chrono::milliseconds{20});
        look_.async_wait([this](error cancelled) {
            if (cancelled) { return; }
            auto const now = std::chrono::steady_clock::now();
            for (std::size_t index = busy_.size(); index-- > 0;) {
                if (busy_[index]->ends <= now) { finish(*busy_[index], CURLE_OPERATION_TIMEDOUT); }
            }
            looks_ = false;
            turn();
        });
    }

    void arm(int socket, std::shared_ptr<watched> const& one) {
        using wait = boost::asio::posix::stream_descriptor;
        for (int which = 0; which < 2; ++which) {
            int const action = which == 0 ? CURL_CSELECT_IN : CURL_CSELECT_OUT;
            int const wanted = which == 0 ? CURL_POLL_IN : CURL_POLL_OUT;
            if ((one->wanted & wanted) == 0 || std::exchange(one->waits[which], true)) { continue; }
            one->at.async_wait(which == 0 ? wait::wait_read : wait::wait_write,
                boost::asio::bind_executor(strand_, [this, socket, one, which, action, wanted](error failed) {
                    one->waits[which] = false;
                    if (failed || (one->wanted & wanted) == 0) { return; }
                    int running = 0;
                    curl_multi_socket_action(multi_, socket, action, &running);
                    arm(socket, one);
                    turn();
                }));
        }
    }
    static int on_socket(CURL*, curl_socket_t socket, int what, void* of, void*) {
        auto& self = *static_cast<reads_by_hand*>(of);
        auto const at = static_cast<std::size_t>(socket);
        if (self.sockets_.size() <= at) { self.sockets_.resize(at + 1); }
        std::shared_ptr<watched>& one = self.sockets_[at];
        if (what == CURL_POLL_REMOVE) {
            one->wanted = 0;
            (void)one->at.release();
            one.reset();
            return 0;
        }
        if (one == nullptr) { one = std::make_shared<watched>(watched{{self.strand_, socket}}); }
        one->wanted = what;
        self.arm(socket, one);
        return 0;
    }
    static int on_timer(CURLM*, long milliseconds, void* of) {
        auto& self = *static_cast<reads_by_hand*>(of);
        if (milliseconds == 0) {
            self.due_ = true;
        } else if (milliseconds > 0) {
            self.timed_ = true;
            self.timer_.expires_after(std::chrono::milliseconds{milliseconds});
            self.timer_.async_wait([&self](error cancelled) {
                if (cancelled) { return; }
                self.timed_ = false;
                self.due_ = true;
                self.turn();
            });
        } else {
            self.due_ = false;
            if (std::exchange(self.timed_, false)) { self.timer_.cancel(); }
        }
        return 0;
    }

    boost::asio::io_context& context_;
    boost::asio::strand<boost::asio::io_context::executor_type> strand_;
    CURLU* const server_ = curl_url();
    CURLM* const multi_ = curl_multi_init();
    EVP_MAC_CTX* signer_{};
    simdjson::ondemand::parser parser_;
    std::mt19937_64 random_{std::random_device{}()};
    std::time_t date_of_{};
    char date_[30]{};
    std::string signed_;
    std::vector<std::shared_ptr<watched>> sockets_; ///< by descriptor
    boost::asio::steady_timer timer_;
    boost::asio::steady_timer look_;
    bool due_{};
    bool timed_{};
    bool looks_{};
    std::vector<std::unique_ptr<transfer>> all_;
    std::vector<transfer*> idle_;
    std::vector<transfer*> busy_;
    std::vector<call> taken_;
    std::size_t next_{};
    std::mutex lock_;
    std::vector<call> begun_; ///< guarded by lock_
};

} // namespace measure
