// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// A channel of a microblog is deleted by workers, one of which ends in the middle, while others post, read, and make a channel of the same name
/// again. What belongs to a channel is in a partition that is named by the channel's id, never by its name.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/tables.hpp>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using entitable::any_etag;
using entitable::result;

struct channel {
    std::string name;
    std::string id; // fresh for each new channel
    bool deleted{};
    entitable::etag version{};
};
ENTITABLE(channel, partition_key(name), row_key(literal("channel")), properties(id, deleted, etag(version)))

struct head { // lets posts in
    std::string channel_id;
    std::string name;
};
ENTITABLE(head, partition_key(channel_id), row_key(literal("head")), properties(name))

struct post {
    std::string channel_id;
    std::string id;
    std::string text;
};
ENTITABLE(post, partition_key(channel_id), row_key(literal("post:"), id), properties(text))

struct deletion {
    std::string name;
    std::string channel_id;
};
ENTITABLE(deletion, partition_key(name), row_key(literal("id:"), channel_id), properties())

struct microblog {
    entitable::memory_backend store;
    entitable::table<channel> channels{store, "channels"};
    entitable::table<head, post> places{store, "posts"};
    entitable::table_queue<deletion> deletions{store, "deletions", {.lanes = 2, .visibility = 2s}};

    [[nodiscard]] result<void> create(std::string const& name, std::string const& id) const {
        ENTITABLE_CHECK(places.insert(head{id, name})); // first: a channel that can be seen takes posts
        return channels.insert({name, id});
    }
    [[nodiscard]] result<void> write(std::string const& name, std::string const& id) const {
        ENTITABLE_TRY(auto const at, channels.get(name));
        auto both = places.batch();
        both.merge<head>({at.id, name}, any_etag).insert(post{at.id, id, "Hello"});
        return both.submit();
    }
    [[nodiscard]] auto posts_of(std::string const& id) const {
        using p = entitable::fields<post>;
        return places.where(p::channel_id == id && p::id >= "");
    }
    /// The posts of a channel, or none: nobody reads what is being deleted. Posts are removed after the mark, so a channel that
    /// is not marked after the read was whole during it.
    [[nodiscard]] result<std::size_t> read(std::string const& name) const {
        ENTITABLE_TRY(auto const at, channels.get(name));
        ENTITABLE_TRY(auto const posts, posts_of(at.id).to());
        ENTITABLE_TRY(auto const now, channels.get(name));
        if (now.deleted || now.id != at.id) {
            return entitable::failure{entitable::error_code::resource_not_found, "the channel is being deleted"};
        }
        return posts.size();
    }
    /// `ends`: the program of this worker ends before the third post that it removes.
    [[nodiscard]] auto remove_channel(bool ends) const {
        return entitable::saga_for<deletion>("remove_channel",
            entitable::step("mark",
                [this](deletion const& it) {
                    return channels.update_if_present(
                        it.name, [&](channel& c) { return c.id == it.channel_id && (c.deleted = true); });
                }),
            entitable::step(
                "head", [this](deletion const& it) { return places.remove_if_present<head>(it.channel_id, any_etag); }),
            entitable::step("posts",
                [this, ends](deletion const& it) -> result<void> {
                    for (int removed = 0;;) { // until there is none
                        ENTITABLE_TRY(auto const left, posts_of(it.channel_id).to());
                        for (post const& each : left) {
                            if (ends && ++removed == 3) {
                                return entitable::failure{entitable::error_code::cancelled, "the program ends"};
                            }
                            ENTITABLE_CHECK(places.remove_if_present<post>(each.channel_id, each.id, any_etag));
                        }
                        if (left.empty()) { return {}; }
                    }
                }),
            entitable::step("channel", [this](deletion const& it) -> result<void> {
                ENTITABLE_TRY(auto const found, channels.find(it.name));
                if (!found || found->id != it.channel_id) {
                    return {}; // gone, or another channel of that name
                }
                return channels.remove_if_present(it.name, found->version);
            }));
    }
    /// Takes deletions until there are none for a while, or until this worker ends with one claimed.
    void work(bool ends) const {
        // A queue of its own: a worker remembers its places in the lanes.
        entitable::table_queue<deletion> const queue{store, "deletions", deletions.options()};
        while (auto item = queue.claim({.wait = 3s}).value()) {
            if (remove_channel(ends).resume(*item)) {
                (void)item->complete(); // lost to another worker, who resumes at the recorded step
            } else if (ends) {
                return;
            }
        }
    }
};

int main() {
    microblog const blog;
    blog.channels.create().value();
    blog.places.create().value();
    blog.deletions.create().value();
    blog.create("cats", "c1").value();
    for (int number = 0; number < 40; ++number) { blog.write("cats", "first-" + std::to_string(number)).value(); }
    blog.deletions.enqueue({"cats", "c1"}).value();

    std::atomic<bool> over{false};
    std::atomic<int> partial{0};
    std::vector<std::thread> others;
    for (int poster = 0; poster < 2; ++poster) {
        others.emplace_back([&, poster] {
            std::string const mine = std::string{"p"}.append(std::to_string(poster)).append("-");
            for (int number = 0; !over; ++number) {
                (void)blog.write("cats", mine + std::to_string(number));
                std::this_thread::sleep_for(200us);
            }
        });
    }
    others.emplace_back([&] { // a reader, who always sees a whole channel, the old one or the new one
        while (!over) {
            auto const seen = blog.read("cats");
            auto const at = blog.channels.get("cats");
            partial += seen && *seen < 40 && at && at->id == "c1" ? 1 : 0;
            std::this_thread::sleep_for(200us);
        }
    });
    others.emplace_back([&] { // a user, who wants the name as soon as it is free
        while (!over && (blog.channels.get("cats") || !blog.create("cats", "c2"))) {
            std::this_thread::sleep_for(200us);
        }
    });

    blog.work(true);
    std::printf("the first worker ended in the middle; a reader is %s\n", blog.read("cats") ? "answered" : "refused");
    std::thread second{[&] { blog.work(false); }}; // gets the message when the claim of the first one is over
    std::thread third{[&] { blog.work(false); }};
    second.join();
    third.join();
    over = true;
    for (std::thread& each : others) { each.join(); }
    auto const now = blog.channels.get("cats").value();
    auto const left = blog.deletions.approximate_size().value();
    std::printf("channels: %s%s, posts of the old one: %d, messages: %d\n", now.id.c_str(),
        now.deleted ? " (deleted)" : "", static_cast<int>(blog.posts_of("c1").count().value()),
        static_cast<int>(left.ready + left.held + left.dead_letters));
    // A deletion that fails for good would be here, with the steps that stand; `requeue` takes it up again.
    std::printf(
        "stuck deletions: %d\n", static_cast<int>(blog.remove_channel(false).stuck(blog.deletions).value().size()));
    std::printf("the new one has posts: %s; half a channel was seen %d times\n",
        blog.read("cats").value() > 0 ? "yes" : "no", partial.load());
}
