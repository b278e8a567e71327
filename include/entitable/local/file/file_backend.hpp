// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `file_backend`: the table service in one file, durable, for one or several processes.

#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/file/sqlite_store.hpp>
#include <entitable/local/local.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Tables in a file: `file_backend store{"runners.db"}`. A cheap handle: copies share the open file, which is closed with the last copy.
/// Thread safety: safe to use from several threads. Errors, durability and other processes: see `sqlite_store`.
///
/// The file is an SQLite database that only its owner can read and write (mode 0600), with an empty file `-lock` next to it, and `-wal` and
/// `-shm` while it is open. A path is always the name of a file: never a URI, and ":memory:" is not special.
class file_backend : public local<sqlite_store> {
public:
    using visits_entities = file_backend; ///< opts in to `read_entity`
    using visits_pages = file_backend;    ///< opts in to `read_entities`

    /// Opens the file, and creates it if it does not exist. Throws the error on failure; ends the program if exceptions are disabled, like
    /// `value()`.
    explicit file_backend(std::string_view path, file_options options = {})
        : file_backend(open(path, std::move(options)).value()) {}

    /// Opens the file and returns the error as a value. Errors: InvalidInput, StoreForeign, StoreNewer, StoreCorrupt, StoreBusy, StoreFull,
    /// StoreReadOnly, StoreFailed.
    [[nodiscard]] static result<file_backend> open(std::string_view path, file_options options = {}) {
        ENTITABLE_TRY(auto opened, sqlite_store::open(path, options));
        return file_backend{std::move(opened), std::move(options)};
    }

    /// Checks the whole file: the structure of the file, and each row with its checksum.
    [[nodiscard]] result<file_report>(verify)(call_options const& how = {}) const {
        return has_store() ? (store().verify)(call{how, store().time()}) : detail::moved_from("backend");
    }
    /// Moves the write-ahead log into the file, so that the file alone contains everything committed so far. To copy an open file
    /// use `copy_to`: a program that reads its bytes without SQLite may read partly changed bytes, and a process that has the file open and
    /// closes another descriptor of it drops SQLite's locks on it.
    [[nodiscard]] result<void> checkpoint(call_options const& how = {}) const {
        return has_store() ? store().checkpoint(call{how, store().time()}) : detail::moved_from("backend");
    }

    /// Copies the file, while it is read and written, to an unused path. The copy is an independent file of tables with everything that was
    /// committed at one point in time: each transaction completely or not at all, with the same ETags, the same journal and the same
    /// checksums. Each page is checked when it is read; `verify` of the copy checks each row too.
    ///
    /// With a write-ahead log, writers and readers continue, and the copy shows the state at its start. Concurrent writes make the log grow
    /// until the copy ends; beyond `file_options::log_bytes`, commits by other processes wait for the copy as for any reader. With a
    /// rollback journal the file is copied in slices, between which writers commit; a commit restarts the copy. After the third restart it
    /// blocks writers until it is done; they return StoreBusy after their `busy_timeout`. A copy itself waits no longer than `busy_timeout`
    /// for a writer.
    ///
    /// The copy gets its name when it is complete, and never replaces an existing file. A copy that fails, throws or is cancelled leaves no
    /// file; a process that is killed leaves a file whose name ends in `-copying`, which no store opens and which can be removed. With
    /// `durability::full` the copy and its name are on the disk when this returns.
    ///
    /// Errors, all with `effect::none`: InvalidInput for a path that `sqlite_store::open` refuses, or for a folder; StoreFailed if the
    /// path exists, or if the log of a former file with that name exists (`-wal`, `-shm`, `-journal`), named in the detail; StoreCorrupt
    /// for a damaged page; StoreFull; StoreBusy; DeadlineExceeded and Cancelled, which are checked after each slice of a megabyte;
    /// NotSupported on Windows.
    [[nodiscard]] result<file_copy_progress> copy_to(
        std::string_view path, file_copy_progress_callback watch, file_copy_options const& options = {}) const {
        return has_store() ? store().copy_to(path, watch, options) : detail::moved_from("backend");
    }
    [[nodiscard]] result<file_copy_progress> copy_to(
        std::string_view path, file_copy_options const& options = {}) const {
        return copy_to(path, [](file_copy_progress const&) {}, options);
    }

private:
    file_backend(sqlite_store::opened_file opened, file_options options)
        : local<sqlite_store>(options.local, std::move(opened), options) {}
};

#if defined(ENTITABLE_SEPARATE_COMPILATION)
// These are compiled once, with entitable/src/file.hpp.
extern template class local<sqlite_store>;
extern template detail::transport_interface* detail::make_model(file_backend const&);
#endif

ENTITABLE_END_NAMESPACE
