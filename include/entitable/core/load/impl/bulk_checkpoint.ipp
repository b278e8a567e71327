// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/load/bulk_checkpoint.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#if defined(_WIN32)
#include <io.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] ENTITABLE_DECL failure checkpoint_failure(std::string_view what, int number, std::string const& path) {
    failure made{number == ENOSPC ? error_code::store_full : error_code::store_failed,
        text::joined({"the checkpoint ", what, " (system error ", std::to_string(number), ")"})};
    made.error().detail = path;
    return made;
}

[[nodiscard]] ENTITABLE_DECL failure checkpoint_without_path() {
    return failure{error_code::invalid_input,
        "the path of a file checkpoint must not be empty; the checkpoint may have been moved from"};
}

/// Flushes the file to the disk.
[[nodiscard]] ENTITABLE_DECL bool sync_to_disk(std::FILE* file) noexcept {
#if defined(_WIN32)
    return ::_commit(::_fileno(file)) == 0;
#else
    return ::fsync(::fileno(file)) == 0;
#endif
}

/// Flushes a new name in a folder to the disk, if the system supports that.
ENTITABLE_DECL void sync_folder_of(std::string const& path) noexcept {
#if !defined(_WIN32)
    std::size_t const slash = path.rfind('/');
    std::string const folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    int const handle = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle >= 0) {
        static_cast<void>(::fsync(handle));
        ::close(handle);
    }
#else
    static_cast<void>(path);
#endif
}

} // namespace detail

ENTITABLE_DECL result<std::optional<std::string>> file_checkpoint::load() const {
    if (path_.empty()) { return detail::checkpoint_without_path(); }
    std::FILE* const file = std::fopen(path_.c_str(), "rb");
    if (file == nullptr) {
        if (errno == ENOENT) { return std::optional<std::string>{}; }
        return detail::checkpoint_failure("cannot be opened", errno, path_);
    }
    std::string text;
    char block[4096];
    for (std::size_t size = std::fread(block, 1, sizeof block, file); size > 0;
        size = std::fread(block, 1, sizeof block, file)) {
        text.append(block, size);
    }
    bool const read = std::ferror(file) == 0;
    int const number = errno;
    static_cast<void>(std::fclose(file));
    if (!read) { return detail::checkpoint_failure("cannot be read", number, path_); }
    return std::optional<std::string>{std::move(text)};
}

ENTITABLE_DECL result<void> file_checkpoint::save(std::string_view text) const {
    if (path_.empty()) { return detail::checkpoint_without_path(); }
    std::string const passing = path_ + ".new";
    std::FILE* const file = std::fopen(passing.c_str(), "wb");
    if (file == nullptr) { return detail::checkpoint_failure("cannot be written", errno, path_); }
    bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0 &&
        detail::sync_to_disk(file);
    int number = errno;
    if (std::fclose(file) != 0 && good) {
        good = false;
        number = errno;
    }
    if (!good) {
        static_cast<void>(std::remove(passing.c_str()));
        return detail::checkpoint_failure("cannot be written", number, path_);
    }
#if defined(_WIN32)
    static_cast<void>(
        std::remove(path_.c_str())); // rename cannot replace a file here; a crash in between leaves only the new name
#endif
    if (std::rename(passing.c_str(), path_.c_str()) != 0) {
        return detail::checkpoint_failure("cannot be renamed", errno, path_);
    }
    detail::sync_folder_of(path_);
    return {};
}

ENTITABLE_DECL result<void> file_checkpoint::clear() const {
    if (path_.empty()) { return detail::checkpoint_without_path(); }
    if (std::remove(path_.c_str()) != 0 && errno != ENOENT) {
        return detail::checkpoint_failure("cannot be removed", errno, path_);
    }
    return {};
}

ENTITABLE_DECL result<std::optional<std::string>> row_checkpoint::load() const {
    call context;
    auto found = through_.execute(get_entity{table_, partition_key_, row_key_, {}}, context);
    if (!found && found.error().code == error_code::resource_not_found) { return std::optional<std::string>{}; }
    if (!found) { return std::move(found).as_failure(); }
    std::string text;
    row_view const kept = found->entity;
    for (int part = 0;; ++part) {
        auto const next = kept.find("Checkpoint" + std::to_string(part));
        if (!next) { return std::optional<std::string>{std::move(text)}; }
        text += next->bytes();
    }
}

ENTITABLE_DECL result<void> row_checkpoint::save(std::string_view text) const {
    constexpr std::size_t most = 30'000; // a property has at most 32,768 UTF-16 units
    row_builder builder{partition_key_, row_key_};
    for (int part = 0; !text.empty() || part == 0; ++part) {
        builder.add("Checkpoint" + std::to_string(part), text.substr(0, most));
        text.remove_prefix(text.size() < most ? text.size() : most);
    }
    call context;
    auto written = through_.execute(write_entity{table_, mutation::insert_or_replace(builder.build())}, context);
    return written ? result<void>{} : std::move(written).as_failure();
}

ENTITABLE_DECL result<void> row_checkpoint::clear() const {
    call context;
    auto removed =
        through_.execute(write_entity{table_, mutation::remove(row{partition_key_, row_key_, {}}, any_etag)}, context);
    return removed || removed.error().code == error_code::resource_not_found ? result<void>{}
                                                                             : std::move(removed).as_failure();
}

ENTITABLE_END_NAMESPACE
