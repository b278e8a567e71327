// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "synchronize does not support wide entities"

#include <entitable/entitable.hpp>
#include <entitable/sync.hpp>
#include <entitable/wide.hpp>

struct page {
    std::string site;
    std::string path;
    std::string text;
};
ENTITABLE(page, partition_key(site), row_key(path), properties(text))

void use(entitable::any_store const& local, entitable::any_store const& cloud) {
    entitable::sync_options how;
    how.partitions = {"site"};
#if defined(BROKEN)
    entitable::table<entitable::wide<page>> const here{local, "pages"};
    entitable::table<entitable::wide<page>> const there{cloud, "pages"};
#else
    entitable::table<page> const here{local, "pages"};
    entitable::table<page> const there{cloud, "pages"};
#endif
    static_cast<void>(synchronize(here, there, how));
}
