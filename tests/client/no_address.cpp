// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A default-constructed `std::string_view` has a null data pointer. Wherever a text is accepted it means the empty text,
// and nothing is copied from it: the undefined behaviour sanitizer checks that.

#include <entitable/azure.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/server.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

namespace client_no_address {

using namespace entitable;

struct note {
    std::string book;
    std::string title;
    std::string text;
};
ENTITABLE(note, partition_key(book), row_key(title), properties(text))

constexpr std::string_view nothing{};

row nameless() {
    row_builder made{nothing, nothing};
    made.add("text", value_view{nothing});
    made.add("bytes", value_view{edm_type::binary, nothing});
    return made.build();
}

void entities_of(any_store const& store) {
    using b = fields<note>;
    call context;
    REQUIRE(store.execute(create_table{"Notes"}, context));
    REQUIRE(store.execute(write_entity{"Notes", mutation::insert(nameless())}, context));
    REQUIRE(store.execute(write_entity{"Notes", mutation::merge(nameless(), any_etag)}, context));
    table<note> const notes{store, "Notes"};
    auto const got = notes.get(nothing, nothing);
    REQUIRE(got);
    CHECK(got->text.empty());
    CHECK(notes.where(b::book == nothing && b::title == nothing && b::text == nothing).count().value() == 1);
    CHECK(notes.where(b::book == nothing && b::text >= nothing).count().value() == 1);
    row_table const rows{store, "Notes"};
    REQUIRE(rows.get(nothing, nothing));
    REQUIRE(rows.remove(nothing, nothing, any_etag));
    auto both = notes.batch();
    both.insert({std::string{nothing}, "1", ""}).insert({std::string{nothing}, std::string{nothing}, ""});
    REQUIRE(both.submit());
}

} // namespace client_no_address

using namespace client_no_address;

TEST_CASE("keys and values with a null data pointer work in memory") { entities_of(memory_backend{}); }

TEST_CASE("keys and values with a null data pointer work in a file") {
    entitable_test::temporary_folder const folder;
    auto const opened = file_backend::open(folder / "store");
    REQUIRE(opened);
    entities_of(*opened);
}

TEST_CASE("texts with a null data pointer are accepted by every reader") {
    CHECK_FALSE(endpoint::parse(nothing, nothing));
    CHECK_FALSE(credential::account_key(nothing, nothing));
    CHECK_FALSE(credential::shared_access_signature(nothing));
    CHECK_FALSE(guid::parse(nothing));
    CHECK_FALSE(date_time::parse(nothing));
    secret const none{nothing};
    CHECK(none.reveal().empty());
}
