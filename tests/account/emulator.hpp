// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The account of the emulator, whose key is public, and shared parts of the credential tests.

#include <entitable/cloud/account/credential.hpp>

#include <string>

namespace entitable_test {

inline constexpr std::string_view emulator_account = "devstoreaccount1";
inline constexpr std::string_view emulator_key =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

inline entitable::endpoint emulator() {
    return entitable::endpoint::parse("http://127.0.0.1:10002/devstoreaccount1").value();
}

inline entitable::date_time time_of(std::string_view text) { return entitable::date_time::parse(text).value(); }

/// 2026-11-20T15:27:36Z.
inline entitable::date_time a_friday() { return time_of("2026-11-20T15:27:36Z"); }

} // namespace entitable_test
