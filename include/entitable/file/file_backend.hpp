// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `file_backend`: the table service in one file, durable, for one process or several.

#include <entitable/backends/local.hpp>
#include <entitable/file/sqlite_store.hpp>
#include <entitable/transport/any_transport.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Tables in a file: `file_backend store{"runners.db"}`. A cheap handle: copies share the open file, which is closed with the last
/// one. Safe to use from several threads. Errors, durability and other processes: see `sqlite_store`.
///
/// The file is an SQLite database that its owner alone can read and write (mode 0600), with an empty file `-lock` beside it, and
/// `-wal` and `-shm` while it is open. Nothing but the path given names a file.
class file_backend : public local<sqlite_store> {
public:
    using visits_entities = file_backend; ///< opts in to `read_entity`

    /// Opens the file, and makes it where there is none. Throws the error when that fails; ends the program where exceptions are
    /// switched off, as `value()` does.
    explicit file_backend(std::string_view path, file_options options = {})
        : file_backend(open(path, std::move(options)).value()) {}

    /// The same, with the error as a value: InvalidInput, StoreForeign, StoreNewer, StoreCorrupt, StoreBusy, StoreFull,
    /// StoreFailed.
    [[nodiscard]] static result<file_backend> open(std::string_view path, file_options options = {}) {
        auto opened = sqlite_store::open(path, options);
        if (!opened) {
            return std::move(opened).as_failure();
        }
        return file_backend{*std::move(opened), std::move(options)};
    }

    /// Reads everything: the structure of the file, and each row with its checksum.
    [[nodiscard]] result<file_report> verify(call_options const& how = {}) const {
        return has_store() ? store().verify(call{how, store().time()}) : detail::moved_from("backend");
    }
    /// Moves the write-ahead log into the file, so that the file alone holds everything that was committed. Writers go on
    /// afterwards: a file is copied while nobody has it open.
    [[nodiscard]] result<void> checkpoint(call_options const& how = {}) const {
        return has_store() ? store().checkpoint(call{how, store().time()}) : detail::moved_from("backend");
    }

private:
    file_backend(sqlite_store::opened_file opened, file_options options)
        : local<sqlite_store>(options.local, std::move(opened), options) {}
};

#if defined(ENTITABLE_SEPARATE_COMPILATION)
// Compiled once, with entitable/file/src.hpp.
extern template class local<sqlite_store>;
extern template detail::transport_interface* detail::make_model(file_backend const&);
#endif

ENTITABLE_END_NAMESPACE
