// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Defects of writers and groups of a feed, planted between a program and its store. Each is detected.

#include "model/feed_world.hpp"

using namespace feed_world;

namespace {

using actors = std::vector<actor<one_lane>>;

bool is_announcement(std::string_view table, row const& one) {
    return table == "stocksfeed" && one.row_key().starts_with(detail::feed_prefix('a'));
}
/// Whether a query reads rows of a kind of the feed.
bool reads(query_entities const& asked, char kind) {
    return asked.table == "stocksfeed" && asked.range.row.lower.key == detail::feed_prefix(kind);
}
std::vector<std::string> keys_of(page const& rows) {
    std::vector<std::string> made;
    for (std::size_t at = 0; at < rows.size(); ++at) { made.emplace_back(rows[at].row_key); }
    return made;
}
query_entities rows_from(std::string table, std::string partition, std::string const& prefix) {
    query_entities asked;
    asked.table = std::move(table);
    asked.range.partition = key_interval::only(partition);
    std::string end = prefix;
    end.back() = '"';
    asked.range.row = {key_bound::including(prefix), key_bound::excluding(end)};
    return asked;
}
bool is_void(transact const& sent) {
    return std::ranges::any_of(
        sent.changes, [](mutation const& each) { return each.entity.view().find("Void").has_value(); });
}
bool is_saved_position(transact const& sent) { return sent.table == "stocksfeed"; }

/// A defect with a state of its own for each program.
template <class State, class Change>
through_defect remembering(Change change) {
    return [change](any_store below) {
        auto const state = std::make_shared<State>();
        return with_defect([state, change]<class Request>(any_store const& to, Request const& request,
                               call& context) -> result<response_of<Request>> {
            return change(*state, to, request, context);
        })(std::move(below));
    };
}

template <class Request>
constexpr bool is_write = std::same_as<Request, write_entity>;

} // namespace

TEST_CASE("feed: defects of writers are detected") {
    SECTION("announced after the change") {
        auto const defect = remembering<std::optional<write_entity>>(
            []<class Request>(auto& kept, any_store const& to, Request const& request,
                call& context) -> result<response_of<Request>> {
                if constexpr (is_write<Request>) {
                    if (is_announcement(request.table, request.change.entity)) {
                        kept = request;
                        return written{};
                    }
                }
                auto made = to.execute(request, context);
                if constexpr (std::same_as<Request, transact>) {
                    if (made && kept) {
                        call own;
                        static_cast<void>(to.execute(*kept, own));
                    }
                }
                return made;
            });
        CHECK(walk(actors{with(defect, writes<one_lane>(2)), follows<one_lane>("a")}, quiet).problem ==
            "a change that the group a has not processed is not announced");
    }
    SECTION("one announcement for all numbers of a partition") {
        auto const defect = with_defect([]<class Request>(any_store const& to, Request const& request,
                                            call& context) -> result<response_of<Request>> {
            if constexpr (is_write<Request>) {
                if (is_announcement(request.table, request.change.entity)) {
                    std::string const lane{request.change.entity.partition_key()};
                    call own;
                    auto const there = to.execute(rows_from("stocksfeed", lane, detail::feed_prefix('a')), own);
                    if (!there) { return failure{there.error()}; }
                    transact all{"stocksfeed", {}};
                    all.changes.push_back(mutation::insert_or_replace(row{request.change.entity}));
                    for (std::string const& each : keys_of(there->rows)) {
                        if (each == request.change.entity.row_key()) { continue; }
                        all.changes.push_back(mutation::remove(row{lane, each, {}}, any_etag));
                    }
                    auto const made = to.execute(all, context);
                    if (!made) { return failure{made.error()}; }
                    return written{};
                }
            }
            return to.execute(request, context);
        });
        CHECK(found_by_chance(actors{with(defect, writes<one_lane>(2)), with(defect, writes<one_lane>(3, 2)),
                                  follows<one_lane>("a")},
                  quiet) == "a change that the group a has not processed is not announced");
    }
    SECTION("not announced again after a refusal") {
        auto const defect =
            remembering<bool>([]<class Request>(bool& announced_once, any_store const& to, Request const& request,
                                  call& context) -> result<response_of<Request>> {
                if constexpr (is_write<Request>) {
                    if (is_announcement(request.table, request.change.entity) && std::exchange(announced_once, true)) {
                        return written{};
                    }
                }
                return to.execute(request, context);
            });
        CHECK(found_by_chance(
                  actors{with(defect, writes<one_lane>(2)), writes<one_lane>(3), follows<one_lane>("a")}, quiet) != "");
    }
    SECTION("the response to the announcement is not awaited") {
        auto const defect = with_defect([]<class Request>(any_store const& to, Request const& request,
                                            call& context) -> result<response_of<Request>> {
            auto made = to.execute(request, context);
            if constexpr (is_write<Request>) {
                if (!made && made.error().effect == effect::unknown &&
                    is_announcement(request.table, request.change.entity)) {
                    return written{};
                }
            }
            return made;
        });
        CHECK(walk(actors{with(defect, writes<one_lane>(2)), follows<one_lane>("a")}, late).problem ==
            "a change that the group a has not processed is not announced");
    }
    SECTION("no head: the number after the last entry, and an insert as the guard") {
        auto const defect = with_defect([]<class Request>(any_store const& to, Request const& request,
                                            call& context) -> result<response_of<Request>> {
            if constexpr (std::same_as<Request, transact>) {
                transact sent = request;
                for (mutation& each : sent.changes) {
                    if (!each.entity.row_key().ends_with("head")) { continue; }
                    each.condition = any_etag;
                    each.kind = mutation_kind::insert_or_replace;
                }
                return to.execute(sent, context);
            } else {
                auto made = to.execute(request, context);
                if constexpr (std::same_as<Request, get_entity>) {
                    if (made && request.row_key.ends_with("head")) {
                        call own;
                        std::string const prefix{system_row::log};
                        auto const log = to.execute(rows_from("stocks", request.partition_key, prefix), own);
                        if (!log) { return failure{log.error()}; }
                        std::int64_t last = 0;
                        for (std::string const& each : keys_of(log->rows)) {
                            if (each.ends_with("head")) { continue; }
                            last = std::stoll(each.substr(prefix.size()), nullptr, 16);
                        }
                        made->entity = detail::log_head_row(
                            request.partition_key, request.row_key, last, made->entity.view().find("Log")->as_guid());
                    }
                }
                return made;
            }
        });
        CHECK(found_by_chance(actors{with(defect, writes<one_lane>(2)), follows<one_lane>("a", 3),
                                  with(defect, writes<one_lane>(3))},
                  quiet) == "the group a misses a change");
    }
}

TEST_CASE("feed: defects of groups are detected") {
    SECTION("an announcement is removed before its change is processed") {
        auto const defect = with_defect([]<class Request>(any_store const& to, Request const& request,
                                            call& context) -> result<response_of<Request>> {
            auto made = to.execute(request, context);
            if constexpr (std::same_as<Request, query_entities>) {
                if (made && reads(request, 'a')) {
                    for (std::string const& each : keys_of(made->rows)) {
                        call own;
                        static_cast<void>(to.execute(
                            write_entity{"stocksfeed",
                                mutation::remove(row{request.range.partition.lower.key, each, {}}, any_etag)},
                            own));
                    }
                }
            }
            return made;
        });
        CHECK(walk(actors{writes<one_lane>(2), with(defect, follows<one_lane>("a"))}, ends).problem != "");
    }
    SECTION("an announcement is removed although its number is not decided") {
        auto const defect = remembering<std::vector<std::string>>(
            []<class Request>(auto& seen, any_store const& to, Request const& request,
                call& context) -> result<response_of<Request>> {
                if constexpr (std::same_as<Request, transact>) {
                    transact sent = request;
                    if (is_saved_position(request)) {
                        for (std::string const& each : seen) {
                            bool const there = std::ranges::any_of(
                                sent.changes, [&](mutation const& one) { return one.entity.row_key() == each; });
                            if (there) { continue; }
                            sent.changes.push_back(
                                mutation::remove(row{sent.changes.front().entity.partition_key(), each, {}}, any_etag));
                        }
                        seen.clear();
                    }
                    return to.execute(sent, context);
                } else {
                    auto made = to.execute(request, context);
                    if constexpr (std::same_as<Request, query_entities>) {
                        if (made && reads(request, 'a')) { seen = keys_of(made->rows); }
                    }
                    return made;
                }
            });
        CHECK(found_by_chance(actors{writes<one_lane>(2), writes<one_lane>(3), with(defect, follows<one_lane>("a", 2))},
                  quiet) == "a change that the group a has not processed is not announced");
    }
    SECTION("the log is trimmed past the position") {
        auto const defect = with_defect([]<class Request>(any_store const& to, Request const& request,
                                            call& context) -> result<response_of<Request>> {
            auto made = to.execute(request, context);
            if constexpr (std::same_as<Request, transact>) {
                if (made && is_saved_position(request)) {
                    call own;
                    auto const log = to.execute(rows_from("stocks", "Kiel", std::string{system_row::log}), own);
                    for (std::string const& each : log ? keys_of(log->rows) : std::vector<std::string>{}) {
                        if (each.ends_with("head")) { continue; }
                        call removing;
                        static_cast<void>(to.execute(
                            write_entity{"stocks", mutation::remove(row{"Kiel", each, {}}, any_etag)}, removing));
                    }
                }
            }
            return made;
        });
        CHECK(found_by_chance(actors{writes<one_lane>(2), writes<one_lane>(3), with(defect, follows<one_lane>("a", 2))},
                  quiet) == "a change that the group a has not processed was trimmed");
    }
    SECTION("the groups are read before the announcements") {
        auto const defect = remembering<std::optional<result<query_entities::response>>>(
            []<class Request>(auto& groups, any_store const& to, Request const& request,
                call& context) -> result<response_of<Request>> {
                if constexpr (std::same_as<Request, query_entities>) {
                    if (reads(request, 'a')) {
                        call own;
                        groups = to.execute(
                            rows_from("stocksfeed", request.range.partition.lower.key, detail::feed_prefix('g')), own);
                    }
                    if (reads(request, 'g') && groups && groups->has_value()) { return *groups; }
                }
                return to.execute(request, context);
            });
        CHECK(
            found_by_chance(actors{writes<one_lane>(2), joins<one_lane>("b"), with(defect, follows<one_lane>("a", 2))},
                quiet) != "");
    }
    SECTION("other groups are not asked") {
        auto const defect = with_defect([]<class Request>(any_store const& to, Request const& request,
                                            call& context) -> result<response_of<Request>> {
            auto made = to.execute(request, context);
            if constexpr (std::same_as<Request, query_entities>) {
                if (made && reads(request, 'g')) {
                    page own;
                    for (std::size_t at = 0; at < made->rows.size(); ++at) {
                        if (made->rows[at].row_key.ends_with("!a")) { own.append(made->rows[at]); }
                    }
                    made->rows = std::move(own);
                }
            }
            return made;
        });
        CHECK(
            found_by_chance(actors{writes<one_lane>(2), joins<one_lane>("b"), with(defect, follows<one_lane>("a", 2))},
                quiet) != "");
    }
    SECTION("a number is voided without the version of the head") {
        auto const defect = entitable_test::with_transactions([](transact& sent) {
            if (!is_void(sent)) { return; }
            for (mutation& each : sent.changes) {
                each.condition = any_etag;
                each.kind = mutation_kind::insert_or_replace;
            }
        });
        CHECK(found_by_chance(actors{writes<one_lane>(2), with(defect, follows<one_lane>("a", 4))}, quiet) != "");
    }
    SECTION("the position is saved before the effect") {
        CHECK(walk(actors{writes<one_lane>(2), follows<one_lane>("a", 2, {}, true)}, ends).problem ==
            "the position of the group a is saved before the effect");
    }
    SECTION("a group that joins is marked as joined before its partitions are announced") {
        auto const defect = with_defect([]<class Request>(any_store const& to, Request const& request,
                                            call& context) -> result<response_of<Request>> {
            if constexpr (is_write<Request>) {
                if (request.table == "stocksfeed" && request.change.kind == mutation_kind::insert &&
                    request.change.entity.row_key().starts_with(detail::feed_prefix('g'))) {
                    row_builder made{request.change.entity.partition_key(), request.change.entity.row_key()};
                    made.add("Joined", value_view{true});
                    return to.execute(write_entity{request.table, mutation::insert(made.build())}, context);
                }
            }
            return to.execute(request, context);
        });
        CHECK(found_by_chance(actors{writes<one_lane>(2), with(defect, joins<one_lane>("b")), follows<one_lane>("b", 2),
                                  follows<one_lane>("a", 2)},
                  quiet) != "");
    }
}
