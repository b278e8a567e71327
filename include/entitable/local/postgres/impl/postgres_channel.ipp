// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// The channel: each request runs the code of the blocking call, on a stack of its own.

#include <entitable/core/cancellation.hpp>
#include <entitable/core/detail/pending_list.hpp>
#include <entitable/core/transport/channel.hpp>
#include <entitable/local/postgres/detail/pg_lane.hpp>
#include <entitable/local/postgres/postgres_backend.hpp>

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <unordered_map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class pg_channel final : public channel {
public:
    pg_channel(postgres_backend backend, io_driver& io)
        : backend_(std::move(backend)),
          fibers_(io, backend_.store().connections().take_stacks()),
          lanes_(backend_.store().connections(), fibers_) {
        fibers_.lanes = &lanes_;
    }
    /// Ends what is in flight: a write that was sent may or may not be applied.
    ~pg_channel() override {
        for (auto& [tag, each] : all_) { each->end_early(gone()); }
        fibers_.end_all();
        backend_.store().connections().keep_stacks(fibers_.take_memory());
    }

    void send(request_ref request, call& context, void* tag) override {
        request.visit([&]<class Request>(Request const& asked) {
            auto made = std::make_unique<job_of<Request>>(*this, asked, context, tag);
            job& added = *made;
            all_.emplace(tag, std::move(made));
            waiting_.push_back(&added);
        });
    }
    void cancel(void* tag, error const& why) override {
        if (auto const at = all_.find(tag); at != all_.end()) { at->second->end_early(why); }
    }
    void poll(steady_time now, completion_sink sink) override {
        {
            pg_fibers* const before = std::exchange(pg_fibers::polled(), &fibers_);
            lanes_.receive();
            fibers_.fire(now);
            fibers_.run_ready();
            begin_waiting();
            fibers_.run_ready();
            lanes_.flush();
            pg_fibers::polled() = before;
        }
        done_.take_each([&](job* each) {
            auto const node = all_.extract(each->tag); // the tag may be reused from here on
            begin_waiting();
            each->complete(sink, *this);
        });
    }
    /// The inserts of the lanes.
    [[nodiscard]] std::size_t group_size() const noexcept override {
        return pg_lanes::most_grouped(backend_.store().connections());
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override {
        bool const begins = !waiting_.empty() && running_ < most_running;
        return !done_.empty() || begins ? (steady_time::min)() : fibers_.wakes_at();
    }

private:
    static error gone() { return {error_code::cancelled, "the channel was destroyed"}; }

    class job : public pg_job {
    public:
        job(pg_channel& in, call& with, void* as) noexcept : tag(as), in_(in), context_(with) {}
        /// Cancels the call. If the request was not begun, its answer is the error.
        void end_early(error const& why) {
            if (ended_ || why_) { return; }
            why_.emplace(why);
            if (on == nullptr) { return; }
            token_ = std::exchange(context_.cancellation, cancelled_token());
            on->wake();
        }
        virtual void complete(completion_sink sink, pg_channel& in) = 0;

        void* const tag;
        pg_fiber* on{}; ///< null before it is begun

    protected:
        static cancellation_token cancelled_token() {
            cancellation_source source;
            source.cancel();
            return source.token();
        }
        void end() {
            ended_ = true;
            if (token_) { context_.cancellation = *std::move(token_); }
            --in_.running_;
            in_.done_.push_back(this);
        }
        pg_channel& in_;
        call& context_;
        std::optional<error> why_; ///< why it was ended early
        std::optional<cancellation_token> token_;
        bool ended_{};
    };

    template <table_request Request>
    class job_of final : public job {
    public:
        job_of(pg_channel& in, Request const& asked, call& with, void* as) noexcept
            : job(in, with, as), asked_(asked), begun_(in.fibers_.io().time().steady()) {}

        void run() noexcept override {
            this->on = pg_fiber::running();
            if (this->why_) {
                answer_.emplace(failure{*this->why_});
                return this->end();
            }
#if ENTITABLE_HAS_EXCEPTIONS
            try {
#endif
                answer_.emplace(entitable::execute(this->in_.backend_, asked_, this->context_));
#if ENTITABLE_HAS_EXCEPTIONS
            } catch (...) { thrown_ = std::current_exception(); }
#endif
            if (this->why_ && answer_ && !*answer_ && answer_->error().code == error_code::cancelled) {
                auto const known = answer_->error().effect;
                failure ended{*this->why_};
                ended.error().effect = known;
                answer_.emplace(std::move(ended));
            }
            this->end();
        }
        void complete(completion_sink sink, pg_channel&) override {
            if (thrown_) { answer_.emplace(failure{error_code::internal_error, "an exception ended the request"}); }
            completion done{asked_, *answer_, this->context_, this->tag, begun_};
            sink(done);
            if (thrown_) { std::rethrow_exception(thrown_); }
        }

    private:
        Request const& asked_;
        steady_time begun_;
        std::optional<result<response_of<Request>>> answer_;
        std::exception_ptr thrown_;
    };

    static constexpr std::size_t most_running = 1000;

    void begin_waiting() {
        while (!waiting_.empty() && running_ < most_running) {
            if (!fibers_.begin(*waiting_.front())) { return; } // no memory for a stack: it waits for the end of another
            ++running_;
            waiting_.pop_front();
        }
    }

    postgres_backend backend_;
    pg_fibers fibers_;
    pg_lanes lanes_;
    std::unordered_map<void*, std::unique_ptr<job>> all_;
    std::deque<job*> waiting_;
    pending_list<job*> done_;
    std::size_t running_{};
};

} // namespace detail

ENTITABLE_DECL shared<channel> postgres_backend::open(io_driver& io) const {
    if (!has_store() || &io.time() != &system_clock() || &store().time() != &system_clock()) { return {}; }
    return shared<channel>{new detail::pg_channel{*this, io}};
}

ENTITABLE_END_NAMESPACE
