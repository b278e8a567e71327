// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/request_writer.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

using namespace entitable;
using testing::make_row;

namespace {

std::size_t below(random_source& random, std::size_t count) { return static_cast<std::size_t>(random.bits() % count); }

/// Few keys, so that they repeat, of characters that are escaped, sort differently, or look like something else.
std::string any_key(random_source& random) {
    constexpr std::string_view letters[] = {
        "a", "A", "'", "\"", "%27", "~!", " ", "\xC3\xA9", "\xEF\xBF\xBD", "\xF0\x90\x80\x80", "+", "&", "."};
    std::string key;
    for (std::size_t left = below(random, 3); left > 0; --left) { key += letters[below(random, std::size(letters))]; }
    return key;
}

std::string any_text(random_source& random, std::size_t longest) {
    constexpr std::string_view letters[] = {
        "x", "\"", "\\", std::string_view{"\0", 1}, "\x1F", "\n", "\xE2\x82\xAC", "\x7F"};
    std::string text;
    std::string_view const one = letters[below(random, std::size(letters))];
    for (std::size_t left = below(random, longest + 1); left > 0; --left) {
        text += below(random, 4) == 0 ? letters[below(random, std::size(letters))] : one;
    }
    return text;
}

row any_row(random_source& random, std::size_t longest) {
    row_builder made{any_key(random), any_key(random)};
    for (std::size_t left = below(random, 10); left > 0; --left) {
        std::string const name = "n" + std::to_string(left) + (below(random, 3) == 0 ? std::string(200, 'N') : "");
        std::string const text = any_text(random, longest);
        switch (below(random, 8)) {
            case 0: made.add(name, value_view{std::string_view{text}}); break;
            case 1: made.add(name, value_view{edm_type::binary, text}); break;
            case 2: made.add(name, value_view{std::numeric_limits<std::int64_t>::min()}); break;
            case 3: made.add(name, value_view{-1.7976931348623157e308}); break;
            case 4: made.add(name, value_view{false}); break;
            case 5: made.add(name, value_view{date_time{}}); break;
            case 6: made.add(name, value_view{edm_type::guid, std::string_view{"0123456789abcdef"}}); break;
            default: made.add(name, value_view{std::numeric_limits<std::int32_t>::min()}); break;
        }
    }
    return made.build();
}

mutation any_change(random_source& random, std::size_t longest) {
    row made = any_row(random, longest);
    switch (below(random, 6)) {
        case 0: return mutation::insert(std::move(made));
        case 1: return mutation::replace(std::move(made), any_etag);
        case 2: return mutation::merge(std::move(made), etag{"\"" + std::string(below(random, 900), 'e') + "\""});
        case 3: return mutation::insert_or_replace(std::move(made));
        case 4: return mutation::insert_or_merge(std::move(made));
        default: return mutation::remove(std::move(made), any_etag);
    }
}

std::string told(mutation const& change) {
    return std::string{to_string(change.kind)} + '|' + std::string{change.entity.row_key()} + '|' +
        std::string{change.entity.payload()} + '|' + change.condition.version().to_string();
}

using by_partition = std::map<std::string, std::vector<std::string>>;

std::size_t bytes_of(std::vector<mutation> const& changes) {
    std::size_t size = detail::transaction_frame;
    for (mutation const& change : changes) { size += detail::transaction_size("Runners", change); }
    return size;
}

bool has_row(transact const& in, std::string_view row_key) {
    return std::any_of(in.changes.begin(), in.changes.end(),
        [&](mutation const& change) { return change.entity.row_key() == row_key; });
}

} // namespace

TEST_CASE("batch_packer: all added operations are returned, in transactions that a service accepts") {
    random_source random{20261122};
    for (int round = 0; round < 100; ++round) {
        profile limits = storage_profile();
        limits.max_operations = 1 + below(random, 7);
        limits.max_transaction_size = 6000 + below(random, 20'000);
        batch_packer packer{"Runners", limits};
        by_partition added;
        by_partition taken;
        std::map<std::string, transact> last; // the last one of each partition
        std::size_t held = 0;
        auto const look_at = [&](transact const& batch) {
            REQUIRE(batch.table == "Runners");
            REQUIRE(validate(batch, limits)); // one partition, each row once, not too many, not too large
            REQUIRE(bytes_of(batch.changes) <= limits.max_transaction_size);
            std::string const partition{batch.changes.front().entity.partition_key()};
            if (auto const before = last.find(partition); before != last.end()) {
                // The first operation of this transaction did not fit into the previous one.
                transact longer = before->second;
                mutation const& first = batch.changes.front();
                longer.changes.push_back(first);
                REQUIRE(
                    (longer.changes.size() > limits.max_operations || has_row(before->second, first.entity.row_key()) ||
                        bytes_of(longer.changes) > limits.max_transaction_size));
            }
            last[partition] = batch;
            for (mutation const& change : batch.changes) { taken[partition].push_back(told(change)); }
            held -= batch.changes.size();
            REQUIRE(packer.held() == held);
        };
        for (std::size_t left = below(random, 120); left > 0; --left) {
            mutation const change = any_change(random, 150);
            if (packer.add(change)) {
                added[std::string{change.entity.partition_key()}].push_back(told(change));
                ++held;
            } else {
                REQUIRE(bytes_of({change}) > limits.max_transaction_size);
            }
            while (auto full = packer.take_full()) { look_at(*full); }
        }
        while (auto next = packer.take()) { look_at(*next); }
        REQUIRE(held == 0);
        REQUIRE(taken == added);
    }
}

TEST_CASE("batch_packer: no transaction has more bytes on the wire than estimated") {
    random_source random{7};
    std::string const base = "https://" + std::string(490, 'h') + ".example/";
    http_request sent;
    for (int round = 0; round < 500; ++round) {
        transact batch{"Runners", {}};
        for (std::size_t left = 1 + below(random, 3); left > 0; --left) {
            batch.changes.push_back(any_change(random, 400));
        }
        batch.changes.push_back(mutation::remove(make_row(std::string(400, '\''), std::string(400, '\'')), any_etag));
        sent.url.clear();
        sent.headers = {};
        for (bool const by_post : {false, true}) {
            detail::request_target const to{base, service::cosmos, by_post, "01234567-89ab-cdef-0123-456789abcdef"};
            REQUIRE(detail::write_request(sent, batch, to));
            REQUIRE(sent.body.size() <= bytes_of(batch.changes));
        }
    }
}

TEST_CASE("batch_packer: each escaped character of a text counts, wherever it is") {
    auto const size_with = [](std::string_view text) {
        row_builder made{"a", "b"};
        made.add("text", value_view{text});
        return detail::transaction_size("Runners", mutation::insert(made.build()));
    };
    std::string text(71, 'x');
    std::size_t const plain = size_with(text);
    for (char& each : text) {
        each = '\x1F';
        CHECK(size_with(text) == plain + 5);
        each = '"';
        CHECK(size_with(text) == plain + 1);
        each = 'x';
    }
}

TEST_CASE("batch_packer: a row that alone is too large is refused, and the other rows are not affected") {
    profile limits = cosmos_profile();
    batch_packer packer{"Runners", limits};
    REQUIRE(packer.add(mutation::insert(make_row("p", "1", {{"Name", "Ann"}}))));

    row_builder wide{"p", "2"};
    std::string const unreadable(30'000, '\x01'); // six times as long in JSON
    for (int index = 0; index < 20; ++index) {
        wide.add("n" + std::to_string(index), value_view{std::string_view{unreadable}});
    }
    auto const refused = packer.add(mutation::insert(wide.build()));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::request_body_too_large);
    CHECK(refused.error().effect == effect::none);
    CHECK(refused.error().detail == "PartitionKey \"p\", RowKey \"2\"");

    limits.max_entity_size = 100;
    batch_packer small{"Runners", limits};
    auto const larger = small.add(mutation::insert(make_row("p", "3", {{"Name", std::string(100, 'x')}})));
    REQUIRE_FALSE(larger);
    CHECK(larger.error().code == error_code::entity_too_large);
    // Only the keys of a removal count.
    CHECK(small.add(mutation::remove(make_row("p", "3", {{"Name", std::string(100, 'x')}}), any_etag)));

    REQUIRE(packer.add(mutation::insert(make_row("p", "4"))));
    auto const next = packer.take();
    REQUIRE(next);
    REQUIRE(next->changes.size() == 2);
    CHECK(next->changes[1].entity.row_key() == "4");
    CHECK_FALSE(packer.take());
}

TEST_CASE("batch_packer: a full transaction is returned immediately, an open transaction on request") {
    profile limits = storage_profile();
    limits.max_operations = 2;
    batch_packer packer{"Runners", limits};
    for (std::string_view const partition : {"a", "b", "a", "c", "b"}) {
        REQUIRE(packer.add(mutation::insert(make_row(partition, std::to_string(packer.held())))));
    }
    CHECK(packer.take_full()->changes.front().entity.partition_key() == "a");
    CHECK(packer.take_full()->changes.front().entity.partition_key() == "b");
    CHECK_FALSE(packer.take_full());
    CHECK(packer.held() == 1);
    CHECK(packer.take()->changes.size() == 1);
}
