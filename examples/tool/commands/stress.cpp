// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../exchange/progress.hpp"
#include <entitable/advice.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>

#include <atomic>

namespace tool {

namespace {

struct stress_command_options {
    std::string store;
    std::string table;
    std::string partition;
    std::string test_table{"stresstest"};
    double reads{9};
    double writes{1};
    double peak{1'000};
    double target{2'000};
    double most{};
    std::uint32_t steps{8};
    double seconds{5};
    std::uint32_t workers{16};
    double latency_ms{};
    std::uint64_t seed{1};
    std::string html;
    bool yes{};
};

/// Most rows of the partition that the test uses.
constexpr std::size_t most_rows = 1'000;

/// Counts attempts. Safe to use from several threads.
class attempt_count final : public entitable::observer {
public:
    void on_attempt(entitable::attempt_record const&) noexcept override { ++count_; }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

private:
    std::atomic<std::uint64_t> count_{0};
};

/// Reads rows of the partition; of the first partition if none is named.
entitable::result<std::vector<entitable::row>> rows_of(
    stress_command_options const& given, entitable::any_store const& store) {
    std::vector<entitable::row> rows;
    entitable::query_entities asked;
    asked.table = given.table;
    if (!given.partition.empty()) { asked.range.partition = entitable::key_interval::only(given.partition); }
    auto const read = for_each_row(store, std::move(asked), [&](entitable::row_view each) -> entitable::result<bool> {
        bool const other = !rows.empty() && rows.front().partition_key() != each.partition_key;
        if (other || rows.size() == most_rows) { return false; }
        if (!entitable::system_row::is_one(each.row_key)) { rows.emplace_back(each); }
        return true;
    });
    if (!read) { return no_table(entitable::failure{read.error()}, given.table); }
    if (rows.empty()) { return refuse("the table " + given.table + " has no rows to test with in this partition"); }
    return rows;
}

/// A table of the test, which is removed at the end.
class test_table {
public:
    test_table(entitable::any_store store, std::string name) : table_(std::move(store), std::move(name)) {}
    test_table(test_table const&) = delete;
    test_table& operator=(test_table const&) = delete;
    ~test_table() { static_cast<void>(drop()); }

    [[nodiscard]] entitable::result<void> fill(std::vector<entitable::row> const& rows) {
        ENTITABLE_CHECK(table_.create());
        made_ = true;
        for (entitable::row const& each : rows) { ENTITABLE_CHECK(table_.insert(entitable::entity{each.view()})); }
        return {};
    }
    [[nodiscard]] entitable::result<void> drop() {
        if (!made_) { return {}; }
        made_ = false;
        return table_.drop();
    }

private:
    entitable::row_table table_;
    bool made_{};
};

outcome stress(stress_command_options const& given, console& with) {
    if (given.reads + given.writes <= 0) {
        with.err << "entitable: --reads and --writes must not both be 0\n";
        return exit_code::usage;
    }
    if (!given.html.empty()) { ENTITABLE_CHECK(confirm_overwrite(with, given.yes, given.html)); }
    ENTITABLE_TRY(auto const store, open_store(given.store));
    ENTITABLE_TRY(auto const rows, rows_of(given, store));
    entitable::stress_options options;
    options.peak = given.peak;
    options.target = given.target;
    options.most = given.most;
    options.steps = given.steps;
    options.step = std::chrono::nanoseconds{static_cast<std::int64_t>(given.seconds * 1e9)};
    options.workers = given.workers;
    options.latency = std::chrono::nanoseconds{static_cast<std::int64_t>(given.latency_ms * 1e6)};
    options.seed = given.seed;
    ENTITABLE_CHECK(options.validate());

    attempt_count attempts;
    entitable::call_options calls;
    calls.watch = &attempts;
    calls.retry = entitable::retry::by_caller; // the answers of the service are counted
    test_table table{store, given.test_table};
    ENTITABLE_CHECK(table.fill(rows));
    std::vector<entitable::stress_action> actions;
    if (given.reads > 0) {
        actions.push_back({"read", given.reads, 1, [&](std::uint64_t random) -> entitable::result<void> {
                               entitable::row const& any = rows[random % rows.size()];
                               entitable::call context{calls};
                               auto read =
                                   store.execute(entitable::get_entity{given.test_table,
                                                     std::string{any.partition_key()}, std::string{any.row_key()}, {}},
                                       context);
                               return read ? entitable::result<void>{} : std::move(read).as_failure();
                           }});
    }
    if (given.writes > 0) {
        actions.push_back(
            {"write", given.writes, 1, [&](std::uint64_t random) -> entitable::result<void> {
                 entitable::row const& any = rows[random % rows.size()];
                 entitable::call context{calls};
                 auto written = store.execute(
                     entitable::write_entity{given.test_table, entitable::mutation::insert_or_replace(any)}, context);
                 return written ? entitable::result<void>{} : std::move(written).as_failure();
             }});
    }
    progress_line line{with};
    line.show("running " + std::to_string(given.steps) + " steps");
    auto const done = entitable::run_stress(actions, options, [&] { return attempts.count(); });
    line.clear();
    ENTITABLE_CHECK(table.drop());
    if (!done) { return entitable::failure{done.error()}; }
    with.out << grouped(rows.size()) << (rows.size() == 1 ? " row" : " rows") << " of one partition\n"
             << done->to_string();
    if (!given.html.empty()) {
        entitable::advice_report report{"Stress test of a partition"};
        report.add(*done);
        ENTITABLE_CHECK(report.write(given.html));
    }
    return done->verdict == entitable::stress_verdict::fits ? exit_code::success : exit_code::failure;
}

} // namespace

void add_stress(command_list& all) {
    auto given = std::make_shared<stress_command_options>();
    CLI::App& command = all.add("stress", "Measures how much load a partition carries",
        "entitable stress env:CLOUD orders --partition \"customer 7\" --peak 1500\n"
        "entitable stress shop.db books --seconds 1 --steps 4 --html stress.html",
        [given](console& with) { return stress(*given, with); });
    command.description(
        "Measures how much load a partition carries.\n"
        "Copies up to 1,000 rows of a partition into a table of its own, reads and writes them there at increasing "
        "rates, and removes the table at the end. The exit code is 1 if the partition does not carry the peak. On a "
        "service the requests are charged. Calls other than point reads and writes need a program: stress_test.");
    command.add_option("STORE", given->store, store_help)->required();
    command.add_option("TABLE", given->table, "Table with rows as the application has them")->required();
    command.add_option("--partition", given->partition, "PartitionKey of the rows; default: the first partition");
    command.add_option(
        "--test-table", given->test_table, "Table of the test, which must not exist; default: stresstest");
    auto const at_least_zero = CLI::Range(0.0, 1e9);
    command.add_option("--reads", given->reads, "Share of point reads; default: 9")->check(at_least_zero);
    command.add_option("--writes", given->writes, "Share of writes; default: 1")->check(at_least_zero);
    command.add_option("--peak", given->peak, "Rows a second that the partition must carry; default: 1000")
        ->check(at_least_zero);
    command
        .add_option("--target", given->target, "Rows a second that the service promises for a partition; default: 2000")
        ->check(at_least_zero);
    command.add_option("--most", given->most, "Rows a second of the last step; default: 1.25 times the larger of both")
        ->check(at_least_zero);
    command.add_option("--steps", given->steps, "Number of steps; default: 8");
    command.add_option("--seconds", given->seconds, "Duration of a step; default: 5")
        ->check(CLI::Range(0.001, 86'400.0));
    command.add_option("--workers", given->workers, "Threads that make calls; default: 16");
    command.add_option("--latency-ms", given->latency_ms, "Limit for 99 of 100 calls up to the peak; default: none")
        ->check(at_least_zero);
    command.add_option("--seed", given->seed, "Seed of the arrivals; default: 1");
    command.add_option("--html", given->html, "Write a page with pictures");
    command.add_flag("--yes", given->yes, "Overwrite the page without a question");
}

} // namespace tool
