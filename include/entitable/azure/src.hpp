// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The bodies of the component for Azure (http, wire, account and rest), for separate compilation: define ENTITABLE_SEPARATE_COMPILATION
/// for all files of the program, and include this header in exactly one of them.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/azure/src.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/account/impl/access_check.ipp>
#include <entitable/account/impl/connection_string.ipp>
#include <entitable/account/impl/credential.ipp>
#include <entitable/account/impl/endpoint.ipp>
#include <entitable/account/impl/sas.ipp>
#include <entitable/account/impl/secret.ipp>
#include <entitable/account/impl/service_settings.ipp>
#include <entitable/account/impl/signing.ipp>
#include <entitable/azure.hpp>
#include <entitable/http/impl/curl_client.ipp>
#include <entitable/http/impl/curl_session.ipp>
#include <entitable/http/impl/curl_transfer.ipp>
#include <entitable/http/impl/http_message.ipp>
#include <entitable/http/impl/response_reader.ipp>
#include <entitable/http/impl/url.ipp>
#include <entitable/rest/impl/rest_channel.ipp>
#include <entitable/rest/impl/rest_engine.ipp>
#include <entitable/storage_queue/impl/message_text.ipp>
#include <entitable/storage_queue/impl/service_queue.ipp>
#include <entitable/wire/impl/answer_reader.ipp>
#include <entitable/wire/impl/answer_text.ipp>
#include <entitable/wire/impl/answer_writer.ipp>
#include <entitable/wire/impl/base64.ipp>
#include <entitable/wire/impl/batch_answer.ipp>
#include <entitable/wire/impl/batch_request.ipp>
#include <entitable/wire/impl/entity_reader.ipp>
#include <entitable/wire/impl/error_answer.ipp>
#include <entitable/wire/impl/escape.ipp>
#include <entitable/wire/impl/http_date.ipp>
#include <entitable/wire/impl/json_reader.ipp>
#include <entitable/wire/impl/json_writer.ipp>
#include <entitable/wire/impl/odata_filter.ipp>
#include <entitable/wire/impl/odata_reader.ipp>
#include <entitable/wire/impl/request_writer.ipp>
#include <entitable/wire/impl/service_address.ipp>
#include <entitable/wire/impl/service_error.ipp>
#include <entitable/wire/impl/service_token.ipp>
#include <entitable/wire/impl/xml.ipp>

ENTITABLE_BEGIN_NAMESPACE
template class rest<curl_client>;
template class rest_service<curl_client>;
template detail::transport_interface* detail::make_model(rest<curl_client> const&);
ENTITABLE_END_NAMESPACE
