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

ENTITABLE_END_NAMESPACE
