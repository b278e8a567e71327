// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The parts of a REST backend that do not depend on the HTTP client: validates, writes, signs, reads, and reports to the observer.

#include <entitable/cloud/account/credential.hpp>
#include <entitable/cloud/account/endpoint.hpp>
#include <entitable/cloud/http/http_client.hpp>
#include <entitable/cloud/rest/rest_options.hpp>
#include <entitable/core/atomic.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/request_ref.hpp>
#include <entitable/core/shared.hpp>

#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Sends one HTTP request.
using http_sender = function_ref<result<http_response>(http_request const&, http_call const&)>;

struct exchange;

/// The addresses of a service, and which of them respond. Safe to use from several threads.
class service_places {
public:
    /// Takes the primary, and the secondary or the preferred locations. Errors: InvalidInput names the location that has no address.
    [[nodiscard]] result<void> open(
        endpoint const& at, std::vector<std::string> const& preferred, std::string_view system);

    [[nodiscard]] std::string const& base(std::size_t place) const { return all_[place].base; }
    /// Returns the parsed address; without a host if the URL is invalid.
    [[nodiscard]] url_parts const& address(std::size_t place) const { return all_[place].address; }
    [[nodiscard]] server_identity const& server(std::size_t place) const { return all_[place].server; }
    [[nodiscard]] bool has_secondary() const noexcept { return all_.size() > 1; }
    /// Returns the place of a read that may go to these locations: the first that responds, else the one that is tried again next.
    [[nodiscard]] std::size_t choose(read_location location, steady_time now) const noexcept;
    /// Returns the place of a continuation that must return to a secondary location.
    [[nodiscard]] std::size_t secondary(steady_time now) const noexcept;
    void responded(std::size_t place) noexcept;
    void failed(std::size_t place, steady_time now) noexcept;

private:
    struct one_place {
        std::string base;
        url_parts address; ///< refers to `base`
        server_identity server;
        atomic<std::int64_t> avoided_until{0}; ///< steady ticks; 0 if it responds
        atomic<std::uint32_t> failures{0};     ///< without a response since
    };
    [[nodiscard]] std::size_t first_of(std::size_t begin, std::size_t count, steady_time now) const noexcept;

    std::vector<one_place> all_;
};

/// The requests to the service itself.
enum class service_request : std::uint8_t { properties, set_properties, statistics, policies, set_policies };

/// A request that does not address a table: its parts, as they are sent.
struct plain_request {
    std::string_view name;    ///< name of the operation, for errors and the observer
    std::string_view subject; ///< the table or queue; may be empty
    http_method method{http_method::get};
    std::string_view path; ///< after the address of the service, with its query; escaped as needed
    std::string_view body; ///< XML, or empty
    bool writes{};         ///< the effect of a request without a response is unknown
    read_location location{read_location::primary};
    std::uint16_t statuses[2]{}; ///< statuses of success; every other status is an error
};

/// The state that all copies of a REST backend share. Safe to use from several threads.
class rest_engine : public counted {
public:
    rest_engine(endpoint at, credential who, rest_options options);
    /// Fails every request with `problem`.
    explicit rest_engine(error problem);
    ~rest_engine();

    [[nodiscard]] entitable::profile const& limits() const noexcept { return limits_; }
    [[nodiscard]] endpoint const& at() const noexcept { return endpoint_; }
    [[nodiscard]] credential const& who() const noexcept { return credential_; }
    [[nodiscard]] rest_options const& options() const noexcept { return options_; }
    [[nodiscard]] service_places const& places() const noexcept { return places_; }
    /// Returns the error that every request fails with, or null.
    [[nodiscard]] error const* broken() const noexcept { return problem_ ? &*problem_ : nullptr; }

    [[nodiscard]] result<create_table::response> execute(create_table const&, call&, http_sender);
    [[nodiscard]] result<delete_table::response> execute(delete_table const&, call&, http_sender);
    [[nodiscard]] result<list_tables::response> execute(list_tables const&, call&, http_sender);
    [[nodiscard]] result<get_entity::response> execute(get_entity const&, call&, http_sender);
    [[nodiscard]] result<query_entities::response> execute(query_entities const&, call&, http_sender);
    [[nodiscard]] result<write_entity::response> execute(write_entity const&, call&, http_sender);
    [[nodiscard]] result<transact::response> execute(transact const&, call&, http_sender);

    /// Returns the body of the response: XML, or empty for a change of a setting.
    [[nodiscard]] result<std::string> execute(
        service_request what, std::string_view table, std::string_view body, call& context, http_sender send);

    [[nodiscard]] result<http_response> execute(plain_request const& request, call& context, http_sender send);

    /// Returns the state of one request in flight, which is reused for later requests.
    [[nodiscard]] exchange* take();
    void give_back(exchange* used) noexcept;

    /// Appends a new request id, as a GUID.
    void append_request_id(std::string& out);
    [[nodiscard]] http_call limits_of(call const& context) const;
    /// Returns the service's time limit for a request of a call: 1 to 30 s, or zero to send none.
    [[nodiscard]] std::chrono::seconds timeout_of(call const& context) const;
    /// Adds the credential to a request to one of the addresses. Waits for a token within the limits of the call, unless `wait` is given.
    [[nodiscard]] result<void> authorize(
        http_request& request, std::size_t place, call const& context, token_wait* wait = nullptr) const;
    /// Starts one attempt of the call for a written request, with its own span if the call has a trace.
    void mark(exchange& work, call& context) const;
    /// Stores the metadata of a response in the call, and reports it to the observer. `done` names the request if `sent` is null.
    void note(exchange const& work, request_ref sent, attempt_record& done, http_response const* response,
        error* problem, call& context);

private:
    endpoint endpoint_;
    credential credential_;
    rest_options options_;
    entitable::profile limits_;
    service_places places_;
    std::optional<error> problem_;
    std::mutex lock_;
    static constexpr std::size_t most_idle_ = 64;
    std::vector<exchange*> idle_; ///< guarded by lock_
    std::uint64_t random_[2]{};   ///< random, for this backend
    atomic<std::uint64_t> requests_{0};
};

/// Returns the engine of a backend that was moved from: every request returns InvalidInput.
[[nodiscard]] shared<rest_engine> const& absent_rest_engine();

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/rest/impl/rest_engine.ipp>
#endif
