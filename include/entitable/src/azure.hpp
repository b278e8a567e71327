// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of the component for Azure (http, wire, account, identity and rest), for separate compilation: define
/// ENTITABLE_SEPARATE_COMPILATION for all files of the program, and include this header in exactly one of them.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/azure.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/azure.hpp>
#include <entitable/cloud/account/impl/access_check.ipp>
#include <entitable/cloud/account/impl/connection_string.ipp>
#include <entitable/cloud/account/impl/credential.ipp>
#include <entitable/cloud/account/impl/endpoint.ipp>
#include <entitable/cloud/account/impl/sas.ipp>
#include <entitable/cloud/account/impl/secret.ipp>
#include <entitable/cloud/account/impl/service_settings.ipp>
#include <entitable/cloud/account/impl/signing.ipp>
#include <entitable/cloud/account/impl/token_credential.ipp>
#include <entitable/cloud/http/impl/curl_client.ipp>
#include <entitable/cloud/http/impl/curl_session.ipp>
#include <entitable/cloud/http/impl/curl_transfer.ipp>
#include <entitable/cloud/http/impl/http_message.ipp>
#include <entitable/cloud/http/impl/request_secrets.ipp>
#include <entitable/cloud/http/impl/response_reader.ipp>
#include <entitable/cloud/http/impl/url.ipp>
#include <entitable/cloud/identity/impl/cli_identity.ipp>
#include <entitable/cloud/identity/impl/client_assertion.ipp>
#include <entitable/cloud/identity/impl/client_identity.ipp>
#include <entitable/cloud/identity/impl/identity.ipp>
#include <entitable/cloud/identity/impl/identity_chain.ipp>
#include <entitable/cloud/identity/impl/managed_identity.ipp>
#include <entitable/cloud/identity/impl/program_output.ipp>
#include <entitable/cloud/identity/impl/token_answer.ipp>
#include <entitable/cloud/identity/impl/token_exchange.ipp>
#include <entitable/cloud/rest/impl/azure_address.ipp>
#include <entitable/cloud/rest/impl/cosmos_throughput.ipp>
#include <entitable/cloud/rest/impl/rest_channel.ipp>
#include <entitable/cloud/rest/impl/rest_engine.ipp>
#include <entitable/cloud/wire/impl/answer_reader.ipp>
#include <entitable/cloud/wire/impl/answer_text.ipp>
#include <entitable/cloud/wire/impl/answer_writer.ipp>
#include <entitable/cloud/wire/impl/batch_answer.ipp>
#include <entitable/cloud/wire/impl/batch_request.ipp>
#include <entitable/cloud/wire/impl/entity_reader.ipp>
#include <entitable/cloud/wire/impl/error_answer.ipp>
#include <entitable/cloud/wire/impl/escape.ipp>
#include <entitable/cloud/wire/impl/filter_text.ipp>
#include <entitable/cloud/wire/impl/http_date.ipp>
#include <entitable/cloud/wire/impl/json_reader.ipp>
#include <entitable/cloud/wire/impl/json_writer.ipp>
#include <entitable/cloud/wire/impl/odata_filter.ipp>
#include <entitable/cloud/wire/impl/odata_reader.ipp>
#include <entitable/cloud/wire/impl/request_writer.ipp>
#include <entitable/cloud/wire/impl/sent_literal.ipp>
#include <entitable/cloud/wire/impl/service_address.ipp>
#include <entitable/cloud/wire/impl/service_error.ipp>
#include <entitable/cloud/wire/impl/service_token.ipp>
#include <entitable/cloud/wire/impl/xml.ipp>
#include <entitable/work/storage_queue/impl/message_text.ipp>
#include <entitable/work/storage_queue/impl/service_queue.ipp>

ENTITABLE_BEGIN_NAMESPACE
template class rest<curl_client>;
template class rest_service<curl_client>;
template detail::transport_interface* detail::make_model(rest<curl_client> const&);
ENTITABLE_END_NAMESPACE
