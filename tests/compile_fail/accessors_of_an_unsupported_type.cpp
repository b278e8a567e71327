// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the member 'accessors(pace, pace, set_pace)'" "cannot be stored"

#include <entitable/entitable.hpp>

class runner {
public:
    std::string name;
    std::int32_t bib{};
#if defined(BROKEN)
    using number = float;
#else
    using number = double;
#endif
    number pace() const { return pace_; }
    void set_pace(number pace) { pace_ = pace; }

private:
    number pace_{};
};

ENTITABLE(runner,
    partition_key(name),
    row_key(bib),
    properties(accessors(pace, pace, set_pace)))
