// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// A program of its own over the stores of a world, whose requests are seen, and which ends at one of them.

#include "fleets.hpp"

#include <functional>
#include <utility>

namespace fleets {

/// A request as it is about to be sent.
struct sent_request {
    std::size_t number{};   ///< of the program's, from 0
    std::string_view where; ///< "catalogue", "archive", or the name of a store
    std::string_view table; ///< empty for a list of tables
    bool queries{};

    [[nodiscard]] bool reads_map() const noexcept { return queries && where == "catalogue"; }
};

/// What becomes of a program's requests. One thread at a time.
struct program_life {
    std::size_t sent{};
    std::size_t ends_at{static_cast<std::size_t>(-1)}; ///< the request that it ends at
    bool behind{};                                     ///< that one is applied, and its answer lost
    std::function<bool(sent_request const&)> before{}; ///< called before each; false: the place does not answer

    [[nodiscard]] bool has_ended() const noexcept { return sent > ends_at; }
};

/// One place, through the eyes of the program: after its end everything it sends goes nowhere.
class watched {
public:
    using is_transport = void;

    watched(any_store below, std::string where, std::shared_ptr<program_life> of)
        : below_(std::move(below)), where_(std::move(where)), life_(std::move(of)) {}
    [[nodiscard]] entitable::profile profile() const { return below_.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        sent_request each{life_->sent++, where_, {}, std::same_as<Request, query_entities>};
        if constexpr (requires { request.table; }) { each.table = request.table; }
        if (each.number > life_->ends_at) { return failure{error_code::cancelled, "the program has ended"}; }
        if (life_->before && !life_->before(each)) {
            return failure{error_code::transport_failed, "it does not answer"};
        }
        if (each.number == life_->ends_at && !life_->behind) {
            return failure{error_code::cancelled, "the program has ended"};
        }
        auto answer = below_.execute(request, context);
        if (each.number == life_->ends_at) { return failure{error_code::cancelled, "the program has ended"}; }
        return answer;
    }

private:
    any_store below_;
    std::string where_;
    std::shared_ptr<program_life> life_;
};

/// A fleet over the stores of a world, as that program has it. Its requests are counted from here on.
inline fleet program_over(world const& all, std::shared_ptr<program_life> const& of, virtual_shards shards) {
    static testing::manual_clock time; // nobody waits
    program_life const planned = std::exchange(*of, {});
    auto map = lookup_map::open(any_store{watched{any_store{all.catalogue}, "catalogue", of}}, "shardmap",
        std::move(shards), {std::chrono::milliseconds{0}});
    *of = planned;
    return fleet{sharded{std::move(map).value(),
                     [all, of](std::string_view name) -> result<any_store> {
                         return any_store{watched{any_store{all.store(name)}, std::string{name}, of}};
                     }},
        {.in_flight = 1, .time = &time}};
}

} // namespace fleets
