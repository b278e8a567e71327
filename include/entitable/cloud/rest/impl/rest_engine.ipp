// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/detail/request_secrets.hpp>
#include <entitable/cloud/rest/detail/rest_engine.hpp>
#include <entitable/cloud/wire/detail/answer_reader.hpp>
#include <entitable/cloud/wire/detail/error_answer.hpp>
#include <entitable/cloud/wire/detail/http_date.hpp>
#include <entitable/cloud/wire/detail/request_writer.hpp>
#include <entitable/core/detail/double_text.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/attempt.hpp>
#include <entitable/core/transport/transport.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <limits>
#include <random>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the name of a service; if OpenTelemetry defines a name for it, returns that name.
ENTITABLE_DECL std::string_view system_name(service kind) noexcept {
    switch (kind) {
        case service::cosmos: return "azure.cosmosdb";
        case service::azurite: return "azurite";
        default: return "azure.table_storage";
    }
}

/// Whether a request shows that a location does not respond. A throttled one responds with 429, or with 503.
ENTITABLE_DECL bool shows_dead_location(error const& problem) noexcept {
    switch (problem.http_status) {
        case 408:
        case 500:
        case 502:
        case 503:
        case 504: return true;
        default: return problem.code == error_code::transport_failed;
    }
}

/// Returns the address of a regional host of Cosmos DB: "-westeurope" after the account.
ENTITABLE_DECL result<std::string> regional_address(endpoint const& at, std::string_view location) {
    auto const refused = [&](std::string_view why) {
        return failure{error_code::invalid_input,
            text::joined({"rest_options::preferred_locations: ", text::shortened(text::printable(location), 80), why})};
    };
    if (at.kind != service::cosmos) { return refused(": only Cosmos DB has regional hosts"); }
    if (location.find("://") != std::string_view::npos) {
        auto const parsed = endpoint::parse(location);
        return parsed ? result<std::string>{parsed->primary} : refused(" is not the address of a service");
    }
    std::string name;
    for (char const each : text::ascii_lower(location)) {
        bool const known = (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9');
        if (!known && each != ' ') { return refused(" is not the name of a region"); }
        if (known) { name.push_back(each); }
    }
    if (name.empty()) { return refused(" is not the name of a region"); }
    std::size_t const host = at.primary.find("://") + 3;
    if (at.path_style || at.primary.compare(host, at.account.size() + 1, at.account + ".") != 0) {
        return refused(" needs an address, because the host of the account does not begin with its name");
    }
    std::string made = at.primary;
    return made.insert(host + at.account.size(), "-" + name);
}

ENTITABLE_DECL result<void> service_places::open(
    endpoint const& at, std::vector<std::string> const& preferred, std::string_view system) {
    std::vector<std::string> bases{at.primary};
    result<void> opened;
    if (!at.secondary.empty()) { bases.push_back(at.secondary); }
    for (std::string const& each : preferred) {
        if (auto address = regional_address(at, each)) {
            bases.push_back(*std::move(address));
        } else if (opened) {
            opened = std::move(address).as_failure();
        }
    }
    all_ = std::vector<one_place>(bases.size());
    for (std::size_t place = 0; place < bases.size(); ++place) {
        one_place& made = all_[place];
        made.base = std::move(bases[place]);
        auto const parts = parse_url(made.base, "the endpoint");
        if (parts && made.base.find('?') == std::string::npos) { made.address = *parts; }
        made.server = {system, made.address.host, 0};
        for (char const digit : made.address.port) {
            made.server.port = static_cast<std::uint16_t>(made.server.port * 10 + (digit - '0'));
        }
    }
    return opened;
}

/// Returns the first of `count` places, from `begin` on and around, that responds; if none does, the one that is tried again first.
ENTITABLE_DECL std::size_t service_places::first_of(
    std::size_t begin, std::size_t count, steady_time now) const noexcept {
    std::int64_t const ticks = now.time_since_epoch().count();
    std::size_t best = begin;
    std::int64_t earliest = (std::numeric_limits<std::int64_t>::max)();
    for (std::size_t step = 0; step < count; ++step) {
        std::size_t const place = (begin + step) % all_.size();
        std::int64_t const until = all_[place].avoided_until.load(memory_order::relaxed);
        if (until <= ticks) { return place; }
        if (until < earliest) {
            earliest = until;
            best = place;
        }
    }
    return best;
}

ENTITABLE_DECL std::size_t service_places::choose(read_location location, steady_time now) const noexcept {
    return location == read_location::primary || !has_secondary()
        ? 0
        : first_of(location == read_location::secondary ? 1 : 0, all_.size(), now);
}

ENTITABLE_DECL std::size_t service_places::secondary(steady_time now) const noexcept {
    return first_of(1, all_.size() - 1, now);
}

ENTITABLE_DECL void service_places::responded(std::size_t place) noexcept {
    one_place& one = all_[place];
    if (one.failures.load(memory_order::relaxed) == 0) { return; }
    one.failures.store(0, memory_order::relaxed);
    one.avoided_until.store(0, memory_order::relaxed);
}

ENTITABLE_DECL void service_places::failed(std::size_t place, steady_time now) noexcept {
    constexpr std::chrono::seconds first{5};
    constexpr std::chrono::seconds most{60};
    one_place& one = all_[place];
    std::uint32_t const before = (std::min)(one.failures.fetch_add(1, memory_order::relaxed), std::uint32_t{10});
    auto const pause = (std::min)(first * (1 << before), most);
    one.avoided_until.store((now + pause).time_since_epoch().count(), memory_order::relaxed);
}

ENTITABLE_DECL rest_engine::rest_engine(endpoint at, credential who, rest_options options)
    : endpoint_(std::move(at)), credential_(std::move(who)), options_(options) {
    limits_ = options_.limits                ? *options_.limits
        : endpoint_.kind == service::cosmos  ? cosmos_profile()
        : endpoint_.kind == service::azurite ? azurite_profile()
                                             : storage_profile();
    constexpr std::chrono::seconds most{30}; // the service's own limit
    options_.service_timeout = limits_.kind == service::cosmos || options_.service_timeout.count() < 0
        ? std::chrono::seconds{0}
        : (std::min)(options_.service_timeout, most);
    limits_.longest_work = options_.service_timeout.count() == 0 ? profile::unbounded : options_.service_timeout;
    if (credential_.account().empty()) {
        limits_.longest_delivery = profile::unbounded; // the signature does not include a date
    }
    if (auto opened = places_.open(endpoint_, options_.preferred_locations, system_name(endpoint_.kind)); !opened) {
        problem_ = opened.error();
    }
    std::random_device source;
    for (std::uint64_t& half : random_) { half = std::uint64_t{source()} << 32U | source(); }
}

ENTITABLE_DECL rest_engine::rest_engine(error problem) : problem_(std::move(problem)) {}

ENTITABLE_DECL shared<rest_engine> const& absent_rest_engine() {
    static shared<rest_engine> const absent = [] {
        failure why = moved_from("backend");
        return shared<rest_engine>::make(why.error());
    }();
    return absent;
}

ENTITABLE_DECL rest_engine::~rest_engine() {
    for (exchange* const each : idle_) { delete each; }
}

ENTITABLE_DECL exchange* rest_engine::take() {
    {
        std::lock_guard const guard{lock_};
        if (!idle_.empty()) {
            exchange* const taken = idle_.back();
            idle_.pop_back();
            return taken;
        }
        idle_.reserve(most_idle_); // returning an exchange allocates nothing
    }
    return new exchange;
}

ENTITABLE_DECL void rest_engine::give_back(exchange* used) noexcept {
    constexpr std::size_t largest = std::size_t{8} * 1024 * 1024;
    used->request.forget_credential();
    bool const large = used->reader.capacity() > largest || used->request.body.capacity() > largest;
    if (!large) {
        std::lock_guard const guard{lock_};
        if (idle_.size() < most_idle_) {
            idle_.push_back(used);
            return;
        }
    }
    delete used;
}

ENTITABLE_DECL void rest_engine::append_request_id(std::string& out) {
    // A random start and a count, mixed as in splitmix64: ids are distinct in one backend, and random between backends.
    std::uint64_t number = random_[0] + 0x9E3779B97F4A7C15U * requests_.fetch_add(1, memory_order::relaxed);
    std::uint64_t halves[2]{};
    for (std::uint64_t& half : halves) {
        number += random_[1];
        std::uint64_t mixed = (number ^ number >> 30U) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ mixed >> 27U) * 0x94D049BB133111EBU;
        half = mixed ^ mixed >> 31U;
    }
    guid id;
    std::memcpy(id.bytes.data(), halves, sizeof halves);
    id.bytes[6] = static_cast<unsigned char>((id.bytes[6] & 0x0FU) | 0x40U);
    id.bytes[8] = static_cast<unsigned char>((id.bytes[8] & 0x3FU) | 0x80U);
    id.append_to(out);
}

ENTITABLE_DECL http_call rest_engine::limits_of(call const& context) const {
    http_call limits;
    limits.deadline = context.deadline;
    limits.request_timeout = options_.request_timeout;
    limits.cancellation = context.cancellation;
    limits.max_body_size = options_.max_body_size;
    limits.max_header_size = options_.max_header_size;
    return limits;
}

ENTITABLE_DECL std::chrono::seconds rest_engine::timeout_of(call const& context) const {
    std::chrono::seconds given = options_.service_timeout;
    if (given.count() == 0) { return given; }
    steady_time::duration left = given;
    if (options_.request_timeout.count() > 0 && options_.request_timeout < left) { left = options_.request_timeout; }
    if (context.deadline != no_deadline) { left = (std::min)(left, context.deadline - options_.time->steady()); }
    given = std::chrono::ceil<std::chrono::seconds>(left);
    return (std::max)(given, std::chrono::seconds{1});
}

ENTITABLE_DECL result<void> rest_engine::authorize(
    http_request& request, std::size_t place, call const& context, token_wait* wait) const {
    url_parts target = places_.address(place);
    if (target.host.empty()) { // the credential reports the error
        return credential_.authorize(request, endpoint_, options_.time->now());
    }
    // The address was parsed earlier. The rest was written here and escaped as needed.
    std::size_t const base = places_.base(place).size();
    std::string_view const rest = std::string_view{request.url}.substr(base - target.path.size());
    target.path = rest.substr(0, rest.find('?'));
    target.query = rest.substr(target.path.size() < rest.size() ? target.path.size() + 1 : rest.size());
    http_call const limits = limits_of(context);
    return credential_.authorize(request, {target, true, &limits, wait}, endpoint_, options_.time->now());
}

ENTITABLE_DECL void rest_engine::mark(exchange& work, call& context) const {
    bool const traced{context.trace};
    if (context.watch == nullptr && !traced) { return; }
    work.span = draw_span_id(context);
    work.begun = options_.time->steady();
    if (traced) {
        trace_context sent = context.trace;
        sent.span_id = work.span;
        known_fields::add(work.request.headers, "traceparent", sent.to_string());
    }
}

ENTITABLE_DECL void rest_engine::note(exchange const& work, request_ref sent, attempt_record& done,
    http_response const* response, error* problem, call& context) {
    constexpr std::int64_t tolerance = 5 * 60;
    ++context.attempts;
    context.spans.server = &places_.server(work.place);
    if (places_.has_secondary()) {
        if (problem == nullptr || !shows_dead_location(*problem)) {
            if (response != nullptr) { places_.responded(work.place); }
        } else {
            places_.failed(work.place, options_.time->steady());
        }
    }
    if (response != nullptr) {
        if (auto const date = parse_http_date(work.fields.date)) {
            context.server_date = *date;
            bool const refused = problem != nullptr && problem->http_status == 403;
            std::int64_t const ahead =
                refused ? (options_.time->now().ticks - date->ticks) / date_time::ticks_per_second : 0;
            if (ahead > tolerance || ahead < -tolerance) {
                problem->message +=
                    text::joined({"; the clock of this computer is ", std::to_string(ahead < 0 ? -ahead : ahead),
                        ahead < 0 ? " s behind" : " s ahead of", " the service's, which tolerates 900 s"});
            }
        }
        constexpr double most_units = 1e9; // a greater charge is an error of the service
        auto const charge = double_in(work.fields.request_charge);
        if (charge && *charge > 0 && *charge <= most_units) {
            done.request_charge = *charge;
            context.request_charge += *charge;
        }
        if (work.fields.request_id) {
            context.request_ids.emplace_back(work.fields.request_id->substr(0, 128));
            if (problem != nullptr) { strike_secrets(context.request_ids.back(), work.request); }
        }
    }
    if (problem != nullptr && problem->effect == effect::unknown) {
        auto const dated = parse_http_date(work.request.headers.find("x-ms-date").value_or(std::string_view{}));
        bool const bounded = dated && limits_.longest_late_application() != profile::unbounded;
        date_time const end{bounded
                ? dated->ticks + limits_.longest_late_application().count() * date_time::ticks_per_second
                : date_time::max_ticks};
        context.undecided_until = (std::max)(context.undecided_until, end);
    }
    if (response != nullptr && response->status == 401) {
        credential_.refused(work.request, options_.time->now(),
            response->headers.find("WWW-Authenticate").value_or(std::string_view{}));
    }
    if (problem != nullptr && problem->request_id.empty() && response != nullptr && !context.request_ids.empty()) {
        problem->request_id = context.request_ids.back();
    }
    if (context.watch == nullptr) { return; }
    done.span.own.span_id = work.span;
    done.begun = work.begun;
    done.ended = options_.time->steady();
    done.request_size = work.request.body.size();
    done.secondary = work.location == read_location::secondary;
    if (response != nullptr) {
        done.outcome.status = response->status;
        if (work.fields.request_id) { done.request_id = context.request_ids.back(); }
    }
    tell_attempt(sent, done, context);
}

// ---- requests ----

/// Returns the fingerprint that a continuation token contains: of the account, and the parameters of a query.
template <class Request>
std::uint64_t fingerprint_of(rest_engine const& engine, Request const& request) {
    part_hash hash{3};
    hash.add(engine.at().account);
    if constexpr (std::same_as<Request, query_entities>) {
        bool const folded = engine.limits().table_names_without_case;
        hash.add(fingerprint(request, folded ? text::ascii_lower(request.table) : request.table));
    }
    return hash.value();
}

/// Sets the start of a read.
template <class Request>
result<void> place(rest_engine const& engine, Request const& request, call const& context, exchange& work) {
    work.token = {};
    work.ordered = engine.limits().ordered;
    service_places const& places = engine.places();
    bool const fixed = Request::writes || context.location == read_location::primary || !places.has_secondary();
    work.place = fixed ? 0 : places.choose(context.location, engine.options().time->steady());
    if constexpr (requires { request.continuation; }) {
        work.fingerprint = fingerprint_of(engine, request);
        if (request.continuation) {
            auto token = read_service_token(work.fingerprint, *request.continuation);
            if (!token) { return std::move(token).as_failure(); }
            if (token->location == read_location::secondary && !places.has_secondary()) {
                return failure{error_code::continuation_invalid,
                    "the continuation token was issued by a secondary location, which this backend does not have"};
            }
            work.place =
                token->location == read_location::primary ? 0 : places.secondary(engine.options().time->steady());
            work.token = *std::move(token);
        }
    }
    work.location = work.place == 0 ? read_location::primary : read_location::secondary;
    return {};
}

/// Writes and signs a request to the location given by `work`.
template <class Request>
result<void> write(
    rest_engine& engine, Request const& request, call& context, exchange& work, token_wait* wait = nullptr) {
    work.request_id.clear();
    engine.append_request_id(work.request_id);
    request_target to;
    to.base = engine.places().base(work.place);
    to.kind = engine.limits().kind;
    to.merge_by_post = engine.options().merge_by_post.value_or(to.kind == service::cosmos);
    to.request_id = work.request_id;
    if constexpr (std::same_as<Request, query_entities>) {
        work.said = write_request(work.request, request, to, work.token);
    } else if constexpr (std::same_as<Request, list_tables>) {
        write_request(work.request, request, to, work.token);
    } else if constexpr (std::same_as<Request, write_entity> || std::same_as<Request, transact>) {
        if (auto written = write_request(work.request, request, to); !written) { return written; }
    } else {
        write_request(work.request, request, to);
    }
    append_timeout(work.request, to, engine.timeout_of(context));
    if constexpr (std::same_as<Request, transact>) {
        if (work.request.body.size() > engine.limits().max_transaction_size) {
            return failure{error_code::request_body_too_large,
                limit_text(
                    "the encoded batch", work.request.body.size(), engine.limits().max_transaction_size, "bytes")};
        }
    }
    engine.mark(work, context);
    return engine.authorize(work.request, work.place, context, wait);
}

/// Validates a request. Most names in a write were validated in the previous write.
template <class Request>
result<void> validate_in(exchange& work, Request const& request, profile const& limits) {
    if constexpr (std::same_as<Request, write_entity> || std::same_as<Request, transact>) {
        known_good known{{}, work.names};
        auto checked = validate_write(request, limits, known);
        if (known.descriptor.data() != work.names.data()) { work.names = known.descriptor; }
        return checked;
    } else {
        return validate(request, limits);
    }
}

template <class Request>
result<void> begin(
    rest_engine& engine, Request const& request, call& context, exchange& work, token_wait* wait = nullptr) {
    if (auto const* const problem = engine.broken()) { return failure{*problem}; }
    if (auto ready = validate_in(work, request, engine.limits()); !ready) { return ready; }
    if (auto ready = check_call(context, *engine.options().time); !ready) { return ready; }
    if (auto placed = place(engine, request, context, work); !placed) { return placed; }
    return write(engine, request, context, work, wait);
}

/// Reads a response and reports to the observer. Returns true if it is final; otherwise `work` is sent to the primary.
template <class Request>
bool finish(rest_engine& engine, Request const& request, result<http_response>& response, exchange& work, call& context,
    result<response_of<Request>>& out) {
    http_response const* const came = response ? &*response : nullptr;
    std::size_t const received = came != nullptr ? came->body.size() : 0;
    auto made = read_answer(request, response, work);
    attempt_record done;
    if (context.watch != nullptr) {
        done.outcome = outcome_of(request, made);
        done.response_size = received;
    }
    if (made) {
        engine.note(work, request, done, came, nullptr, context);
        if constexpr (requires { made->request_charge; }) { made->request_charge = context.request_charge; }
        out = std::move(made);
        return true;
    }
    failure problem = std::move(made).as_failure();
    engine.note(work, request, done, came, &problem.error(), context);
    bool const again =
        work.location == read_location::secondary && problem.error().http_status == 404 && work.token.empty();
    out = std::move(problem);
    work.location = read_location::primary;
    work.place = 0;
    return !again;
}

/// Owns an exchange for the duration of a request.
class borrowed_exchange {
public:
    explicit borrowed_exchange(rest_engine& engine) : engine_(engine), work_(engine.take()) {}
    ~borrowed_exchange() { engine_.give_back(work_); }
    borrowed_exchange(borrowed_exchange const&) = delete;
    borrowed_exchange& operator=(borrowed_exchange const&) = delete;
    exchange& operator*() const noexcept { return *work_; }

private:
    rest_engine& engine_;
    exchange* work_;
};

template <class Request>
result<response_of<Request>> send_one(rest_engine& engine, Request const& request, call& context, http_sender send) {
    return as_operation(request, context, *engine.options().time, [&]() -> result<response_of<Request>> {
        borrowed_exchange const borrowed{engine};
        exchange& work = *borrowed;
        ENTITABLE_CHECK(begin(engine, request, context, work));
        http_call const limits = engine.limits_of(context);
        for (;;) {
            result<response_of<Request>> outcome{std::in_place};
            auto response = send(work.request, limits);
            if (finish(engine, request, response, work, context, outcome)) { return outcome; }
            ENTITABLE_CHECK(write(engine, request, context, work));
        }
    });
}

ENTITABLE_DECL result<create_table::response> rest_engine::execute(
    create_table const& request, call& context, http_sender send) {
    return send_one(*this, request, context, send);
}
ENTITABLE_DECL result<delete_table::response> rest_engine::execute(
    delete_table const& request, call& context, http_sender send) {
    return send_one(*this, request, context, send);
}
ENTITABLE_DECL result<list_tables::response> rest_engine::execute(
    list_tables const& request, call& context, http_sender send) {
    return send_one(*this, request, context, send);
}
ENTITABLE_DECL result<get_entity::response> rest_engine::execute(
    get_entity const& request, call& context, http_sender send) {
    return send_one(*this, request, context, send);
}
ENTITABLE_DECL result<query_entities::response> rest_engine::execute(
    query_entities const& request, call& context, http_sender send) {
    return send_one(*this, request, context, send);
}
ENTITABLE_DECL result<write_entity::response> rest_engine::execute(
    write_entity const& request, call& context, http_sender send) {
    return send_one(*this, request, context, send);
}
ENTITABLE_DECL result<transact::response> rest_engine::execute(
    transact const& request, call& context, http_sender send) {
    return send_one(*this, request, context, send);
}

ENTITABLE_DECL result<std::string> rest_engine::execute(
    service_request what, std::string_view table, std::string_view body, call& context, http_sender send) {
    constexpr std::string_view names[] = {
        "service_properties", "set_service_properties", "service_statistics", "access_policies", "set_access_policies"};
    constexpr std::string_view paths[] = {"?restype=service&comp=properties", "?restype=service&comp=properties",
        "?restype=service&comp=stats", "?comp=acl", "?comp=acl"};
    constexpr std::uint16_t statuses[] = {200, 202, 200, 200, 204};
    auto const index = static_cast<std::size_t>(what);
    bool const writes = what == service_request::set_properties || what == service_request::set_policies;
    bool const of_table = what == service_request::policies || what == service_request::set_policies;
    bool const at_secondary = what == service_request::statistics;
    if (broken() != nullptr) { return failure{*broken()}; }
    if (limits_.kind == service::cosmos || (at_secondary && endpoint_.secondary.empty())) {
        return failure{error_code::not_supported, text::joined({"this service does not have ", names[index]})};
    }
    if (auto named = of_table ? validate_table_name(table) : result<void>{}; !named) {
        return std::move(named).as_failure();
    }
    std::string const path = text::joined({table, paths[index]});
    plain_request const request{names[index], table, writes ? http_method::put : http_method::get, path, body, writes,
        at_secondary ? read_location::secondary : read_location::primary, {statuses[index], statuses[index]}};
    auto answer = execute(request, context, send);
    return answer ? result<std::string>{std::move(answer->body)} : std::move(answer).as_failure();
}

ENTITABLE_DECL result<http_response> rest_engine::execute(
    plain_request const& request, call& context, http_sender send) {
    if (broken() != nullptr) { return failure{*broken()}; }
    ENTITABLE_CHECK(check_call(context, *options_.time));
    borrowed_exchange const borrowed{*this};
    exchange& work = *borrowed;
    work.request_id.clear();
    append_request_id(work.request_id);
    work.location = request.location;
    work.place = request.location == read_location::primary ? 0 : 1;
    request_target const to{places_.base(work.place), limits_.kind, false, work.request_id};
    begin_request(work.request, request.method, to, request.path, "application/xml");
    if (!request.body.empty()) {
        static_cast<void>(work.request.headers.add("Content-Type", "application/xml"));
        work.request.body = request.body;
    }
    append_timeout(work.request, to, timeout_of(context));
    mark(work, context);
    ENTITABLE_CHECK(authorize(work.request, work.place, context));
    auto response = send(work.request, limits_of(context));
    work.fields = response ? fields_of(response->headers) : answer_fields{};
    std::optional<failure> problem;
    if (!response) {
        problem.emplace(response.error());
    } else if (response->status >= 300) {
        problem.emplace(to_failure(read_error_answer(*response, work.reader), request.name, request.writes));
    } else if (response->status != request.statuses[0] && response->status != request.statuses[1]) {
        problem.emplace(garbled(*response, {"its status is invalid for this request"}));
    }
    attempt_record done;
    done.name = request.name;
    done.table = request.subject;
    if (!problem) {
        done.response_size = response->body.size();
        note(work, {}, done, &*response, nullptr, context);
        return response;
    }
    strike_secrets(problem->error(), work.request);
    if (problem->error().code == error_code::transport_failed) {
        problem->error().effect = request.writes ? effect::unknown : effect::none;
    }
    done.outcome = outcome_of(&problem->error());
    note(work, {}, done, response ? &*response : nullptr, &problem->error(), context);
    return *std::move(problem);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
