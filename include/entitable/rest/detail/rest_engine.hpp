// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// All of a REST backend that does not depend on the HTTP client: validates, writes, signs, reads, and says what happened.

#include <entitable/account/credential.hpp>
#include <entitable/account/endpoint.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/http/http_client.hpp>
#include <entitable/request/call.hpp>
#include <entitable/request/request_ref.hpp>
#include <entitable/rest/rest_options.hpp>

#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Sends one HTTP request.
using http_sender = function_ref<result<http_response>(http_request const&, http_call const&)>;

struct exchange;

/// What can be asked of the service itself.
enum class service_request : std::uint8_t { properties, set_properties, statistics, policies, set_policies };

/// A request that is none to a table: its words, as they are sent.
struct plain_request {
    std::string_view name;    ///< for errors and the observer
    std::string_view subject; ///< the table or queue; may be empty
    http_method method{http_method::get};
    std::string_view path; ///< after the address of the service, with its query; every character escaped that must be
    std::string_view body; ///< XML, or empty
    bool writes{};         ///< the effect of a request without an answer is unknown
    read_location location{read_location::primary};
    std::uint16_t statuses[2]{}; ///< those of an answer; all others are errors
};

/// The state that all copies of a REST backend share. Safe to use from several threads.
class rest_engine : public counted {
public:
    rest_engine(endpoint at, credential who, rest_options options);
    /// Answers every request with `problem`.
    explicit rest_engine(error problem);
    ~rest_engine();

    [[nodiscard]] entitable::profile const& limits() const noexcept { return limits_; }
    [[nodiscard]] endpoint const& at() const noexcept { return endpoint_; }
    [[nodiscard]] credential const& who() const noexcept { return credential_; }
    [[nodiscard]] rest_options const& options() const noexcept { return options_; }
    /// The error that stands in the way of every request, or null.
    [[nodiscard]] error const* broken() const noexcept { return problem_ ? &*problem_ : nullptr; }

    [[nodiscard]] result<create_table::response> execute(create_table const&, call&, http_sender);
    [[nodiscard]] result<delete_table::response> execute(delete_table const&, call&, http_sender);
    [[nodiscard]] result<list_tables::response> execute(list_tables const&, call&, http_sender);
    [[nodiscard]] result<get_entity::response> execute(get_entity const&, call&, http_sender);
    [[nodiscard]] result<query_entities::response> execute(query_entities const&, call&, http_sender);
    [[nodiscard]] result<write_entity::response> execute(write_entity const&, call&, http_sender);
    [[nodiscard]] result<transact::response> execute(transact const&, call&, http_sender);

    /// The body of the answer: XML, or nothing to what changes a setting.
    [[nodiscard]] result<std::string> execute(
        service_request what, std::string_view table, std::string_view body, call& context, http_sender send);

    [[nodiscard]] result<http_response> execute(plain_request const& request, call& context, http_sender send);

    /// What one request needs while it is under way, and what is worth keeping for the next one.
    [[nodiscard]] exchange* take();
    void give_back(exchange* used) noexcept;

    /// A new id of a request, as a GUID.
    void append_request_id(std::string& out);
    [[nodiscard]] http_call limits_of(call const& context) const;
    /// How long the service is given for a request of a call: 1 to 30 s, or zero when it is told nothing.
    [[nodiscard]] std::chrono::seconds timeout_of(call const& context) const;
    /// Makes a request to one of the addresses carry the credential.
    [[nodiscard]] result<void> authorize(http_request& request, read_location to) const;
    /// Makes a written request one attempt of the call: it begins now, and carries a span of its own where the call has a trace.
    void mark(exchange& work, call& context) const;
    /// Takes over what an answer says besides itself, and tells the observer. `done` has the words of the request, where `sent` is
    /// none.
    void note(exchange const& work, request_ref sent, attempt_record& done, http_response const* response,
        error* problem, call& context) const;

private:
    endpoint endpoint_;
    credential credential_;
    rest_options options_;
    entitable::profile limits_;
    url_parts addresses_[2];     ///< of the endpoint, by read_location; without a host where it is no URL
    server_identity servers_[2]; ///< likewise
    std::optional<error> problem_;
    std::mutex lock_;
    static constexpr std::size_t most_idle_ = 64;
    std::vector<exchange*> idle_; ///< guarded by lock_
    std::uint64_t random_[2]{};   ///< of this backend
    atomic<std::uint64_t> requests_{0};
};

/// Stands for the engine of a backend that was moved from: every request is InvalidInput.
[[nodiscard]] shared<rest_engine> const& absent_rest_engine();

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/rest/impl/rest_engine.ipp>
#endif
