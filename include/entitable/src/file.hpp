// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of the file backend, for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for all files of the program,
/// and include this header in exactly one of them, and `entitable/src.hpp` too.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/file.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/local/file/file_backend.hpp>
#include <entitable/local/file/impl/connection.ipp>
#include <entitable/local/file/impl/connection_room.ipp>
#include <entitable/local/file/impl/file_backend.ipp>
#include <entitable/local/file/impl/file_copy.ipp>
#include <entitable/local/file/impl/file_lock.ipp>
#include <entitable/local/file/impl/file_place.ipp>
#include <entitable/local/file/impl/new_file.ipp>
#include <entitable/local/file/impl/own_process.ipp>
#include <entitable/local/file/impl/page_copy.ipp>
#include <entitable/local/file/impl/page_guard.ipp>
#include <entitable/local/file/impl/quiet_read.ipp>
#include <entitable/local/file/impl/reader_pool.ipp>
#include <entitable/local/file/impl/schema.ipp>
#include <entitable/local/file/impl/sqlite_store.ipp>
#include <entitable/local/file/impl/stored_row.ipp>
#include <entitable/local/file/impl/verify.ipp>
#include <entitable/local/file/impl/writer.ipp>
#include <entitable/local/file/impl/writer_commit.ipp>
#include <entitable/local/file/impl/writer_log.ipp>
#include <entitable/local/file/impl/writer_queue.ipp>
