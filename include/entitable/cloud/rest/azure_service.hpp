// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `azure_service`: the features of a storage account other than its tables: settings of the service, the state of its secondary copy,
/// access policies of tables. Cosmos DB supports none of these requests.

#include <entitable/cloud/account/service_settings.hpp>
#include <entitable/cloud/rest/azure_backend.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The service of a `rest` backend. A cheap handle: it shares the backend's connections and credential. These requests need an account key
/// (for the statistics, an account signature is also accepted); each is one attempt. Thread safety: safe to use from several threads.
template <http_client Client>
class rest_service {
public:
    /// Uses the account of `backend`.
    explicit rest_service(rest<Client> backend) : backend_(std::move(backend)) {}

    /// Returns the settings of the service.
    [[nodiscard]] result<service_properties> properties(call& context) const {
        return answer(detail::service_request::properties, {}, {}, context).and_then([](std::string const& xml) {
            return detail::read_properties(xml);
        });
    }
    /// Changes the settings that are given. Errors: InvalidInput if a setting is out of range.
    [[nodiscard]] result<void> set_properties(service_properties const& changed, call& context) const {
        return send(detail::service_request::set_properties, {}, detail::write_xml(changed), context);
    }
    /// Returns the state of the secondary location. The request is sent to that location. Errors: NotSupported if the account has no
    /// secondary location.
    [[nodiscard]] result<service_statistics> statistics(call& context) const {
        return answer(detail::service_request::statistics, {}, {}, context).and_then([](std::string const& xml) {
            return detail::read_statistics(xml);
        });
    }
    /// Returns how old an answer of the secondary location may be: every write that is older can be read there. By the service's clock, rounded
    /// up to seconds; nullopt if there is no bound (`service_statistics::staleness`). Errors: those of `statistics`.
    [[nodiscard]] result<std::optional<std::chrono::seconds>> staleness(call& context) const {
        auto const now = statistics(context);
        if (!now) { return failure{now.error()}; }
        bool const dated = context.server_date != date_time{};
        return now->staleness(dated ? context.server_date : backend_.engine().options().time->now());
    }
    /// Returns the access policies of a table. Errors: TableNotFound.
    [[nodiscard]] result<std::vector<access_policy>> access_policies(std::string_view table, call& context) const {
        return answer(detail::service_request::policies, table, {}, context).and_then([](std::string const& xml) {
            return detail::read_policies(xml);
        });
    }
    /// Replaces all access policies of a table, at most 5. The change takes effect within 30 seconds. Errors: TableNotFound.
    [[nodiscard]] result<void> set_access_policies(
        std::string_view table, std::vector<access_policy> const& policies, call& context) const {
        return send(detail::service_request::set_policies, table, detail::write_xml(policies), context);
    }

private:
    [[nodiscard]] result<std::string> answer(
        detail::service_request what, std::string_view table, std::string_view body, call& context) const {
        return backend_.engine().execute(what, table, body, context,
            [this](http_request const& sent, http_call const& how) { return backend_.client().send(sent, how); });
    }
    [[nodiscard]] result<void> send(
        detail::service_request what, std::string_view table, result<std::string> body, call& context) const {
        if (!body) { return std::move(body).as_failure(); }
        auto sent = answer(what, table, *body, context);
        return sent ? result<void>{} : std::move(sent).as_failure();
    }

    rest<Client> backend_;
};

/// The service of an `azure_backend`: `azure_service service{store}`.
using azure_service = rest_service<curl_client>;

#if defined(ENTITABLE_SEPARATE_COMPILATION)
extern template class rest_service<curl_client>;
#endif

ENTITABLE_END_NAMESPACE
