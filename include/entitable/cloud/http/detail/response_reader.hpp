// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads the header lines and the body of a response as they arrive, and refuses responses that a client must not trust. From status 400 on
/// the header is sufficient; then the body may be truncated.

#include <entitable/cloud/http/http_client.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// One response in transit. After a refusal the rest of the response is ignored.
class response_reader {
public:
    /// Starts over, within the limits of `call`.
    void begin(http_method method, http_call const& call);

    /// Reads a line of the header with or without its line end: status line, field, or the empty line; including interim responses (1xx)
    /// and trailers. Returns false if the response is refused.
    [[nodiscard]] bool header_line(std::string_view line);
    /// Reads a piece of the body. Returns false if the response is refused.
    [[nodiscard]] bool body(std::string_view piece);

    /// The final header is complete.
    [[nodiscard]] bool has_header() const noexcept { return state_ == state::body; }
    /// The final header is complete and the request failed: the rest is optional.
    [[nodiscard]] bool counts_as_it_is() const noexcept { return has_header() && is_error() && refusal_.empty(); }
    /// Returns the reason for the refusal; empty if the response was not refused.
    [[nodiscard]] std::string_view refusal() const noexcept { return refusal_; }
    /// Returns the response, its body padded.
    [[nodiscard]] http_response take();

private:
    enum class state : std::uint8_t { status_line, fields, body };

    [[nodiscard]] bool is_error() const noexcept { return response_.status >= 400; }
    bool refuse(std::string_view why) noexcept {
        refusal_ = why;
        return false;
    }
    /// Rejects the rest of a body: refuses the response unless its header is sufficient.
    bool refuse_body(std::string_view why) noexcept { return !is_error() && refuse(why); }
    bool status_line(std::string_view line);
    bool field(std::string_view line);
    bool end_of_header();
    void grow(std::size_t needed);

    http_response response_;
    std::string_view refusal_;
    std::optional<std::uint64_t> length_; ///< value of Content-Length
    std::size_t max_body_{};
    std::size_t header_left_{};
    std::size_t fields_left_{};
    http_method method_{http_method::get};
    state state_{state::status_line};
    bool chunked_{};
    bool encoded_{}; ///< the body is compressed, which was not accepted
    bool framed_{};  ///< HTTP/2 and later: the end of the body is signalled separately, not by closing the connection
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/http/impl/response_reader.ipp>
#endif
