// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// No type that holds a secret, or that is sent with one, can be printed.

#include <entitable/cloud/account/connection_string.hpp>
#include <entitable/cloud/account/credential.hpp>
#include <entitable/cloud/account/sas.hpp>
#include <entitable/cloud/account/secret.hpp>
#include <entitable/cloud/http/http_message.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/print.hpp>

using namespace entitable;

namespace {

template <class T>
concept goes_to_stream = requires(std::ostream& out, T const& value) { out << value; };

static_assert(goes_to_stream<error>); // the test itself can fail

static_assert(!goes_to_stream<secret> && !printed<secret>);
static_assert(!goes_to_stream<credential> && !printed<credential>);
static_assert(!goes_to_stream<access_token> && !printed<access_token>);
static_assert(!goes_to_stream<connection_settings> && !printed<connection_settings>);
static_assert(!goes_to_stream<table_sas> && !printed<table_sas>);
static_assert(!goes_to_stream<http_headers> && !printed<http_headers>);
static_assert(!goes_to_stream<http_request> && !printed<http_request>);
static_assert(!goes_to_stream<http_response> && !printed<http_response>);
static_assert(!goes_to_stream<call> && !printed<call>);
static_assert(!goes_to_stream<call_options> && !printed<call_options>);
static_assert(!goes_to_stream<std::optional<credential>>);

} // namespace
