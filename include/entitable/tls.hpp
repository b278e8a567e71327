// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// HTTPS for an `http_listener`: `tls_certificate`. Needs OpenSSL's libssl in addition to the requirements of `entitable/listener.hpp`.
/// With separate compilation its bodies are in `entitable/src/tls.hpp`.

#include <entitable/serve/listener/tls_certificate.hpp>
