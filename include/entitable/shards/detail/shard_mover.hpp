// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The move of one virtual shard, or of two ranges into one, from the first request to the last: a resumable operation. Place 0 is the map; the others are stores, whose
/// names it says.

#include <entitable/shards/detail/shard_map_change.hpp>
#include <entitable/shards/detail/shard_table_copy.hpp>
#include <entitable/shards/detail/shard_table_erasure.hpp>
#include <entitable/shards/move_options.hpp>

#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What is to be moved, and how.
struct shard_mover_order {
    std::string map; ///< its table
    std::int32_t shard{};
    std::string source;                  ///< where the plan has seen it; empty for wherever it is
    std::string target;                  ///< empty: an attempt is ended, and nothing begun
    std::optional<std::int32_t> upper{}; ///< the range above, which goes into the same tables, and into the shard
    std::string high{};                  ///< behind the last key of both
    std::string name;                    ///< that no other move has: of its changes of the map
    profile limits;                      ///< of the target
    move_options options;
};

/// Each attempt has tables of names that were never used, so whoever takes over begins anew, and a mover that lives on meets only refusals.
class shard_mover {
public:
    shard_mover(shard_mover_order order, steady_time now);
    shard_mover(shard_mover const&) = delete;
    shard_mover& operator=(shard_mover const&) = delete;
    ~shard_mover() = default;

    [[nodiscard]] operation_step next() const;
    template <class Response>
        requires(!std::same_as<Response, void>)
    void answer(result<Response> answered, steady_time now) {
        constexpr bool reads =
            std::same_as<Response, query_entities::response> || std::same_as<Response, get_entity::response>;
        if (again_later(answered ? nullptr : &answered.error(), reads, now)) {
            return;
        }
        pass_on(std::move(answered), now);
        go_on(now);
    }
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    [[nodiscard]] result<move_progress> finish() { return *std::move(outcome_); }

    /// The name of the store of a place above 0.
    [[nodiscard]] std::string const& store(std::size_t place) const { return stores_.at(place - 1); }
    [[nodiscard]] move_progress const& progress() const noexcept { return progress_; }

private:
    struct copied_table {
        std::string source; ///< its store
        std::unique_ptr<shard_table_copy> copy;
    };
    struct dropped_table {
        std::string name;
        bool whole{};                   ///< nobody has it any more
        std::vector<key_interval> keys; ///< else those that nobody has in it
    };
    using edit_type = result<bool> (shard_mover::*)(shard_map_copy const&, shard_map_draft&, shard_row_draft&);
    enum class stage : std::uint8_t {
        looking,     ///< whether another attempt is there; if so it is ended
        dropping,    ///< tables that nobody uses
        forgetting,  ///< that they were there
        registering, ///< the attempt
        creating,
        copying,
        catching_up,
        verifying,
        closing,
        catching_up_closed,
        draining,
        catching_up_drained,
        sealing,
        catching_up_sealed,
        collecting,
        checking, ///< whether the attempt is still the own one, where a table is gone
        giving_up,
        flipping,
        over,
    };

    [[nodiscard]] bool again_later(error const* problem, bool reads, steady_time now);
    void pass_on(result<query_entities::response> answered, steady_time now);
    void pass_on(result<get_entity::response> answered, steady_time now);
    void pass_on(result<transact::response> answered, steady_time now);
    void pass_on(result<create_table::response> answered, steady_time now);
    void pass_on(result<delete_table::response> answered, steady_time now);
    template <class Other>
    void pass_on(result<Other>, steady_time) {
        outcome_.emplace(failure{error_code::internal_error, "a move has not asked that"});
    }

    void go_on(steady_time now);
    [[nodiscard]] bool step(steady_time now);
    void after_change(steady_time now);
    void after_pass(steady_time now);
    void change(stage at, move_step told, edit_type edit, steady_time now);
    void pass(stage at, move_step told, copy_pass what);
    void wait_for(std::chrono::milliseconds lease, steady_time now);
    void stop(failure why) { outcome_.emplace(std::move(why)); }
    [[nodiscard]] std::size_t place_of(std::string const& store) const;
    void begin_tables();
    void drop_or(stage next, steady_time now);
    void leave_drop(steady_time now);
    void end();
    void leave(failure why);
    [[nodiscard]] failure taken_over(shard_map_row const* row);
    void note_drops(shard_map_copy const& map, shard_map_draft const& draft, shard_row_draft const& own);
    [[nodiscard]] std::vector<std::int32_t> numbers() const;
    [[nodiscard]] result<std::vector<shard_map_row*>> own_rows(
        shard_map_copy const& map, shard_map_draft& draft, std::string_view state);

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
    stage at_{stage::looking};
    std::optional<shard_map_change> change_;
    std::size_t changes_{};
    std::vector<copied_table> tables_;
    std::size_t table_{}; ///< the one that is made, or that a pass is at
    std::optional<copy_pass> pass_;
    std::uint64_t found_{}; ///< by the pass, in all tables
    std::uint64_t found_before_{};
    std::size_t rounds_{};
    std::optional<create_table> create_;
    std::optional<delete_table> delete_;
    std::optional<shard_table_erasure> erase_;
    mutable std::vector<std::string> stores_; ///< of the places from 1 on, by which they were asked first

    std::int64_t epoch_{};             ///< of the attempt
    std::vector<shard_place> sources_; ///< what is moved, as it was then
    std::vector<shard_table> moved_;
    std::chrono::milliseconds lease_{}; ///< of copies of the map that may be out
    std::optional<shard_retired> dropping_;
    std::optional<shard_retired> dropped_; ///< and to be forgotten, however often that change is drawn up
    std::vector<dropped_table> drops_;     ///< tables of that
    std::vector<shard_retired> kept_;      ///< that could not be dropped: they stay in the map
    std::vector<etag> watched_;            ///< the rows of another's attempt
    bool watches_{};                       ///< and it is not taken over yet
    bool flipped_{};
    bool flip_sent_{};            ///< so it may be in the map
    bool ended_{};                ///< by another process, and never flipped: its tables are nobody's
    std::optional<failure> left_; ///< why, while these are dropped

    steady_time not_before_{(steady_time::min)()};
    std::optional<move_step> waits_for_; ///< what comes behind the wait for a lease
    std::size_t failures_{};
    error missing_;
    std::optional<steady_time> writes_stopped_;
    std::optional<steady_time> reads_stopped_;
    move_progress progress_;
    std::optional<result<move_progress>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/shard_mover.ipp>
#include <entitable/shards/impl/shard_mover_drops.ipp>
#include <entitable/shards/impl/shard_mover_map.ipp>
#include <entitable/shards/impl/shard_table_copy.ipp>
#include <entitable/shards/impl/shard_table_erasure.ipp>
#endif
