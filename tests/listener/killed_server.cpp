// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A server that is killed while clients change entities, tables, policies and settings over sockets: what it acknowledged is in its
// file, and the change that was under way is there as a whole or not at all. The last test plants the defect for each kind of change.

#include "client_of.hpp"
#include "listening.hpp"
#include <entitable/cloud/http/curl_client.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/serve/server/detail/stored_settings.hpp>
#include <entitable/testing/rows.hpp>

#include <server/served.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

/// The kinds of changes; the first six are those of `mutation_kind`.
enum class kind {
    insert,
    replace,
    merge,
    insert_or_replace,
    insert_or_merge,
    remove,
    transaction,
    policies,
    rules,
    creation,
    deletion,
    none,
};
constexpr std::size_t kinds = static_cast<std::size_t>(kind::none);
constexpr std::size_t writers = 3;

kind kind_of(write_entity const& request) {
    return request.table == detail::settings_table                           ? kind::rules
        : detail::is_hidden_partition(request.change.entity.partition_key()) ? kind::policies
                                                                             : static_cast<kind>(request.change.kind);
}
kind kind_of(transact const&) { return kind::transaction; }
kind kind_of(create_table const&) { return kind::creation; }
kind kind_of(delete_table const&) { return kind::deletion; }

/// Acknowledges every change, and never commits those of one kind: the defect of an answer before the commit, in its worst case.
class hasty {
public:
    using is_transport = void;
    hasty(any_store stored, kind lost) : stored_(std::move(stored)), lost_(lost) {
        call context;
        static_cast<void>(answering_.execute(create_table{"Orders"}, context));
    }
    entitable::profile profile() const { return stored_.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (Request::writes) {
            call own;
            if (kind_of(request) != lost_) { static_cast<void>(stored_.execute(request, own)); }
        }
        return answering_.execute(request, context);
    }

private:
    any_store stored_;
    memory_backend answering_;
    kind lost_;
};

using properties = std::map<std::string, int>;
using partition = std::map<std::string, properties>;

struct table_settings {
    int policy{};
    int rule{};
    std::set<std::string> tables;
    bool operator==(table_settings const&) const = default;
};

/// What one writer may find after a kill: what was acknowledged, or that and the change under way.
template <class State>
struct known {
    State acknowledged;
    State asked;

    [[nodiscard]] bool permits(State const& found) const { return found == acknowledged || found == asked; }
    void is(State const& found) { acknowledged = asked = found; }
};

struct history {
    std::array<known<partition>, writers> partitions;
    known<table_settings> settings;
    std::array<std::atomic<int>, kinds> done{}; ///< acknowledged, of each kind
    std::atomic<int> refused{0};                ///< answers that a writer did not expect
};

/// Writes random changes to its partition until the server is gone.
class writer {
public:
    writer(azure_backend client, std::size_t number, history& seen, unsigned seed)
        : client_(std::move(client)),
          name_("w" + std::to_string(number)),
          seen_(seen),
          rows_(seen.partitions[number]),
          random_(seed) {}

    void operator()() {
        for (;;) {
            call context;
            rows_.asked = rows_.acknowledged;
            if (below(3) == 0) {
                transact many{"Orders", {}};
                std::set<std::string> keys;
                while (keys.size() < 2 + below(5)) { keys.insert(draw_key()); }
                for (std::string const& key : keys) { many.changes.push_back(drawn(key)); }
                if (!note(client_.execute(many, context), kind::transaction)) { return; }
            } else {
                mutation const one = drawn(draw_key());
                if (!note(client_.execute(write_entity{"Orders", one}, context), static_cast<kind>(one.kind))) {
                    return;
                }
            }
        }
    }

private:
    std::size_t below(std::size_t end) { return random_() % end; }
    std::string draw_key() { return std::to_string(below(8)); }

    /// A change that the rows permit, which is made in `asked`.
    mutation drawn(std::string const& key) {
        auto const at = rows_.asked.find(key);
        auto const kind =
            static_cast<mutation_kind>(at == rows_.asked.end() ? (below(2) == 0 ? 0 : 3 + below(2)) : 1 + below(5));
        std::string const property(1, static_cast<char>('A' + below(3)));
        int const number = ++number_;
        if (kind == mutation_kind::remove) {
            rows_.asked.erase(at);
        } else {
            properties& held = rows_.asked[key];
            if (kind != mutation_kind::merge && kind != mutation_kind::insert_or_merge) { held.clear(); }
            held[property] = number;
        }
        return {kind, testing::make_row(name_, key, {{property, number}}), any_etag};
    }
    template <class Answer>
    bool note(result<Answer> const& answer, kind of) {
        if (!answer) {
            seen_.refused += answer.error().http_status != 0 ? 1 : 0;
            return false;
        }
        rows_.acknowledged = rows_.asked;
        ++seen_.done[static_cast<std::size_t>(of)];
        return true;
    }

    azure_backend client_;
    std::string name_;
    history& seen_;
    known<partition>& rows_;
    std::mt19937 random_;
    int number_{};
};

/// Changes tables, policies of a table and rules for browsers until the server is gone.
void change_settings(std::uint16_t port, history& seen) {
    asker by{table_server{memory_backend{}, with_account()}};
    by.origin = "http://127.0.0.1:" + std::to_string(port);
    curl_client const client;
    auto& [acknowledged, asked] = seen.settings;
    for (int number = acknowledged.rule + 1;; ++number) {
        std::string const id = std::to_string(number);
        auto const done = [&](kind of, http_method method, std::string_view path, std::string const& body) {
            http_request request =
                by.request(method, path, body, {{"Content-Type", path == "/Tables" ? "application/json" : "text/xml"}});
            by.sign(request);
            auto const response = client.send(request, http_call{});
            if (!response) { return false; }
            if (response->status > 204) {
                FAIL_CHECK(path << ": " << said(*response));
                return false;
            }
            acknowledged = asked;
            ++seen.done[static_cast<std::size_t>(of)];
            return true;
        };
        asked.policy = number;
        if (!done(kind::policies, http_method::put, "/Orders?comp=acl",
                "<SignedIdentifiers><SignedIdentifier><Id>n" + id + "</Id></SignedIdentifier></SignedIdentifiers>")) {
            return;
        }
        asked.rule = number;
        if (!done(kind::rules, http_method::put, "/?restype=service&comp=properties",
                "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>http://n" + id +
                    "</AllowedOrigins><AllowedMethods>GET</AllowedMethods><MaxAgeInSeconds>60</MaxAgeInSeconds>"
                    "<ExposedHeaders/><AllowedHeaders/></CorsRule></Cors></StorageServiceProperties>")) {
            return;
        }
        asked.tables.insert("Table" + id);
        if (!done(kind::creation, http_method::post, "/Tables", R"({"TableName":"Table)" + id + "\"}")) { return; }
        if (number % 2 == 0) { continue; }
        std::string const first = *asked.tables.begin();
        asked.tables.erase(first);
        if (!done(kind::deletion, http_method::delete_, "/Tables('" + first + "')", {})) { return; }
    }
}

partition rows_of(file_backend const& store, std::string const& name) {
    query_entities request;
    request.table = "Orders";
    request.range.partition = key_interval::only(name);
    call context;
    auto const page = store.execute(request, context).value();
    partition found;
    for (std::size_t index = 0; index < page.rows.size(); ++index) {
        properties& held = found[std::string{page.rows[index].row_key}];
        for (char const property : {'A', 'B', 'C'}) {
            if (auto const value = page.rows[index].find({&property, 1})) {
                held[std::string(1, property)] = value->as_int32();
            }
        }
    }
    return found;
}

table_settings settings_of(file_backend const& store) {
    asker const by{table_server{store, with_account()}};
    auto const number_in = [](std::string const& text, std::string_view before) {
        std::size_t const at = text.find(before);
        return at == std::string::npos ? 0 : std::stoi(text.substr(at + before.size()));
    };
    table_settings found;
    found.policy = number_in(by.get("/Orders?comp=acl").body, "<Id>n");
    found.rule = number_in(by.get("/?restype=service&comp=properties").body, "http://n");
    call context;
    for (std::string const& name : store.execute(list_tables{}, context).value().tables) {
        if (name.starts_with("Table")) { found.tables.insert(name); }
    }
    return found;
}

/// Kills a server of the file once each kind of change was acknowledged this number of times more. Returns what is lost or torn.
std::vector<std::string> lost_by_kill(std::string const& path, history& seen, int wanted, kind defect, unsigned seed) {
    shared_memory<std::atomic<int>> port;
    child_process server{[&] {
        any_store store = file_backend{path};
        if (defect != kind::none) { store = hasty{store, defect}; }
        http_listener listener{table_server{store, with_account()}, {.port = 0}};
        if (!listener.listen()) { return false; }
        *port = listener.port();
        return listener.run().has_value();
    }};
    for (int waited = 0; waited < 10'000 && *port == 0; ++waited) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    REQUIRE(*port != 0);
    auto const number = static_cast<std::uint16_t>(port->load());
    for (auto& each : seen.done) { each = 0; }
    std::vector<std::thread> threads;
    for (std::size_t each = 0; each < writers; ++each) {
        threads.emplace_back(writer{client_of(number), each, seen, seed * 10 + static_cast<unsigned>(each)});
    }
    threads.emplace_back([&] {
        auto const enough = [&](std::atomic<int> const& each) { return each >= wanted; };
        for (int waited = 0; waited < 20'000 && !std::all_of(seen.done.begin(), seen.done.end(), enough); ++waited) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        std::this_thread::sleep_for(std::chrono::microseconds{seed * 7919 % 5'000});
        server.kill();
    });
    change_settings(number, seen); // by this thread: requests of a test are checked as they are made
    for (std::thread& each : threads) { each.join(); }
    for (std::size_t each = 0; each < kinds; ++each) {
        CAPTURE(each);
        CHECK(seen.done[each] >= wanted);
    }
    CHECK(seen.refused == 0);

    file_backend const left{path};
    std::vector<std::string> lost;
    for (std::size_t each = 0; each < writers; ++each) {
        std::string const name = "w" + std::to_string(each);
        partition const found = rows_of(left, name);
        if (!seen.partitions[each].permits(found)) { lost.push_back("the rows of " + name); }
        seen.partitions[each].is(found);
    }
    table_settings const found = settings_of(left);
    if (!seen.settings.permits(found)) { lost.push_back("tables, policies or rules"); }
    seen.settings.is(found);
    auto const report = left.verify();
    if (!report || !report->sound()) { lost.push_back("the soundness of the file"); }
    return lost;
}

void make_file(std::string const& path) {
    call context;
    REQUIRE(file_backend{path}.execute(create_table{"Orders"}, context));
}

} // namespace

TEST_CASE("a killed server has stored every change that it acknowledged") {
    temporary_folder const folder;
    std::string const path = folder / "served.db";
    make_file(path);
    history seen;
    auto const wanted = static_cast<unsigned>(rounds(4, 200, 20));
    for (unsigned round = 0; round < wanted; ++round) {
        CAPTURE(round);
        CHECK(lost_by_kill(path, seen, 2 + static_cast<int>(round % 10), kind::none, round) ==
            std::vector<std::string>{});
    }
}

TEST_CASE("a change that is acknowledged and not committed is found, of each kind") {
    for (std::size_t each = 0; each < kinds; ++each) {
        CAPTURE(each);
        temporary_folder const folder;
        std::string const path = folder / "served.db";
        make_file(path);
        history seen;
        CHECK(lost_by_kill(path, seen, 5, static_cast<kind>(each), 100 + static_cast<unsigned>(each)) !=
            std::vector<std::string>{});
    }
}
