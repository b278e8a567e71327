// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/transport/any_store.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL any_store::any_store(any_store const& other) noexcept = default;
ENTITABLE_DECL any_store::any_store(any_store&& other) noexcept = default;
ENTITABLE_DECL any_store& any_store::operator=(any_store const& other) noexcept = default;
ENTITABLE_DECL any_store& any_store::operator=(any_store&& other) noexcept = default;
ENTITABLE_DECL any_store::~any_store() = default;

namespace detail {

/// Stands for a moved-from transport.
struct absent_transport {
    using is_transport = void;
    std::string_view handle;

    [[nodiscard]] entitable::profile profile() const { return {}; }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const&, call&) const {
        return moved_from(handle);
    }
};

ENTITABLE_LAZY_BODY any_store moved_from_transport(std::string_view handle) { return absent_transport{handle}; }

} // namespace detail

ENTITABLE_END_NAMESPACE
