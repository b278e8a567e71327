// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/transport/any_transport.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL any_transport::any_transport(any_transport const& other) noexcept = default;
ENTITABLE_DECL any_transport::any_transport(any_transport&& other) noexcept = default;
ENTITABLE_DECL any_transport& any_transport::operator=(any_transport const& other) noexcept = default;
ENTITABLE_DECL any_transport& any_transport::operator=(any_transport&& other) noexcept = default;
ENTITABLE_DECL any_transport::~any_transport() = default;

ENTITABLE_END_NAMESPACE
