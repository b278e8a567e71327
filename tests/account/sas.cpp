// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/account/sas.hpp>

#include <account/emulator.hpp>
#include <support/catch.hpp>
#include <support/vectors.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

credential emulator_credential() { return credential::account_key(emulator_account, emulator_key).value(); }

table_sas good_table_terms() {
    table_sas terms;
    terms.table = "Runners";
    terms.permissions = "ar";
    terms.start = time_of("2026-11-20T00:00:00.9Z");
    terms.expiry = time_of("2026-11-21T10:11:12.3456789Z");
    return terms;
}

std::string refusal(table_sas const& terms) {
    auto const made = make_signature(emulator_credential(), terms);
    REQUIRE_FALSE(made);
    CHECK(made.error().code == error_code::invalid_input);
    CHECK(made.error().effect == effect::none);
    return made.error().message;
}

} // namespace

TEST_CASE("a signature can grant access to a table") {
    auto terms = good_table_terms();
    terms.addresses = "10.0.0.1-10.0.0.9";
    terms.first_partition = "A";
    terms.first_row = "1";
    terms.last_partition = "B";
    terms.last_row = "2";
    CHECK(make_signature(emulator_credential(), terms).value() ==
        "sp=ra&st=2026-11-20T00%3A00%3A00Z&se=2026-11-21T10%3A11%3A12Z&sip=10.0.0.1-10.0.0.9&spr=https&sv=2019-02-02"
        "&tn=Runners&spk=A&srk=1&epk=B&erk=2&sig=X2tpqotwcc30Ci444ZG%2BFqn2QM56UwuXlW1l%2FYLJ0rE%3D");
}

TEST_CASE("a signature can refer to a stored access policy") {
    table_sas terms;
    terms.table = "RUNNERS";
    terms.policy = "readers";
    terms.protocols = "";
    CHECK(make_signature(emulator_credential(), terms).value() ==
        "si=readers&sv=2019-02-02&tn=RUNNERS&sig=zs8OoOCEufNa5VjYK3AgPUYOVkzRID2v9vxsR%2BJX7IE%3D");
}

TEST_CASE("a signature can grant access to an account") {
    account_sas terms;
    terms.permissions = "lwr";
    terms.resource_types = "os";
    terms.services = "tb";
    terms.expiry = time_of("2026-11-21T10:11:12Z");
    terms.version = "2020-12-06";
    CHECK(make_signature(emulator_credential(), terms).value() ==
        "sv=2020-12-06&ss=bt&srt=so&sp=rwl&se=2026-11-21T10%3A11%3A12Z&spr=https"
        "&sig=f3e2qPoCsNNES9lCKhPdFRI5XaJdJzYJWITbuhIxbog%3D");
}

TEST_CASE("a new signature can be used as a credential") {
    auto const made = make_signature(emulator_credential(), good_table_terms()).value();
    auto const who = credential::shared_access_signature(made).value();
    http_request request;
    request.url = emulator().primary + "/Runners()?$top=1";
    who.authorize(request, emulator(), a_friday()).value();
    CHECK(request.url == emulator().primary + "/Runners()?$top=1&" + made);
}

TEST_CASE("terms that no signature can grant are refused, and the error names the field") {
    auto terms = good_table_terms();
    SECTION("the table is invalid") {
        terms.table = "";
        CHECK_THAT(refusal(terms), ContainsSubstring("table is missing"));
    }
    SECTION("a permission is unknown") {
        terms.permissions = "rx";
        CHECK_THAT(refusal(terms), ContainsSubstring("permissions"));
    }
    SECTION("a permission occurs twice") {
        terms.permissions = "rr";
        CHECK_THAT(refusal(terms), ContainsSubstring("permissions"));
    }
    SECTION("there is no permission") {
        terms.permissions = "";
        CHECK_THAT(refusal(terms), ContainsSubstring("permissions"));
    }
    SECTION("there is no expiry") {
        terms.expiry.reset();
        CHECK_THAT(refusal(terms), ContainsSubstring("expiry is missing"));
    }
    SECTION("the expiry is before the start") {
        terms.expiry = terms.start;
        CHECK_THAT(refusal(terms), ContainsSubstring("expiry must be after start"));
    }
    SECTION("the expiry is out of range") {
        terms.expiry = date_time{date_time::max_ticks + 1};
        CHECK_THAT(refusal(terms), ContainsSubstring("expiry is out of range"));
    }
    SECTION("the protocols are invalid") {
        terms.protocols = "http";
        CHECK_THAT(refusal(terms), ContainsSubstring("protocols"));
    }
    SECTION("the version is invalid") {
        terms.version = GENERATE("2015-04-04", "2012-02-12", "2019-2-2", "new", "", "2019-02-02\n");
        CHECK_THAT(refusal(terms), ContainsSubstring("version"));
    }
    SECTION("the addresses are invalid") {
        terms.addresses = GENERATE("10.0.0.1\n", "localhost", "10.0.0.1, 10.0.0.2");
        CHECK_THAT(refusal(terms), ContainsSubstring("addresses"));
    }
    SECTION("there is a row without a partition") {
        terms.last_partition = "b";
        terms.first_row = "a";
        CHECK_THAT(refusal(terms), ContainsSubstring("first_row requires"));
    }
    SECTION("there is a last row without a partition") {
        terms.last_row = "a";
        CHECK_THAT(refusal(terms), ContainsSubstring("last_row requires"));
    }
    SECTION("the keys are not text") {
        terms.last_partition = "\xC0\xAF";
        CHECK_THAT(refusal(terms), ContainsSubstring("UTF-8"));
    }
    SECTION("the policy is invalid") {
        terms.policy = std::string(65, 'p');
        CHECK_THAT(refusal(terms), ContainsSubstring("policy"));
    }
}

TEST_CASE("only an account key can create signatures") {
    auto const sas = credential::shared_access_signature("sig=AAAA").value();
    for (auto const& who : {credential{}, sas}) {
        auto const made = make_signature(who, good_table_terms());
        REQUIRE_FALSE(made);
        CHECK(made.error().code == error_code::not_supported);
    }
}

TEST_CASE("shared access signatures match the golden vectors") {
    if (!vector_file::here()) { return; }
    vector_file const file{"sas.json"};
    std::size_t checked = 0;
    for (auto const item : file.root()["cases"]) {
        INFO(vector_file::text(item, "id"));
        auto const key =
            credential::account_key(vector_file::text(item, "account"), vector_file::text(item, "key")).value();
        auto const fields = item["fields"].value();
        auto const text = [&](char const* name) { return vector_file::text(fields, name); };
        auto const optional_text = [&](char const* name) { return vector_file::optional_text(fields, name); };
        auto const time = [&](char const* name) { return date_time::parse(text(name)); };
        result<std::string> made = failure{error_code::internal_error, "not made"};
        if (vector_file::text(item, "kind") == "table") {
            table_sas terms;
            terms.table = text("tn");
            terms.permissions = text("sp");
            terms.start = time("st");
            terms.expiry = time("se");
            terms.policy = text("si");
            terms.addresses = text("sip");
            terms.protocols = text("spr");
            terms.version = text("sv");
            terms.first_partition = optional_text("spk");
            terms.first_row = optional_text("srk");
            terms.last_partition = optional_text("epk");
            terms.last_row = optional_text("erk");
            made = make_signature(key, terms);
        } else {
            account_sas terms;
            terms.permissions = text("sp");
            terms.resource_types = text("srt");
            terms.services = text("ss");
            terms.start = time("st");
            terms.expiry = time("se");
            terms.addresses = text("sip");
            terms.protocols = text("spr");
            terms.version = text("sv");
            made = make_signature(key, terms);
        }
        REQUIRE(made);
        CHECK(*made == vector_file::text(item, "query"));
        std::string signature;
        REQUIRE(key.sign(vector_file::text(item, "string_to_sign"), signature));
        CHECK(signature == vector_file::text(item, "signature"));
        ++checked;
    }
    CHECK(checked >= 13);
}
