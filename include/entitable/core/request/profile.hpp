// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `profile`: features and limits of a service. Requests are validated against it before any I/O.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/chrono.hpp>
#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// The kind of service behind a transport.
enum class service : std::uint8_t {
    storage, ///< Azure Table Storage; the local backends have its semantics
    cosmos,  ///< the Table API of Cosmos DB
    azurite, ///< the emulator
};

/// Limits and behaviour of a service (sources: the service's data model and scalability pages). Sizes are in bytes unless they are in
/// UTF-16 units.
struct profile {
    entitable::service kind{service::storage};         ///< kind of service
    std::size_t max_key_units{512};                    ///< UTF-16 units of each key
    std::size_t max_properties{252};                   ///< without the three system properties
    std::size_t max_name_units{255};                   ///< UTF-16 units of a property name
    std::size_t max_string_units{32 * 1024};           ///< UTF-16 units of a string value: 64 KiB
    std::size_t max_binary_size{64 * 1024};            ///< largest size of a binary value: 64 KiB
    std::size_t max_entity_size{1024 * 1024};          ///< largest size of an entity, by `service_size`
    std::size_t max_operations{100};                   ///< maximum number of operations in a transaction
    std::size_t max_transaction_size{4 * 1024 * 1024}; ///< largest total size of the changes of a transaction: 4 MiB
    std::size_t max_page_size{1000};                   ///< maximum number of rows on a page
    std::size_t max_comparisons{15};                   ///< limit for one query, including its key range; 0 for no limit
    /// Bytes of a query's key range and filter, escaped as in a URL; 0 for no limit. A service takes URLs of 32 KiB, but the emulator runs
    /// on Node, which reads 16 KiB of the request line and the header fields together: half of that is left for a continuation, a signature
    /// or a token.
    std::size_t max_filter_size{8 * 1024};
    bool ordered{true};                    ///< results come in key order
    bool operation_ids{};                  ///< supports `call::operation_id`: a write is applied once under it
    bool table_names_without_case{true};   ///< "Orders" and "orders" are one table
    std::size_t max_partition_key_size{0}; ///< largest size in bytes; 0 for no limit in addition to `max_key_units`
    std::size_t max_row_key_size{0};       ///< largest size in bytes; 0 for no limit in addition to `max_key_units`

    bool empty_keys{true}; ///< keys may be empty; otherwise PropertiesNeedValue

    /// An unbounded time.
    static constexpr std::chrono::seconds unbounded = (std::chrono::seconds::max)();
    /// Maximum time from the date of a write to its arrival at the service: the age at which the service refuses it. Storage refuses
    /// requests that an account key signed more than 15 minutes ago (source: "Authorize with Shared Key"); requests with a different kind
    /// of credential do not carry such a date. Zero if every write is decided when its call returns.
    std::chrono::seconds longest_delivery{0};
    /// Maximum time that the service works on a write after its arrival: the `timeout` of the request (source: "Setting timeouts for Table
    /// service operations"). Zero as above.
    std::chrono::seconds longest_work{0};

    /// Maximum time from the date of a write to its late application, if its response was lost; zero if a late application is impossible.
    /// Measured by the service's clock: `call::server_date`. See also `call::undecided_until`.
    [[nodiscard]] constexpr std::chrono::seconds longest_late_application() const noexcept {
        return longest_delivery == unbounded || longest_work == unbounded ? unbounded : longest_delivery + longest_work;
    }
};

/// The profile of Azure Table Storage.
[[nodiscard]] constexpr profile storage_profile() noexcept {
    profile storage;
    storage.longest_delivery = std::chrono::minutes{15};
    storage.longest_work = std::chrono::seconds{30};
    return storage;
}

/// The profile of the Table API of Cosmos DB (source: its FAQ and its pages on limits, and observed responses). It also reserves the
/// property names ID, id, rid, ResourceId and Etag, the last of which it would drop silently, and responds with ResourceNotFound if a table
/// is missing.
[[nodiscard]] constexpr profile cosmos_profile() noexcept {
    profile cosmos;
    cosmos.kind = service::cosmos;
    cosmos.max_key_units = 2048;
    cosmos.max_partition_key_size = 2048;
    cosmos.max_row_key_size = 255;
    cosmos.max_properties = 1000; // no limit is known; this limit bounds the search for duplicates
    cosmos.max_name_units = 1000; // known to be accepted
    cosmos.max_entity_size = 2 * 1024 * 1024;
    cosmos.max_string_units = cosmos.max_entity_size;
    cosmos.max_binary_size = cosmos.max_entity_size;
    cosmos.max_transaction_size = 2 * 1024 * 1024;
    cosmos.max_comparisons = 0;
    cosmos.longest_delivery = profile::unbounded; // the service refuses old dates too, but documents no limit
    cosmos.longest_work = profile::unbounded;
    cosmos.empty_keys = false;
    cosmos.ordered = false;
    cosmos.table_names_without_case = false;
    return cosmos;
}

/// The profile of the emulator Azurite: the same as the service's, although the emulator accepts more. The emulator finds
/// entities only if the table name is spelled as at its creation.
[[nodiscard]] constexpr profile azurite_profile() noexcept {
    profile azurite = storage_profile();
    azurite.kind = service::azurite;
    return azurite;
}

/// The profile of the local backends: that of Azure Table Storage, with unlimited comparisons and filter sizes.
[[nodiscard]] constexpr profile local_profile() noexcept {
    profile local;
    local.max_comparisons = 0;
    local.max_filter_size = 0;
    return local;
}

ENTITABLE_END_NAMESPACE

#endif
