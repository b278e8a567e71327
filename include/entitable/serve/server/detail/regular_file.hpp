// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Opens the files of keys and certificates.

#include <entitable/core/config.hpp>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Opens a regular file for reading. Returns null and sets `why` if it cannot be opened or is something else: opening a pipe would wait for its
/// writer.
[[nodiscard]] inline std::FILE* open_regular_file(std::string const& path, std::string& why) {
    std::error_code unknown; // the file is absent, perhaps, which `fopen` reports
    auto const about = std::filesystem::status(path, unknown);
    if (!unknown && !std::filesystem::is_regular_file(about)) {
        why = "it is not a regular file";
        return nullptr;
    }
    errno = 0;
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) { why = std::generic_category().message(errno); }
    return file;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
