// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Random histories of a queue: producers and workers whose clocks are an hour off, and who end at any request; requests that are lost, refused or come late,
// and requests of others between any two of a program; over one store, and over shards that move, are split and merged. What must hold: each message
// whose enqueue has returned is delivered; none is delivered when its complete has returned; no two claims are good at once; and what can be
// claimed is not passed over.

#include "support/catch.hpp"
#include "support/long.hpp"
#include "support/restless_stores.hpp"
#include "support/wrong_clock.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

struct parcel {
    std::string to;
    std::int32_t number{};
};
ENTITABLE(parcel, partition_key(to), row_key(number), properties())

constexpr std::uint32_t lanes = 3;
constexpr auto visibility = 20s;
constexpr auto tolerance = 12s; // two for a clock of whole seconds, ten until a look ahead

struct figures {
    std::size_t histories{}, put{}, claims{}, completed{}, again{}, crashes{}, faults{}, changes{}, requests{};
    std::chrono::nanoseconds
        longest{}; ///< wait of a message that could be claimed, at a claim that found nothing or something later
};

struct crash {};

/// What a history does wrong on purpose, to show that it is found.
enum class defect : std::uint8_t { none, claims_copies, forgets_lost_answers, hides_messages };

class history {
public:
    history(std::uint64_t seed, bool over_shards, defect planted, figures& all)
        : random_(seed),
          faults_among_(seed % 3 == 0 ? 50
                  : seed % 3 == 1     ? 150
                                      : 600),
          planted_(planted),
          all_(all),
          over_shards_(over_shards) {
        if (over_shards) {
            shards_ = std::make_unique<restless_stores>(restless_stores{time_, 40, seed % 40, {}});
            shards_->on_the_way = [this](any_store below) { return faulty(std::move(below)); };
            shards_->busy = true;
        } else {
            local_options by_clock;
            by_clock.time = &time_;
            store_ = std::make_unique<memory_backend>(by_clock);
        }
        calm_ = true;
        for (std::int64_t const off : {-1, 0, 1, -1, 1}) {
            clocks_.push_back(std::make_unique<clock_off_by>(time_, std::chrono::hours{off}));
            programs_.push_back({begun(clocks_.size() - 1), {}});
        }
        programs_[0].queue.create().value();
        calm_ = false;
        if (shards_) { shards_->busy = false; }
    }

    /// The problem, empty for none.
    std::string run() {
        for (int turn = 0; turn < 120 && wrong_.empty(); ++turn) {
            time_.advance(std::chrono::milliseconds{random_() % 3'000});
            act(random_() % programs_.size());
        }
        calm_ = true;
        deliver_late(true);
        for (auto& each : programs_) { each.held.clear(); }
        for (int turn = 0; turn < 400 && wrong_.empty() && !all_done(); ++turn) {
            time_.advance(1s);
            claim(static_cast<std::size_t>(turn) % programs_.size());
            for (auto& each : programs_) {
                while (!each.held.empty() && wrong_.empty()) { end_one(each, 0); }
            }
        }
        if (wrong_.empty() && !all_done()) { wrong_ = "a message is lost"; }
        ++all_.histories;
        all_.changes += shards_ ? shards_->changes : 0;
        return wrong_;
    }

private:
    struct program {
        table_queue<parcel> queue;
        std::vector<claimed<parcel>> held;
    };
    struct message {
        bool acknowledged{};
        bool done{};
        int maybe_done{}; ///< completes that have told nothing
        std::uint64_t claims{};
        std::uint64_t good_claim{}; ///< 0: none
        date_time good_until{};
        date_time due{};   ///< from when it can be claimed, at the latest
        date_time first{}; ///< and at the earliest
    };

    [[nodiscard]] bool all_done() const {
        return std::all_of(messages_.begin(), messages_.end(), [](auto const& each) {
            message const& one = each.second;
            return !one.acknowledged || one.done || one.maybe_done > 0;
        });
    }
    [[nodiscard]] date_time in(std::chrono::nanoseconds by) { return {time_.now().ticks + by.count() / 100}; }

    // ---- the way to the store ----

    struct late_request {
        date_time at;
        std::function<void()> deliver;
    };
    void deliver_late(bool all) {
        for (std::size_t index = 0; index < late_.size();) {
            if (all || late_[index].at <= time_.now()) {
                auto const now = std::move(late_[index]);
                late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(index));
                now.deliver();
            } else {
                ++index;
            }
        }
    }

    struct way {
        using is_transport = void;
        any_store below;
        history* in;
        [[nodiscard]] entitable::profile profile() const { return below.profile(); }
        template <table_request Request>
            requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
        [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
            return in->send(below, request, context);
        }
    };
    any_store faulty(any_store below) { return any_store{way{std::move(below), this}}; }

    template <class Request>
    result<response_of<Request>> send(any_store const& below, Request const& request, call& context) {
        ++all_.requests;
        deliver_late(false);
        if (!calm_ && depth_ < 2 && random_() % 8 == 0) { // somebody else in between
            std::size_t const other = (acting_ + 1 + random_() % (programs_.size() - 1)) % programs_.size();
            act(other);
        }
        std::uint64_t const drawn = calm_ ? 1'000 : random_() % faults_among_;
        if (drawn < 10) {
            faulted_ = true;
            ++all_.faults;
        }
        auto const lost = [] {
            error gone{error_code::transport_failed, "lost"};
            gone.effect = Request::writes ? effect::unknown : effect::none;
            return failure{std::move(gone)};
        };
        switch (drawn) {
            case 0:
            case 1: return lost();
            case 2:
            case 3: static_cast<void>(below.execute(request, context)); return lost();
            case 4:
            case 5:
                if constexpr (Request::writes) {
                    late_.push_back({in(std::chrono::milliseconds{random_() % 40'000}), [below, request] {
                                         call own;
                                         static_cast<void>(below.execute(request, own));
                                     }});
                }
                return lost();
            case 6: {
                error busy{error_code::server_busy, "busy"};
                busy.effect = effect::none;
                return failure{std::move(busy)};
            }
            case 7: throw crash{};
            case 8: static_cast<void>(below.execute(request, context)); throw crash{};
            default: break;
        }
        if constexpr (std::same_as<Request, transact>) {
            auto const moves = [](mutation const& each) {
                return each.kind == mutation_kind::insert && each.entity.view().find("Queue_Claim").has_value();
            };
            if (planted_ == defect::claims_copies &&
                std::any_of(request.changes.begin(), request.changes.end(), moves)) {
                Request altered = request; // the messages stay where they are
                for (mutation& each : altered.changes) {
                    if (each.kind == mutation_kind::remove) { each = mutation::merge(each.entity, each.condition); }
                }
                return below.execute(altered, context);
            }
        }
        auto answer = below.execute(request, context);
        if constexpr (std::same_as<Request, query_entities>) {
            if (planted_ == defect::hides_messages && answer && answer->rows.size() > 1 && random_() % 2 == 0) {
                answer->rows = {};
            }
        }
        return answer;
    }

    // ---- programs ----

    table_queue<parcel> begun(std::size_t index) {
        queue_options how;
        how.lanes = lanes;
        how.visibility = visibility;
        how.max_deliveries = 1'000;
        how.time = clocks_[index].get();
        how.seed = ++seeds_;
        if (!over_shards_) { return table_queue<parcel>{faulty(*store_), "parcels", how}; }
        retrying_options patience;
        patience.operation_rows = true;
        patience.policy = retry_policy::fixed(8, 1ms);
        patience.quota = 0;
        patience.time = &time_;
        patience.seed = seeds_;
        any_store const cloud{
            shards_->open([this](std::string_view name) -> result<any_store> { return shards_->watched(name); })};
        return table_queue<parcel>{retrying{cloud, patience}, "parcels", how};
    }

    void act(std::size_t index) {
        std::size_t const before = std::exchange(acting_, index);
        bool const faulted = std::exchange(faulted_, false);
        ++depth_;
        try {
            program& of = programs_[index];
            switch (random_() % 8) {
                case 0:
                case 1: enqueue(of); break;
                case 2: enqueue_group(of); break;
                case 3:
                case 4: claim(index); break;
                default:
                    if (of.held.empty()) {
                        claim(index);
                    } else {
                        end_one(of, random_() % 6);
                    }
                    break;
            }
        } catch (crash const&) {
            ++all_.crashes;
            programs_[index] = {begun(index), {}}; // and begins again
        }
        --depth_;
        acting_ = before;
        faulted_ = faulted || faulted_;
    }
    /// Any message that exists may have been claimed by a request whose answer was lost.
    void doubt() {
        doubted_ = in(visibility + 1s);
        for (auto& [id, each] : messages_) {
            each.due =
                each.first > time_.now() ? each.due : date_time{(std::max)(each.due.ticks, in(visibility + 1s).ticks)};
        }
    }

    void enqueue(program& of) {
        std::string const id = "id" + std::to_string(++ids_);
        auto const delay = random_() % 3 == 0 ? std::chrono::nanoseconds{random_() % 30 * 1s} : 0ns;
        date_time const first = in(delay);
        for (int time = 0; time < 3; ++time) { // whoever does not know puts it in once more
            auto const put = of.queue.enqueue({"ann", 1}, {.delay = delay, .id = id});
            if (put) {
                note(id, delay, first);
                return;
            }
        }
    }
    void enqueue_group(program& of) {
        date_time const first = in({});
        if (auto const put = of.queue.enqueue_all(std::vector<parcel>(1 + random_() % 4, parcel{"bob", 2}))) {
            for (auto const& each : *put) { note(each.id, {}, first); }
        }
    }
    void note(std::string const& id, std::chrono::nanoseconds delay, date_time first) {
        message& one = messages_[id];
        one.acknowledged = true;
        one.first = one.claims == 0 ? first : one.first;
        ++all_.put;
        one.due = {(std::max)({one.due.ticks, in(delay).ticks, doubted_.ticks})};
    }

    void claim(std::size_t index) {
        program& of = programs_[index];
        date_time const begun_at = time_.now();
        std::uint64_t const so_far = acts_;
        ++acts_;
        faulted_ = false;
        auto some = [&] {
            try {
                return of.queue.claim_some(1 + static_cast<std::uint32_t>(random_() % 3));
            } catch (crash const&) {
                doubt();
                throw;
            }
        }();
        if (faulted_) { doubt(); }
        date_time latest{};
        std::string lane;
        if (some) {
            for (auto& each : *some) {
                std::string const id{each.id()};
                message& one = messages_[id];
                ++all_.claims;
                all_.again += each.deliveries() > 1 ? 1U : 0U;
                if (one.done) { wrong_ = id + " was delivered when its complete had returned"; }
                // The answer may be older than this moment: another worker may have the message by now, whose claim began after this claim
                // ended.
                date_time const until = in(each.remaining() + 1s);
                if (until <= time_.now()) { continue; }
                if (one.good_claim != 0 && one.good_until > time_.now()) { wrong_ = id + " has two good claims"; }
                latest = (std::max)(latest, one.first);
                ++one.claims;
                lane = detail::claimed_access::receipt_of(each).lane;
                one.good_claim = ++claims_;
                one.good_until = until;
                one.due = until;
                one.first = detail::time_of_message(detail::claimed_access::receipt_of(each).key);
            }
        }
        bool const alone = depth_ <= 1 && acts_ == so_far + 1 && !faulted_ && some.has_value();
        if (alone) { // what was not found though it was there
            for (auto const& [id, one] : messages_) {
                bool const passed_over = some->empty() ||
                    (detail::lane_of(id, lanes) == lane_number(lane) && !is_group(id) && one.due < latest);
                if (one.acknowledged && !one.done && one.maybe_done == 0 && passed_over && one.due < begun_at) {
                    std::chrono::nanoseconds const waits{(begun_at.ticks - one.due.ticks) * 100};
                    all_.longest = (std::max)(all_.longest, waits);
                    if (waits > tolerance) {
                        wrong_ = id + " was passed over for " + std::to_string(waits / 1s) + " s";
                    }
                }
            }
        }
        if (some) {
            for (auto& each : *some) { of.held.push_back(std::move(each)); }
        }
    }
    static std::size_t lane_number(std::string const& lane) {
        return lane.size() < 5 ? 1000 : static_cast<std::size_t>(std::stoi(lane.substr(4)));
    }
    static bool is_group(std::string const& id) { return id.find('.') != std::string::npos; }

    void end_one(program& of, std::uint64_t how) {
        ++acts_;
        claimed<parcel> item = std::move(of.held.front());
        of.held.erase(of.held.begin());
        std::string const id{item.id()};
        message& one = messages_[id];
        auto const give_up = [&](date_time due) {
            one.good_claim = 0; // from here on it may be over
            one.due = {(std::max)(one.due.ticks, due.ticks)};
        };
        if (how < 3) {
            one.good_claim = 0;
            ++one.maybe_done;
            auto const completed = item.complete();
            one.maybe_done -= completed || completed.error().code == error_code::receipt_lost ? 1 : 0;
            if (completed) {
                all_.completed += one.done ? 0U : 1U;
                if (one.done) { wrong_ = id + " was completed twice"; }
                one.done = true;
            } else if (planted_ == defect::forgets_lost_answers) {
                one.done = true;
            }
        } else if (how == 3) {
            auto const delay = std::chrono::nanoseconds{random_() % 5 * 1s};
            give_up(in(delay));
            one.first = {}; // it goes back to where it stood
            bool const ended = item.release(delay).has_value();
            give_up(in(ended ? delay : visibility));
        } else if (how == 4) {
            auto const longer = visibility + 10s;
            give_up(in(longer));
            if (item.renew(longer)) {
                give_up(in(longer));
                of.held.push_back(std::move(item));
            }
        } // else it forgets the message
    }

    std::mt19937_64 random_;
    std::uint64_t faults_among_; ///< requests; nine of them fail
    defect planted_;
    figures& all_;
    bool over_shards_;
    testing::manual_clock time_;
    std::unique_ptr<memory_backend> store_;
    std::unique_ptr<restless_stores> shards_;
    std::vector<std::unique_ptr<clock_off_by>> clocks_;
    std::deque<program> programs_;
    std::map<std::string, message> messages_;
    std::vector<late_request> late_;
    std::string wrong_;
    date_time doubted_; ///< until then one may be claimed whose enqueue has not returned
    bool calm_{};
    bool faulted_{};
    int depth_{};
    std::size_t acting_{};
    std::uint64_t seeds_{100};
    std::uint64_t ids_{};
    std::uint64_t claims_{};
    std::uint64_t acts_{};
};

/// The first history with a problem.
std::string problem_of(std::size_t histories, bool over_shards, defect planted = defect::none) {
    figures all;
    for (std::uint64_t seed = 1; seed <= histories; ++seed) {
        std::string const problem = history{seed, over_shards, planted, all}.run();
        if (!problem.empty()) { return "history " + std::to_string(seed) + ": " + problem; }
    }
    CHECK(all.completed > histories * 20);
    if (std::getenv("ENTITABLE_TEST_FIGURES") != nullptr) {
        std::printf("%zu histories: %zu messages, %zu claims, %zu of them again, %zu completed, %zu crashes, %zu "
                    "faults, %zu changes of shards, %zu "
                    "requests; longest wait %.1f s\n",
            all.histories, all.put, all.claims, all.again, all.completed, all.crashes, all.faults, all.changes,
            all.requests, std::chrono::duration<double>{all.longest}.count());
    }
    return "";
}

} // namespace

TEST_CASE("queue histories: histories on one store are correct if programs end, requests are lost or late, and clocks "
          "are an hour off") {
    CHECK(problem_of(rounds(25, 40'000, 600), false) == "");
}

TEST_CASE("queue histories: histories over shards that move, are split and are merged are correct") {
    CHECK(problem_of(rounds(5, 4'000, 100), true) == "");
}

TEST_CASE("queue histories: planted defects are found") {
    CHECK(problem_of(200, false, defect::claims_copies) != "");
    CHECK(problem_of(200, false, defect::forgets_lost_answers) != "");
    CHECK(problem_of(200, false, defect::hides_messages) != "");
}
