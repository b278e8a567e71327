// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The baseline for channels and loops: libcurl's multi interface by hand.

#include <curl/curl.h>

#include <array>
#include <string>
#include <vector>

namespace measure {

/// Only libcurl: point reads with one multi handle, alternating between two hosts. Sends the bytes that `azure_backend` sends.
class bare_curl {
public:
    bare_curl(std::array<std::string, 2> const& origins, std::size_t reads, std::size_t in_flight)
        : multi_(curl_multi_init()), reads_(reads), easy_(in_flight), body_(in_flight) {
        curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(2 * in_flight));
        for (char const* const field : {"Accept: application/json;odata=minimalmetadata", "DataServiceVersion: 3.0",
                 "x-ms-version: 2019-02-02", "x-ms-client-request-id: 1fec64fd-327f-43b5-a2db-96fa801e3a09",
                 "x-ms-date: Fri, 20 Nov 2026 15:27:36 GMT",
                 "Authorization: SharedKey acct:RNeMV4QhAsdhJ2sGUgufA/AfRsaKXZU2cEJdUsvj4NY="}) {
            list_ = curl_slist_append(list_, field);
        }
        for (std::size_t index = 0; index < in_flight; ++index) {
            easy_[index] = curl_easy_init();
            url_[index % 2] = origins[index % 2] + "/acct/Reads(PartitionKey='a',RowKey='b')?timeout=30";
            curl_easy_setopt(easy_[index], CURLOPT_NOSIGNAL, 1L);
            curl_easy_setopt(easy_[index], CURLOPT_WRITEFUNCTION, &bare_curl::on_body);
            curl_easy_setopt(easy_[index], CURLOPT_WRITEDATA, &body_[index]);
            curl_easy_setopt(easy_[index], CURLOPT_PRIVATE, &body_[index]);
        }
    }
    bare_curl(bare_curl const&) = delete;
    bare_curl& operator=(bare_curl const&) = delete;
    ~bare_curl() {
        for (CURL* const each : easy_) { curl_easy_cleanup(each); }
        curl_multi_cleanup(multi_);
        curl_slist_free_all(list_);
    }
    void run() {
        std::size_t started = 0;
        std::size_t done = 0;
        auto const start = [&](CURL* easy) { // each request has an address and fields, always the same here
            curl_easy_setopt(easy, CURLOPT_URL, url_[started % 2].c_str());
            curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list_);
            curl_multi_add_handle(multi_, easy);
            ++started;
        };
        for (CURL* const each : easy_) { start(each); }
        while (done < reads_) {
            int running = 0;
            curl_multi_perform(multi_, &running);
            int left = 0;
            bool any = false;
            while (CURLMsg const* const message = curl_multi_info_read(multi_, &left)) {
                CURL* const easy = message->easy_handle;
                std::string* body = nullptr;
                curl_easy_getinfo(easy, CURLINFO_PRIVATE, &body);
                body->clear();
                curl_multi_remove_handle(multi_, easy);
                ++done;
                any = true;
                if (started < reads_) { start(easy); }
            }
            if (!any) { curl_multi_poll(multi_, nullptr, 0, 1000, nullptr); }
        }
    }

private:
    static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* body) {
        static_cast<std::string*>(body)->append(bytes, size * count);
        return size * count;
    }
    CURLM* multi_;
    std::size_t reads_;
    curl_slist* list_{};
    std::array<std::string, 2> url_;
    std::vector<CURL*> easy_;
    std::vector<std::string> body_;
};

} // namespace measure
