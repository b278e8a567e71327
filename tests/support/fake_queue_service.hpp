// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A queue service as an HTTP client: it follows the service's reference for queues, on a manual clock, with lost answers.

#include <entitable/cloud/account/signing.hpp>
#include <entitable/cloud/http/http_client.hpp>
#include <entitable/cloud/http/url.hpp>
#include <entitable/cloud/wire/detail/service_address.hpp>
#include <entitable/cloud/wire/detail/xml.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <map>
#include <memory>
#include <vector>

namespace entitable_test {

/// Copies share one service. One thread at a time.
class fake_queue_service {
public:
    using is_http_client = void;
    enum class mishap { answered, never_sent, answer_lost, busy };

    explicit fake_queue_service(entitable::testing::manual_clock& time) : shared_(std::make_shared<state>(time)) {}

    /// The fault of the request with this number, from 1; all others are answered.
    void plan(std::size_t number, mishap what) const { shared_->mishaps[number] = what; }
    [[nodiscard]] std::size_t requests() const { return shared_->requests; }
    [[nodiscard]] std::vector<entitable::http_request> const& asked() const { return shared_->asked; }
    /// The texts of a queue's messages, as stored.
    [[nodiscard]] std::vector<std::string> texts(std::string const& queue) const {
        std::vector<std::string> all;
        for (message const& each : shared_->queues[queue]) { all.push_back(each.text); }
        return all;
    }
    void put(std::string const& queue, std::string text) const {
        shared_->queues[queue].push_back({"raw", "", std::move(text), shared_->time.now().ticks, 0});
    }

    entitable::result<entitable::http_response> send(
        entitable::http_request const& request, entitable::http_call const&) const {
        state& all = *shared_;
        all.asked.push_back(request);
        mishap const what = all.mishaps.contains(++all.requests) ? all.mishaps[all.requests] : mishap::answered;
        if (what == mishap::never_sent || what == mishap::answer_lost) {
            if (what == mishap::answer_lost) { static_cast<void>(answer(request)); }
            entitable::failure gone{entitable::error_code::transport_failed, "lost"};
            gone.error().effect = entitable::effect::unknown;
            return gone;
        }
        return what == mishap::busy ? refused(503, "ServerBusy") : answer(request);
    }

private:
    struct message {
        std::string id;
        std::string pop;
        std::string text;
        std::int64_t visible{};
        int deliveries{};
    };
    struct state {
        explicit state(entitable::testing::manual_clock& by) : time(by) {}
        entitable::testing::manual_clock& time;
        std::map<std::string, std::vector<message>> queues;
        std::map<std::size_t, mishap> mishaps;
        std::vector<entitable::http_request> asked;
        std::size_t requests{};
        int names{};
    };

    [[nodiscard]] entitable::http_response made(std::uint16_t status, std::string body = {}) const {
        entitable::http_response answer;
        answer.status = status;
        answer.body = std::move(body);
        static_cast<void>(answer.headers.add("Date", date(shared_->time.now().ticks)));
        return answer;
    }
    [[nodiscard]] entitable::http_response refused(std::uint16_t status, std::string const& word) const {
        return made(status, "<Error><Code>" + word + "</Code><Message>no</Message></Error>");
    }
    [[nodiscard]] static std::string date(std::int64_t ticks) {
        return std::string{entitable::detail::http_date({ticks})};
    }
    [[nodiscard]] static std::string option(entitable::url_parts const& url, std::string_view name) {
        std::optional<std::string> found;
        static_cast<void>(entitable::detail::read_option(url.query, name, found));
        return found.value_or("");
    }

    [[nodiscard]] entitable::http_response answer(entitable::http_request const& request) const {
        using entitable::http_method;
        constexpr std::int64_t second = entitable::date_time::ticks_per_second;
        state& all = *shared_;
        std::int64_t const now = all.time.now().ticks;
        auto const url = entitable::parse_url(request.url, "the request").value();
        std::vector<std::string> parts; // parts of the path
        for (char const each : url.path) {
            if (each == '/') {
                parts.emplace_back();
            } else {
                parts.back() += each;
            }
        }
        std::string const& name = parts.at(0);
        if (parts.size() == 1 && request.method == http_method::put) {
            bool const there = all.queues.contains(name);
            all.queues[name];
            return made(there ? 204 : 201);
        }
        if (!all.queues.contains(name)) { return refused(404, "QueueNotFound"); }
        auto& queue = all.queues[name];
        if (parts.size() == 1 && request.method == http_method::delete_) {
            all.queues.erase(name);
            return made(204);
        }
        if (parts.size() == 1) {
            auto counted = made(200);
            static_cast<void>(counted.headers.add("x-ms-approximate-messages-count", std::to_string(queue.size())));
            return counted;
        }
        std::string text;
        static_cast<void>(entitable::detail::read_xml(
            request.body, [&](entitable::detail::xml_event, std::string_view path, std::string_view content) {
                text = path == "QueueMessage/MessageText" ? std::string{content} : text;
            }));
        std::string const given = option(url, "visibilitytimeout");
        std::int64_t const visible = now + (given.empty() ? 0 : std::stoll(given) * second);
        if (request.method == http_method::post) {
            queue.push_back({"id-" + std::to_string(++all.names), "", text, visible, 0});
            return made(201, "<QueueMessagesList></QueueMessagesList>");
        }
        if (request.method == http_method::get) {
            bool const peeks = option(url, "peekonly") == "true";
            std::size_t left = std::stoul(option(url, "numofmessages"));
            std::string list = "<?xml version=\"1.0\"?><QueueMessagesList>";
            for (message& each : queue) {
                if (each.visible > now || left == 0) { continue; }
                --left;
                list += "<QueueMessage>";
                entitable::detail::append_xml_element(list, "MessageId", each.id);
                if (!peeks) {
                    each.pop = "+/=" + std::to_string(++all.names);
                    each.visible = visible;
                    ++each.deliveries;
                    entitable::detail::append_xml_element(list, "PopReceipt", each.pop);
                    entitable::detail::append_xml_element(list, "TimeNextVisible", date(each.visible));
                }
                entitable::detail::append_xml_element(list, "DequeueCount", std::to_string(each.deliveries));
                entitable::detail::append_xml_element(list, "MessageText", each.text);
                list += "</QueueMessage>";
            }
            return made(200, list + "</QueueMessagesList>");
        }
        for (std::size_t index = 0; index < queue.size(); ++index) {
            message& each = queue[index];
            if (each.id != parts.at(2)) { continue; }
            if (each.pop != option(url, "popreceipt")) { return refused(400, "PopReceiptMismatch"); }
            if (request.method == http_method::delete_) {
                queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(index));
                return made(204);
            }
            each.pop = "+/=" + std::to_string(++all.names);
            each.visible = visible;
            each.text = request.body.empty() ? each.text : text;
            auto updated = made(204);
            static_cast<void>(updated.headers.add("x-ms-popreceipt", each.pop));
            static_cast<void>(updated.headers.add("x-ms-time-next-visible", date(each.visible)));
            return updated;
        }
        return refused(404, "MessageNotFound");
    }

    std::shared_ptr<state> shared_;
};

} // namespace entitable_test
