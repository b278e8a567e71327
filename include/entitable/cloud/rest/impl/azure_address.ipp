// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/rest/azure_address.hpp>
#include <entitable/cloud/rest/azure_backend.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the endpoint and the credential of `https://...`.
inline result<azure_backend> open_azure_url(store_address& address) {
    ENTITABLE_CHECK(address.take_from_query("create"));
    ENTITABLE_CHECK(address.flag("create", true));
    std::string_view const url = address.place();
    std::size_t const query = url.find('?');
    ENTITABLE_TRY(auto at, endpoint::parse(url.substr(0, query)));
    if (query == std::string_view::npos) {
        return failure{error_code::invalid_input,
            "the address of the account has no shared access signature: append it after ?, or use a connection string"};
    }
    ENTITABLE_TRY(auto who, credential::shared_access_signature(url.substr(query)));
    return azure_backend{curl_client{}, std::move(at), std::move(who)};
}

ENTITABLE_DECL result<any_store> open_azure_address(store_address& address, std::span<store_kind const> kinds) {
    static_cast<void>(kinds);
    bool const is_url = address.place().starts_with("https://") || address.place().starts_with("http://");
    ENTITABLE_TRY(auto opened, is_url ? open_azure_url(address) : azure_backend::connect(address.place()));
    return any_store{opened};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
