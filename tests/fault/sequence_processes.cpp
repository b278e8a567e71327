// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Numbers drawn by four processes of four threads from one file, while one process after another is killed.

#include <entitable/file.hpp>
#include <entitable/sequence.hpp>

#include <fcntl.h>
#include <signal.h>
#include <support/catch.hpp>
#include <support/long.hpp>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace entitable;

namespace {

/// One number and the time it was drawn, on a clock that all processes share.
struct drawn {
    std::int64_t begun;
    std::int64_t ended;
    std::int64_t value;
};

std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

using draw_one = std::function<std::int64_t()>;

struct scene {
    std::string folder =
        (std::filesystem::temp_directory_path() / ("entitable_numbers_" + std::to_string(getpid()))).string();
    std::size_t processes = 4;
    std::size_t threads = 4;
    std::size_t kills{};

    scene() { std::filesystem::create_directories(folder); }
    ~scene() { std::filesystem::remove_all(folder); }
    scene(scene const&) = delete;
    scene& operator=(scene const&) = delete;

    [[nodiscard]] file_backend open() const {
        file_options options;
        options.durability = durability::relaxed; // a killed process loses nothing
        options.busy_timeout = std::chrono::seconds{30};
        return file_backend{folder + "/numbers", options};
    }
    [[nodiscard]] std::string log() const { return folder + "/log"; }

    /// A process that draws with all its threads until it is killed.
    [[nodiscard]] pid_t start(std::function<draw_one(file_backend const&)> const& drawer) const {
        pid_t const child = fork();
        if (child != 0) { return child; }
        int const out = ::open(log().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        file_backend const store = open();
        std::vector<std::thread> running;
        for (std::size_t index = 0; index < threads; ++index) {
            running.emplace_back([&] {
                draw_one const draw = drawer(store);
                for (;;) {
                    drawn one{now(), 0, draw()};
                    one.ended = now();
                    if (write(out, &one, sizeof one) != static_cast<ssize_t>(sizeof one)) { _exit(1); }
                }
            });
        }
        for (;;) { pause(); }
    }

    [[nodiscard]] std::vector<drawn> read_log() const {
        std::vector<drawn> all;
        int const in = ::open(log().c_str(), O_RDONLY | O_CLOEXEC);
        drawn one{};
        while (in >= 0 && read(in, &one, sizeof one) == static_cast<ssize_t>(sizeof one)) { all.push_back(one); }
        close(in);
        return all;
    }

    /// Lets them draw until there is a given number of numbers. Now and then one process is killed and another replaces
    /// it.
    std::vector<drawn> run(std::size_t numbers, std::chrono::milliseconds between,
        std::function<draw_one(file_backend const&)> const& drawer) {
        { (void)open(); }
        std::vector<pid_t> running;
        for (std::size_t index = 0; index < processes; ++index) { running.push_back(start(drawer)); }
        std::int64_t const give_up = now() + std::int64_t{300} * 1'000'000'000;
        while (std::filesystem::exists(log()) ? std::filesystem::file_size(log()) / sizeof(drawn) < numbers : true) {
            std::this_thread::sleep_for(between);
            std::size_t const victim = kills++ % processes;
            stop(running[victim]);
            running[victim] = start(drawer);
            REQUIRE(now() < give_up);
        }
        for (pid_t const each : running) {
            stop(each);
            ++kills;
        }
        return read_log();
    }
    static void stop(pid_t process) {
        kill(process, SIGKILL);
        int status = 0;
        waitpid(process, &status, 0);
        CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)); // not ended by an error of its own
    }

    [[nodiscard]] std::int64_t counted() const {
        file_backend const store = open();
        call context;
        auto const row = store.execute(get_entity{"identities", "identities", "Orders", {}}, context).value();
        return row.entity.view().find("Value")->as_int64();
    }
};

bool no_duplicate(std::vector<drawn> const& all) {
    std::set<std::int64_t> values;
    for (drawn const& each : all) { values.insert(each.value); }
    return values.size() == all.size();
}

/// A draw that started after another had returned got a greater number.
bool in_real_time_order(std::vector<drawn> all) {
    auto by_end = all;
    std::sort(by_end.begin(), by_end.end(), [](drawn const& a, drawn const& b) { return a.ended < b.ended; });
    std::sort(all.begin(), all.end(), [](drawn const& a, drawn const& b) { return a.begun < b.begun; });
    std::int64_t greatest = 0;
    std::size_t ended = 0;
    for (drawn const& each : all) {
        for (; ended < by_end.size() && by_end[ended].ended < each.begun; ++ended) {
            greatest = std::max(greatest, by_end[ended].value);
        }
        if (each.value <= greatest) { return false; }
    }
    return true;
}

std::size_t const wanted = entitable_test::rounds(4'000, 1'000'000, 32'000);
std::chrono::milliseconds const kill_every{entitable_test::rounds(70, 1'000, 200)};

} // namespace

TEST_CASE("processes: exact numbers are unique and in real-time order, and only killed calls leave gaps") {
    scene on;
    auto const all = on.run(wanted, kill_every, [](file_backend const& store) -> draw_one {
        return [numbers = sequence{store, "Orders"}] { return numbers.next().value().value; };
    });
    CHECK(all.size() >= wanted);
    CHECK(on.kills >= on.processes + 1);
    CHECK(no_duplicate(all));
    CHECK(in_real_time_order(all));
    std::int64_t const gaps = on.counted() - static_cast<std::int64_t>(all.size());
    CHECK(gaps >= 0);
    CHECK(gaps <= static_cast<std::int64_t>(on.kills * on.threads));
}

TEST_CASE("processes: numbers from blocks are unique, and a killed process loses at most its blocks") {
    constexpr std::uint32_t block = 20;
    scene on;
    auto const all = on.run(wanted, kill_every, [](file_backend const& store) -> draw_one {
        sequence_options how;
        how.block = block;
        return [numbers = sequence{store, "Orders", how}] { return numbers.next().value().value; };
    });
    CHECK(no_duplicate(all));
    std::int64_t const gaps = on.counted() - static_cast<std::int64_t>(all.size());
    CHECK(gaps >= 0);
    CHECK(gaps <= static_cast<std::int64_t>(on.kills * on.threads * block));
}

TEST_CASE("processes: sharded numbers are unique, and their total is exact") {
    scene on;
    auto const all = on.run(wanted, kill_every, [](file_backend const& store) -> draw_one {
        return [numbers = sharded_sequence{store, "Orders", 4}] { return numbers.next().value().value; };
    });
    CHECK(no_duplicate(all));
    file_backend const store = on.open();
    std::uint64_t const total = sharded_sequence{store, "Orders", 4}.total().value();
    CHECK(total >= all.size());
    CHECK(total <= all.size() + on.kills * on.threads);
}
