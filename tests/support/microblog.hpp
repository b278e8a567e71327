// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A microblog whose channels are deleted by a saga, and its possible defects.

#include <entitable/entitable.hpp>
#include <entitable/messaging.hpp>
#include <entitable/tables.hpp>

#include <functional>
#include <vector>

namespace entitable_test {

using entitable::any_etag;
using entitable::any_store;
using entitable::error_code;
using entitable::etag_condition;
using entitable::failure;
using entitable::fields;
using entitable::result;
using entitable::saga_for;
using entitable::step;
using entitable::table;
using entitable::tables;

/// The public name of a channel.
struct channel {
    std::string name;
    std::string id; ///< new for each channel that is created, even under a name that is used again
    bool deleted{};
    entitable::etag version{};
};
ENTITABLE(channel, partition_key(name), row_key(literal("channel")), properties(id, deleted, etag(version)))

/// Exists as long as the channel accepts posts; in the partition of its posts.
struct head {
    std::string channel_id;
    std::string name;
};
ENTITABLE(head, partition_key(channel_id), row_key(literal("head")), properties(name))
struct post {
    std::string channel_id;
    std::string number;
};
ENTITABLE(post, partition_key(channel_id), row_key(literal("post:"), number), properties())

struct deletion {
    std::string name;
    std::string channel_id;
};
ENTITABLE(deletion, partition_key(name), row_key(literal("id:"), channel_id), properties())

/// Possible defects of a program.
struct flaws {
    bool without_head{};
    bool by_name{};     ///< posts are keyed by the name of the channel
    bool any_version{}; ///< the channel is removed in any version
    bool looks_once{};  ///< a reader looks for the mark only before it reads
    bool one_pass{};    ///< the posts are removed in one pass, before the row that admits new ones
};

struct microblog {
    any_store store;
    flaws wrong;
    table<channel> channels{store, "channels"};
    table<head> heads{store, "posts"};
    table<post> posts{store, "posts"};
    table<head, post> both{store, "posts"};

    [[nodiscard]] std::string place_of(std::string const& name, std::string const& id) const {
        return wrong.by_name ? name : id;
    }

    /// First the head, then the channel: a visible channel accepts posts.
    [[nodiscard]] result<void> create(std::string const& name, std::string const& id) const {
        if (!wrong.without_head) {
            auto made = heads.insert({place_of(name, id), name});
            if (!made && made.error().code != error_code::entity_already_exists) { return made; }
        }
        return channels.insert({name, id});
    }
    /// Acknowledged if the channel accepts posts.
    [[nodiscard]] result<void> write(std::string const& name, std::string const& number) const {
        auto const at = channels.get(name);
        if (!at) { return failure{at.error()}; }
        if (at->deleted) { return failure{error_code::resource_not_found, "the channel is being deleted"}; }
        return write_to(place_of(name, at->id), number);
    }
    /// The number of posts in a channel, or none if it is marked: posts are removed after the mark, so if there is no mark after the read, the
    /// channel was complete.
    [[nodiscard]] result<std::size_t> read(std::string const& name, std::string const& id) const {
        for (int look = 0;; ++look) {
            std::size_t count = 0;
            if (look == 1) {
                auto const counted =
                    posts.where(fields<post>::channel_id == place_of(name, id) && fields<post>::number >= "")
                        .for_each([&](post const&) { ++count; });
                if (!counted) { return failure{counted.error()}; }
            }
            auto const at = look == 1 && wrong.looks_once ? result<channel>{channel{name, id}} : channels.get(name);
            if (!at || at->deleted || at->id != id) {
                return at ? failure{error_code::resource_not_found, "the channel is being deleted"}
                          : failure{at.error()};
            }
            if (look == 1) { return count; }
        }
    }
    [[nodiscard]] result<void> write_to(std::string const& place, std::string const& number) const {
        auto changes = both.batch();
        if (!wrong.without_head) { changes.merge<head>({place, "cats"}, any_etag); }
        changes.insert<post>({place, number});
        return changes.submit();
    }
};

inline auto remove_channel(microblog const& blog) {
    auto const mark = [blog](deletion const& it) {
        return blog.channels.update_if_present(
            it.name, [&](channel& c) { return c.id == it.channel_id && (c.deleted = true); });
    };
    auto const close = [blog](deletion const& it) {
        return blog.heads.remove_if_present(blog.place_of(it.name, it.channel_id), any_etag);
    };
    auto const empty = [blog](deletion const& it) -> result<void> {
        std::string const place = blog.place_of(it.name, it.channel_id);
        for (;;) { // until nothing is found
            std::vector<post> found;
            auto read = blog.posts.where(fields<post>::channel_id == place && fields<post>::number >= "")
                            .for_each([&](post const& each) { found.push_back(each); });
            if (!read || found.empty()) { return read; }
            for (post const& each : found) {
                auto gone = blog.posts.remove_if_present(each.channel_id, each.number, any_etag);
                if (!gone) { return std::move(gone).as_failure(); }
            }
            if (blog.wrong.one_pass) { return {}; }
        }
    };
    auto const remove = [blog](deletion const& it) -> result<void> {
        auto const found = blog.channels.find(it.name);
        if (!found || !*found || (!blog.wrong.any_version && (*found)->id != it.channel_id)) {
            return found ? result<void>{} : failure{found.error()};
        }
        return blog.channels.remove_if_present(
            it.name, blog.wrong.any_version ? etag_condition{any_etag} : etag_condition{(*found)->version});
    };
    if (blog.wrong.one_pass) {
        return saga_for<deletion>("remove_channel", step("mark", std::function<result<void>(deletion const&)>{mark}),
            step("posts", std::function<result<void>(deletion const&)>{empty}),
            step("head", std::function<result<void>(deletion const&)>{close}),
            step("channel", std::function<result<void>(deletion const&)>{remove}));
    }
    return saga_for<deletion>("remove_channel", step("mark", std::function<result<void>(deletion const&)>{mark}),
        step("head", std::function<result<void>(deletion const&)>{close}),
        step("posts", std::function<result<void>(deletion const&)>{empty}),
        step("channel", std::function<result<void>(deletion const&)>{remove}));
}

} // namespace entitable_test
