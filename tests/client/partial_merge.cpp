// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/catch.hpp"
#include <entitable/entitable.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

using namespace entitable;

namespace {

enum class state : std::int32_t { open = 1, closed = 2 };

struct blog {
    std::string channel;
    std::int64_t id{};
    std::string text;
    std::string author;
    std::int64_t likes{};
    double score{};
    std::optional<std::string> note;
    state is{};
};
ENTITABLE(blog, partition_key(channel), row_key(literal("blog:"), id), properties(text, author, likes, score, note, is))

struct owner {
    std::string channel;
    std::string name;
};
ENTITABLE(owner, partition_key(channel), row_key(literal("owner")), properties(name))

using b = fields<blog>;
using o = fields<owner>;

struct channels {
    channels() {
        both.create().value();
        blogs.insert({"c", 1, "hello", "ann", 5, 0.5, "kept", state::open}).value();
    }
    memory_backend store;
    testing::spy<memory_backend> watched{store};
    tables<blog, owner> both{watched, "blogs"};
    table<blog> blogs = both.of<blog>();
};

} // namespace

TEST_CASE("partial merge: only the members that are named are sent and changed") {
    channels in;
    CHECK(
        in.blogs.merge(at("c", 1), b::text = "redacted", b::likes = 7, b::score = 1, b::is = state::closed, any_etag));
    auto const now = in.blogs.get("c", 1).value();
    CHECK(now.text == "redacted");
    CHECK(now.author == "ann");
    CHECK(now.likes == 7);
    CHECK(now.score == 1);
    CHECK(now.note == "kept");
    CHECK(now.is == state::closed);
    CHECK(in.watched.seen().size() == 4); // create, insert, merge, get: nothing was read first
    row const sent = in.watched.all<write_entity>().back().change.entity;
    CHECK_FALSE(sent.view().find("author"));
    std::string const text{"from a std::string"};
    CHECK(in.blogs.merge(at(std::string{"c"}, 1), b::note = text, any_etag));
    CHECK(in.blogs.get("c", 1)->note == text);
}

TEST_CASE("partial merge: conditions, keys that cannot be, and entities that are not there") {
    channels in;
    auto const before = in.blogs.get_stored("c", 1).value();
    CHECK(in.blogs.merge(at("c", 1), b::text = "first", before.etag));
    CHECK(in.blogs.merge(at("c", 1), b::text = "second", before.etag).error().code ==
        error_code::update_condition_not_satisfied);
    CHECK(in.blogs.get("c", 1)->text == "first");
    CHECK(in.blogs.merge(at("c", 9), b::text = "x", any_etag).error().code == error_code::resource_not_found);
    CHECK(in.blogs.merge(at("c/d", 1), b::text = "x", any_etag).error().effect == effect::none);
    CHECK_FALSE(in.blogs.merge(at("c/d", 1), b::text = "x", any_etag));
}

TEST_CASE("partial merge and removal by keys in a batch, of one type and of several") {
    channels in;
    in.blogs.insert({"c", 2, "gone", "bob", 0, 0, {}, state::open}).value();
    auto batch = in.blogs.batch();
    batch.merge(at("c", 1), b::likes = 9, any_etag).remove(at("c", 2), any_etag);
    CHECK(batch.size() == 2);
    CHECK(batch.submit());
    CHECK(in.blogs.get("c", 1)->likes == 9);
    CHECK(in.blogs.get("c", 1)->author == "ann");
    CHECK_FALSE(in.blogs.find("c", 2).value());
    auto mixed = in.both.batch();
    mixed.insert(owner{"c", "eve"}).merge(at("c", 1), b::text = "hers", any_etag);
    CHECK(mixed.submit());
    auto again = in.both.batch();
    again.merge(at("c"), o::name = "zoe", any_etag).remove<blog>(at("c", 1), any_etag);
    CHECK(again.submit());
    CHECK(in.both.of<owner>().get("c")->name == "zoe");
    CHECK_FALSE(in.blogs.find("c", 1).value());
    auto refused = in.both.batch();
    refused.merge(at("c\n"), o::name = "x", any_etag);
    CHECK_FALSE(refused.submit());
}
