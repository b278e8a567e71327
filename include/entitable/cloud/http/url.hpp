// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The parts of an absolute http or https URL, parsed strictly: a URL that is refused here is never sent.

#include <entitable/core/result.hpp>

#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Views into a URL.
struct url_parts {
    bool encrypted{};       ///< https
    std::string_view host;  ///< an IPv6 address with its brackets
    std::string_view port;  ///< digits; empty if no port is given
    std::string_view path;  ///< begins with "/"; may be empty
    std::string_view query; ///< without "?"

    /// Whether the host is this computer: localhost and its subdomains, 127.0.0.0/8, [::1] (RFC 6761, 6.3; RFC 1122, 3.2.1.3).
    [[nodiscard]] bool is_loopback() const noexcept;
    /// Whether the host is an IPv4 address of the local link: 169.254.0.0/16 (RFC 3927).
    [[nodiscard]] bool is_link_local() const noexcept;
    /// Whether the host is an IP address and not a name.
    [[nodiscard]] bool is_address() const noexcept;
};

/// Parses `url`. Errors: InvalidInput names `field`, never its value, for a scheme other than http and https, no host or a host
/// with characters other than ASCII letters, digits, ".", "-" and "_", a user or password, a port out of 1..65535, a fragment, a backslash,
/// a blank, a control character, a character that is not ASCII, a "%" without two hexadecimal digits.
[[nodiscard]] result<url_parts> parse_url(std::string_view url, std::string_view field);

namespace detail {

/// Returns a description of the first invalid character of a URL; empty if all are valid.
[[nodiscard]] std::string_view wrong_character(std::string_view url) noexcept;

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/http/impl/url.ipp>
#endif
