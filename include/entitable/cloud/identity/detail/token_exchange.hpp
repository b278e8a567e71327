// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What the sources that speak HTTP share: a request with its repetitions, the answer, the sentence of an error.

#include <entitable/cloud/identity/detail/identity_source.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// An answer to a request for a token, read from JSON.
struct token_answer {
    bool readable{};                        ///< whether it was a JSON object without duplicates
    secret token;                           ///< access_token
    std::optional<std::int64_t> expires_in; ///< seconds
    std::optional<std::int64_t> expires_on; ///< seconds since 1970
    std::string local_expiry;               ///< of the CLI: a local time
    std::string type;                       ///< token_type
    std::string resource;                   ///< of managed identities
    std::string error_name;                 ///< one of the known names of errors; empty for others
    std::string number;                     ///< digits after AADSTS
    std::string trace;                      ///< ids for the support of the authority; GUIDs
    std::string correlation;
};

/// Reads an answer. `body` may be moved to memory with room for the parser; it is wiped. Copies of secrets remain in `token` alone.
[[nodiscard]] token_answer read_token_answer(std::string& body);

/// When and how often a request is repeated.
struct repetition_rule {
    unsigned repetitions{3};
    std::chrono::milliseconds first_wait{800}; ///< doubled each time
    bool of_machine{};                         ///< the rules of IMDS: 404 and 410 may succeed later, 410 for 70 s
};

/// An answer, and when it arrived by the clock of this computer.
struct token_response {
    http_response answer;
    date_time arrived;
};

/// Sends a request for a token; repeats it as allowed, within the limits of the caller. Errors begin with `way`.
[[nodiscard]] result<token_response> exchange_token(identity_machine const& machine, bool local, std::string_view way,
    http_request const& request, token_request const& wanted, repetition_rule const& rule);

/// Makes a token of a response, or the error. `way`: "managed identity (IMDS)"; `advice`: what to do after a refusal; may be empty.
/// `resource`: the resource that was asked for, without a slash at the end.
[[nodiscard]] result<access_token> token_in_answer(
    token_response& response, std::string_view way, std::string_view advice, std::string_view resource);

/// Returns how far the clock of this computer is ahead of the server's, by its Date field; nullopt without one.
[[nodiscard]] std::optional<std::chrono::seconds> clock_ahead(token_response const& response) noexcept;

/// Returns AuthenticationFailed with effect none: "WAY: TEXT".
[[nodiscard]] failure no_token(std::string_view way, std::initializer_list<std::string_view> text);

/// Returns the scope without "/.default".
[[nodiscard]] std::string_view resource_of(std::string_view scope) noexcept;

/// Whether a text can be a tenant or a client id: letters, digits, ".", "-" and "_".
[[nodiscard]] bool is_directory_name(std::string_view text) noexcept;

/// Reads a small file that may hold a secret. Errors: AuthenticationFailed names `what` and the reason. `follow`: through symbolic links.
[[nodiscard]] result<secret> read_secret_file(
    std::string const& path, std::string_view what, std::size_t limit, bool follow);

/// The certificate of a client, with its key.
class client_key {
public:
    client_key() = default;
    client_key(client_key const&) = delete;
    client_key& operator=(client_key const&) = delete;
    ~client_key();

    /// Reads PEM. Errors: InvalidInput says what is missing.
    [[nodiscard]] result<void> read(std::string_view pem, std::string_view password, assertion_algorithm algorithm);
    /// Makes the assertion of a client for an audience: a signed JWT, valid for 10 minutes.
    [[nodiscard]] result<secret> sign(std::string_view audience, std::string_view client, date_time now) const;

private:
    void* key_{}; ///< EVP_PKEY
    std::string thumbprint_;
    assertion_algorithm algorithm_{assertion_algorithm::ps256};
};

/// What a program has written.
struct program_output {
    int status{};      ///< of its exit; -1 if a signal ended it
    secret out;        ///< standard output
    std::string error; ///< the first 4 KiB of standard error
};

/// Runs a program without a shell: `path` is absolute, `arguments` begin with its name. Ends it, with the programs that it has started, after
/// `timeout`, at the deadline, when cancelled, or if it writes more than 64 KiB.
[[nodiscard]] result<program_output> run_program(std::string const& path, std::vector<std::string> const& arguments,
    std::chrono::milliseconds timeout, http_call const* limits);

} // namespace detail
ENTITABLE_END_NAMESPACE
