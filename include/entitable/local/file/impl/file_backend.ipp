// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/file/file_backend.hpp>
#include <entitable/local/file/sqlite_store.hpp>
#include <entitable/local/local.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY file_backend::file_backend(std::string_view path, file_options options)
    : file_backend(open(path, std::move(options)).value()) {}

ENTITABLE_LAZY_BODY result<file_backend> file_backend::open(std::string_view path, file_options options) {
    ENTITABLE_TRY(auto opened, sqlite_store::open(path, options));
    local<sqlite_store> const tables{options.local, std::move(opened), options};
    return file_backend{any_store{tables}, tables.store()};
}

ENTITABLE_LAZY_BODY result<file_report>(file_backend::verify)(call_options const& how) const {
    return has_store() ? (store().verify)(call{how, store().time()}) : detail::moved_from("backend");
}
ENTITABLE_LAZY_BODY result<void> file_backend::checkpoint(call_options const& how) const {
    return has_store() ? store().checkpoint(call{how, store().time()}) : detail::moved_from("backend");
}

ENTITABLE_LAZY_BODY result<file_copy_progress> file_backend::copy_to(
    std::string_view path, file_copy_progress_callback watch, file_copy_options const& options) const {
    return has_store() ? store().copy_to(path, watch, options) : detail::moved_from("backend");
}
ENTITABLE_LAZY_BODY result<file_copy_progress> file_backend::copy_to(
    std::string_view path, file_copy_options const& options) const {
    return copy_to(path, [](file_copy_progress const&) {}, options);
}

namespace detail {

ENTITABLE_DECL result<any_store> open_file_address(store_address& address, std::span<store_kind const> kinds) {
    static_cast<void>(kinds);
    file_options options;
    ENTITABLE_TRY(options.create, address.flag("create", false));
    ENTITABLE_TRY(auto const durable, address.one_of("durability", {"full", "relaxed"}));
    if (durable) { options.durability = *durable == 0 ? durability::full : durability::relaxed; }
    ENTITABLE_TRY(auto const journal, address.one_of("journal", {"automatic", "write_ahead_log", "rollback"}));
    if (journal) { options.journal = static_cast<file_journal>(*journal); }
    ENTITABLE_TRY(auto const waits, address.number("busy_timeout_ms", 0, 3'600'000));
    if (waits) { options.busy_timeout = std::chrono::milliseconds{*waits}; }
    ENTITABLE_CHECK(address.check_options());
    bool const creates = options.create;
    auto opened = file_backend::open(address.place(), std::move(options));
    if (!opened) {
        error told = std::move(opened).error();
        if (!creates && told.message == "the file does not exist") {
            told.message += ": file:PATH?create=true makes it";
        }
        return failure{std::move(told)};
    }
    return any_store{*opened};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
