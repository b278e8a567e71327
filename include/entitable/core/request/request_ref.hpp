// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `request_ref`: a request of any kind, by reference, for code that passes requests on.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/kinds.hpp>

#include <concepts>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE

/// Refers to a request of any kind, or to no request. Cheap to copy; the request must outlive it.
class request_ref {
public:
    constexpr request_ref() noexcept = default; ///< no request
    /// Refers to `request`.
    template <table_request Request>
    constexpr request_ref(Request const& request) noexcept // NOLINT: a request of any kind
        : request_(&request), kind_(all_requests::number<Request>) {}
    template <table_request Request>
    request_ref(Request const&& request) = delete; ///< a temporary would dangle

    /// Whether it refers to a request.
    constexpr explicit operator bool() const noexcept { return request_ != nullptr; }

    /// Returns the request, if it is of this kind; otherwise null.
    template <table_request Request>
    [[nodiscard]] constexpr Request const* as() const noexcept {
        return request_ != nullptr && kind_ == all_requests::number<Request> ? static_cast<Request const*>(request_)
                                                                             : nullptr;
    }
    /// Calls `f(request)` with the request as its concrete type; does nothing if there is no request.
    template <class F>
    constexpr void visit(F&& f) const {
        if (request_ != nullptr) {
            all_requests::select(
                kind_, [&]<class Request>(std::type_identity<Request>) { f(*static_cast<Request const*>(request_)); });
        }
    }

    /// Name of the request, for example "get_entity"; empty if there is none.
    ENTITABLE_LAZY [[nodiscard]] std::string_view name() const;
    /// Whether the request changes stored data.
    ENTITABLE_LAZY [[nodiscard]] bool writes() const;

private:
    void const* request_{};
    std::uint8_t kind_{};
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/request_ref.ipp>
#endif

#endif
