// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/catch.hpp"
#include <entitable/client/detail/table_operations.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
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
    table<blog, owner> both{watched, "blogs"};
    table<blog> blogs = both.unmaintained<blog>();
};

} // namespace

TEST_CASE("partial merge: sends and changes only the named members") {
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

TEST_CASE("partial merge: reports conflicts, invalid keys and missing entities") {
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

TEST_CASE("partial merge and removal by key work in a batch, with one type and with several") {
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
    CHECK(in.both.get<owner>("c")->name == "zoe");
    CHECK_FALSE(in.blogs.find("c", 1).value());
    auto refused = in.both.batch();
    refused.merge(at("c\n"), o::name = "x", any_etag);
    CHECK_FALSE(refused.submit());
}

TEST_CASE("partial merge: an absent member is removed, and undeclared properties stay") {
    channels in;
    row_builder older{"c", row_key_of(blog{"c", 1, {}, {}, 0, 0, {}, state::open}).value()};
    older.add("OfAnotherVersion", value_view{std::int32_t{3}});
    call context;
    REQUIRE(in.watched.execute(write_entity{"blogs", mutation::merge(older.build(), any_etag)}, context));
    CHECK(in.blogs.merge(at("c", 1), b::note = absent, b::text = "redacted", any_etag));
    auto const now = in.blogs.get("c", 1).value();
    CHECK_FALSE(now.note);
    CHECK(now.text == "redacted");
    CHECK(now.author == "ann");
    auto const stored =
        in.watched.execute(get_entity{"blogs", "c", std::string{older.build().row_key()}, {}}, context).value();
    CHECK_FALSE(stored.entity.view().find("note"));
    CHECK(stored.entity.view().find("OfAnotherVersion"));
    CHECK(in.blogs.merge(at("c", 1), b::note = absent, any_etag)); // absent values stay absent
    auto const nowhere = in.blogs.merge(at("c", 9), b::note = absent, any_etag);
    CHECK(nowhere.error().code == error_code::resource_not_found);
    CHECK_FALSE(nowhere.error().operation_index); // it was not a batch
    CHECK_FALSE(in.blogs.merge(at("c/d", 1), b::note = absent, any_etag));
}

TEST_CASE("partial merge: a member is removed only if the version matches") {
    channels in;
    auto const before = in.blogs.get_stored("c", 1).value();
    in.blogs.merge(at("c", 1), b::likes = 6, any_etag).value();
    auto const refused = in.blogs.merge(at("c", 1), b::note = absent, before.etag);
    CHECK(refused.error().code == error_code::update_condition_not_satisfied);
    CHECK(refused.error().effect == effect::none);
    CHECK(in.blogs.get("c", 1)->note == "kept");
    auto const current = in.blogs.get_stored("c", 1).value();
    CHECK(in.blogs.merge(at("c", 1), b::note = absent, current.etag));
    CHECK(in.blogs.get("c", 1)->likes == 6);
}

TEST_CASE(
    "partial merge: a batch that removes members is one transaction, and starts over if another writer changed a row") {
    channels in;
    in.blogs.insert({"c", 2, "second", "bob", 0, 0, "too", state::open}).value();
    auto batch = in.blogs.batch();
    batch.insert({"c", 3, "third", "eve", 0, 0, {}, state::open})
        .merge(at("c", 1), b::note = absent, any_etag)
        .merge(at("c", 2), b::note = absent, b::likes = 4, any_etag);
    auto const outcome = batch.submit();
    REQUIRE(outcome);
    CHECK(outcome->size() == 3);
    CHECK((*outcome)[1].etag == in.blogs.get_stored("c", 1)->etag);
    CHECK_FALSE(in.blogs.get("c", 1)->note);
    CHECK_FALSE(in.blogs.get("c", 2)->note);
    CHECK(in.blogs.get("c", 2)->likes == 4);
    // The key that already exists fails the whole batch, and nothing is removed.
    in.blogs.merge(at("c", 1), b::note = "again", any_etag).value();
    auto const refused = batch.submit();
    CHECK(refused.error().code == error_code::entity_already_exists);
    CHECK(refused.error().operation_index == 0);
    CHECK(in.blogs.get("c", 1)->note == "again");
    batch.clear();
    batch.merge(at("c", 1), b::likes = 1, any_etag);
    CHECK(batch.submit()); // a cleared batch has forgotten its removals
    CHECK(in.blogs.get("c", 1)->note == "again");
    auto missing = in.blogs.batch();
    missing.merge(at("c", 1), b::likes = 2, any_etag).merge(at("c", 9), b::note = absent, any_etag);
    CHECK(missing.submit().error().operation_index == 1);
    CHECK(in.blogs.get("c", 1)->likes == 1);
    // It cannot be one non-blocking request.
    detail::table_core const core{in.store, "blogs", {}};
    auto alone = std::move(missing).changes().to_submit(core);
    CHECK(alone.next().done());
    CHECK(alone.finish().error().code == error_code::not_supported);
}

namespace {

/// Lets another writer in before each of the first transactions.
struct beaten {
    using is_transport = void;
    memory_backend inner;
    std::shared_ptr<int> times = std::make_shared<int>(0);
    std::function<void()>* meanwhile = nullptr;

    template <class Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) {
        if constexpr (std::same_as<Request, transact>) {
            if (*times > 0) {
                --*times;
                (*meanwhile)();
            }
        }
        return inner.execute(request, context);
    }
    [[nodiscard]] entitable::profile profile() const { return inner.profile(); }
};

} // namespace

TEST_CASE("partial merge: a concurrent write by another writer is preserved") {
    memory_backend store;
    table<blog> direct{store, "blogs"};
    direct.create().value();
    direct.insert({"c", 1, "hello", "ann", 0, 0.5, "kept", state::open}).value();
    std::function<void()> meanwhile = [&] {
        auto const likes = direct.get("c", 1)->likes;
        direct.merge(at("c", 1), b::likes = likes + 1, any_etag).value();
    };
    beaten slow{store};
    slow.meanwhile = &meanwhile;
    auto const times = slow.times;
    table<blog> blogs{std::move(slow), "blogs"};
    *times = 3;
    CHECK(blogs.merge(at("c", 1), b::note = absent, any_etag));
    CHECK(*times == 0);
    CHECK(direct.get("c", 1)->likes == 3);
    CHECK_FALSE(direct.get("c", 1)->note);
    *times = 1000; // another writer is always faster
    auto const given_up = blogs.merge(at("c", 1), b::text = "x", b::note = absent, any_etag);
    CHECK(given_up.error().code == error_code::update_condition_not_satisfied);
    CHECK(*times == 950);
    auto const version = direct.get_stored("c", 1)->etag;
    *times = 1; // the given version no longer exists: no second attempt with another one
    auto const refused = blogs.merge(at("c", 1), b::note = absent, version);
    CHECK(refused.error().code == error_code::update_condition_not_satisfied);
    CHECK(direct.get("c", 1)->text == "hello");
}
