// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/answer_reader.hpp>
#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/cloud/wire/detail/http_date.hpp>
#include <entitable/cloud/wire/detail/xml.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/storage_queue/detail/service_queue.hpp>
#include <entitable/work/storage_queue/impl/message_text.ipp>

#include <algorithm>
#include <charconv>
#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::size_t largest_message = std::size_t{64} * 1024;

ENTITABLE_DECL result<void> validate_queue_name(std::string_view name) {
    bool good = name.size() >= 3 && name.size() <= 63 && !name.starts_with('-') && !name.ends_with('-') &&
        name.find("--") == std::string_view::npos;
    for (char const each : name) {
        good = good && ((each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '-');
    }
    return good
        ? result<void>{}
        : failure{error_code::invalid_input,
              text::joined({"the name of a queue must have 3 to 63 lower-case letters, digits and single hyphens: ",
                  text::shortened(text::printable(name), 80)})};
}

ENTITABLE_DECL result<connection_settings> queue_settings(std::string_view address, credential const& who) {
    ENTITABLE_TRY(auto at, endpoint::parse(address));
    std::string_view const rest = std::string_view{at.primary}.substr(at.primary.find("://") + 3);
    bool const named = !at.path_style && rest.find('/') != std::string_view::npos;
    if (named && rest.find(".queue.") != std::string_view::npos) {
        return failure{
            error_code::invalid_input, "the endpoint must be the address of the service only: remove the queue"};
    }
    if (at.kind != service::cosmos && rest.substr(0, rest.find('/')).find(".table.") != std::string_view::npos) {
        return failure{error_code::invalid_input,
            "the endpoint is the address of tables; the address of queues is https://ACCOUNT.queue.core.windows.net"};
    }
    at.of = account_service::queues;
    return connection_settings{std::move(at), who};
}

ENTITABLE_DECL shared<rest_engine> queue_engine(result<connection_settings> at, clock* time) {
    if (at && at->endpoint.kind == service::cosmos) {
        at = failure{error_code::not_supported, "Cosmos DB does not have queues"};
    }
    if (!at) { return shared<rest_engine>::make(at.error()); }
    rest_options how;
    how.time = time;
    return shared<rest_engine>::make(std::move(at->endpoint), std::move(at->credential), std::move(how));
}

ENTITABLE_DECL service_queue::shared_state& service_queue::absent_state() {
    static shared<shared_state> const absent = shared<shared_state>::make(
        [](http_request const&, http_call const&) -> result<http_response> { return moved_from("queue"); },
        absent_rest_engine(), std::string{}, queue_options{}, queue_text::plain);
    return *absent;
}

ENTITABLE_DECL service_queue::service_queue(
    sender send, result<connection_settings> at, std::string name, queue_options how, queue_text text)
    : state_(shared<shared_state>::make(
          std::move(send), queue_engine(std::move(at), how.time), std::move(name), std::move(how), text)) {
    state().options.lanes = 1; // `requests_per_idle_hour` counts one request per read
}

ENTITABLE_DECL service_queue service_queue::dead_letters() const {
    queue_options how = options();
    how.max_deliveries = (std::numeric_limits<std::uint32_t>::max)();
    how.seed = 0;
    return service_queue{shared<shared_state>::make(
        state().send, state().engine, text::joined({name(), "-poison"}), std::move(how), state().text)};
}

ENTITABLE_DECL bool service_queue::again(contention& sends) const {
    return !once_ && wait_before_sending(options(), state().ids.random(), sends);
}

ENTITABLE_DECL std::string service_queue::messages_path() const { return text::joined({name(), "/messages"}); }
ENTITABLE_DECL std::string service_queue::path_of(service_receipt const& held) const {
    std::string path = text::joined({messages_path(), "/"});
    append_url_escaped(path, held.message);
    path.append("?popreceipt=");
    append_url_escaped(path, held.pop);
    return path;
}

/// Formats whole seconds, rounded up.
ENTITABLE_DECL std::string seconds_parameter(std::chrono::nanoseconds time) {
    return std::to_string(std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(time).count(), 0));
}

ENTITABLE_DECL result<std::string> service_queue::body_of(std::string_view text) const {
    if (text.size() > largest_message) {
        return failure{error_code::request_body_too_large,
            limit_text("the encoded message", text.size(), largest_message, "bytes")};
    }
    std::string body{"<QueueMessage>"};
    append_xml_element(body, "MessageText", text);
    return body.append("</QueueMessage>");
}

// ---- requests ----

ENTITABLE_DECL result<http_response> service_queue::send(plain_request const& request, date_time& told) const {
    call context{options().calls, time()};
    if (under_receipt_) { context.cancellation = {}; }
    auto answer = state().engine->execute(request, context, state().send);
    told = context.server_date != date_time{} ? context.server_date : time().now();
    return answer;
}

ENTITABLE_DECL result<http_response> service_queue::settle(
    plain_request const& request, date_time& told, bool& maybe) const {
    if (state().engine.get() == absent_rest_engine().get()) { return moved_from("queue"); }
    ENTITABLE_CHECK(check_queue_options(options()));
    ENTITABLE_CHECK(validate_queue_name(name()));
    for (contention sends{options().max_attempts, options().delays};;) {
        auto answer = send(request, told);
        if (answer) { return answer; }
        error refused = answer.error();
        bool const unknown = refused.effect == effect::unknown;
        maybe = maybe || unknown;
        if ((!unknown && !worth_retrying(refused)) || !again(sends)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
    }
}

ENTITABLE_DECL result<bool> service_queue::create() const {
    date_time told;
    bool maybe = false;
    ENTITABLE_TRY(auto const answer,
        settle({"create_queue", name(), http_method::put, name(), {}, true, read_location::primary, {201, 204}}, told,
            maybe));
    return answer.status == 201;
}

ENTITABLE_DECL result<bool> service_queue::remove() const {
    date_time told;
    bool maybe = false;
    auto const answer =
        settle({"delete_queue", name(), http_method::delete_, name(), {}, true, read_location::primary, {204, 204}},
            told, maybe);
    if (!answer && answer.error().code == error_code::resource_not_found) { return maybe; }
    return answer ? result<bool>{true} : failure{answer.error()};
}

ENTITABLE_DECL result<void> service_queue::put(
    std::string_view text, std::chrono::nanoseconds delay, bool& maybe) const {
    ENTITABLE_TRY(std::string const body, body_of(text));
    std::string path = text::joined({messages_path(), "?messagettl=-1"}); // the message does not expire
    if (delay > std::chrono::nanoseconds{}) { path.append("&visibilitytimeout=").append(seconds_parameter(delay)); }
    date_time told;
    auto const answer = settle(
        {"enqueue", name(), http_method::post, path, body, true, read_location::primary, {201, 201}}, told, maybe);
    return answer ? result<void>{} : failure{answer.error()};
}

ENTITABLE_DECL result<enqueued> service_queue::enqueue(row_view message, enqueue_options const& how) const {
    std::string id = how.id.empty() ? state().ids.next() : how.id;
    row const whole = with_queue_properties(message, id, {});
    if (std::string const json = message_text(whole, queue_text::plain); text::valid_utf8_prefix(json) != json.size()) {
        return failure{error_code::invalid_input, "the message contains text that is not UTF-8"};
    }
    bool maybe = false;
    ENTITABLE_CHECK(put(message_text(whole, state().text), how.delay, maybe));
    return enqueued{std::move(id), false};
}

ENTITABLE_DECL result<std::vector<service_message>> service_queue::read(
    http_response const& answer, date_time told) const {
    result<std::vector<service_message>> found{std::in_place};
    service_message one;
    bool good = true;
    bool const whole = read_xml(answer.body, [&](xml_event event, std::string_view path, std::string_view text) {
        constexpr std::string_view each = "QueueMessagesList/QueueMessage";
        if (!path.starts_with(each)) { return; }
        std::string_view const field = path.substr((std::min)(path.size(), each.size() + 1));
        if (event == xml_event::opens) {
            one = field.empty() ? service_message{} : std::move(one);
        } else if (field == "MessageId") {
            one.held.message = text;
        } else if (field == "PopReceipt") {
            one.held.pop = text;
        } else if (field == "MessageText") {
            one.held.text = text;
        } else if (field == "TimeNextVisible") {
            auto const time = parse_http_date(text);
            good = good && time.has_value();
            one.held.visible_at = time.value_or(date_time{});
        } else if (field == "DequeueCount") {
            auto const end = text.data() + text.size();
            auto const got = std::from_chars(text.data(), end, one.held.deliveries);
            good = good && got.ec == std::errc{} && got.ptr == end;
        } else if (field.empty()) {
            good = good && !one.held.message.empty();
            found->push_back(std::move(one));
        }
    });
    if (!whole || !good) {
        failure problem = garbled(answer, {"it is not a list of messages"});
        problem.error().effect = effect::unknown; // the messages reappear when the claim expires
        return problem;
    }
    entity_reader reader;
    for (service_message& each : *found) {
        each.held.told = told;
        each.held.responded_at = time().steady();
        each.held.spent = false;
        each.held.name = each.held.message; // serves messages not enqueued by this library
        if (read_message_text(each.held.text, state().text, reader, each.entity)) {
            if (std::string_view const id = text_in(each.entity, queue_id_property); !id.empty()) {
                each.held.name = id;
            }
        }
    }
    return found;
}

ENTITABLE_DECL result<std::vector<service_message>> service_queue::claim(
    std::uint32_t most, claim_options const& how) const {
    std::string const path = text::joined(
        {messages_path(), "?numofmessages=", std::to_string(std::clamp(most, std::uint32_t{1}, std::uint32_t{32})),
            "&visibilitytimeout=", seconds_parameter(options().visibility)});
    steady_time const end = end_of_wait(how.wait, time().steady());
    call waiting{options().calls, time()};
    waiting.deadline = no_deadline; // the timeout is for each request
    for (std::uint64_t look = 1;; ++look) {
        if (how.stop.cancelled()) { return std::vector<service_message>{}; }
        date_time told;
        bool maybe = false;
        ENTITABLE_TRY(auto const answer,
            settle(
                {"claim", name(), http_method::get, path, {}, true, read_location::primary, {200, 200}}, told, maybe));
        ENTITABLE_TRY(auto got, read(answer, told));
        bool const any = !got.empty();
        std::erase_if(got, [&](service_message& each) {
            bool const over = each.held.deliveries > (std::max)(options().max_deliveries, 1U);
            if (over) {
                static_cast<void>(bury(each)); // the next claim tries this again
            }
            return over;
        });
        steady_time const now = time().steady();
        if (!got.empty() || (!any && now >= end)) { return got; }
        if (any) {
            continue; // these are only dead letters: other messages may follow
        }
        auto const next = now +
            std::chrono::duration_cast<steady_time::duration>(
                options().polling.delay(look, state().ids.random().unit()));
        ENTITABLE_CHECK(wait_unless_stopped((std::min)(next, end), waiting, how.stop, time()));
    }
}

ENTITABLE_DECL bool service_queue::bury(service_message& used_up) const {
    service_queue const dead = dead_letters();
    bool maybe = false;
    auto moved = dead.put(used_up.held.text, {}, maybe);
    if (!moved && moved.error().code == error_code::resource_not_found) {
        moved = dead.create() ? dead.put(used_up.held.text, {}, maybe) : std::move(moved);
    }
    return moved && complete(used_up.held);
}

ENTITABLE_DECL result<std::vector<service_message>> service_queue::peek(std::uint32_t most) const {
    std::string const path = text::joined({messages_path(),
        "?peekonly=true&numofmessages=", std::to_string(std::clamp(most, std::uint32_t{1}, std::uint32_t{32}))});
    date_time told;
    bool maybe = false;
    ENTITABLE_TRY(auto const answer,
        settle({"peek", name(), http_method::get, path, {}, false, read_location::primary, {200, 200}}, told, maybe));
    return read(answer, told);
}

ENTITABLE_DECL result<std::uint64_t> service_queue::approximate_count() const {
    std::string const path = text::joined({name(), "?comp=metadata"});
    date_time told;
    bool maybe = false;
    ENTITABLE_TRY(auto const answer,
        settle({"queue_metadata", name(), http_method::get, path, {}, false, read_location::primary, {200, 200}}, told,
            maybe));
    std::string_view const count = answer.headers.find("x-ms-approximate-messages-count").value_or(std::string_view{});
    std::uint64_t number = 0;
    auto const got = std::from_chars(count.data(), count.data() + count.size(), number);
    return got.ec == std::errc{} && !count.empty() ? result<std::uint64_t>{number}
                                                   : garbled(answer, {"it lacks the message count"});
}

// ---- under a receipt ----

ENTITABLE_DECL result<void> service_queue::update(
    service_receipt& held, std::optional<std::string> text, std::chrono::nanoseconds visibility) const {
    if (held.spent) { return receipt_is_spent(); }
    std::string body; // empty: the text is unchanged
    if (text) { ENTITABLE_TRY(body, body_of(*text)); }
    std::string path = path_of(held);
    path.append("&visibilitytimeout=").append(seconds_parameter(visibility));
    date_time told;
    bool maybe = false;
    auto const answer =
        settle({"update_message", name(), http_method::put, path, body, true, read_location::primary, {204, 204}}, told,
            maybe);
    if (!answer) {
        bool const lost =
            answer.error().code == error_code::resource_not_found || answer.error().code == error_code::receipt_lost;
        held.spent = held.spent || lost;
        return lost ? receipt_is_lost() : failure{answer.error()};
    }
    auto const pop = answer->headers.find("x-ms-popreceipt");
    auto const visible = parse_http_date(answer->headers.find("x-ms-time-next-visible").value_or(std::string_view{}));
    if (!pop || pop->empty() || !visible) {
        held.spent = true; // changed, but the receipt is unknown
        return garbled(*answer, {"it lacks the receipt of the message"});
    }
    held.pop = *pop;
    held.text = text ? *std::move(text) : std::move(held.text);
    held.visible_at = *visible;
    held.told = told;
    held.responded_at = time().steady();
    return {};
}

ENTITABLE_DECL result<void> service_queue::renew(service_receipt& held, std::chrono::nanoseconds visibility) const {
    return update(held, std::nullopt, visibility);
}

ENTITABLE_DECL result<void> service_queue::give_back(
    service_receipt& held, std::string_view why, std::chrono::nanoseconds delay) const {
    std::optional<std::string> text;
    entity_reader reader;
    if (row entity; !why.empty() && read_message_text(held.text, state().text, reader, entity)) {
        text = message_text(with_queue_properties(entity, held.name, why), state().text);
        if (text->size() > largest_message) { // the reason would make the message too large
            text.reset();
        }
    }
    return update(held, std::move(text), delay);
}

ENTITABLE_DECL result<void> service_queue::complete(service_receipt& held) const {
    if (held.spent) { return receipt_is_spent(); }
    std::string path = path_of(held);
    date_time told;
    bool maybe = false;
    auto const answer =
        settle({"delete_message", name(), http_method::delete_, path, {}, true, read_location::primary, {204, 204}},
            told, maybe);
    bool const gone = !answer && answer.error().code == error_code::resource_not_found;
    if (answer || (gone && maybe)) { // completed, by this request or by another worker
        held.spent = true;
        return {};
    }
    bool const lost = gone || answer.error().code == error_code::receipt_lost;
    held.spent = lost;
    return lost ? receipt_is_lost() : failure{answer.error()};
}

ENTITABLE_DECL result<std::string> service_queue::reason(service_receipt const& held) const {
    entity_reader reader;
    row entity;
    return read_message_text(held.text, state().text, reader, entity)
        ? std::string{text_in(entity, queue_property::why)}
        : std::string{};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
