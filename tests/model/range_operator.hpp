// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// An operator of a map of ranges: splits, moves and merges, one after the other, as a resumable operation.

#include <entitable/core/random.hpp>
#include <entitable/shards.hpp>
#include <entitable/shards/move/detail/shard_mover.hpp>
#include <entitable/shards/move/detail/shard_splitting.hpp>

namespace shard_world {

using namespace entitable;

/// The tasks of an operator: splits, moves and merges, one after the other, regardless of their results.
struct task {
    enum class kind : std::uint8_t { split, move, merge, draw } what{};
    std::int32_t shard{};
    std::int32_t upper{};
    std::string key{};   ///< key of a split
    std::string store{}; ///< target of a move or merge
};

class operator_work {
public:
    operator_work(std::string name, std::vector<task> tasks, profile const& limits, bool off_line, steady_time now,
        std::uint64_t seed = 0)
        : name_(std::move(name)), tasks_(std::move(tasks)), limits_(limits), off_line_(off_line), random_(seed) {
        begin(now);
    }
    operator_work(operator_work const&) = delete;
    operator_work& operator=(operator_work const&) = delete;
    ~operator_work() = default;

    [[nodiscard]] operation_step next() const {
        return reading_ ? reading_->next() : split_ ? split_->next() : move_ ? move_->next() : operation_step{};
    }
    template <class Response>
        requires(!std::same_as<Response, void>)
    void answer(result<Response> answered, steady_time now) {
        if constexpr (requires { reading_->answer(std::move(answered), now); }) {
            if (reading_) {
                reading_->answer(std::move(answered), now);
                return go_on(now);
            }
        }
        if constexpr (requires { split_->answer(std::move(answered), now); }) {
            if (split_) {
                split_->answer(std::move(answered), now);
                return go_on(now);
            }
        }
        move_->answer(std::move(answered), now);
        go_on(now);
    }
    void abandon(error const&) {
        tasks_.clear();
        reading_.reset();
        split_.reset();
        move_.reset();
    }
    /// The number of completed tasks.
    [[nodiscard]] int finish() { return done_; }

    /// The current task.
    [[nodiscard]] task const& present() const { return present_; }
    /// The move or merge; null while it does something else.
    [[nodiscard]] detail::shard_mover const* mover() const { return move_ ? &*move_ : nullptr; }

private:
    void go_on(steady_time now) {
        if (!next().done()) { return; }
        if (reading_) {
            auto const read = reading_->finish();
            reading_.reset();
            if (read) { return start(drawn(**read), now); }
        } else if (split_) {
            done_ += split_->finish() ? 1 : 0;
            split_.reset();
        } else {
            done_ += move_->finish() ? 1 : 0;
            move_.reset();
        }
        begin(now);
    }
    void begin(steady_time now) {
        if (at_ == tasks_.size()) { return; }
        task const next = tasks_[at_++];
        if (next.what == task::kind::draw) {
            reading_.emplace(detail::read_shard_map("shardmap")).begin(now);
        } else {
            start(next, now);
        }
    }
    void start(task const& next, steady_time now) {
        present_ = next;
        std::string const name = name_ + '-' + std::to_string(at_);
        if (next.what == task::kind::split) {
            split_.emplace(detail::split_in_map("shardmap", next.shard, next.key, name, nullptr)).begin(now);
            return;
        }
        detail::shard_mover_order what;
        what.map = "shardmap";
        what.shard = next.shard;
        what.target = next.store;
        what.name = name;
        what.limits = limits_;
        what.options.owner = name;
        what.options.rounds = 3;
        what.options.page_size = 2;
        what.options.off_line = off_line_;
        if (next.what == task::kind::merge) { what.upper = next.upper; }
        move_.emplace(std::move(what), now);
    }
    /// A task that is possible with the current map.
    [[nodiscard]] task drawn(detail::shard_map_copy const& map) {
        std::size_t const at = random_.bits() % map.places.size();
        std::int32_t const shard = map.places[at].row.shard;
        std::string const store = "s" + std::to_string(random_.bits() % 3);
        std::uint64_t const kind = random_.bits() % 3;
        if (kind == 0) {
            constexpr char const* keys[] = {"c", "k1", "m", "t"};
            return {task::kind::split, shard, 0, keys[random_.bits() % 4], {}};
        }
        if (kind == 1 && at + 1 < map.places.size()) {
            return {task::kind::merge, shard, map.places[at + 1].row.shard, {}, store};
        }
        return {task::kind::move, shard, 0, {}, store};
    }

    std::string name_;
    std::vector<task> tasks_;
    profile limits_;
    bool off_line_;
    random_source random_;
    std::size_t at_{};
    task present_;
    int done_{};
    std::optional<resumable<detail::shard_map_ref>> reading_;
    std::optional<resumable<std::int32_t>> split_;
    std::optional<detail::shard_mover> move_;
};

} // namespace shard_world
