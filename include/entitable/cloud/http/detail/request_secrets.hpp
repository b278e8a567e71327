// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Strikes the credential of a request out of texts that came back from the network: a gateway or a debugging proxy may quote a request.

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/core/error.hpp>

#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Replaces each piece of a secret of `sent` in `text` by `***`, from 8 characters on: a text may have been cut within a secret. The
/// secrets are the signature or the token in the Authorization field, and `sig` in the query, escaped or not.
void strike_secrets(std::string& text, http_request const& sent);
/// The same in every text of an error.
void strike_secrets(error& problem, http_request const& sent);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/http/impl/request_secrets.ipp>
#endif
