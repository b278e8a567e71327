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

#include <entitable/azure.hpp>
#include <entitable/http/impl/curl_client.ipp>
#include <entitable/http/impl/curl_session.ipp>
#include <entitable/http/impl/curl_transfer.ipp>
#include <entitable/http/impl/http_message.ipp>
#include <entitable/http/impl/response_reader.ipp>
#include <entitable/http/impl/url.ipp>
#include <entitable/rest/impl/answer_reader.ipp>
#include <entitable/rest/impl/base64.ipp>
#include <entitable/rest/impl/batch_answer.ipp>
#include <entitable/rest/impl/connection_string.ipp>
#include <entitable/rest/impl/credential.ipp>
#include <entitable/rest/impl/endpoint.ipp>
#include <entitable/rest/impl/error_answer.ipp>
#include <entitable/rest/impl/escape.ipp>
#include <entitable/rest/impl/http_date.ipp>
#include <entitable/rest/impl/json_reader.ipp>
#include <entitable/rest/impl/json_writer.ipp>
#include <entitable/rest/impl/odata_filter.ipp>
#include <entitable/rest/impl/request_writer.ipp>
#include <entitable/rest/impl/rest_engine.ipp>
#include <entitable/rest/impl/sas.ipp>
#include <entitable/rest/impl/secret.ipp>
#include <entitable/rest/impl/service_settings.ipp>
#include <entitable/rest/impl/service_token.ipp>
#include <entitable/rest/impl/signing.ipp>
#include <entitable/rest/impl/xml.ipp>

ENTITABLE_BEGIN_NAMESPACE
template class rest<curl_client>;
template class rest_service<curl_client>;
template detail::transport_interface* detail::make_model(rest<curl_client> const&);
ENTITABLE_END_NAMESPACE
