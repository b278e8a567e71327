// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The same random requests to memory and to a file: outcomes, codes, rows, order and pages are the same, and ETags change in
// the same places. The file is closed and reopened in between, and written by a second backend and by another process. A
// failing sequence prints its seed; ENTITABLE_MODEL_SEED=seed runs only that one.

#include <entitable/file.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/temporary_folder.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <random>

using namespace entitable;
using namespace entitable_test;

namespace {

/// An ETag in a text is between these.
constexpr char opening = '\1';
constexpr char closing = '\2';

std::string text_of(etag const& tag) { return opening + tag.to_string() + closing; }
std::string text_of(row_view found) {
    std::string shown = "(" + std::string{found.partition_key} + "," + std::string{found.row_key} + ")";
    property_cursor cursor{found.payload};
    for (property_view property; cursor.next(property);) {
        shown += " " + std::string{property.name} + "=" +
            (property.present ? std::to_string(property.value.bits()) + std::string{property.value.bytes()} : "-");
    }
    return shown + text_of(found.etag());
}
std::string text_of(written const& outcome) {
    return outcome.etag.to_string().empty() ? "removed" : text_of(outcome.etag);
}
std::string text_of(transact::response const& outcome) {
    std::string shown;
    for (written const& each : outcome.results) { shown += text_of(each) + ";"; }
    return shown;
}
std::string text_of(get_entity::response const& outcome) { return text_of(outcome.entity.view()); }
std::string text_of(query_entities::response const& outcome) {
    std::string shown;
    for (std::size_t index = 0; index < outcome.rows.size(); ++index) { shown += text_of(outcome.rows[index]) + "\n"; }
    return shown + (outcome.continuation ? "more" : "end") + std::to_string(outcome.examined);
}
std::string text_of(list_tables::response const& outcome) {
    std::string shown;
    for (std::string const& each : outcome.tables) { shown += each + " "; }
    return shown + (outcome.continuation ? "more" : "end");
}
std::string text_of(create_table::response const&) { return "created"; }
std::string text_of(delete_table::response const&) { return "deleted"; }

/// The requests of one step. ETags in it are numbers, which each side replaces by the ETag it returned.
struct outcome_text {
    template <class Request, class Backend>
    static std::string of(Backend const& store, Request const& request, std::optional<std::string>* continuation) {
        call context;
        auto const outcome = store.execute(request, context);
        if (!outcome) {
            return std::string{to_string(outcome.error().code)} + " " +
                std::to_string(static_cast<int>(outcome.error().effect)) +
                (outcome.error().operation_index ? " " + std::to_string(*outcome.error().operation_index) : "");
        }
        if constexpr (requires { outcome->continuation; }) {
            if (continuation != nullptr) { *continuation = outcome->continuation; }
        }
        return text_of(*outcome);
    }
};

/// ETags by the order in which they were first seen.
class tags {
public:
    /// The text with each ETag replaced by a number.
    std::string numbered(std::string const& text) {
        std::string shown;
        for (std::size_t at = 0; at < text.size();) {
            std::size_t const open = std::min(text.find(opening, at), text.size());
            shown += text.substr(at, open - at);
            if (open == text.size()) { break; }
            std::size_t const close = text.find(closing, open);
            std::string const tag = text.substr(open + 1, close - open - 1);
            auto const [found, fresh] = numbers_.try_emplace(tag, numbers_.size());
            if (fresh) { all_.push_back(tag); }
            shown += "#" + std::to_string(found->second);
            at = close + 1;
        }
        return shown;
    }
    [[nodiscard]] std::string const& at(std::size_t number) const { return all_[number]; }
    [[nodiscard]] std::size_t size() const { return all_.size(); }

private:
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::string> all_;
};

class double_run {
public:
    explicit double_run(std::uint64_t seed) : random_(seed) {
        in_file_.local.time = &time_;
        in_file_.local.page_examined = once_in(2) ? 10'000 : 5;
        in_file_.durability = durability::relaxed;
        in_file_.journal = once_in(4) ? file_journal::rollback : file_journal::automatic;
        in_file_.checkpoint_bytes = 50'000;
        memory_.emplace(in_file_.local);
        file_.emplace(folder_ / "model.db", in_file_);
    }

    std::string run(std::size_t steps) {
        send(create_table{"Orders"});
        for (std::size_t step = 0; step < steps && problem_.empty(); ++step) {
            one_step();
            if (!problem_.empty()) { problem_ = "step " + std::to_string(step) + ": " + problem_; }
        }
        if (problem_.empty()) {
            whole_table("Orders");
            auto const report = file_->verify();
            problem_ = report && report->sound() ? problem_ : "the file is not sound";
        }
        return problem_;
    }
    std::size_t accepted{};
    std::size_t refused{};
    std::size_t reopened{};
    std::size_t by_others{};

private:
    std::size_t below(std::size_t limit) { return random_() % limit; }
    bool once_in(std::size_t count) { return below(count) == 0; }
    template <std::size_t N>
    std::string one_of(char const* const (&choices)[N]) {
        return choices[below(N)];
    }
    std::string table_name() { return one_of({"Orders", "Orders", "Orders", "orders", "Other", "a-b"}); }
    std::string partition_key() {
        return once_in(40) ? "a/b" : one_of({"", "a", "a", "b", "\xEF\xBD\x9E", "\xF0\x9F\x98\x80"});
    }
    std::string row_key() {
        return one_of(
            {"", "1", "10", "2", "a", "a'b", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBD\x9E", "\xF0\x9F\x98\x80"});
    }
    row entity(std::string const& partition, std::string const& key) {
        row_builder builder{partition, key};
        if (!once_in(3)) { builder.add("A", value_view{static_cast<std::int32_t>(below(5))}); }
        if (!once_in(3)) {
            std::string const text(once_in(20) ? 9'000 : below(30), 't'); // some longer than a page
            builder.add("B", value_view{std::string_view{text}});
        }
        return builder.build();
    }

    /// A change with a condition that contains the number of an ETag; `as` replaces it by the side's own ETag.
    struct planned {
        mutation_kind kind;
        row entity;
        std::optional<std::size_t> tag;
        [[nodiscard]] mutation as(tags const& mine) const {
            return {kind, entity, tag ? etag_condition{etag{mine.at(*tag)}} : etag_condition{any_etag}};
        }
    };
    planned change(std::string const& partition) {
        std::optional<std::size_t> tag;
        if (once_in(2) && memory_tags_.size() > 0) {
            std::size_t const last = std::min<std::size_t>(memory_tags_.size(), 6);
            tag = memory_tags_.size() - 1 - below(last);
        }
        return {static_cast<mutation_kind>(below(6)), entity(partition, row_key()), tag};
    }

    /// The same request to both, whichever backend writes the file.
    template <class Request>
    void send(Request const& to_memory, Request const& to_file) {
        std::string const expected = memory_tags_.numbered(outcome_text::of(*memory_, to_memory, nullptr));
        std::string raw;
        if (once_in(120)) {
            raw = elsewhere(to_file);
            ++by_others;
        } else if (once_in(10)) {
            if (!second_) { second_.emplace(folder_ / "model.db", in_file_); }
            raw = outcome_text::of(*second_, to_file, nullptr);
            ++by_others;
        } else {
            raw = outcome_text::of(*file_, to_file, nullptr);
        }
        compare(Request::name, expected, file_tags_.numbered(raw));
    }
    template <class Request>
    void send(Request const& request) {
        send(request, request);
    }
    void compare(std::string_view what, std::string const& expected, std::string const& found) {
        ++(expected.find(" 0") == std::string::npos ? accepted : refused);
        if (expected != found && problem_.empty()) {
            problem_ = std::string{what} + ": memory said\n" + expected + "\nand the file said\n" + found;
        }
    }
    /// The data that a separate process gets through the file.
    template <class Request>
    std::string elsewhere(Request const& request) {
        int ends[2];
        if (::pipe(ends) != 0) { return "no pipe"; }
        pid_t const child = ::fork();
        if (child == 0) {
            auto const store = file_backend::open(folder_ / "model.db", in_file_);
            std::string const said = store ? outcome_text::of(*store, request, nullptr) : store.error().to_string();
            static_cast<void>(!::write(ends[1], said.data(), said.size()));
            ::_exit(0);
        }
        ::close(ends[1]);
        std::string said;
        char part[4096];
        for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;) {
            said.append(part, static_cast<std::size_t>(got));
        }
        ::close(ends[0]);
        ::waitpid(child, nullptr, 0);
        return said;
    }

    void one_step() {
        std::size_t const chance = below(100);
        if (chance < 3) {
            send(create_table{table_name()});
        } else if (chance < 4) {
            send(delete_table{table_name()});
        } else if (chance < 6) {
            send(list_tables{std::nullopt, 1 + static_cast<std::uint32_t>(below(3))});
        } else if (chance < 20) {
            send(get_entity{table_name(), partition_key(), row_key(), {}});
        } else if (chance < 60) {
            std::string const table = table_name();
            planned const one = change(partition_key());
            send(write_entity{table, one.as(memory_tags_)}, write_entity{table, one.as(file_tags_)});
        } else if (chance < 75) {
            batch();
        } else if (chance < 90) {
            query();
        } else if (chance < 94) {
            whole_table(table_name());
        } else if (chance < 96) {
            file_.reset();
            second_.reset();
            file_.emplace(folder_ / "model.db", in_file_);
            ++reopened;
        } else if (once_in(2)) {
            time_.set(date_time{time_.now().ticks - static_cast<std::int64_t>(below(20'000'000))});
        } else {
            time_.advance(std::chrono::microseconds{below(3'000'000)});
        }
    }
    void batch() {
        transact to_memory;
        to_memory.table = table_name();
        transact to_file = to_memory;
        std::string const partition = partition_key();
        for (std::size_t count = below(6); count > 0; --count) {
            planned const one = change(once_in(60) ? partition_key() : partition);
            to_memory.changes.push_back(one.as(memory_tags_));
            to_file.changes.push_back(one.as(file_tags_));
        }
        send(to_memory, to_file);
    }
    query_entities some_query() {
        query_entities made;
        made.table = table_name();
        auto const interval = [&](std::string const& from, std::string const& to) {
            return key_interval{
                {static_cast<key_bound::kind>(below(3)), from}, {static_cast<key_bound::kind>(below(3)), to}};
        };
        made.range.partition =
            once_in(2) ? key_interval::only(partition_key()) : interval(partition_key(), partition_key());
        if (once_in(2)) { made.range.row = interval(row_key(), row_key()); }
        if (once_in(3)) {
            made.filter.nodes.push_back(
                {static_cast<filter_operator>(below(6)), "A", value{value_view{static_cast<std::int32_t>(below(5))}}});
        }
        made.page_size = 1 + static_cast<std::uint32_t>(below(8));
        return made;
    }
    void query() { all_pages(some_query()); }
    void whole_table(std::string const& table) {
        query_entities made;
        made.table = table;
        all_pages(std::move(made));
    }
    /// Page by page, both with their own tokens.
    void all_pages(query_entities to_memory) {
        query_entities to_file = to_memory;
        for (std::size_t pages = 0; pages < 1'000 && problem_.empty(); ++pages) {
            to_memory.continuation.reset();
            to_file.continuation.reset();
            to_memory.continuation = memory_token_;
            to_file.continuation = file_token_;
            memory_token_.reset();
            file_token_.reset();
            std::string const expected = memory_tags_.numbered(outcome_text::of(*memory_, to_memory, &memory_token_));
            compare("query", expected, file_tags_.numbered(outcome_text::of(*file_, to_file, &file_token_)));
            if (!memory_token_) { break; }
        }
        memory_token_.reset();
        file_token_.reset();
    }

    std::mt19937_64 random_;
    temporary_folder const folder_{temporary_folder::memory()};
    testing::manual_clock time_;
    file_options in_file_;
    std::optional<memory_backend> memory_;
    std::optional<file_backend> file_;
    std::optional<file_backend> second_;
    tags memory_tags_;
    tags file_tags_;
    std::optional<std::string> memory_token_;
    std::optional<std::string> file_token_;
    std::string problem_;
};

} // namespace

TEST_CASE("model: a file behaves like memory") {
    std::uint64_t first_seed = 1;
    std::size_t sequences = rounds(100, 30'000, 500);
    if (char const* const chosen = std::getenv("ENTITABLE_MODEL_SEED")) {
        first_seed = std::strtoull(chosen, nullptr, 10);
        sequences = 1;
    }
    std::size_t accepted = 0;
    std::size_t refused = 0;
    std::size_t reopened = 0;
    std::size_t by_others = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + sequences; ++seed) {
        double_run made{seed};
        std::string const problem = made.run(100);
        accepted += made.accepted;
        refused += made.refused;
        reopened += made.reopened;
        by_others += made.by_others;
        if (!problem.empty()) { FAIL("ENTITABLE_MODEL_SEED=" << seed << " " << problem); }
    }
    std::printf(
        "memory and file: %zu sequences, %zu requests accepted, %zu refused, %zu by others, %zu times reopened\n",
        sequences, accepted, refused, by_others, reopened);
    CHECK(accepted > sequences * 30);
    CHECK(refused > sequences * 10);
    CHECK(by_others > sequences * 4);
    CHECK(reopened > sequences);
}
