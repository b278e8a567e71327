// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Programs of two versions of a struct over one table: a member is renamed, one retyped, one removed, one added. Both run side by side in
// random order, and after each call every answer of both is compared with a model of the stored rows.

#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/schema.hpp>
#include <entitable/server.hpp>
#include <entitable/tables.hpp>
#include <entitable/unit_of_work.hpp>

#include <server/served.hpp>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <map>
#include <random>

using namespace entitable;

namespace {

namespace first {

/// The struct of the first version.
struct item {
    std::string shelf;
    std::int32_t number{};
    std::optional<std::string> name;
    std::string price;
    std::string color;
};
ENTITABLE(item, partition_key(shelf), row_key(literal("I:"), number), properties(name, price, color))

} // namespace first

namespace second {

std::optional<std::int64_t> price_of_text(std::string const& text) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) { return {}; }
    return std::stoll(text);
}

/// The struct of the second version: `name` is called `title`, `price` is a number, `color` is gone, `language` is new.
struct item {
    std::string shelf;
    std::int32_t number{};
    std::optional<std::string> title;
    std::int64_t price{};
    std::optional<std::string> language;

    friend bool operator==(item const&, item const&) = default;
};
ENTITABLE(item, partition_key(shelf), row_key(literal("I:"), number),
    properties(formerly(title, "name"), retyped(price, price_of_text), language))

} // namespace second

/// What is stored of one row.
struct stored_row {
    std::optional<std::string> name;
    std::optional<std::string> title;
    std::string text; ///< the price of the first version
    std::int64_t price{};
    bool is_number{};
    std::optional<std::string> color;
    std::optional<std::string> language;

    [[nodiscard]] std::optional<std::string> current_title() const { return title ? title : name; }
    [[nodiscard]] std::int64_t current_price() const { return is_number ? price : std::stoll(text); }
    [[nodiscard]] bool fits_first() const { return !is_number && color; }
};
using place = std::pair<std::string, std::int32_t>;
using model = std::map<place, stored_row>;

std::string const shelves[] = {"east", "west"};
std::string const words[] = {"ant", "bee", "cat", "dog"};

/// Two programs, their table and its model.
class two_programs {
public:
    two_programs(any_store store, std::uint32_t seed) : store_(std::move(store)), random_(seed) {
        items_.create().value();
    }

    void run(int steps, bool migrates) {
        for (int step = 0; step < steps; ++step) {
            INFO("step " << step);
            bool const is_second = draw(2) == 0;
            is_second ? change_with_second() : change_with_first();
            INFO(last_);
            compare();
        }
        if (!migrates) { return; }
        auto const report = migrate(items_).value().all().value();
        CHECK(report.read == rows_.size());
        for (auto& [at, each] : rows_) {
            each.title = each.current_title();
            each.name.reset();
            each.price = each.current_price();
            each.is_number = true;
        }
        CHECK(is_migrated(items_).value());
        CHECK(schema_drift(items_).value().migrated());
        table<second::item> const fresh{store_, "items"}; // knows nothing of the mark yet
        compare_with(fresh);
        compare();
        for (int step = 0; step < steps / 4; ++step) {
            change_with_second();
            compare();
        }
        auto const plan = items_.where(s::shelf == "east" && s::title == "bee").explain().value();
        CHECK(plan.client_filter.empty());
        CHECK_FALSE(plan.meets_former);
    }

private:
    using f = fields<first::item>;
    using s = fields<second::item>;

    int draw(int below) { return std::uniform_int_distribution<int>{0, below - 1}(random_); }
    std::optional<std::string> word() {
        return draw(5) == 0 ? std::optional<std::string>{} : std::optional{words[draw(4)]};
    }
    place any_place() { return {shelves[draw(2)], draw(4)}; }
    static stored_row row_of(first::item const& from) {
        stored_row made;
        made.name = from.name;
        made.text = from.price;
        made.color = from.color;
        return made;
    }
    static stored_row row_of(second::item const& from) {
        stored_row made;
        made.title = from.title;
        made.price = from.price;
        made.is_number = true;
        made.language = from.language;
        return made;
    }

    void change_with_first() {
        place const at = any_place();
        auto const& [shelf, number] = at;
        first::item const made{shelf, number, word(), std::to_string(draw(6)), words[draw(4)]};
        auto const found = rows_.find(at);
        bool const there = found != rows_.end();
        int const call = draw(5);
        last_ = "first: call " + std::to_string(call);
        switch (call) {
            case 0:
                CHECK(before_.insert(made).has_value() == !there);
                if (!there) { rows_[at] = row_of(made); }
                break;
            case 1:
                CHECK(before_.insert_or_replace(made));
                rows_[at] = row_of(made);
                break;
            case 2:
                CHECK(before_.merge(made, any_etag).has_value() == there);
                if (there) {
                    if (made.name) { found->second.name = made.name; }
                    found->second.text = made.price;
                    found->second.is_number = false;
                    found->second.color = made.color;
                }
                break;
            case 3: {
                auto const changed = before_.update(shelf, number, [&](first::item& of) {
                    of.name = made.name;
                    of.color = made.color;
                });
                bool const fits = there && found->second.fits_first();
                CHECK(changed.has_value() == fits);
                if (!changed && there) { CHECK(changed.error().code == error_code::row_mismatch); }
                if (fits) {
                    found->second.name = made.name;
                    found->second.color = made.color;
                }
                break;
            }
            default: CHECK(before_.remove(shelf, number, any_etag).has_value() == there); rows_.erase(at);
        }
    }

    /// Merges an entity of the second version: an absent member retains what is stored.
    static void merge_into(stored_row& row, second::item const& made) {
        if (made.title) {
            row.title = made.title;
            row.name.reset();
        }
        row.price = made.price;
        row.is_number = true;
        if (made.language) { row.language = made.language; }
    }
    /// Writes a changed entity of the second version over what was read.
    static void update_to(stored_row& row, second::item const& made) {
        row.title = made.title;
        row.name.reset();
        row.price = made.price;
        row.is_number = true;
        row.language = made.language;
    }

    void change_with_second() {
        place const at = any_place();
        auto const& [shelf, number] = at;
        second::item const made{shelf, number, word(), draw(6), word()};
        auto const found = rows_.find(at);
        bool const there = found != rows_.end();
        auto const change = [&](second::item& of) {
            of.title = made.title;
            of.price = made.price;
            of.language = made.language;
        };
        int const call = draw(12);
        last_ = "second: call " + std::to_string(call);
        switch (call) {
            case 0:
                CHECK(items_.insert(made).has_value() == !there);
                if (!there) { rows_[at] = row_of(made); }
                break;
            case 1:
                CHECK(items_.insert_or_replace(made));
                rows_[at] = row_of(made);
                break;
            case 2:
                CHECK(items_.replace(made, any_etag).has_value() == there);
                if (there) { rows_[at] = row_of(made); }
                break;
            case 3:
                CHECK(items_.merge(made, any_etag).has_value() == there);
                if (there) { merge_into(found->second, made); }
                break;
            case 4: {
                std::string const title = words[draw(4)];
                CHECK(items_.merge(entitable::at(shelf, number), s::title = title, any_etag).has_value() == there);
                if (there) {
                    found->second.title = title;
                    found->second.name.reset();
                }
                break;
            }
            case 5:
                CHECK(items_.merge(entitable::at(shelf, number), s::title = absent, s::price = made.price, any_etag)
                          .has_value() == there);
                if (there) {
                    found->second.title.reset();
                    found->second.name.reset();
                    found->second.price = made.price;
                    found->second.is_number = true;
                }
                break;
            case 6:
                CHECK(items_.update(shelf, number, change).has_value() == there);
                if (there) { update_to(found->second, made); }
                break;
            case 7: {
                auto batch = items_.batch();
                int const other = (number + 1) % 4;
                second::item const more{shelf, other, word(), draw(6), word()};
                batch.merge(made, any_etag).insert_or_replace(more);
                CHECK(batch.submit().has_value() == there);
                if (there) {
                    merge_into(found->second, made);
                    rows_[{shelf, other}] = row_of(more);
                }
                break;
            }
            case 8:
                CHECK(bulk_upsert(items_, std::vector{made}).value().all());
                rows_[at] = row_of(made);
                break;
            case 9: {
                auto const done = items_.transact(shelf, [&](transaction<second::item>& work) -> result<void> {
                    auto changed = work.update(number, change);
                    return changed ? result<void>{} : std::move(changed).as_failure();
                });
                CHECK(done.has_value() == there);
                if (there) { update_to(found->second, made); }
                break;
            }
            case 10: {
                unit_of_work work{items_};
                auto tracked = work.find(shelf, number);
                REQUIRE(tracked);
                CHECK((*tracked != nullptr) == there);
                if (!there) { break; }
                bool const changes = !(**tracked == made);
                change(**tracked);
                CHECK(work.save().value().good());
                if (changes) { update_to(found->second, made); }
                break;
            }
            default: CHECK(items_.remove(shelf, number, any_etag).has_value() == there); rows_.erase(at);
        }
    }

    void compare() {
        compare_with(items_);
        for (auto const& [at, each] : rows_) {
            auto const old = before_.get(at.first, at.second);
            CHECK(old.has_value() == each.fits_first());
            if (old) {
                CHECK(old->name == each.name);
                CHECK(old->price == each.text);
                CHECK(old->color == each.color);
            }
        }
    }

    void compare_with(table<second::item> const& items) {
        std::string const word = words[draw(4)];
        std::string const shelf = shelves[draw(2)];
        std::int64_t const limit = draw(6);
        std::map<place, second::item> expected;
        std::size_t titled = 0;
        std::size_t other_title = 0;
        std::size_t none = 0;
        std::size_t not_this = 0;
        std::size_t prefixed = 0;
        std::size_t dear = 0;
        std::int64_t sum_of_dear = 0;
        std::size_t either = 0;
        for (auto const& [at, each] : rows_) {
            auto const title = each.current_title();
            std::int64_t const price = each.current_price();
            expected[at] = {at.first, at.second, title, price, each.language};
            if (at.first != shelf) { continue; }
            titled += title == word ? 1U : 0U;
            other_title += title && *title != word ? 1U : 0U;
            not_this += title != word ? 1U : 0U;
            none += title ? 0U : 1U;
            prefixed += title && title->starts_with(word.substr(0, 1)) ? 1U : 0U;
            dear += price >= limit ? 1U : 0U;
            sum_of_dear += price >= limit ? price : 0;
            either += title == word || price < limit ? 1U : 0U;
        }
        std::map<place, second::item> stored;
        for (second::item const& each : items.scan_table().to().value()) { stored[{each.shelf, each.number}] = each; }
        CHECK(stored == expected);
        auto const here = s::shelf == shelf;
        CHECK(items.where(here && s::title == word).count().value() == titled);
        CHECK(items.where(here && s::title == word).in_flight(2).to().value().size() == titled);
        CHECK(items.where(here && s::title != word).page_size(1).to().value().size() == other_title);
        CHECK(items.where(here && !(s::title == word)).count().value() == not_this);
        CHECK(items.where(here && s::title == std::nullopt).exists().value() == (none > 0));
        CHECK(items.where(here && starts_with(s::title, word.substr(0, 1))).count().value() == prefixed);
        CHECK(items.where(here && s::price >= limit).count().value() == dear);
        CHECK(std::get<0>(items.where(here && s::price >= limit).fold(sum(s::price)).value()) == sum_of_dear);
        CHECK(
            items.where(here && (s::title == word || s::price < limit)).select(s::price).to().value().size() == either);
        for (auto const& row : items.where(here && s::title == word).select(s::title, s::price).to().value()) {
            CHECK(row[s::title] == word);
            CHECK(row[s::price] == expected[{row[s::shelf], row[s::number]}].price);
        }
        std::size_t paged = 0;
        auto const all = items.where(here && s::title == word).page_size(1);
        for (std::optional<std::string> token{""}; token;) {
            auto pages = (token->empty() ? all : all.resume(*token)).pages();
            auto page = pages.next();
            REQUIRE(page.has_value());
            token = *page ? (*page)->token : std::nullopt;
            paged += *page ? (*page)->size() : 0U;
        }
        CHECK(paged == titled);
        for (auto const& [title, counted] : items.where(here).group_by(s::title, entitable::count()).value()) {
            auto const same = [&, &title = title](auto const& each) {
                return each.first.first == shelf && each.second.current_title() == title;
            };
            CHECK(std::get<0>(counted) == static_cast<std::uint64_t>(std::count_if(rows_.begin(), rows_.end(), same)));
        }
    }

    any_store store_;
    std::mt19937 random_;
    table<first::item> before_{store_, "items"};
    table<second::item> items_{store_, "items"};
    model rows_;
    std::string last_; ///< the last call
};

void on_each_store(int seeds, int steps) {
    SECTION("memory") {
        for (std::uint32_t seed = 1; seed <= static_cast<std::uint32_t>(4 * seeds); ++seed) {
            INFO("seed " << seed);
            two_programs{memory_backend{}, seed}.run(steps, seed % 2 == 0);
        }
    }
    SECTION("file") {
        for (std::uint32_t seed = 1; seed <= static_cast<std::uint32_t>(seeds); ++seed) {
            INFO("seed " << seed);
            entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
            two_programs{file_backend{folder / "items.db"}, seed}.run(steps, true);
        }
    }
    SECTION("served") {
        for (std::uint32_t seed = 1; seed <= static_cast<std::uint32_t>(seeds); ++seed) {
            INFO("seed " << seed);
            memory_backend const store;
            two_programs{entitable_test::served(store), seed}.run(steps, true);
        }
    }
}

} // namespace

TEST_CASE("programs of two versions side by side lose no value and get no wrong answer") { on_each_store(3, 60); }
