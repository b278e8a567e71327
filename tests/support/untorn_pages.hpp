// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Whether a layer over a store of small pages returns a page of one partition as the store returned it: a transaction changes all rows of
// the partition after each page of the store, so a page combined from two has rows of two transactions.

#include <entitable/core/request/single_request.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/transport/run_all.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/rows.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace entitable_test {

/// A store whose rows in the partition "p" all change after each page that is read.
struct changing_store {
    using is_transport = void;
    struct state {
        std::int32_t number{};
        bool changes{};
        std::uint64_t pages{};
    };

    explicit changing_store(std::shared_ptr<state> shown, std::size_t page_examined = 2)
        : below(options(page_examined)), with(std::move(shown)) {}

    entitable::memory_backend below;
    std::shared_ptr<state> with;

    static constexpr std::size_t rows = 9;
    static entitable::row row_of(std::size_t index, std::int32_t number) {
        return entitable::testing::make_row("p", "r" + std::to_string(index), {{"N", number}});
    }
    static entitable::local_options options(std::size_t page_examined) {
        entitable::local_options made;
        made.page_examined = page_examined;
        return made;
    }

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity> && !std::same_as<Request, entitable::read_entities>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        auto answer = below.execute(request, context);
        if constexpr (std::same_as<Request, entitable::query_entities>) {
            if (with->changes && answer) {
                ++with->pages;
                ++with->number;
                entitable::transact batch{request.table, {}};
                for (std::size_t index = 0; index < rows; ++index) {
                    batch.changes.push_back(
                        entitable::mutation::merge(row_of(index, with->number), entitable::any_etag));
                }
                entitable::call own;
                (void)below.execute(batch, own);
            }
        }
        return answer;
    }
};

/// Creates the tested layer over a store.
using layer_over = std::function<entitable::any_store(entitable::any_store const& store)>;

/// Reads one partition with every kind of query, with `execute`, a visitor and a channel. Returns the error; empty if there is
/// none.
inline std::string torn_page(layer_over const& make) {
    using namespace entitable;
    auto const with = std::make_shared<changing_store::state>();
    any_store const layer = make(any_store{changing_store{with}});
    std::string const table = "rows";
    call context;
    (void)layer.execute(create_table{table}, context);
    for (std::size_t index = 0; index < changing_store::rows; ++index) {
        if (!layer.execute(write_entity{table, mutation::insert(changing_store::row_of(index, 0))}, context)) {
            return "a row cannot be inserted";
        }
    }
    (void)layer.execute(write_entity{table, mutation::insert(testing::make_row("q", "r0", {{"N", -1}}))}, context);

    struct shape {
        std::string name;
        key_interval row;
        filter condition;
        std::string expected; ///< the digits of the row keys
    };
    auto const equals = [](std::string key) {
        return filter_node{filter_operator::equal, "RowKey", value{value_view{key}}};
    };
    filter_node const in_p{filter_operator::equal, "PartitionKey", value{value_view{std::string_view{"p"}}}};
    std::string const first = "r2";
    std::string const last = "r7";
    shape const shapes[] = {
        {"the whole partition", {}, {}, "012345678"},
        {"a range of row keys", {key_bound::including(first), key_bound::excluding(last)}, {}, "23456"},
        {"a filter", {}, {{{filter_operator::greater_equal, "N", value{value_view{0}}}}}, "012345678"},
        {"three row keys", {},
            {{equals("r0"), equals("r3"), {filter_operator::any_of, {}, {}}, equals("r7"),
                {filter_operator::any_of, {}, {}}}},
            "037"},
        {"two row keys, each with its partition", {},
            {{in_p, equals("r1"), {filter_operator::all_of, {}, {}}, in_p, equals("r6"),
                {filter_operator::all_of, {}, {}}, {filter_operator::any_of, {}, {}}}},
            "16"},
    };
    for (shape const& tried : shapes) {
        for (std::uint32_t const size : {1U, 2U, 3U, 4U, 9U, 1000U}) {
            for (int way = 0; way < 3; ++way) {
                std::string const what = tried.name + ", pages of " + std::to_string(size) +
                    (way == 0          ? ", by execute"
                            : way == 1 ? ", by a visitor"
                                       : ", by a channel");
                query_entities asked{
                    table, {key_interval::only("p"), tried.row}, tried.condition, {}, size, std::nullopt};
                std::string met;
                with->changes = true;
                for (int pages = 0;; ++pages) {
                    if (pages == 100) { return what + ": no end"; }
                    std::string keys;
                    std::vector<std::int32_t> numbers;
                    std::size_t count = 0;
                    auto const see = [&](row_view each) {
                        ++count;
                        if (system_row::is_one(each.row_key)) { // an operation row of `retrying`
                            return;
                        }
                        keys += each.row_key.substr(1);
                        auto const found = each.find("N");
                        numbers.push_back(found ? found->as_int32() : -1);
                    };
                    result<std::optional<std::string>> more{std::in_place};
                    call own;
                    if (way == 1) {
                        auto const visit = [&](std::span<row_view const> run) {
                            for (row_view const& each : run) { see(each); }
                        };
                        page_visitor const watcher{visit};
                        read_entities request;
                        request.asked = &asked;
                        request.visit = &watcher;
                        auto shown = layer.execute(request, own);
                        if (!shown) { return what + ": " + shown.error().to_string(); }
                        more = std::move(shown->continuation);
                    } else {
                        auto const answer = [&]() -> result<query_entities::response> {
                            if (way == 0) { return layer.execute(asked, own); }
                            poll_driver io{system_clock()};
                            shared<channel> const through = open_channel(layer, io);
                            std::vector<single_request<query_entities>> all;
                            all.emplace_back(asked);
                            std::vector<call> calls(1);
                            run_all(all, calls, {through.get()}, io, 1);
                            return all.front().finish();
                        }();
                        if (!answer) { return what + ": " + answer.error().to_string(); }
                        for (std::size_t index = 0; index < answer->rows.size(); ++index) { see(answer->rows[index]); }
                        more = answer->continuation;
                    }
                    if (count > size) { return what + ": a page is too large"; }
                    for (std::int32_t const each : numbers) {
                        if (each != numbers.front()) {
                            return what + ": a page has rows of two transactions, of the keys " + keys;
                        }
                    }
                    met += keys;
                    if (!*more) { break; }
                    asked.continuation = *more;
                }
                with->changes = false;
                if (met != tried.expected) { return what + ": the rows " + met + " and not " + tried.expected; }
            }
        }
    }
    return with->pages > 0 ? std::string{} : "the store was not asked";
}

} // namespace entitable_test
