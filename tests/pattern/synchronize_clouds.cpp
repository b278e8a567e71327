// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of synchronisation with devices and clouds in memory and in files, and through the server and the client of the service.

#include <entitable/file.hpp>
#include <entitable/memory.hpp>

#include <support/synced_clouds.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Makes stores in memory, or in files of one folder.
struct maker {
    bool files;
    std::shared_ptr<temporary_folder> folder{std::make_shared<temporary_folder>(temporary_folder::memory())};
    std::shared_ptr<int> made{std::make_shared<int>(0)};

    any_store operator()() const {
        if (!files) { return any_store{memory_backend{}}; }
        return any_store{file_backend{*folder / ("store" + std::to_string(++*made))}};
    }
};

} // namespace

TEST_CASE("synchronize: the suite in memory and in files") {
    bool const local = GENERATE(false, true);
    bool const there = GENERATE(false, true);
    CAPTURE(local, there);
    maker const clouds{there};
    check_synchronisation_on({clouds(), clouds(), maker{local}});
}
TEST_CASE("synchronize: the suite on stores that are as nasty as they may be") {
    auto const nasty = [] { return any_store{memory_backend{local_options{.nasty = nasty_options{}}}}; };
    check_synchronisation_on({nasty(), nasty(), nasty});
}
