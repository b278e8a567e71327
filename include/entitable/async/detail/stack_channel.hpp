// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The channel of code on its own stack: its requests are in flight in the loop.

#include <entitable/async/detail/own_stack.hpp>
#include <entitable/core/detail/pending_list.hpp>

#include <memory>
#include <unordered_map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Many concurrent requests of one stack. Its driver waits by the `stack_clock`, which a response wakes. Send and poll on the same stack.
class stack_channel final : public channel {
public:
    stack_channel(loop_core& core, loop_way& way) noexcept : core_(core), way_(way) {}
    /// Cancels the requests in flight and waits for them.
    ~stack_channel() override {
        for (auto& [tag, each] : all_) { each->take_back_of_channel(); }
    }

    void send(request_ref request, call& context, void* tag) override {
        own_stack* const stack = own_stack::of(core_);
        if (stack != nullptr) { stack->count_refusal(); }
        request.visit([&]<class Request>(Request const& asked) {
            if (stack == nullptr) {
                all_.emplace(tag, std::make_unique<refused_of<Request>>(asked, context, tag));
                return done_.push_back(tag);
            }
            auto made = std::make_unique<one_of<Request>>(*this, *stack, way_, context, asked, tag);
            one_of<Request>& sent = *made;
            all_.emplace(tag, std::move(made));
            sent.go();
        });
    }
    void cancel(void* tag, error const& why) override {
        if (auto const at = all_.find(tag); at != all_.end()) { at->second->cancel_of_channel(why); }
    }
    void poll(steady_time, completion_sink sink) override {
        own_stack* const stack = own_stack::of(core_);
        if (stack != nullptr) { stack->set_answered(false); }
        if (stack == nullptr || stack->ending()) {
            for (auto& [tag, each] : all_) { each->take_back_of_channel(); }
        }
        done_.take_each([&](void* tag) {
            auto const node = all_.extract(tag); // the tag may be reused from here on
            node.mapped()->complete(sink);
        });
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override {
        return !done_.empty() ? (steady_time::min)() : all_.empty() ? (steady_time::max)() : own_stack::for_ever;
    }

private:
    class any_one {
    public:
        virtual ~any_one() = default;
        virtual void complete(completion_sink sink) = 0;
        virtual void take_back_of_channel() = 0;
        virtual void cancel_of_channel(error const& why) = 0;
    };
    /// Refuses a request that was not sent from this stack.
    template <table_request Request>
    class refused_of final : public any_one {
    public:
        refused_of(Request const& asked, call& with, void* tag) noexcept : asked_(asked), context_(with), tag_(tag) {}
        void complete(completion_sink sink) override {
            result<response_of<Request>> answer = not_on_a_stack();
            completion done{asked_, answer, context_, tag_, steady_time{}};
            sink(done);
        }
        void take_back_of_channel() override {}
        void cancel_of_channel(error const&) override {}

    private:
        Request const& asked_;
        call& context_;
        void* tag_;
    };
    template <table_request Request>
    class one_of final : public any_one, stack_request<Request> {
    public:
        one_of(stack_channel& in, own_stack& of, loop_way& to, call& with, Request const& asked, void* tag)
            : stack_request<Request>(of, to, with),
              in_(in),
              asked_(asked),
              tag_(tag),
              begun_(in.core_.time().steady()) {}

        void go() {
            if (this->way->at_once && !this->stack().stopped()) {
                if (request_ref{asked_}.writes()) { this->stack().note_write(); }
                this->answer_.emplace(this->way->through.execute(asked_, this->context));
                return this->settle();
            }
            this->begin(asked_);
        }
        void complete(completion_sink sink) override {
            auto answer = this->finish();
            completion done{asked_, answer, this->outside(), tag_, begun_};
            sink(done);
        }
        void take_back_of_channel() override {
            if (!this->settled()) { this->take_back(); }
        }
        void cancel_of_channel(error const& why) override {
            if (!this->settled()) { this->cancel_here(why); }
        }

    private:
        void told() override {
            in_.done_.push_back(tag_);
            this->stack().set_answered(true);
        }

        stack_channel& in_;
        Request const& asked_;
        void* tag_;
        steady_time begun_;
    };

    loop_core& core_;
    loop_way& way_;
    std::unordered_map<void*, std::unique_ptr<any_one>> all_;
    pending_list<void*> done_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
