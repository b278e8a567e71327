// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/pattern/copy.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL result<copy_progress> copy_rows(any_transport const& from, std::string from_table,
    any_transport const& to, std::string to_table, detail::row_replacement change, copy_watcher watch,
    copy_options const& options) {
    detail::copy_operation copying{std::move(from_table), std::move(to_table), change, to.profile(), options};
    for (operation_step due = copying.next(); !due.done(); due = copying.next()) {
        std::uint64_t const pages = copying.progress().pages;
        call context{options.calls}; // of this request
        any_transport const& through = due.place == 0 ? from : to;
        due.request.visit([&]<class Request>(Request const& request) {
            if constexpr (takes_answer_to<detail::copy_operation, Request>) {
                copying.answer(through.execute(request, context), {});
            }
        });
        if (copying.progress().pages != pages) {
            watch(copying.progress());
        }
    }
    return copying.finish();
}

ENTITABLE_END_NAMESPACE
