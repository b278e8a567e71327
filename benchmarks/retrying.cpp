// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The overhead of `retrying` for a call that succeeds at once: the same requests with and without it, on a transport that does
// nothing and on memory. CPU time of the process, in turns, medians; the limit is 50 ns and no allocation.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/retrying.cpp -o retrying

#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing/rows.hpp>

#include <benchmarks/support/count_allocations.hpp>
#include <benchmarks/support/measure.hpp>

using namespace entitable;

namespace {

std::uint64_t checksum = 0; ///< so that nothing is optimised away

/// Answers at once with preallocated results.
struct nothing {
    using is_transport = void;
    [[nodiscard]] entitable::profile profile() const { return {}; }
    [[gnu::noinline]] result<get_entity::response> execute(get_entity const& request, call&) const {
        checksum += request.row_key.size();
        return get_entity::response{};
    }
    [[gnu::noinline]] result<query_entities::response> execute(query_entities const& request, call&) const {
        checksum += request.table.size();
        return query_entities::response{};
    }
    [[gnu::noinline]] result<written> execute(write_entity const& request, call&) const {
        checksum += request.table.size();
        return written{};
    }
};

struct figures {
    double bare, retried, added;
    double allocations;
};

/// ns and allocations of one call, in turns.
template <class Bare, class Retried, class Request>
figures one(Bare bare, Retried retried, Request const& request, std::size_t calls) {
    std::vector<double> first, second, difference;
    auto const run = [&](auto& through) {
        return measure::timed(calls, [&] {
            for (std::size_t count = 0; count < calls; ++count) {
                call context;
                checksum += through.execute(request, context) ? 1U : 0U;
            }
        });
    };
    (void)run(bare);
    (void)run(retried);
    for (int round = 0; round < 51; ++round) {
        first.push_back(run(bare));
        second.push_back(run(retried));
        difference.push_back(second.back() - first.back());
    }
    std::uint64_t const before = measure::allocations;
    (void)run(bare);
    std::uint64_t const between = measure::allocations;
    (void)run(retried);
    std::uint64_t const after = measure::allocations;
    return {measure::median(first), measure::median(second), measure::median(difference),
        (static_cast<double>(after - between) - static_cast<double>(between - before)) / static_cast<double>(calls)};
}

template <class Bare, class Retried, class Request>
void print(char const* name, Bare const& bare, Retried const& retried, Request const& request, std::size_t calls) {
    figures const told = one(bare, retried, request, calls);
    bool const good = told.added <= 50 && told.allocations <= 0;
    std::printf("%-28s %8.1f %8.1f   adds %6.1f ns   limit 50   allocations %+.2f   limit 0%s\n", name, told.bare,
        told.retried, told.added, told.allocations, good ? "" : "  MISSED");
}

} // namespace

int main() {
    memory_backend const store;
    call context;
    (void)store.execute(create_table{"Orders"}, context);
    row const entity = testing::make_row("p", "r", {{"Age", 55}, {"Name", "John"}});
    (void)store.execute(write_entity{"Orders", mutation::insert(entity)}, context);
    write_entity const write{"Orders", mutation::insert_or_replace(entity)};
    get_entity const read{"Orders", "p", "r", {}};
    query_entities query;
    query.table = "Orders";

    std::printf("%-28s %8s %8s\n", "", "bare", "retried, ns");
    print("nothing, get_entity", nothing{}, retrying{nothing{}}, read, 200'000);
    print("nothing, query_entities", nothing{}, retrying{nothing{}}, query, 200'000);
    print("nothing, write_entity", nothing{}, retrying{nothing{}}, write, 200'000);
    print("memory, get_entity", store, retrying{store}, read, 50'000);
    print("memory, query_entities", store, retrying{store}, query, 20'000);
    print("memory, write_entity", store, retrying{store}, write, 20'000);
    return checksum == 0 ? 1 : 0;
}
