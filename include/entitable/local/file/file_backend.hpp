// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `file_backend`: the table service in one file, durable, for one or several processes. `file_stores` opens files by their address.

#include <entitable/core/address/open.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/local/file/file_options.hpp>
#include <entitable/local/file/file_report.hpp>

#include <string_view>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE

class sqlite_store;

/// Tables in a file: `file_backend store{"runners.db"}`. A `local<sqlite_store>`, which only the implementation includes. A cheap handle:
/// copies share the open file, which is closed with the last one. A moved-from object returns InvalidInput. Thread safety: safe to use from
/// several threads. Errors, durability and other processes: see `sqlite_store`.
///
/// The file is an SQLite database that only its owner can read and write (mode 0600), with an empty file `-lock` next to it, and `-wal` and
/// `-shm` while it is open. A path is always the name of a file: never a URI, and ":memory:" is not special.
class file_backend : public any_store {
public:
    using is_any_transport = file_backend; ///< a table takes it without conversion
    using visits_entities = file_backend;  ///< opts in to `read_entity`
    using visits_pages = file_backend;     ///< opts in to `read_entities`

    /// Opens the file, and creates it if it does not exist. Throws the error on failure; ends the program if exceptions are disabled, like
    /// `value()`.
    ENTITABLE_LAZY explicit file_backend(std::string_view path, file_options options = {});

    /// Opens the file and returns the error as a value. Errors: InvalidInput, StoreForeign, StoreNewer, StoreCorrupt, StoreBusy, StoreFull,
    /// StoreReadOnly, StoreFailed.
    ENTITABLE_LAZY [[nodiscard]] static result<file_backend> open(std::string_view path, file_options options = {});

    /// Checks the whole file: the structure of the file, and each row with its checksum.
    ENTITABLE_LAZY [[nodiscard]] result<file_report>(verify)(call_options const& how = {}) const;
    /// Moves the write-ahead log into the file, so that the file alone contains everything committed so far. To copy an open file
    /// use `copy_to`: a program that reads its bytes without SQLite may read partly changed bytes, and a process that has the file open and
    /// closes another descriptor of it drops SQLite's locks on it.
    ENTITABLE_LAZY [[nodiscard]] result<void> checkpoint(call_options const& how = {}) const;

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
    ENTITABLE_LAZY [[nodiscard]] result<file_copy_progress> copy_to(
        std::string_view path, file_copy_progress_callback watch, file_copy_options const& options = {}) const;
    ENTITABLE_LAZY [[nodiscard]] result<file_copy_progress> copy_to(
        std::string_view path, file_copy_options const& options = {}) const;

    /// Returns the store itself, for operations outside the table service: include `<entitable/local/file/sqlite_store.hpp>`. After a move
    /// it ends the program, by `ENTITABLE_ASSERT`.
    [[nodiscard]] sqlite_store& store() const {
        ENTITABLE_ASSERT(has_store(), "the store of a moved-from backend was used",
            detail::misuse("use the object that the backend was moved into"));
        return *store_;
    }

private:
    file_backend(any_store tables, sqlite_store& store) noexcept : any_store(std::move(tables)), store_(&store) {}
    /// Whether there is a store; false after a move.
    [[nodiscard]] bool has_store() const noexcept { return identity() != nullptr; }

    sqlite_store* store_; ///< lives as long as the transport
};

namespace detail {

[[nodiscard]] result<any_store> open_file_address(store_address& address, std::span<store_kind const> kinds);

} // namespace detail

/// Opens `file:PATH`, with the characters `?` and `%` of PATH percent-encoded, or a path that ends in `.db`, as it stands. Options of
/// `file:`: `create` (`true`, `false`), `durability` (`full`, `relaxed`), `journal` (`automatic`, `write_ahead_log`, `rollback`),
/// `busy_timeout_ms`, as in `file_options`.
inline constexpr store_kind file_stores{store_component::file, &detail::open_file_address};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/file_backend.ipp>
#endif
