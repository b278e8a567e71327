// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "chunked(pages) needs a std::string, an entitable::binary"

#include <entitable/entitable.hpp>

struct letter {
    std::string mailbox;
    std::string subject;
    std::string body;
    std::int32_t pages{};
};
#if defined(BROKEN)
ENTITABLE(letter, partition_key(mailbox), row_key(subject), properties(chunked(body), chunked(pages)))
#else
ENTITABLE(letter, partition_key(mailbox), row_key(subject), properties(chunked(body), pages))
#endif

void use(entitable::table<letter> const& letters) { (void)letters.get("ann", "hello"); }
