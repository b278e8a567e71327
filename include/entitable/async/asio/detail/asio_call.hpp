// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A call as a composed operation of Boost.Asio: one coroutine frame, in memory of the handler's allocator, which holds the handler, work
/// on both executors, and the scope that a cancellation ends.

#include <entitable/async/asio/detail/asio_state.hpp>
#include <entitable/async/asio/error_category.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/version.hpp>
// Boost 1.77 and newer.
#if BOOST_ASIO_VERSION >= 102000
#include <boost/asio/associated_cancellation_slot.hpp>
#define ENTITABLE_ASIO_CANCELS 1
#else
#define ENTITABLE_ASIO_CANCELS 0
#endif

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The end of a call: an exception, or a result.
template <class T>
struct call_end {
    std::exception_ptr thrown;
    std::optional<result<T>> value;
};

/// Completes `void(error_code, T)`, or `void(error_code)` if there is no value.
class tells_code {
public:
    template <class T>
    struct signature_of {
        using type = void(boost::system::error_code, T);
    };

    explicit tells_code(call_diagnostics* whole) noexcept : whole_(whole) {}

    template <class Handler, class T>
    void operator()(Handler&& handler, call_end<T>&& end) const {
        boost::system::error_code code;
        if (!end.value) {
            end.value.emplace(failure{error_code::internal_error, "a function of the program threw an exception"});
        }
        if (!*end.value) { code = make_error_code(end.value->error().code); }
        if (whole_ != nullptr) {
            whole_->problem.reset();
            if (!*end.value) { whole_->problem.emplace(end.value->error()); }
            whole_->thrown = std::move(end.thrown);
        }
        if constexpr (std::is_void_v<T>) {
            std::forward<Handler>(handler)(code);
        } else if (*end.value) {
            std::forward<Handler>(handler)(code, std::move(**end.value));
        } else {
            std::forward<Handler>(handler)(code, T{});
        }
    }

private:
    call_diagnostics* whole_;
};

template <>
struct tells_code::signature_of<void> {
    using type = void(boost::system::error_code);
};

/// Completes `void(std::exception_ptr, result<T>)`.
struct tells_result {
    template <class T>
    struct signature_of {
        using type = void(std::exception_ptr, result<T>);
    };

    template <class Handler, class T>
    void operator()(Handler&& handler, call_end<T>&& end) const {
        if (!end.value) { end.value.emplace(failure{error_code::internal_error, "an exception escaped the task"}); }
        std::forward<Handler>(handler)(std::move(end.thrown), *std::move(end.value));
    }
};

/// The value of the result that an awaitable returns.
template <class Awaitable>
struct awaited_result {
    static auto returned() {
        if constexpr (requires(Awaitable& one) { std::move(one).operator co_await(); }) {
            return std::type_identity<
                std::remove_cvref_t<decltype(std::declval<Awaitable>().operator co_await().await_resume())>>{};
        } else {
            return std::type_identity<std::remove_cvref_t<decltype(std::declval<Awaitable&>().await_resume())>>{};
        }
    }
    using whole = typename decltype(returned())::type;
    static_assert(is_result<whole>, "a call with a completion token needs an awaitable of an entitable::result");
    using type = typename whole::value_type;
};

/// Cancels a call from any thread, as long as the call is under way. All but the constructor and `ask` run on the strand.
class call_cancelling : public std::enable_shared_from_this<call_cancelling> {
public:
    explicit call_cancelling(boost::asio::any_io_executor on) : on_(std::move(on)) {}

    /// The call waits in this scope from now on.
    void enter(wait_scope& scope) {
        scope_ = &scope;
        end();
    }
    void leave() noexcept { scope_ = nullptr; }
#if ENTITABLE_ASIO_CANCELS
    void ask(boost::asio::cancellation_type type) {
        using boost::asio::cancellation_type;
        if (type == cancellation_type::none) { return; }
        bool const total_alone = (type & ~cancellation_type::total) == cancellation_type::none;
        asked_.fetch_or(total_alone ? without_effect : in_any_case, std::memory_order_relaxed);
        boost::asio::post(on_, [self = shared_from_this()] { self->end(); });
    }
#endif

private:
    static constexpr unsigned without_effect = 1;
    static constexpr unsigned in_any_case = 2;

    void end() {
        unsigned const asked = asked_.load(std::memory_order_relaxed);
        if (scope_ == nullptr || asked == 0) { return; }
        if ((asked & in_any_case) != 0 || !scope_->wrote()) {
            scope_->end({error_code::cancelled, "the call was cancelled by its cancellation slot"});
        }
    }

    boost::asio::any_io_executor on_;
    wait_scope* scope_{};
    std::atomic<unsigned> asked_{};
};

/// What a call needs at its end.
template <class Handler, class Teller, class T>
struct call_ending {
    using executor = boost::asio::associated_executor_t<Handler, boost::asio::any_io_executor>;

    /// Calls the handler on its executor, after this function has returned.
    void post() && {
        executor const to = handler_work.get_executor(); // the work guard outlives the post
        boost::asio::post(to, told{std::move(handler), std::move(teller), std::move(end)});
    }

    Handler handler;
    Teller teller;
    boost::asio::executor_work_guard<executor> handler_work;
    boost::asio::executor_work_guard<boost::asio::any_io_executor> loop_work;
    call_end<T> end{};

private:
    struct told {
        using allocator_type = boost::asio::associated_allocator_t<Handler>;

        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return boost::asio::get_associated_allocator(handler);
        }
        void operator()() {
#if ENTITABLE_ASIO_CANCELS
            if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
                slot.clear();
            }
#endif
            teller(std::move(handler), std::move(end));
        }

        Handler handler;
        Teller teller;
        call_end<T> end;
    };
};

/// Makes what a call needs at its end, and so keeps both executors busy: work of a strand is work of the executor below it, which costs less.
template <class T, class Handler, class Teller>
[[nodiscard]] call_ending<Handler, Teller, T> make_call_ending(Handler&& handler, Teller teller,
    boost::asio::any_io_executor const& on, boost::asio::any_io_executor const& below) {
    auto work = boost::asio::make_work_guard(boost::asio::get_associated_executor(handler, on));
    return {
        std::forward<Handler>(handler), std::move(teller), std::move(work), boost::asio::make_work_guard(below), {}};
}

/// The coroutine of one call.
template <class Handler, class Teller, class T, class Make>
class call_frame {
public:
    using ending_type = call_ending<Handler, Teller, T>;

    class promise_type final : public spawned_frame {
    public:
        promise_type(ending_type& ending, asio_state& in, Make const&) : ending_(ending), core_(in.loop().core()) {
            frame = std::coroutine_handle<promise_type>::from_promise(*this);
        }

        [[nodiscard]] call_frame get_return_object() noexcept { return call_frame{*this}; }
        [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
        /// Frees the memory of the call before its handler is posted.
        struct at_end {
            [[nodiscard]] bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<promise_type> ended) const noexcept {
                promise_type& promise = ended.promise();
                promise.leave();
                ending_type ending{std::move(promise.ending_)};
                ended.destroy();
                std::move(ending).post();
            }
            void await_resume() const noexcept {}
        };
        [[nodiscard]] at_end final_suspend() const noexcept { return {}; }
        void return_value(result<T>&& value) { ending_.end.value.emplace(std::move(value)); }
        void unhandled_exception() noexcept { ending_.end.thrown = std::current_exception(); }

        /// Enters the scope of the call: `co_await` of its own promise.
        struct entering {
            [[nodiscard]] bool await_ready() const noexcept { return false; }
            bool await_suspend(std::coroutine_handle<promise_type> of) const {
                of.promise().enter();
                return false;
            }
            void await_resume() const noexcept {}
        };

        /// Lets the cancellation slot of the handler end the call. Called once, before the call begins.
        void watch_slot([[maybe_unused]] boost::asio::any_io_executor const& on) {
#if ENTITABLE_ASIO_CANCELS
            auto slot = boost::asio::get_associated_cancellation_slot(ending_.handler);
            if (!slot.is_connected()) { return; }
            cancelling_ =
                std::allocate_shared<call_cancelling>(boost::asio::get_associated_allocator(ending_.handler), on);
            slot.assign([weak = std::weak_ptr<call_cancelling>{cancelling_}](boost::asio::cancellation_type type) {
                if (auto const alive = weak.lock()) { alive->ask(type); }
            });
#endif
        }

        static void* operator new(std::size_t bytes, ending_type& ending, asio_state&, Make const&) {
            memory_of allocator{boost::asio::get_associated_allocator(ending.handler)};
            std::size_t const units = units_for(bytes);
            auto* const begin = std::allocator_traits<memory_of>::allocate(allocator, units);
            ::new (static_cast<void*>(begin + units_of_frame(bytes))) memory_of(std::move(allocator));
            return begin;
        }
        static void operator delete(void* memory, std::size_t bytes) noexcept {
            auto* const begin = static_cast<unit*>(memory);
            auto* const stored = std::launder(reinterpret_cast<memory_of*>(begin + units_of_frame(bytes)));
            memory_of allocator{std::move(*stored)};
            stored->~memory_of();
            std::allocator_traits<memory_of>::deallocate(allocator, begin, units_for(bytes));
        }

    private:
        struct alignas(std::max_align_t) unit {
            std::byte bytes[sizeof(std::max_align_t)];
        };
        using memory_of =
            typename std::allocator_traits<boost::asio::associated_allocator_t<Handler>>::template rebind_alloc<unit>;

        [[nodiscard]] static constexpr std::size_t units_of_frame(std::size_t bytes) noexcept {
            return (bytes + sizeof(unit) - 1) / sizeof(unit);
        }
        /// The frame, and behind it the allocator.
        [[nodiscard]] static constexpr std::size_t units_for(std::size_t bytes) noexcept {
            return units_of_frame(bytes) + (sizeof(memory_of) + sizeof(unit) - 1) / sizeof(unit);
        }
        void enter() {
            scope_.emplace(&core_.root());
            core_.enter(*scope_);
            if (cancelling_) { cancelling_->enter(*scope_); }
        }
        void leave() noexcept {
            if (cancelling_) { cancelling_->leave(); }
            core_.enter(core_.root());
        }

        ending_type& ending_; ///< the parameter of the coroutine
        loop_core& core_;
        std::optional<wait_scope> scope_;
        std::shared_ptr<call_cancelling> cancelling_;

    public:
        ~promise_type() {
            if (cancelling_) { cancelling_->leave(); }
        }
    };

    [[nodiscard]] promise_type& promise() const noexcept { return promise_; }

private:
    explicit call_frame(promise_type& of) noexcept : promise_(of) {}

    promise_type& promise_;
};

/// `make(state)` returns the awaitable of the call; it is called on the strand.
template <class Handler, class Teller, class T, class Make>
call_frame<Handler, Teller, T, Make> call_of(
    [[maybe_unused]] call_ending<Handler, Teller, T> ending, asio_state& in, Make make) {
    co_await typename call_frame<Handler, Teller, T, Make>::promise_type::entering{};
    co_return co_await make(in);
}

/// Names a loop without owning it.
struct asio_loop_name {
    explicit asio_loop_name(std::shared_ptr<asio_state> const& of) : state(of), below(of->below()) {}

    /// Returns the strand of the loop; the executor below it if the loop no longer exists.
    [[nodiscard]] boost::asio::any_io_executor executor() const {
        auto const alive = state.lock();
        return alive ? alive->on() : below;
    }

    std::weak_ptr<asio_state> state;
    boost::asio::any_io_executor below;
};

/// Initiates a call in a loop. If the loop no longer exists, the call ends with Cancelled.
template <class T, class Teller>
class call_initiation {
public:
    using executor_type = boost::asio::any_io_executor;

    explicit call_initiation(asio_loop_name in) : in_(std::move(in)) {}

    [[nodiscard]] executor_type get_executor() const { return in_.executor(); }
    template <class Handler, class Make>
    void operator()(Handler&& handler, Teller teller, Make&& make) const {
        executor_type const on = in_.executor();
        auto ending = make_call_ending<T>(
            std::decay_t<Handler>(std::forward<Handler>(handler)), std::move(teller), on, in_.below);
        auto const in = in_.state.lock();
        if (!in) {
            ending.end.value.emplace(failure{error_code::cancelled, "the asio_loop of the call was destroyed"});
            return std::move(ending).post();
        }
        auto& promise = call_of(std::move(ending), *in, std::decay_t<Make>(std::forward<Make>(make))).promise();
        promise.watch_slot(on);
        in->begin(promise);
    }

private:
    asio_loop_name in_;
};

/// Starts a call: completes `token` as `teller` says.
template <class T, class Teller, class Token, class Make>
auto begin_call(asio_loop_name in, Teller teller, Token&& token, Make make) {
    using signature = typename Teller::template signature_of<T>::type;
    return boost::asio::async_initiate<Token, signature>(
        call_initiation<T, Teller>{std::move(in)}, token, std::move(teller), std::move(make));
}

} // namespace detail
ENTITABLE_END_NAMESPACE
