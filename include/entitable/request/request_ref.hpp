// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `request_ref`: a request of any kind, by reference, for code that passes requests on.

#include <entitable/request/kinds.hpp>

#include <concepts>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE

/// Refers to a request of any kind, or to none. Cheap to copy; the request must outlive it.
class request_ref {
public:
    constexpr request_ref() noexcept = default; ///< none
    /// Refers to this one.
    template <table_request Request>
    constexpr request_ref(Request const& request) noexcept // NOLINT: a request is one of any kind
        : request_(&request), kind_(all_requests::number<Request>) {}
    template <table_request Request>
    request_ref(Request const&& request) = delete; ///< not to one that is about to go

    /// Whether it refers to one.
    constexpr explicit operator bool() const noexcept { return request_ != nullptr; }

    /// The request, if it is of this kind; else null.
    template <table_request Request>
    [[nodiscard]] constexpr Request const* as() const noexcept {
        return request_ != nullptr && kind_ == all_requests::number<Request> ? static_cast<Request const*>(request_)
                                                                             : nullptr;
    }
    /// Calls `f(request)` with the request as what it is; does nothing for none.
    template <class F>
    constexpr void visit(F&& f) const {
        if (request_ != nullptr) {
            all_requests::select(
                kind_, [&]<class Request>(std::type_identity<Request>) { f(*static_cast<Request const*>(request_)); });
        }
    }

    /// Its name, "get_entity" for example; empty for none.
    ENTITABLE_LAZY [[nodiscard]] std::string_view name() const;
    /// Whether it changes anything.
    ENTITABLE_LAZY [[nodiscard]] bool writes() const;

private:
    void const* request_{};
    std::uint8_t kind_{};
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/request/impl/request_ref.ipp>
#endif
