// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A store with faults that answers in an order drawn from a seed, with a manual clock.

#include <entitable/core/transport/channel.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace entitable_test {

/// The fault of a request.
enum class mishap : std::uint8_t {
    none,
    lost,         ///< the request is lost
    applied_lost, ///< the answer is lost
    busy,         ///< refused
    late,         ///< a write that arrives after its sender got the error of a lost one
};

/// Shared by all parts of one schedule.
struct shuffled_world {
    explicit shuffled_world(std::uint64_t seed) : random(seed) {}

    [[nodiscard]] std::size_t below(std::size_t count) { return static_cast<std::size_t>(random.bits() % count); }
    [[nodiscard]] bool one_in(std::size_t count) { return below(count) == 0; }
    /// One of this number of requests has a fault; 0 for none.
    [[nodiscard]] static mishap drawn_fault(entitable::random_source& from, std::size_t one_of) {
        if (one_of == 0 || from.bits() % one_of != 0) { return mishap::none; }
        constexpr mishap all[] = {mishap::applied_lost, mishap::applied_lost, mishap::lost, mishap::busy};
        return all[from.bits() % 4];
    }

    entitable::random_source random;
    entitable::testing::manual_clock time;
    entitable::memory_backend store{[this] {
        entitable::local_options options;
        options.time = &time;
        return options;
    }()};
    std::function<mishap(entitable::request_ref)> fault_of = [](entitable::request_ref) { return mishap::none; };
    /// Applies the writes that are late until now.
    void deliver(entitable::steady_time now) {
        for (std::size_t at = 0; at < late.size();) {
            if (late[at].first > now) {
                ++at;
                continue;
            }
            auto const arrives = std::move(late[at].second);
            late.erase(late.begin() + static_cast<std::ptrdiff_t>(at));
            arrives();
        }
    }

    std::vector<std::pair<entitable::steady_time, std::function<void()>>> late;
    std::size_t sent{};
    std::size_t completed{};
};

/// The answer of the store, or of the network in between.
template <entitable::table_request Request>
[[nodiscard]] entitable::result<entitable::response_of<Request>> answer_with(
    shuffled_world& in, mishap fault, Request const& request, entitable::call& context) {
    if (fault == mishap::none) { return in.store.execute(request, context); }
    if (fault == mishap::busy) { return entitable::failure{entitable::error_code::server_busy, "busy"}; }
    if (fault == mishap::applied_lost) { (void)in.store.execute(request, context); }
    if constexpr (Request::writes) {
        if (fault == mishap::late) {
            in.late.emplace_back(in.time.steady() + in.below(30) * std::chrono::milliseconds{1}, [&in, request] {
                entitable::call alone;
                (void)in.store.execute(request, alone);
            });
        }
    }
    entitable::error lost{entitable::error_code::transport_failed, "lost"};
    lost.effect = Request::writes ? entitable::effect::unknown : entitable::effect::none;
    return entitable::failure{std::move(lost)};
}

/// Executes requests at a random time, in any order.
class shuffling_channel final : public entitable::channel {
public:
    explicit shuffling_channel(shuffled_world& in) : in_(in) {}

    void send(entitable::request_ref request, entitable::call& context, void* tag) override {
        ++in_.sent;
        auto const now = in_.time.steady();
        under_way_.push_back({request, &context, tag, now, now + in_.below(4) * std::chrono::milliseconds{1}, {}, false,
            in_.fault_of(request)});
    }
    void cancel(void* tag, entitable::error const& why) override {
        for (sent& each : under_way_) {
            if (each.tag == tag && !each.cancelled) {
                each.cancelled.emplace(why);
                if (in_.one_in(2)) { // a request on its way may still arrive
                    each.request.visit([&](auto const& asked) { (void)in_.store.execute(asked, *each.context); });
                    each.applied = true;
                }
                each.cancelled->effect =
                    each.applied && each.request.writes() ? entitable::effect::unknown : entitable::effect::none;
            }
        }
    }
    void poll(entitable::steady_time now, entitable::completion_sink sink) override {
        in_.deliver(now);
        std::vector<sent> due;
        std::erase_if(under_way_, [&](sent& each) {
            bool const ends = each.cancelled || each.due <= now;
            if (ends) { due.push_back(std::move(each)); }
            return ends;
        });
        while (!due.empty()) {
            std::size_t const index = in_.below(due.size());
            sent one = std::move(due[index]);
            due.erase(due.begin() + static_cast<std::ptrdiff_t>(index));
            ++in_.completed;
            one.request.visit([&]<class Request>(Request const& asked) {
                auto answer = one.cancelled
                    ? entitable::result<entitable::response_of<Request>>{entitable::failure{*one.cancelled}}
                    : answer_with(in_, one.fault, asked, *one.context);
                entitable::completion done{asked, answer, *one.context, one.tag, one.begun};
                sink(done);
            });
        }
    }
    [[nodiscard]] entitable::steady_time wakes_at() const noexcept override {
        auto least = (entitable::steady_time::max)();
        for (sent const& each : under_way_) {
            least = std::min(least, each.cancelled ? (entitable::steady_time::min)() : each.due);
        }
        return least;
    }

private:
    struct sent {
        entitable::request_ref request;
        entitable::call* context;
        void* tag;
        entitable::steady_time begun;
        entitable::steady_time due;
        std::optional<entitable::error> cancelled;
        bool applied;
        mishap fault;
    };

    shuffled_world& in_;
    std::vector<sent> under_way_;
};

/// In a loop over that channel; blocking callers get the answer at once, with the same faults.
struct shuffled {
    using is_transport = void;
    shuffled_world* in;

    [[nodiscard]] entitable::profile profile() const { return in->store.profile(); }
    template <entitable::table_request Request>
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        return answer_with(*in, in->fault_of(request), request, context);
    }
    [[nodiscard]] entitable::shared<entitable::channel> open(entitable::io_driver&) const {
        return entitable::shared<entitable::channel>{new shuffling_channel{*in}};
    }
};

} // namespace entitable_test
