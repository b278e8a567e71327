// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: is_not_a_form_write_a_member_or_width_descending_escaped_salted_literal_property_chunked

#include "orders.hpp"

#if defined(BROKEN)
struct runner {
    std::string race;
    std::int32_t bib{};
};
ENTITABLE(runner, partition_key(race), row_key(downwards(bib)), properties())
#else
struct runner {
    std::string race;
    std::int32_t bib{};
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties())
#endif
