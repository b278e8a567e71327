// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/rest/impl/rest_engine.ipp>
#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/detail/pending_list.hpp>

#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class rest_channel final : public channel {
public:
    rest_channel(shared<rest_engine> engine, shared<http_channel> below, io_driver& io)
        : engine_(std::move(engine)), below_(std::move(below)), io_(io) {}
    ~rest_channel() override {
        below_ = {}; // the request refers to objects returned here
        for (auto const& each : all_) {
            if (each->work != nullptr) { engine_->give_back(each->work); }
        }
    }

    void send(request_ref request, call& context, void* tag) override {
        under_way& one = take();
        one.request = request;
        one.context = &context;
        one.tag = tag;
        one.begun = io_.time().steady();
        open_operation(*this, context);
        result<void> ready;
        request.visit([&]<class Request>(Request const& sent) {
            if constexpr (std::same_as<Request, read_entity>) {
                one.read = {std::string{sent.table}, std::string{sent.partition_key}, std::string{sent.row_key}, {}};
                ready = begin(*engine_, one.read, context, *one.work, &one.waiting);
            } else if constexpr (std::same_as<Request, read_entities>) {
                ready = begin(*engine_, *sent.asked, context, *one.work, &one.waiting);
            } else {
                ready = begin(*engine_, sent, context, *one.work, &one.waiting);
            }
        });
        go(one, std::move(ready));
    }
    void cancel(void* tag, error const& why) override {
        for (auto const& each : all_) {
            if (each->work == nullptr || each->tag != tag) { continue; }
            if (each->waiting.pending) {
                each->waiting.pending = false;
                error ended = why;
                ended.effect = effect::none;
                refused_.push_back({each.get(), failure{std::move(ended)}});
            } else {
                below_->cancel(each.get(), why);
            }
        }
    }
    void poll(steady_time now, completion_sink sink) override {
        continue_waiting();
        refused_.take_each([&](refused& each) {
            each.of->request.visit([&]<class Request>(Request const& sent) {
                result<response_of<Request>> answer{std::move(each.why).as_failure()};
                deliver(*each.of, sent, answer, sink);
            });
        });
        below_->poll(now, [&](void* tag, result<http_response>&& response) {
            auto& one = *static_cast<under_way*>(tag);
            one.request.visit([&]<class Request>(Request const& sent) {
                if constexpr (std::same_as<Request, read_entity>) {
                    result<get_entity::response> found{std::in_place};
                    if (finish(*engine_, one.read, response, *one.work, *one.context, found)) {
                        result<void> shown = found ? (*sent.visit)(found->entity.view(), found->etag, found->stale)
                                                   : result<void>{std::move(found).as_failure()};
                        return deliver(one, sent, shown, sink);
                    }
                    go(one, write(*engine_, one.read, *one.context, *one.work, &one.waiting));
                } else if constexpr (std::same_as<Request, read_entities>) {
                    result<query_entities::response> found{std::in_place};
                    if (finish(*engine_, *sent.asked, response, *one.work, *one.context, found)) {
                        auto shown = show_page(std::move(found), *sent.visit);
                        return deliver(one, sent, shown, sink);
                    }
                    go(one, write(*engine_, *sent.asked, *one.context, *one.work, &one.waiting));
                } else {
                    result<response_of<Request>> answer{std::in_place};
                    if (finish(*engine_, sent, response, *one.work, *one.context, answer)) {
                        return deliver(one, sent, answer, sink);
                    }
                    go(one, write(*engine_, sent, *one.context, *one.work, &one.waiting)); // sends it to the primary
                }
            });
        });
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override {
        if (!refused_.empty()) { return (steady_time::min)(); }
        constexpr std::chrono::milliseconds slice{2}; // the arrival of a token does not wake the loop
        steady_time const look = waiting_ > 0 ? io_.time().steady() + slice : (steady_time::max)();
        return below_->wakes_at() < look ? below_->wakes_at() : look;
    }

private:
    struct under_way {
        exchange* work{}; ///< null when idle
        request_ref request;
        call* context{};
        void* tag{};
        steady_time begun;
        get_entity read;    ///< a `read_entity` in the form that is sent
        token_wait waiting; ///< pending while it waits for a token
    };
    struct refused {
        under_way* of;
        result<void> why;
    };

    [[nodiscard]] under_way& take() {
        if (idle_.empty()) {
            all_.push_back(std::make_unique<under_way>());
            idle_.reserve(all_.size()); // returning an exchange allocates nothing
            idle_.push_back(all_.back().get());
        }
        under_way& taken = *idle_.back();
        taken.work = engine_->take();
        taken.waiting = {};
        idle_.pop_back();
        return taken;
    }
    /// Sends the requests for which a token has arrived, and ends those that have waited too long.
    void continue_waiting() {
        if (waiting_ == 0) { return; }
        waiting_ = 0;
        for (auto const& each : all_) {
            if (each->work == nullptr || !each->waiting.pending) { continue; }
            each->waiting.pending = false;
            auto ready = check_call(*each->context, *engine_->options().time);
            if (ready) {
                ready = engine_->authorize(each->work->request, each->work->place, *each->context, &each->waiting);
            }
            go(*each, std::move(ready));
        }
    }
    /// Sends the written request, unless writing failed.
    void go(under_way& one, result<void> ready) {
        if (ready && one.waiting.pending) {
            ++waiting_;
        } else if (ready) {
            one.waiting = {};
            below_->send(one.work->request, engine_->limits_of(*one.context), &one);
        } else {
            refused_.push_back({&one, std::move(ready)});
        }
    }
    /// Releases the record first: the sink may send, and reuse that very record.
    template <class Request>
    void deliver(under_way& one, Request const& sent, result<response_of<Request>>& answer, completion_sink sink) {
        completion done{sent, answer, *one.context, one.tag, one.begun};
        close_operation(*this, done, io_.time().steady());
        engine_->give_back(std::exchange(one.work, nullptr));
        idle_.push_back(&one);
        sink(done);
    }

    shared<rest_engine> engine_;
    shared<http_channel> below_;
    io_driver& io_;
    std::vector<std::unique_ptr<under_way>> all_;
    std::vector<under_way*> idle_;
    pending_list<refused> refused_;
    std::size_t waiting_{}; ///< number of requests that wait for a token; may be too large after a cancellation
};

ENTITABLE_DECL shared<channel> open_rest_channel(
    shared<rest_engine> engine, shared<http_channel> below, io_driver& io) {
    return shared<channel>{new rest_channel{std::move(engine), std::move(below), io}};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
