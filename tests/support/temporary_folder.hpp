// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A folder for the files of one test, which is removed at its end unless the test keeps it.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace entitable_test {

class temporary_folder {
public:
    temporary_folder() : temporary_folder(std::filesystem::temp_directory_path()) {}
    explicit temporary_folder(std::filesystem::path const& where) {
        std::string made = (where / "entitable_test_XXXXXX").string();
        if (mkdtemp(made.data()) == nullptr) { std::abort(); }
        path_ = made;
    }
    ~temporary_folder() {
        if (kept_) { return; }
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;

    /// In memory, if the system has such a folder: for tests that do not depend on the disk.
    static std::filesystem::path memory() {
        return ::access("/dev/shm", W_OK) == 0 ? std::filesystem::path{"/dev/shm"}
                                               : std::filesystem::temp_directory_path();
    }

    /// The path of a file in the folder.
    [[nodiscard]] std::string operator/(std::string const& name) const { return (path_ / name).string(); }
    [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }
    /// Keeps the files for the investigation of a failure.
    void keep() noexcept { kept_ = true; }

private:
    std::filesystem::path path_;
    bool kept_{};
};

} // namespace entitable_test
