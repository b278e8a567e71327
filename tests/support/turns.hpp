// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Programs that block, one request at a time: the next one is drawn from a seed. A program may end at a request, before it is applied or after
// that.

#include <entitable/core/random.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace entitable_test {

/// Decides which program may send a request now. Each program has a thread; one runs at a time.
class turns {
public:
    explicit turns(std::uint64_t seed) : dice_(seed) {}

    /// A program. `dies_at`: the number of the request that gets no answer, and neither does any later one; 0 for none.
    void add(std::function<void(std::size_t)> work, std::size_t dies_at = 0, bool behind = false) {
        programs_.push_back({std::move(work), dies_at, behind});
    }
    /// Runs all of them to their ends.
    void run() {
        std::vector<std::thread> threads;
        for (std::size_t number = 0; number < programs_.size(); ++number) {
            threads.emplace_back([this, number] {
                wait(number);
                programs_[number].work(number);
                std::lock_guard<std::mutex> const guard{lock_};
                programs_[number].ended = true;
                draw();
            });
        }
        {
            std::lock_guard<std::mutex> const guard{lock_};
            draw();
        }
        for (std::thread& each : threads) { each.join(); }
    }
    /// Waits for the turn of a program.
    void wait(std::size_t number) {
        std::unique_lock<std::mutex> guard{lock_};
        programs_[number].waits = true;
        if (begun_ == number) { draw(); }
        changed_.wait(guard, [&] { return begun_ == number && !programs_[number].waits; });
    }
    /// Whether the current request gets no answer; `behind`: it is applied.
    enum class fate : std::uint8_t { answered, lost_before, lost_behind };
    [[nodiscard]] fate next(std::size_t number) {
        wait(number);
        std::lock_guard<std::mutex> const guard{lock_};
        program& own = programs_[number];
        if (++own.seen == own.dies_at) { return own.behind ? fate::lost_behind : fate::lost_before; }
        return own.dies_at != 0 && own.seen > own.dies_at ? fate::lost_before : fate::answered;
    }

private:
    struct program {
        std::function<void(std::size_t)> work;
        std::size_t dies_at{};
        bool behind{};
        std::size_t seen{};
        bool waits{};
        bool ended{};
    };
    /// With the lock: the next turn. All programs that have not ended wait, except the one that calls this.
    void draw() {
        std::vector<std::size_t> ready;
        for (std::size_t number = 0; number < programs_.size(); ++number) {
            if (!programs_[number].ended) { ready.push_back(number); }
        }
        if (ready.empty()) { return; }
        begun_ = ready[static_cast<std::size_t>(dice_.bits() % ready.size())];
        programs_[begun_].waits = false;
        changed_.notify_all();
    }

    entitable::random_source dice_;
    std::mutex lock_;
    std::condition_variable changed_;
    std::vector<program> programs_;
    std::size_t begun_{static_cast<std::size_t>(-1)};
};

/// A store of one of these programs.
struct in_turns {
    using is_transport = void;

    entitable::any_store below;
    turns* order;
    std::size_t number;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity> && !std::same_as<Request, entitable::read_entities>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        auto const fate = order->next(number);
        if (fate == turns::fate::answered) { return below.execute(request, context); }
        if (fate == turns::fate::lost_behind) { static_cast<void>(below.execute(request, context)); }
        entitable::failure lost{entitable::error_code::transport_failed, "the program has ended"};
        lost.error().effect = Request::writes ? entitable::effect::unknown : entitable::effect::none;
        return lost;
    }
};

} // namespace entitable_test
