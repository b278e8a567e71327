// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `run_worker`: claims the messages of a queue, calls a function for each message, and completes or releases it.
///
///     run_worker(queue, [&](deletion const& it) { return remove(it); }, {.threads = 4, .stop = stopping.token()}).value();

#include <entitable/core/try.hpp>
#include <entitable/work/messaging/claimed.hpp>
#include <entitable/work/messaging/detail/worker_crew.hpp>
#include <entitable/work/messaging/message_queue.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The receipt of a message while it is handled and renewed, in any queue.
template <class Item>
class leased_item {
public:
    explicit leased_item(Item& item, bool) : item_(item) {}

    static constexpr bool renewable_beside_a_handler = false; ///< the handler uses the item itself
    [[nodiscard]] result<void> renew(std::chrono::nanoseconds visibility) { return item_.renew(visibility); }
    [[nodiscard]] std::chrono::nanoseconds remaining() const { return item_.remaining(); }
    [[nodiscard]] bool settle() { return false; }

private:
    Item& item_;
};

/// Renewals use a separate receipt. A table queue recognizes a renewal by its claim and not only by the version, so the handler can use the other
/// receipt at the same time, as a saga does.
template <class T, class Core>
class leased_item<claimed<T, Core>> {
public:
    leased_item(claimed<T, Core>& item, bool handler_has_item)
        : item_(item),
          core_(claimed_access::queue_of(item).sending_once()),
          own_(claimed_access::receipt_of(item)),
          handler_has_item_(handler_has_item) {
        if constexpr (renewable_beside_a_handler) { before_ = own_.version; }
    }

    static constexpr bool renewable_beside_a_handler = std::is_same_v<Core, queue_core>;
    [[nodiscard]] result<void> renew(std::chrono::nanoseconds visibility) { return core_.renew(own_, visibility); }
    [[nodiscard]] std::chrono::nanoseconds remaining() const { return own_.remaining(core_.time().steady()); }
    [[nodiscard]] bool settle() {
        auto& held = claimed_access::receipt_of(item_);
        bool untouched = !handler_has_item_;
        if constexpr (renewable_beside_a_handler) { untouched = untouched || (!held.spent && held.version == before_); }
        if (untouched) { held = own_; }
        return handler_has_item_ && held.spent;
    }

private:
    claimed<T, Core>& item_;
    Core core_;
    typename Core::receipt_type own_;
    bool handler_has_item_;
    etag before_{};
};

/// The parameter of a handler.
enum class handler_form : std::uint8_t {
    none,
    message,
    message_and_context,
    item,
    item_and_context,
    saga,
};

template <class Handler, class T, class Item>
[[nodiscard]] consteval handler_form form_of_handler() {
    if constexpr (std::is_invocable_v<Handler const&, T const&>) {
        return handler_form::message;
    } else if constexpr (std::is_invocable_v<Handler const&, T const&, work_context const&>) {
        return handler_form::message_and_context;
    } else if constexpr (std::is_invocable_v<Handler const&, Item&>) {
        return handler_form::item;
    } else if constexpr (std::is_invocable_v<Handler const&, Item&, work_context const&>) {
        return handler_form::item_and_context;
    } else if constexpr (requires(Handler const& handle, Item& item) { handle.resume(item); }) {
        return handler_form::saga;
    } else {
        return handler_form::none;
    }
}

template <handler_form Form, class Handler, class Item>
[[nodiscard]] auto call_handler(Handler const& handle, Item& item, work_context const& context) {
    if constexpr (Form == handler_form::message) {
        return handle(item.message());
    } else if constexpr (Form == handler_form::message_and_context) {
        return handle(item.message(), context);
    } else if constexpr (Form == handler_form::item) {
        return handle(item);
    } else if constexpr (Form == handler_form::item_and_context) {
        return handle(item, context);
    } else {
        return handle.resume(item);
    }
}

template <class Q>
[[nodiscard]] clock& clock_of_queue(Q const& queue) {
    if constexpr (requires { queue.options().time; }) {
        return *queue.options().time;
    } else {
        return system_clock();
    }
}

/// Claims a message and handles it; false if there was none.
template <handler_form Form, class Q, class Handler>
[[nodiscard]] result<bool> take_a_turn(Q const& queue, Handler const& handle, worker_thread& by) {
    claim_options how;
    how.wait = by.run().options().wait;
    how.stop = by.run().stop();
    ENTITABLE_TRY(auto got, queue.claim(how));
    if (!got) { return false; }
    auto& item = *got;
    using item_type = std::remove_reference_t<decltype(item)>;
    constexpr bool has_item = Form != handler_form::message && Form != handler_form::message_and_context;
    leased_item<item_type> leased{item, has_item};
    std::chrono::nanoseconds visibility = item.remaining();
    bool last = false;
    if constexpr (requires { queue.options().visibility; }) {
        visibility = queue.options().visibility;
        last = item.deliveries() >= queue.options().max_deliveries;
    }
    auto const renew = [&] { return leased.renew(visibility); };
    auto const remaining = [&] { return leased.remaining(); };
    auto const handler = [&](work_context const& context) {
        return result<void>{call_handler<Form>(handle, item, context)};
    };
    auto const settle = [&] { return leased.settle(); };
    auto const complete = [&] { return item.complete(); };
    auto const fail = [&](std::string_view why, std::chrono::nanoseconds delay) { return item.fail(why, delay); };
    by.work({std::string{item.id()}, item.deliveries(), last,
        !has_item || leased_item<item_type>::renewable_beside_a_handler, visibility, renew, remaining, handler, settle,
        complete, fail});
    return true;
}

} // namespace detail

/// Claims messages and calls `handle` for each message. If the handler succeeds, the message is completed. If it returns an error, the
/// message is released with that error as its reason, and delivered again after `worker_options::retry`, until it becomes a dead letter.
/// The claim is renewed while the handler runs. Returns once `worker_options::stop` is set and the claimed messages have been handled, or
/// when no message has arrived for `worker_options::wait`. A message may be handled twice: by this worker, and by
/// another worker after it.
///
/// `handle` takes the message, `result<void>(T const&)`, and optionally a `work_context const&`. Or it takes the claim,
/// `result<void>(claimed<T>&)`, whose content is `message()`, and may complete or release it; in this case the worker
/// renews only claims of a `table_queue`, and the handler renews claims of other queues. Or `handle` is a saga, which
/// is resumed. It may return any `result`; the value is dropped.
///
/// Threads: the handler runs on the caller's thread and on `threads` - 1 other threads, and is called as const. Each of these threads has a
/// second thread that renews its message and sleeps otherwise. All threads have ended on return.
///
/// Errors: permanent errors of a claim, such as ResourceNotFound before `create`: the other threads finish their messages, and the error is
/// returned. After lost responses, busy stores and timeouts the worker retries without limit, and reports them to
/// `worker_options::on_error`. OutOfRangeInput for invalid options.
///
/// Exceptions: if the handler or `on_error` throws, the message is released as after an error, the other threads finish their messages, and
/// run_worker throws the exception on the caller's thread. It does the same with the std::system_error thrown if a thread cannot be started.
template <class Q, class Handler>
    requires message_queue<Q, typename Q::value_type>
[[nodiscard]] result<worker_report> run_worker(
    Q const& queue, Handler const& handle, worker_options const& options = {}) {
    using item = typename decltype(queue.claim({}))::value_type::value_type;
    constexpr auto form = detail::form_of_handler<Handler, typename Q::value_type, item>();
    static_assert(form != detail::handler_form::none,
        "the handler of run_worker must take the message by const reference and optionally a work_context const&, or "
        "the claim by reference");
    if constexpr (form != detail::handler_form::none) {
        using answer =
            decltype(detail::call_handler<form>(handle, std::declval<item&>(), std::declval<work_context const&>()));
        static_assert(std::is_constructible_v<result<void>, answer>,
            "the handler of run_worker must return an entitable::result");
        if constexpr (std::is_constructible_v<result<void>, answer>) {
            return detail::run_crew(options, detail::clock_of_queue(queue),
                [&](detail::worker_thread& by) { return detail::take_a_turn<form>(queue, handle, by); });
        }
    }
}

ENTITABLE_END_NAMESPACE
