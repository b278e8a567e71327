#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

struct registration {
    std::string  event;        // "2011 New York City Marathon"
    std::string  distance;     // "Full"
    std::int32_t bib{};
    std::string  name;
    std::int32_t age{};
};

ENTITABLE(registration,
    partition_key(event, distance),      // "2011 New York City Marathon__Full"
    row_key(literal("BIB:"), bib),       // "BIB:0000001234": order-preserving
    properties(name, age))

int main() {
    entitable::memory_backend store;
    entitable::table<registration> runners{store, "registrations"};
    runners.create_if_absent().value();

    runners.insert({"2011 New York City Marathon", "Full", 1234, "John", 55}).value();

    using r = entitable::fields<registration>;
    auto john = runners.get("2011 New York City Marathon", "Full", 1234).value();      // point query

    auto pack = runners.where(r::event == "2011 New York City Marathon" && r::distance == "Full"
                              && r::bib >= 1000 && r::bib < 2000 && r::age >= 50);
    static_assert(decltype(pack)::access == entitable::access_path::row_range);
    for (auto const& runner : pack) std::puts(runner.name.c_str());
}
