// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The bodies of the component for Azure (rooms http and rest), for separate compilation: define
/// ENTITABLE_SEPARATE_COMPILATION for all files of the program, and include this header in exactly one of them.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/azure/src.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/http/impl/curl_client.ipp>
#include <entitable/http/impl/curl_session.ipp>
#include <entitable/http/impl/http_message.ipp>
#include <entitable/http/impl/response_reader.ipp>
#include <entitable/http/impl/url.ipp>
#include <entitable/rest/impl/connection_string.ipp>
#include <entitable/rest/impl/credential.ipp>
#include <entitable/rest/impl/endpoint.ipp>
#include <entitable/rest/impl/sas.ipp>
#include <entitable/rest/impl/secret.ipp>
#include <entitable/rest/impl/signing.ipp>
