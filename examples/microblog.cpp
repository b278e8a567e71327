// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// Run as a test with: {scratch}

/// \file
/// Channels and their posts in one table, newest first. A first run reads a page and keeps its token, a second one resumes there. An
/// editor changes the text of a post while another writer is faster: the result of each merge option. A subscriber gets the posts
/// since the last digest. A view ranks the authors.

#include <entitable/file.hpp>
#include <entitable/tables.hpp>
#include <entitable/unit_of_work.hpp>
#include <entitable/views.hpp>

#include <cstdio>

struct channel {
    std::string name;
    std::string title;
    std::int32_t posts{};
};
ENTITABLE(channel, partition_key(name), row_key(literal("channel")), properties(title, posts))

struct post {
    std::string channel;
    entitable::date_time written; // the latest one comes first
    std::string author, text;
    std::optional<std::string> note;
};
ENTITABLE(post, partition_key(channel), row_key(literal("post:"), descending(written)), properties(author, text, note))

struct subscription {
    std::string subscriber, channel;
    entitable::date_time seen; // everything up to here was in a digest
    std::string token;         // where the reader has stopped
};
ENTITABLE(subscription, partition_key(subscriber), row_key(channel), properties(seen, token))

/// The posts of an author. The key of the row has their number, so the rows are a ranking.
struct top_author {
    std::string board;
    std::int32_t posts{};
    std::string author;

    static top_author key(post const& of) { return {"all", 0, of.author}; }
    void add(post const&) { ++posts; }
};
ENTITABLE(top_author, partition_key(board), row_key(descending(width(posts, 9)), author), properties())

using blog = entitable::table<channel, post>;
using p = entitable::fields<post>;
using entitable::merge_option;

entitable::date_time on_day(unsigned day) { return entitable::date_time::from_date(2026, 3, day); }

void write_posts(blog const& all) {
    all.create().value();
    entitable::unit_of_work work{all};
    channel& news = work.add(channel{"harbour", "News of the harbour", 0});
    for (unsigned day = 1; day <= 7; ++day) {
        work.add(post{"harbour", on_day(day), day % 2 == 0 ? "Ann" : "Bob", "Day " + std::to_string(day), {}});
        ++news.posts;
    }
    auto const saved = work.save_all(entitable::save_mode::batch).value(); // one transaction: the count is always right
    std::printf("%zu changes saved: %d posts of \"%s\"\n", saved.changes.size(), news.posts, news.title.c_str());
}

/// The next page of a channel for a reader, who may have stopped in another run of the program.
void read_on(entitable::file_backend const& store) {
    blog const all{store, "blog"};
    entitable::table<subscription> const subscriptions{store, "subscriptions"};
    entitable::unit_of_work work{subscriptions};
    subscription& reader = *work.find("Carol", "harbour").value();
    auto asked = all.where(p::channel == "harbour" && p::written >= on_day(1)).page_size(3);
    if (!reader.token.empty()) { asked = asked.resume(reader.token); }
    auto pages = asked.pages();
    auto const page = pages.next().value();
    std::printf("a page:");
    for (post const& each : *page) { std::printf(" %s by %s;", each.text.c_str(), each.author.c_str()); }
    std::printf("\n");
    reader.token = page->token.value_or("");
    work.save_all().value(); // only the token
}

/// An editor works on a post while another writer changes it, then reads it again and saves.
void edit(blog const& all, merge_option how, char const* name, bool same_property) {
    auto const posts = all.unmaintained<post>();
    posts.insert_or_replace({"harbour", on_day(7), "Bob", "Day 7", {}}).value();
    entitable::unit_of_work work{posts, {.merge = how}};
    post& mine = *work.find("harbour", on_day(7)).value();
    mine.text = "Day 7, mine";
    posts
        .update("harbour", on_day(7),
            [&](post& theirs) {
                if (same_property) {
                    theirs.text = "Day 7, theirs";
                } else {
                    theirs.note = "theirs";
                }
            })
        .value();
    (void)work.find("harbour", on_day(7)).value();
    auto const saved = work.save().value();
    char const* told = saved.changes.empty() ? "nothing to save" : saved.good() ? "saved" : "a conflict";
    post const stored = posts.get("harbour", on_day(7)).value();
    std::printf("  %-26s %-16s stored: %s%s%s\n", name, told, stored.text.c_str(), stored.note ? " + note " : "",
        stored.note.value_or("").c_str());
    if (!saved.good()) {
        auto const met = work.conflict_of(mine).value();
        std::printf("  %28s was \"%s\", mine \"%s\", theirs \"%s\"", "", met->original->text.c_str(),
            met->mine.text.c_str(), met->theirs->text.c_str());
        work.resolve(mine, entitable::keep::mine);
        work.save_all().value();
        post const then = posts.get("harbour", on_day(7)).value();
        std::printf(
            "; mine is kept: %s%s%s\n", then.text.c_str(), then.note ? " + note " : "", then.note.value_or("").c_str());
    }
}

/// The posts since the last digest, and the time of the newest post as the next watermark, under the ETag that was read: so two
/// programs that create digests do not send one post twice.
void digest(entitable::file_backend const& store) {
    blog const all{store, "blog"};
    entitable::table<subscription> const subscriptions{store, "subscriptions"};
    entitable::unit_of_work work{subscriptions};
    subscription& reader = *work.find("Carol", "harbour").value();
    auto const fresh = all.where(p::channel == "harbour" && p::written > reader.seen).to().value();
    std::printf("digest for %s: %zu new:", reader.subscriber.c_str(), fresh.size());
    for (post const& each : fresh) { std::printf(" %s;", each.text.c_str()); }
    std::printf("\n");
    if (!fresh.empty()) { reader.seen = fresh.front().written; }
    work.save_all().value();
}

/// The ten authors with the most posts: from a view, refreshed while readers use the previous one.
void top_ten(entitable::file_backend const& store, bool refresh) {
    using t = entitable::fields<top_author>;
    entitable::materialized_view<top_author> const top{store, "topauthors"};
    top.create_if_absent().value();
    if (refresh) {
        blog const all{store, "blog"};
        top.refresh(all.where(p::channel == "harbour" && p::written >= on_day(1))).value();
    }
    auto const ten = top.read([](auto const& rows) { return rows.where(t::board == "all").take(10).to(); }).value();
    std::printf("top ten:");
    for (top_author const& each : ten.value) { std::printf(" %s %d;", each.author.c_str(), each.posts); }
    std::printf(" %s\n", ten.age() < std::chrono::hours{1} ? "less than an hour old" : "old");
}

int main(int, char** arguments) {
    {
        entitable::file_backend const store{arguments[1]};
        write_posts({store, "blog"});
        entitable::table<subscription> const subscriptions{store, "subscriptions"};
        subscriptions.create().value();
        subscriptions.insert({"Carol", "harbour", on_day(5), ""}).value();
        std::printf("\nfirst run\n");
        read_on(store);
    }
    std::printf("second run\n"); // nothing is left of the first run except the file
    entitable::file_backend const store{arguments[1]};
    read_on(store);

    blog const all{store, "blog"};
    for (bool const same : {false, true}) {
        std::printf("\nanother writer is faster, and changes %s\n", same ? "the same property" : "another property");
        edit(all, merge_option::append_only, "append_only", same);
        edit(all, merge_option::overwrite_changes, "overwrite_changes", same);
        edit(all, merge_option::preserve_changes, "preserve_changes", same);
        edit(all, merge_option::preserve_changes_silently, "preserve_changes_silently", same);
        edit(all, merge_option::no_tracking, "no_tracking", same);
    }

    std::printf("\nwithout a look at what is there\n");
    entitable::unit_of_work work{all};
    post& last = work.attach(post{"harbour", on_day(7), "", "", {}}, entitable::any_etag);
    last.text = "Day 7, whatever it was";
    work.save_all().value();
    std::printf("  stored: %s\n\n", all.get<post>("harbour", on_day(7)).value().text.c_str());

    digest(store);
    digest(store);
    all.insert(post{"harbour", on_day(8), "Ann", "Day 8", {}}).value();
    digest(store);

    std::printf("\n");
    top_ten(store, true);
    all.insert(post{"harbour", on_day(9), "Ann", "Day 9", {}}).value();
    top_ten(store, false); // unchanged
    top_ten(store, true);
}
