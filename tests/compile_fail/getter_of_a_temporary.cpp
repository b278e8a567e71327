// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "accessors(club, club, set_club)" "the getter returns a temporary"

#include <entitable/entitable.hpp>

class runner {
public:
    std::string name;
    std::int32_t bib{};
#if defined(BROKEN)
    std::string club() const { return club_; }
#else
    std::string const& club() const { return club_; }
#endif
    void set_club(std::string club) { club_ = std::move(club); }

private:
    std::string club_;
};

ENTITABLE(runner,
    partition_key(name),
    row_key(bib),
    properties(accessors(club, club, set_club)))
