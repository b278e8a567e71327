// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite tested: backends with one defect each, and the behaviour that finds it.

#include <entitable/backends/memory_backend.hpp>
#include <entitable/testing/conformance.hpp>

#include <support/catch.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

/// A backend whose requests and answers one function each may spoil.
template <class Spoil>
class spoiled {
public:
    using is_transport = void;
    explicit spoiled(Spoil spoil) : spoil_(spoil) {}
    [[nodiscard]] entitable::profile profile() const { return inner_.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request request, call& context) const {
        if constexpr (requires { spoil_.request(request); }) {
            spoil_.request(request);
        }
        auto response = inner_.execute(request, context);
        if constexpr (requires { spoil_.response(request, response); }) {
            spoil_.response(request, response);
        }
        return response;
    }

private:
    memory_backend inner_;
    Spoil spoil_;
};

/// At least one failure, and one of the behaviour that is named.
template <class Spoil>
void found_by(std::string const& behaviour, Spoil spoil) {
    auto const failures = testing::conformance::run([&] { return spoiled<Spoil>{spoil}; });
    bool found = false;
    for (std::string const& each : failures) {
        found = found || each.find(behaviour) != std::string::npos;
    }
    CAPTURE(behaviour, failures.size());
    CHECK(found);
}

struct etag_ignored {
    void request(write_entity& it) const { it.change.condition = any_etag; }
};
struct etag_ignored_in_batches {
    void request(transact& it) const {
        for (mutation& change : it.changes) {
            change.condition = any_etag;
        }
    }
};
struct update_is_upsert {
    void request(write_entity& it) const {
        if (it.change.kind == mutation_kind::merge && it.change.condition.any()) {
            it.change.kind = mutation_kind::insert_or_merge;
        }
    }
};
struct merge_is_replace {
    void request(write_entity& it) const {
        if (it.change.kind == mutation_kind::insert_or_merge) {
            it.change.kind = mutation_kind::insert_or_replace;
        }
    }
};
struct empty_page_is_the_end {
    void response(query_entities const&, result<query_entities::response>& it) const {
        if (it && it->rows.empty()) {
            it->continuation.reset();
        }
    }
};
struct last_row_of_a_page_is_lost {
    void response(query_entities const& asked, result<query_entities::response>& it) const {
        if (it && it->continuation && it->rows.size() == asked.page_size) {
            page fewer;
            for (std::size_t index = 0; index + 1 < it->rows.size(); ++index) {
                fewer.append(it->rows[index]);
            }
            it->rows = std::move(fewer);
        }
    }
};
struct filter_lost_on_page_two {
    void request(query_entities& it) const {
        if (it.continuation) {
            it.filter = {};
        }
    }
};
struct quote_doubled {
    void request(get_entity& it) const {
        if (auto const at = it.row_key.find('\''); at != std::string::npos) {
            it.row_key.insert(at, 1, '\'');
        }
    }
};
struct wrong_index {
    void response(transact const&, result<transact::response>& it) const {
        if (!it && it.error().operation_index) {
            error problem = it.error();
            ++*problem.operation_index;
            it = failure{problem};
        }
    }
};
struct wrong_code {
    void response(delete_table const&, result<delete_table::response>& it) const {
        if (!it && it.error().code == error_code::resource_not_found) {
            it = failure{error_code::table_not_found, "no"};
        }
    }
};
struct result_missing {
    void response(transact const&, result<transact::response>& it) const {
        if (it) {
            it->results.pop_back();
        }
    }
};
struct etag_of_another_write {
    void response(write_entity const&, result<written>& it) const {
        if (it && !it->etag.empty()) {
            it->etag = etag::of({1});
        }
    }
};
struct list_in_lower_case {
    void response(list_tables const&, result<list_tables::response>& it) const {
        if (it) {
            for (std::string& name : it->tables) {
                name = text::ascii_lower(name);
            }
        }
    }
};

/// A nasty backend behind which nobody asks on.
struct cut {
    using is_transport = void;
    memory_backend inner;
    [[nodiscard]] entitable::profile profile() const { return inner.profile(); }
    result<query_entities::response> execute(query_entities const& asked, call& context) const {
        auto response = inner.execute(asked, context);
        empty_page_is_the_end{}.response(asked, response);
        return response;
    }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& asked, call& context) const {
        return inner.execute(asked, context);
    }
};

} // namespace

TEST_CASE("conformance: each defect is found by the behaviour it breaks") {
    found_by("conditions of replace", etag_ignored{});
    found_by("all or nothing", etag_ignored_in_batches{});
    found_by("trap 36", update_is_upsert{});
    found_by("trap 32", merge_is_replace{});
    found_by("pages join", last_row_of_a_page_is_lost{});
    found_by("trap 13", filter_lost_on_page_two{});
    found_by("traps 1 to 9", quote_doubled{});
    found_by("trap 39", wrong_index{});
    found_by("comes and goes", wrong_code{});
    found_by("a result for each", result_missing{});
    found_by("new version", etag_of_another_write{});
    found_by("tables are listed", list_in_lower_case{});
}

TEST_CASE("conformance: an empty page taken for the end is found on a nasty backend") {
    local_options options;
    options.nasty.emplace();
    memory_backend const inner{options};
    CHECK_FALSE(testing::conformance::run([&] { return cut{inner}; }).empty());
}
