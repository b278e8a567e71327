// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `spy<T>`: a transport that records its requests.

#include <entitable/core/shared.hpp>
#include <entitable/core/transport/transport.hpp>

#include <mutex>
#include <tuple>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// A recorded request.
struct seen_request {
    std::string name;                 ///< kind of request, for example "get_entity"
    std::string table;                ///< empty for a list of tables
    std::string partition;            ///< partition of the request; empty unless it touches exactly one
    std::optional<error_code> failed; ///< error of the request, if it failed
};

/// Passes requests on and records a copy of each. A cheap handle: copies share the record. It is for tests, because the record grows
/// without bound.
///
/// Thread safety: safe to use from several threads.
template <transport T>
class spy {
public:
    using is_transport = void; ///< opts in to `transport`

    // Takes exactly a T, so that no conversion is tried when any_store checks whether this type is a transport.
    /// Records from now on.
    template <std::same_as<T> Wrapped>
    explicit spy(Wrapped wrapped) : wrapped_(std::move(wrapped)), log_(shared<log>::make()) {}

    [[nodiscard]] entitable::profile profile() const { return wrapped_.profile(); } ///< the wrapped transport's profile

    /// Passes a request on and records a copy.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (!log_) { return entitable::detail::moved_from("transport"); }
        auto response = entitable::execute(wrapped_, request, context);
        seen_request seen{std::string{Request::name}, {}, std::string{partition_of(request).value_or("")}, {}};
        seen.table = table_of(request);
        if (!response) { seen.failed = response.error().code; }
        std::lock_guard const guard{own().lock};
        own().seen.push_back(std::move(seen));
        std::get<std::vector<Request>>(own().requests).push_back(request);
        return response;
    }

    /// Returns all recorded requests, in the order in which they ended.
    [[nodiscard]] std::vector<seen_request> seen() const {
        std::lock_guard const guard{own().lock};
        return own().seen;
    }
    /// Returns the requests of one kind, unchanged: `watched.all<query_entities>()`.
    template <table_request Request>
    [[nodiscard]] std::vector<Request> all() const {
        std::lock_guard const guard{own().lock};
        return std::get<std::vector<Request>>(own().requests);
    }
    /// Returns the number of requests of one kind.
    template <table_request Request>
    [[nodiscard]] std::size_t count() const {
        std::lock_guard const guard{own().lock};
        return std::get<std::vector<Request>>(own().requests).size();
    }
    /// Clears the record.
    void forget() const {
        std::lock_guard const guard{own().lock};
        own().seen.clear();
        own().requests = {};
    }

private:
    template <class... Requests>
    using vector_of_each = std::tuple<std::vector<Requests>...>;
    struct log : counted {
        std::mutex lock;
        std::vector<seen_request> seen;
        all_requests::apply<vector_of_each> requests;
    };

    /// The state that copies share. Ends the program after a move, since no error can be returned.
    [[nodiscard]] log& own() const {
        ENTITABLE_ASSERT(log_, "the record of a moved-from transport was used",
            entitable::detail::misuse("use the object that the transport was moved into"));
        return *log_;
    }

    mutable T wrapped_;
    shared<log> log_;
};

/// Deduces the type of any transport.
template <transport T>
spy(T) -> spy<T>;

} // namespace testing
ENTITABLE_END_NAMESPACE
