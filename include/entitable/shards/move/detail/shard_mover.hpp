// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Moves one virtual shard, or merges two ranges, from the first request to the last, as a resumable operation. Place 0 is the map; the
/// others are stores, named by `store`. The protocol is `shard_mover::move`.

#include <entitable/shards/map/detail/shard_map_rows.hpp>
#include <entitable/shards/move/detail/shard_splitting.hpp>
#include <entitable/shards/move/detail/shard_table_copy.hpp>
#include <entitable/shards/move/shard_move.hpp>

#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A pass over the rows of all tables.
struct move_phase {
    move_step step; ///< the step that watchers see
    copy_pass pass;
    bool off_line;   ///< whether a move off line has it
    bool is_drained; ///< writes are refused
    bool is_sealed;  ///< reads are refused as well

    [[nodiscard]] constexpr bool keys_only() const noexcept {
        return pass == copy_pass::catch_up || pass == copy_pass::collect;
    }
};

namespace move_phases {

inline constexpr move_phase copying{move_step::copying, copy_pass::whole, true, false, false};
inline constexpr move_phase catching_up{move_step::catching_up, copy_pass::catch_up, false, false, false};
inline constexpr move_phase verifying{move_step::verifying, copy_pass::verify, true, false, false};
inline constexpr move_phase closed{move_step::catching_up, copy_pass::catch_up, false, false, false};
inline constexpr move_phase drained{move_step::draining, copy_pass::catch_up, false, true, false};
inline constexpr move_phase sealed{move_step::sealing, copy_pass::catch_up, true, true, true};
inline constexpr move_phase collecting{move_step::sealing, copy_pass::collect, false, true, true};

inline constexpr move_phase all[] = {copying, catching_up, verifying, closed, drained, sealed, collecting};

/// Returns the number of phases with a property.
template <class Has>
[[nodiscard]] constexpr std::uint64_t count(Has const& has) {
    std::uint64_t number = 0;
    for (move_phase const& each : all) { number += has(each) ? 1 : 0; }
    return number;
}

} // namespace move_phases

/// The order for a move.
struct shard_mover_order {
    std::string map; ///< the map's table
    std::int32_t shard{};
    std::string source;                  ///< the store at planning time; empty for any
    std::string target;                  ///< empty: ends an attempt and starts none
    std::optional<std::int32_t> upper{}; ///< the range above, which is merged into the same tables and shard
    std::string high{};                  ///< the end of the upper range
    std::string name;                    ///< unique to this move; marks its changes of the map
    profile limits;                      ///< limits of the target
    move_options options;
};

/// Each attempt uses table names that were never used before, so a takeover starts over and every request by the old mover is refused.
class shard_mover {
public:
    shard_mover(shard_mover_order order, steady_time now);
    shard_mover(shard_mover const&) = delete;
    shard_mover& operator=(shard_mover const&) = delete;
    ~shard_mover() = default;

    [[nodiscard]] operation_step next() const noexcept;
    template <class Response>
    void answer(result<Response> answered, steady_time now) {
        constexpr bool reads =
            std::same_as<Response, query_entities::response> || std::same_as<Response, get_entity::response>;
        if (again_later(answered ? nullptr : &answered.error(), reads, now)) { return; }
        protocol_.answer(std::move(answered), now);
        count_rows();
    }
    void abandon(error const& reason) { protocol_.abandon(reason); }
    [[nodiscard]] result<move_progress> finish() { return protocol_.finish(); }

    /// Returns the name of the store at a place above 0.
    [[nodiscard]] std::string const& store(std::size_t place) const { return stores_.at(place - 1); }
    [[nodiscard]] move_progress const& progress() const noexcept { return progress_; }

private:
    struct copied_table {
        std::string source; ///< the store that holds the table
        std::unique_ptr<shard_table_copy> copy;
    };
    struct dropped_table {
        std::string name;
        bool whole{};                   ///< no shard uses the table
        std::vector<key_interval> keys; ///< otherwise only the keys in the table that belong to no shard
    };
    using edit_type = result<bool> (shard_mover::*)(shard_map_copy const&, shard_map_draft&, shard_row_draft&);

    [[nodiscard]] resumable<move_progress> run();
    [[nodiscard]] resumable<move_progress> move();
    [[nodiscard]] resumable<void> take_over();
    [[nodiscard]] resumable<void> create_tables();
    /// Sends a request again while it is unknown whether it was applied. The request must outlive it.
    template <class Request>
    [[nodiscard]] resumable<response_of<Request>> until_known(
        Request const& request, std::size_t place, std::size_t most) {
        for (;;) {
            auto done = co_await ask(request, {.place = place});
            bool const lost = !done && done.error().effect == effect::unknown;
            if (!lost || ++failures_ > most) { co_return std::move(done); }
            co_await delay_next{std::chrono::milliseconds{10}};
        }
    }
    [[nodiscard]] resumable<void> catch_up();
    [[nodiscard]] resumable<void> agree();
    [[nodiscard]] resumable<std::uint64_t> pass(move_phase phase);
    [[nodiscard]] resumable<void> drop_retired();
    [[nodiscard]] resumable<bool> drop_tables();
    [[nodiscard]] resumable<void> drop_table(std::string name, std::size_t place);
    [[nodiscard]] resumable<void> change(move_step shown, edit_type edit);

    [[nodiscard]] bool again_later(error const* problem, bool reads, steady_time now);
    void count_rows();
    void show(move_step step);
    [[nodiscard]] delay_next lease_wait();
    [[nodiscard]] std::size_t place_of(std::string const& store);
    void begin_tables();
    void keep_in_map();
    [[nodiscard]] move_progress end();
    [[nodiscard]] failure taken_over(shard_map_row const* row);
    void note_drops(shard_map_copy const& map, shard_map_draft const& draft, shard_row_draft const& own);
    [[nodiscard]] std::vector<std::int32_t> numbers() const;
    [[nodiscard]] result<std::vector<shard_map_row*>> own_rows(
        shard_map_copy const& map, shard_map_draft& draft, std::string_view state);

    [[nodiscard]] result<bool> is_wanted(
        shard_map_copy const& map, shard_map_draft& draft, shard_map_row const& own) const;
    [[nodiscard]] result<void> may_register(shard_map_row const& row);
    void register_in(shard_map_row& row);
    [[nodiscard]] result<bool> look(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own);
    [[nodiscard]] result<bool> forget_dropped(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own);
    [[nodiscard]] result<bool> register_attempt(
        shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own);
    [[nodiscard]] result<bool> close(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own);
    [[nodiscard]] result<bool> drain(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own);
    [[nodiscard]] result<bool> seal(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own);
    [[nodiscard]] result<bool> check_own(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own);
    [[nodiscard]] result<bool> give_up(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own);
    [[nodiscard]] result<bool> flip(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own);

    shard_mover_order order_;
    std::size_t changes_{}; ///< number of changes of the map, for their nonces
    std::vector<copied_table> tables_;
    std::vector<std::string> stores_; ///< names of the places from 1 on, in order of first use

    std::int64_t epoch_{};             ///< epoch of the attempt; 0: none is registered
    std::vector<shard_place> sources_; ///< the shards being moved, as at registration
    std::vector<shard_table> moved_;
    std::chrono::milliseconds lease_{};     ///< the longest lease of outstanding map copies
    std::optional<shard_retired> dropping_; ///< the retired entry whose tables are dropped next
    std::optional<shard_retired> dropped_;  ///< entry to remove from the map; survives redrafts of that change
    std::vector<dropped_table> drops_;      ///< tables of `dropping_`
    std::vector<shard_retired> kept_;       ///< tables that could not be dropped: they stay in the map
    std::vector<etag> watched_;             ///< the rows of another process's attempt
    bool watches_{}; ///< whether the attempt of another process is only watched, not taken over yet
    bool flipped_{};
    bool flip_sent_{}; ///< the flip may be in the map
    bool ended_{};     ///< whether another process ended the attempt before the flip: the new tables are unused
    bool is_dropping_{};

    steady_time not_before_{(steady_time::min)()}; ///< of a request that is sent again
    std::optional<move_step> waits_for_;           ///< the step after the wait for a lease
    std::size_t failures_{};                       ///< consecutive
    std::optional<steady_time> writes_stopped_;
    std::optional<steady_time> reads_stopped_;
    move_progress progress_;
    resumable<move_progress> protocol_; ///< last: it refers to the other members
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/move/impl/shard_mover.ipp>
#include <entitable/shards/move/impl/shard_mover_drops.ipp>
#include <entitable/shards/move/impl/shard_mover_map.ipp>
#include <entitable/shards/move/impl/shard_splitting.ipp>
#include <entitable/shards/move/impl/shard_table_copy.ipp>
#endif
