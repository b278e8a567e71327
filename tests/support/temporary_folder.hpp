// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A folder for the files of one test, which goes with them.

#include <cstdlib>
#include <filesystem>
#include <string>

namespace entitable_test {

class temporary_folder {
public:
    temporary_folder() {
        std::string made = (std::filesystem::temp_directory_path() / "entitable_test_XXXXXX").string();
        if (mkdtemp(made.data()) == nullptr) {
            std::abort();
        }
        path_ = made;
    }
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;

    /// The path of a file in the folder.
    [[nodiscard]] std::string operator/(std::string const& name) const { return (path_ / name).string(); }
    [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace entitable_test
