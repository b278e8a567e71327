// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Synchronisation with unusual stores, contents, policies and faults: what would block a partition, lose an edit, or show a part of a
// transaction.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include "support/synced_texts.hpp"
#include "support/temporary_folder.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sync.hpp>
#include <entitable/testing.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <limits>
#include <map>

using namespace entitable;
using entitable_test::sync_of_ann;
using entitable_test::sync_texts;
using entitable_test::synced_text;

namespace {

/// A table of items on any store.
struct side : entitable_test::synced_texts {
    using synced_texts::synced_texts;
    void write(row const& content) const {
        call context;
        store.execute(write_entity{"items", mutation::insert_or_replace(content)}, context).value();
    }
    void write_together(std::vector<row> const& rows) const {
        transact all{"items", {}};
        for (row const& each : rows) { all.changes.push_back(mutation::insert_or_replace(each)); }
        call context;
        store.execute(all, context).value();
    }
    [[nodiscard]] std::string text(std::string const& name) const {
        auto const found = items.get("ann", name);
        return found ? found->text : "-";
    }
    /// All rows of the application, with their content.
    [[nodiscard]] std::map<std::string, row> rows() const {
        std::map<std::string, row> all;
        detail::page_cursor<query_entities> pages{query_entities{"items", {}, {}, {}, 1000, {}}};
        call context;
        while (pages.more()) {
            auto const found = pages.take(store.execute(pages.request(), context)).value();
            for (std::size_t index = 0; index < found.rows.size(); ++index) {
                row_view const each = found.rows[index];
                if (!system_row::is_one(each.row_key)) { all.emplace(each.row_key, row{each}); }
            }
        }
        return all;
    }
    [[nodiscard]] std::size_t system_rows() const {
        std::size_t count = 0;
        call context;
        auto const found = store.execute(query_entities{"items", {}, {}, {}, 1000, {}}, context).value();
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            count += system_row::is_one(found.rows[index].row_key) ? 1U : 0U;
        }
        return count;
    }
};
row item_row(std::string const& name, std::string const& text) {
    row_builder made{"ann", name};
    made.add("text", value_view{std::string_view{text}});
    return made.build();
}
row large_row(std::string const& name, std::size_t bytes) {
    row_builder made{"ann", name};
    for (int part = 0; bytes > 0; ++part) {
        std::size_t const size = (std::min)(bytes, std::size_t{60'000});
        made.add("p" + std::to_string(part), value_view{edm_type::binary, std::string(size, 'x')});
        bytes -= size;
    }
    return made.build();
}
bool same(side const& one, side const& other) {
    auto const left = one.rows();
    auto const right = other.rows();
    if (left.size() != right.size()) { return false; }
    for (auto const& [key, content] : left) {
        auto const found = right.find(key);
        if (found == right.end() || !same_properties(content.view(), found->second.view())) { return false; }
    }
    return true;
}
std::string numbered(int number) { return "n" + std::to_string(10'000 + number); }

/// Calls a function before the request with a number, from 1, of each kind that is counted.
entitable_test::through_defect before_page(std::size_t number, std::function<void()> happens) {
    auto const seen = std::make_shared<std::size_t>(0);
    return entitable_test::with_defect(
        [=]<class Request>(any_store const& below, Request const& request, call& context) {
            if constexpr (std::same_as<Request, query_entities>) {
                if (++*seen == number) { happens(); }
            }
            return below.execute(request, context);
        });
}

} // namespace

TEST_CASE("synchronize: any number of rows that a store refuses are held back, and block nothing") {
    profile small = local_profile();
    small.max_string_units = 40;
    side cloud{any_store{memory_backend{local_options{.limits = small}}}};
    side device;
    for (int index = 0; index < 150; ++index) {
        device.put(numbered(index), index % 3 == 0 ? "short" : std::string(50, 'x'));
    }
    auto const sent = sync_texts(device, cloud);
    CHECK(sent.failed.empty());
    CHECK(sent.held.size() == 100);
    CHECK(sent.pushed == 50);
    CHECK(sent.held.at(0).error.code == error_code::property_value_too_large);
    // The other way.
    side wide;
    side tight{any_store{memory_backend{local_options{.limits = small}}}};
    for (int index = 0; index < 60; ++index) {
        wide.put(numbered(index), index % 2 == 0 ? "short" : std::string(50, 'x'));
    }
    auto const received = sync_texts(tight, wide);
    CHECK(received.failed.empty());
    CHECK(received.held.size() == 30);
    CHECK(received.pulled == 30);
}

TEST_CASE("synchronize: a store in the cloud that refuses rows without naming them") {
    side behind;
    side cloud{entitable_test::with_defect([]<class Request>(any_store const& below, Request const& request,
                                               call& context) -> result<response_of<Request>> {
        if constexpr (std::same_as<Request, transact>) {
            for (mutation const& each : request.changes) {
                auto const text = each.entity.view().find("text");
                if (text && text->as_string() == "bad") {
                    return failure{error_code::other_service_error, "a rule of the service"};
                }
            }
        }
        return below.execute(request, context);
    })(behind.store)};
    side device;
    for (int index = 0; index < 90; ++index) { device.put(numbered(index), index % 10 == 0 ? "bad" : "good"); }
    auto const sent = sync_texts(device, cloud);
    CHECK(sent.failed.empty());
    CHECK(sent.held.size() == 9);
    CHECK(sent.pushed == 81);
}

TEST_CASE("synchronize: a store in the cloud that refuses every write is not asked for each row") {
    side behind;
    auto const requests = std::make_shared<int>(0);
    auto const status = GENERATE(std::uint16_t{400}, std::uint16_t{403});
    side cloud{entitable_test::with_defect([=]<class Request>(any_store const& below, Request const& request,
                                               call& context) -> result<response_of<Request>> {
        if constexpr (std::same_as<Request, transact>) {
            ++*requests;
            error why{error_code::other_service_error, "the account is disabled"};
            why.http_status = status;
            return failure{std::move(why)};
        } else {
            return below.execute(request, context);
        }
    })(behind.store)};
    side device;
    for (int index = 0; index < 500; ++index) { device.put(numbered(index), "x"); }
    auto const done = sync_texts(device, cloud);
    REQUIRE(done.failed.size() == 1);
    CHECK(done.failed[0].error.message == "the account is disabled");
    CHECK(*requests <= (status == 400 ? 301 : 1));
    CHECK(sync_texts(device, behind).good());
}

TEST_CASE("synchronize: large rows that become small, or are removed, fit the local transactions") {
    side cloud;
    side device;
    for (int index = 0; index < 18; ++index) { device.write(large_row(numbered(index), 480'000)); }
    CHECK(sync_texts(device, cloud).good());
    bool const removes = GENERATE(false, true);
    for (int index = 0; index < 18; ++index) {
        if (removes) {
            device.remove(numbered(index));
        } else {
            device.put(numbered(index), "small");
        }
    }
    auto const sent = sync_texts(device, cloud);
    CHECK(sent.good());
    CHECK(sent.pushed == 18);
    CHECK(same(device, cloud));
}

TEST_CASE("synchronize: a store with small transactions refuses no row that fits one") {
    side cloud{any_store{memory_backend{local_options{.limits = cosmos_profile()}}}};
    side device;
    for (int index = 0; index < 8; ++index) {
        row_builder made{"ann", numbered(index)};
        for (int part = 0; part < 16; ++part) {
            made.add("p" + std::to_string(part), value_view{std::string_view{std::string(25'000, 'a')}});
        }
        device.write(made.build());
    }
    CHECK(sync_texts(device, cloud).good());
    CHECK(same(device, cloud));
}

TEST_CASE("synchronize: a transaction that arrives between two pages is not seen in part") {
    auto const changed = std::vector<row>{item_row(numbered(0), "new"), item_row(numbered(2'500), "new")};
    SECTION("in the cloud") {
        side behind;
        side device;
        for (int index = 0; index < 2'501; ++index) { behind.put(numbered(index), "old"); }
        CHECK(sync_texts(device, behind).good());
        side cloud{before_page(2, [&] { behind.write_together(changed); })(behind.store)};
        CHECK(sync_texts(device, cloud).torn.empty());
        CHECK(device.text(numbered(0)) == device.text(numbered(2'500)));
    }
    SECTION("here") {
        side cloud;
        side behind;
        for (int index = 0; index < 2'501; ++index) { behind.put(numbered(index), "old"); }
        CHECK(sync_texts(behind, cloud).good());
        // Bases come after the rows: the change happens before the third page.
        side device{before_page(2, [&] { behind.write_together(changed); })(behind.store)};
        CHECK(sync_texts(device, cloud).torn.empty());
        CHECK(cloud.text(numbered(0)) == cloud.text(numbered(2'500)));
    }
}

TEST_CASE("synchronize: another call that ends while several local pages are read is noticed") {
    side cloud;
    side behind;
    for (int index = 0; index < 1'500; ++index) { behind.put(numbered(index), "old"); }
    CHECK(sync_texts(behind, cloud).good());
    bool const changes_again = GENERATE(false, true);
    cloud.put(numbered(0), "new");
    side const device{before_page(2, [&] {
        CHECK(sync_texts(behind, cloud).pulled == 1); // the first page has the old row, the second the new base
        if (changes_again) { cloud.put(numbered(0), "newer"); }
    })(behind.store)};
    auto const done = synchronize(device.items, cloud.items, sync_of_ann(keep_mine)).value();
    CHECK(done.conflicts.empty());
    CHECK(sync_texts(behind, cloud).good());
    CHECK(cloud.text(numbered(0)) == (changes_again ? "newer" : "new"));
    CHECK(same(behind, cloud));
}

TEST_CASE("synchronize: decisions that name other rows hold the row back") {
    side cloud;
    side device;
    device.put("a", "old");
    device.put("b", "old");
    CHECK(sync_texts(device, cloud).good());
    device.put("a", "mine");
    cloud.put("a", "theirs");
    auto const with = [](sync_choice choice, row content) {
        return sync_of_ann(
            [=](sync_conflict const&) -> result<sync_decision> { return sync_decision{choice, content}; });
    };
    auto const checked = [&](sync_options const& how, error_code expected) {
        auto const done = sync_texts(device, cloud, how);
        CHECK(done.failed.empty());
        CHECK(done.conflicts.empty());
        REQUIRE(done.held.size() == 1);
        CHECK(done.held[0].row_key == "a");
        CHECK(done.held[0].error.code == expected);
        CHECK(device.rows().size() == 2);
        CHECK(device.text("a") == "mine");
        CHECK(device.text("b") == "old");
    };
    checked(with(sync_choice::merged, item_row("c", "x")), error_code::invalid_input);
    checked(with(sync_choice::merged, item_row("b", "x")), error_code::invalid_input);
    checked(with(sync_choice::merged, row{"bob", "a", item_row("a", "x").payload()}), error_code::invalid_input);
    checked(with(sync_choice::merged, row{}), error_code::invalid_input);
    checked(with(sync_choice::merged, row{"ann", "a", "damaged"}), error_code::row_malformed);
    checked(with(sync_choice::merged, large_row("a", 1'100'000)), error_code::entity_too_large);
    checked(with(sync_choice::both, row{"bob", "c", item_row("c", "x").payload()}), error_code::invalid_input);
    checked(with(sync_choice::both, row{"ann", "c", ""}), error_code::row_malformed);
    checked(with(sync_choice::both, item_row("a", "x")), error_code::entity_already_exists);
    checked(with(sync_choice::both, item_row("b", "x")), error_code::entity_already_exists);
    checked(with(sync_choice::both, item_row("~!sync!", "x")), error_code::key_reserved);
    // A removal against an edit: the merged row may not be another one either.
    cloud.remove("a");
    checked(with(sync_choice::merged, item_row("c", "x")), error_code::invalid_input);
    CHECK(sync_texts(device, cloud, sync_of_ann(keep_mine)).good());
    CHECK(same(device, cloud));
}

TEST_CASE("synchronize: two conflicts cannot be renamed to one key") {
    side cloud;
    side device;
    for (char const* name : {"a", "b"}) {
        device.put(name, "mine");
        cloud.put(name, "theirs");
    }
    auto const done =
        sync_texts(device, cloud, sync_of_ann(kept_both<synced_text>([](synced_text& mine) { mine.name = "mine"; })));
    CHECK(done.failed.empty());
    REQUIRE(done.held.size() == 1);
    CHECK(done.held[0].row_key == "b");
    CHECK(done.held[0].error.code == error_code::entity_already_exists);
    CHECK(device.text("a") == "theirs");
    CHECK(device.text("b") == "mine");
    CHECK(device.text("mine") == "mine");
}

TEST_CASE("synchronize: a partition is listed once in each list of the report") {
    side cloud;
    side device;
    for (int index = 0; index < 120; ++index) {
        device.put("d" + numbered(index), "x");
        cloud.put("c" + numbered(index), "x");
    }
    CHECK(sync_texts(device, cloud).split == std::vector<std::string>{"ann"});
}

TEST_CASE("synchronize: a busy store is waited for, as long as it asks for, and no row is held back") {
    auto const what = GENERATE(0, 1, 2);
    CAPTURE(what);
    testing::manual_clock time;
    side behind;
    side device;
    device.put("a", "x");
    testing::faulty<any_store> store{behind.store, testing::faulty_options{}};
    error moving{error_code::shard_moving, "moving"};
    moving.retry_after = std::chrono::seconds{7};
    testing::fault const wanted = what == 0 ? testing::fault::busy(std::chrono::seconds{7})
        : what == 1                         ? testing::fault::throttled(std::chrono::seconds{7})
                                            : testing::fault{"moving", testing::fault::commit::never, moving, {}};
    store.plan({wanted, 1, "transact"});
    store.plan({wanted, 2, "transact"});
    side const cloud{any_store{store}};
    auto how = sync_of_ann();
    how.time = &time;
    auto const before = time.steady();
    auto const done = sync_texts(device, cloud, how);
    CHECK(done.good());
    CHECK(done.pushed == 1);
    CHECK(time.steady() - before >= std::chrono::seconds{14});
}

TEST_CASE("synchronize: a store that stays busy ends the partition with its own error") {
    side behind;
    side device;
    device.put("a", "x");
    side const cloud{entitable_test::with_defect([]<class Request>(any_store const& below, Request const& request,
                                                     call& context) -> result<response_of<Request>> {
        if constexpr (std::same_as<Request, transact>) {
            return failure{error_code::server_busy, "the service is busy"};
        } else {
            return below.execute(request, context);
        }
    })(behind.store)};
    auto const done = sync_texts(device, cloud);
    CHECK(done.held.empty());
    REQUIRE(done.failed.size() == 1);
    CHECK(done.failed[0].error.code == error_code::server_busy);
    CHECK(done.failed[0].error.message.find("other writers") == std::string::npos);
    CHECK(sync_texts(device, behind).good());
}

TEST_CASE("synchronize: a seed does not repeat the names of pushes") {
    side cloud;
    side device;
    auto how = sync_of_ann();
    how.seed = 7;
    device.put("a", "one");
    for (int index = 0; index < 3; ++index) {
        device.put("a", "before " + std::to_string(index));
        CHECK(sync_texts(device, cloud, how).good());
    }
    device.put("a", "kept");
    testing::faulty<any_store> bad{cloud.store, testing::faulty_options{}};
    bad.plan({testing::fault::lost_before(), 1, "transact"});
    CHECK_FALSE(sync_texts(device, side{any_store{bad}}, how).good());
    CHECK(sync_texts(device, cloud, how).good());
    CHECK(device.text("a") == "kept");
    CHECK(cloud.text("a") == "kept");
}

TEST_CASE("synchronize: a cloud without the receipt of the device removes no row here, however few there are") {
    side cloud;
    side device;
    device.put("a", "x");
    device.put("b", "x");
    CHECK(sync_texts(device, cloud).good());
    device.put("c", "not sent");
    side const another;
    for (int round = 0; round < 2; ++round) {
        auto const refused = sync_texts(device, another);
        REQUIRE(refused.failed.size() == 1);
        CHECK(refused.failed[0].error.code == error_code::many_removals);
        CHECK(refused.failed[0].error.message.find("the table \"items\" has no receipt") != std::string::npos);
        CHECK(refused.conflicts.empty());
    }
    CHECK(device.rows().size() == 3);
    CHECK(sync_texts(device, cloud).pushed == 1); // the right one again
    auto allowed = sync_of_ann();
    allowed.allow_many_removals = true;
    CHECK(sync_texts(device, another, allowed).good());
    CHECK(device.rows().empty());
    CHECK(sync_texts(device, another).good());
}

TEST_CASE("synchronize: stores whose transactions are small") {
    for (std::size_t operations = 1; operations < 8; ++operations) {
        for (bool in_cloud : {true, false}) {
            CAPTURE(operations, in_cloud);
            profile few = local_profile();
            few.max_operations = operations;
            side small{any_store{memory_backend{local_options{.limits = few}}}};
            side other;
            side const& device = in_cloud ? other : small;
            side const& cloud = in_cloud ? small : other;
            for (int index = 0; index < 5; ++index) {
                device.put("d" + std::to_string(index), "x");
                cloud.put("c" + std::to_string(index), "x");
                device.put("e" + std::to_string(index), "mine");
                cloud.put("e" + std::to_string(index), "theirs");
            }
            auto const how =
                sync_of_ann(kept_both<synced_text>([](synced_text& mine) { mine.name = "f" + mine.name; }));
            if (operations < (in_cloud ? 2U : 4U)) {
                auto const refused = synchronize(device.items, cloud.items, how);
                REQUIRE_FALSE(refused);
                CHECK(refused.error().code == error_code::not_supported);
                continue;
            }
            CHECK(sync_texts(device, cloud, how).good());
            CHECK(device.rows().size() == 20);
            CHECK(same(device, cloud));
        }
    }
}

TEST_CASE("synchronize: a row whose first push was lost, and that was removed then, leaves nothing") {
    side cloud;
    side device;
    device.put("a", "x");
    testing::faulty<any_store> bad{cloud.store, testing::faulty_options{}};
    bad.plan({testing::fault::lost_before(), 1, "transact"});
    CHECK_FALSE(sync_texts(device, side{any_store{bad}}).good());
    device.remove("a");
    CHECK(sync_texts(device, cloud).good());
    CHECK(device.rows().empty());
    CHECK(cloud.rows().empty());
    CHECK(device.system_rows() == 1); // the state
}

TEST_CASE("synchronize: values and keys at the edges travel unchanged, and are not sent again") {
    entitable_test::temporary_folder const folder;
    side cloud{any_store{memory_backend{local_options{.nasty = nasty_options{}}}}};
    side device{any_store{file_backend{folder / "device.db"}}};
    side other{any_store{memory_backend{local_options{.nasty = nasty_options{.seed = 9}}}}};
    int number = 0;
    for (std::string const& key : {std::string{}, std::string{"~"}, std::string{"~~"}, std::string{"~ "},
             std::string{"\x7e\xc2\xa1"}, std::string{"!"}, std::string{" "}, std::string{"\xef\xbf\xbf"},
             std::string{"\xf0\x9f\x98\x80"}, std::string{"\xee\x80\x80"}, std::string(505, 'k')}) {
        side const& at = number++ % 2 == 0 ? device : cloud;
        at.write(testing::make_row("ann", key,
            {{"n", value{value_view{std::numeric_limits<double>::quiet_NaN()}}}, {"z", value{value_view{-0.0}}},
                {"i", value{value_view{-std::numeric_limits<double>::infinity()}}},
                {"d", value{value_view{date_time{}}}}, {"e", value{value_view{""}}},
                {"b", value{value_view{edm_type::binary, ""}}}}));
    }
    row_builder wide{"ann", "wide"};
    for (int index = 0; index < 250; ++index) {
        wide.add("p" + std::to_string(index), value_view{std::int32_t{index}});
    }
    device.write(wide.build());
    device.write(row_builder{"ann", "none"}.build());
    CHECK(sync_texts(device, cloud).good());
    CHECK(sync_texts(other, cloud).good());
    CHECK(same(device, cloud));
    CHECK(same(other, cloud));
    CHECK(device.rows().size() == 13);
    for (auto const* each : {&device, &other}) {
        auto const quiet = sync_texts(*each, cloud);
        CHECK(quiet.pulled + quiet.pushed == 0);
        CHECK(quiet.conflicts.empty());
    }
}

TEST_CASE("synchronize: a fault of each store, in every combination") {
    using testing::fault;
    for (fault const& in_cloud : {fault::lost_before(), fault::lost_after(), fault::late()}) {
        for (fault const& in_device : {fault::lost_before(), fault::lost_after(), fault::late()}) {
            for (std::uint64_t there = 1; there < 7; ++there) {
                for (std::uint64_t here = 1; here < 9; ++here) {
                    CAPTURE(in_cloud.name, in_device.name, there, here);
                    side cloud;
                    side device;
                    for (side const* each : {&cloud, &device}) {
                        each->put("a", "old");
                        each->put("d", "old");
                    }
                    CHECK(sync_texts(device, cloud).good());
                    device.put("a", "mine");
                    device.remove("d");
                    cloud.put("c", "there");
                    testing::faulty<any_store> bad_cloud{cloud.store, testing::faulty_options{}};
                    testing::faulty<any_store> bad_device{device.store, testing::faulty_options{}};
                    side const through_cloud{any_store{bad_cloud}};
                    side const through_device{any_store{bad_device}};
                    bad_cloud.plan({in_cloud, there, ""});
                    bad_device.plan({in_device, here, ""});
                    CHECK(sync_texts(through_device, through_cloud).conflicts.empty());
                    device.put("a", "mine again");
                    CHECK(sync_texts(through_device, through_cloud).conflicts.empty());
                    bad_cloud.arrive();
                    bad_device.arrive();
                    CHECK(sync_texts(device, cloud).good());
                    CHECK(sync_texts(device, cloud).good());
                    CHECK(device.text("a") == "mine again");
                    CHECK(device.text("d") == "-");
                    CHECK(device.text("c") == "there");
                    CHECK(same(device, cloud));
                }
            }
        }
    }
}

TEST_CASE("synchronize: whole_table on a cloud that does not list partitions is refused") {
    side cloud{any_store{memory_backend{local_options{.limits = cosmos_profile()}}}};
    side device;
    device.put("a", "x");
    auto whole = sync_of_ann();
    whole.partitions.clear();
    whole.whole_table = true;
    auto const refused = synchronize(device.items, cloud.items, whole);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::not_supported);
    CHECK(sync_texts(device, cloud).pushed == 1);
}
