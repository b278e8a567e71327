// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a view needs two functions"

#include <entitable/entitable.hpp>
#include <entitable/views.hpp>

struct post {
    std::string channel;
    std::int32_t number{};
    std::string author;
};
ENTITABLE(post, partition_key(channel), row_key(number), properties(author))

struct author_posts {
    std::string author;
    std::int64_t posts{};
    static author_posts key(post const& of) { return {of.author, 0}; }
#if !defined(BROKEN)
    void add(post const&) { ++posts; }
#endif
};
ENTITABLE(author_posts, partition_key(author), row_key(literal("posts")), properties(posts))

void use(entitable::any_store through) {
    entitable::table<post> const posts{through, "posts"};
    (void)entitable::materialized_view<author_posts>{through, "authors"}.refresh(posts.scan_table());
}
