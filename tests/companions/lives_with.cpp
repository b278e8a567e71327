// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// An entity that says with which types it lives: through the table of all of them it is as any other. What does not compile:
// tests/compile_fail/entity_without_its_company.cpp, list_without_its_company.cpp.

#include "support/catch.hpp"
#include <entitable/bulk.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/unit_of_work.hpp>

using namespace entitable;

namespace {

struct by_team;
struct team_size;

struct member {
    using lives_with = types<by_team, team_size>;
    std::string club;
    std::int32_t number{};
    std::string team;
};
ENTITABLE(member, partition_key(club), row_key(literal("MEMBER:"), number), properties(team))

struct by_team : member {};
ENTITABLE(by_team, partition_key(club), row_key(literal("TEAM:"), escaped(team), number), properties())

struct team_size {
    std::string club, team;
    std::int64_t members{};
    static team_size key(member const& of) { return {of.club, of.team}; }
    void add(member const&) { ++members; }
    void subtract(member const&) { --members; }
};
ENTITABLE(team_size, partition_key(club), row_key(literal("SIZE:"), escaped(team)), properties(members))

using club = table<member, by_team, team_size>;
using t = fields<by_team>;

} // namespace

TEST_CASE("lives_with: the table of all types can be read, loaded and used in units of work") {
    memory_backend const store;
    club const all{store, "members"};
    all.create().value();
    all.insert(member{"rowing", 1, "red"}).value(); // an aggregate still
    std::vector<member> const more{{"rowing", 2, "red"}, {"rowing", 3, "blue"}};
    CHECK(bulk_insert(all, more)->written == 2);
    CHECK(all.of<member>().insert({"rowing", 4, "red"}));
    unit_of_work work{all};
    work.find<member>("rowing", 3).value()->team = "red";
    CHECK(work.save_all());
    CHECK(all.transact("rowing", [](transaction<club>& in) -> result<void> {
        ENTITABLE_TRY(auto const size, in.get<team_size>("red"));
        CHECK(size.members == 4);
        in.remove(member{"rowing", 4, {}}, any_etag);
        return {};
    }));
    CHECK(all.sum(team_size{"rowing", "red"})->members == 3);
    CHECK((all.verify)().value().good());
    CHECK(reader<member>{store, "members"}.get("rowing", 2)->team == "red");
    CHECK(reader<member, by_team>{store, "members"}
              .by<by_team>()
              .where(t::club == "rowing" && t::team == "red")
              .count()
              .value() == 3);
    CHECK(all.unmaintained<member>().remove("rowing", 1, any_etag));
    CHECK_FALSE((all.verify)().value().good());
}
