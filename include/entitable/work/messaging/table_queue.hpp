// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `table_queue<T>`: a queue of work in a table, on any transport.

#include <entitable/client/batch.hpp>
#include <entitable/client/transaction.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/messaging/claimed.hpp>
#include <entitable/work/messaging/detail/system_changes.hpp>
#include <entitable/work/messaging/message_queue.hpp>

#include <algorithm>
#include <span>

ENTITABLE_BEGIN_NAMESPACE
/// A message that was claimed `max_deliveries` times and not completed.
template <mapped_entity T>
struct dead_letter {
    std::string id;             ///< id of the message
    T message{};                ///< content of the message
    std::uint32_t deliveries{}; ///< number of claims; for a saga: since the last recorded step
    std::string reason;         ///< reason of the last `fail`; empty if there was none
    row stored;                 ///< stored row, used by `requeue` and `purge`
};

/// A queue of messages, which are entities.
template <class T>
class table_queue {
    static_assert(sizeof(detail::mapping_of<T>) != 0);

public:
    template <class... Given>
    explicit table_queue(Given const&...) {} ///< does not compile
};

/// A queue of messages in a separate table. One worker at a time holds a claim of a message; the message is delivered again until it is completed
/// or was claimed `max_deliveries` times. Delivery is at least once.
///
/// The queue has lanes, one partition each, whose messages are sorted by time. A worker visits the lanes in turn and claims the first
/// available message; it reuses rows that the worker read within the last second. A claimed message is invisible until
/// `visible_at`, by the clock of the store, whose responses contain the time (`call::server_date`). If the responses of
/// a transport contain no time, the clock of this program is used.
///
/// Errors: those of the table; ResourceNotFound or TableNotFound before `create`; OutOfRangeInput for invalid options. The stored rows settle a
/// request of unknown effect; only if they cannot be read, or after `max_attempts`, the error has `effect::unknown`. Then call `enqueue` again with
/// the same id.
///
/// Cost: each object reads the number of lanes once, in one request. Thread safety: safe to use from several threads. Copies share the positions
/// in the lanes; a worker that needs separate positions makes its own queue object.
template <mapped_entity T>
class table_queue<T> {
    static_assert(!detail::has_queue_property<T>(), "property names that begin with Queue_ are reserved for the queue");

public:
    using value_type = T;                   ///< type of the messages
    static constexpr bool keeps_ids = true; ///< see `message_queue`

    /// Makes a queue in the table `name`; sends nothing yet.
    table_queue(any_store through, std::string name, queue_options options = {})
        : core_(std::move(through), std::move(name), std::move(options)) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.table().name(); } ///< name of the table
    [[nodiscard]] queue_options const& options() const noexcept { return core_.options(); } ///< the given options
    /// Creates the table, and stores the number of lanes, unless they exist. True if this call created the table. OutOfRangeInput for invalid
    /// options.
    [[nodiscard]] result<bool> create() const { return core_.create(); }

    /// Enqueues a message. Repeated calls with the same id enqueue it once, until `sweep` removes the id. Cost: one request, two with a delay.
    [[nodiscard]] result<enqueued> enqueue(T const& message, enqueue_options const& how = {}) const {
        ENTITABLE_TRY(auto made, to_row(message));
        auto const at = core_.plan(how);
        return at ? core_.enqueue(*at, made.view()) : result<enqueued>{failure{at.error()}};
    }
    /// Enqueues several messages under fresh ids, up to 32 in each transaction. After an error with `effect::unknown` some messages may be
    /// in the queue, and it is not known which: enqueue messages that must not be duplicated one by one, with ids.
    [[nodiscard]] result<std::vector<enqueued>> enqueue_all(std::span<T const> messages) const {
        std::vector<row> rows(messages.size());
        for (std::size_t index = 0; index < rows.size(); ++index) {
            ENTITABLE_CHECK(to_row(messages[index], rows[index]));
        }
        return core_.enqueue_group(rows);
    }

    /// Claims the first available message. Waits for a message until `claim_options::wait` has passed or `claim_options::stop` is set, then
    /// returns nullopt. A waiting claim reads again after `queue_options::polling`, and when the first claimed or delayed message becomes
    /// available.
    [[nodiscard]] result<std::optional<claimed<T>>> claim(claim_options const& how = {}) const {
        ENTITABLE_TRY(auto some, claim_some(1, how));
        result<std::optional<claimed<T>>> one{std::in_place};
        if (!some.empty()) { one->emplace(std::move(some.front())); }
        return one;
    }
    /// Claims up to `most` messages of one lane, 1 to 32, in one transaction.
    [[nodiscard]] result<std::vector<claimed<T>>> claim_some(std::uint32_t most, claim_options const& how = {}) const {
        result<std::vector<claimed<T>>> made{std::in_place};
        ENTITABLE_TRY(auto got, core_.claim(most, how));
        made->reserve(got.size());
        detail::queue_core const holder = core_.under_receipt();
        for (detail::held_message& each : got) {
            T message{};
            if (auto read = decode(each.stored, message); read) {
                made->push_back(detail::claimed_access::make<T>(holder, std::move(message), std::move(each.held)));
            } else { // this is not a message of this program: it finally becomes a dead letter
                static_cast<void>(holder.give_back(each.held, read.error().to_string(), core_.options().visibility));
            }
        }
        return made;
    }

    /// Completes several messages, up to 50 consecutive messages of one lane in one transaction, and returns how many. A message that was
    /// lost to another worker is not counted, and its item returns InvalidInput from now on. After an error some
    /// messages are completed; their items return InvalidInput too.
    [[nodiscard]] result<std::size_t> complete_all(std::span<claimed<T>> items) const {
        std::vector<detail::receipt*> all;
        all.reserve(items.size());
        for (claimed<T>& each : items) { all.push_back(&detail::claimed_access::receipt_of(each)); }
        return core_.under_receipt().complete_group(all);
    }

    // ---- outbox: messages that are written with an entity ----

    /// Adds the message to a batch or a transaction: both the changes and the message are written, or neither. The message stays in the
    /// entity's partition until a `relay` moves it to the queue. Returns the id of the message. A batch must contain at
    /// least one other change before it; otherwise its `submit` returns InvalidInput.
    template <class Changes>
    std::string outbox(Changes& changes, T const& message, std::string id = {}) const {
        if (id.empty()) { id = core_.message_id(); }
        auto made = to_row(message);
        std::string const partition = detail::system_changes::partition_of(changes);
        if (!made) {
            detail::system_changes::add(changes, std::move(made));
            return id;
        }
        detail::system_changes::add(changes, core_.outbox_row(partition, id, made->view()));
        return id;
    }
    /// Enqueues the messages of a table's outbox rows, in one partition or in all, removes the rows, and returns how
    /// many. Any number of programs may call it at the same time: each id is enqueued once.
    [[nodiscard]] result<std::size_t> relay(
        any_store const& from, std::string const& table, std::optional<std::string> const& partition = {}) const {
        return core_.relay(from, table, partition);
    }

    // ---- inspection and maintenance ----

    /// Returns up to `most` messages that could be claimed now, without claiming them. Cost: reads all messages.
    [[nodiscard]] result<std::vector<T>> peek(std::size_t most = 32) const {
        result<std::vector<T>> seen{std::in_place};
        result<void> problem;
        auto const read = core_.for_each_row(system_row::message, [&](row_view each, date_time told) {
            if (seen->size() < most && detail::visible_at_of(each) <= told && problem) {
                problem = decode(each, seen->emplace_back());
            }
        });
        if (!read || !problem) { return failure{read ? problem.error() : read.error()}; }
        return seen;
    }
    /// Counts the messages. Cost: reads all messages.
    [[nodiscard]] result<queue_size> approximate_size() const {
        result<queue_size> all{std::in_place};
        auto read = core_.for_each_row(system_row::message,
            [&](row_view each, date_time told) { ++(detail::visible_at_of(each) <= told ? all->ready : all->held); });
        if (read) {
            read = core_.for_each_row(system_row::dead_letter, [&](row_view, date_time) { ++all->dead_letters; });
        }
        return read ? std::move(all) : result<queue_size>{std::move(read).as_failure()};
    }
    /// The age of the oldest message, by its first time and the time of the store; nullopt if the queue is empty. Cost: reads all messages.
    [[nodiscard]] result<std::optional<std::chrono::nanoseconds>> oldest_age() const {
        result<std::optional<std::chrono::nanoseconds>> age{std::in_place};
        auto read = core_.for_each_row(system_row::message, [&](row_view each, date_time told) {
            std::chrono::nanoseconds const this_one{(told.ticks - detail::first_time_of(each).ticks) * 100};
            *age = (std::max)(age->value_or(this_one), this_one);
        });
        return read ? std::move(age) : result<std::optional<std::chrono::nanoseconds>>{std::move(read).as_failure()};
    }
    /// Reads the dead letters. A message becomes a dead letter when a claim finds it after its last delivery has ended.
    [[nodiscard]] result<std::vector<dead_letter<T>>> dead_letters() const {
        result<std::vector<dead_letter<T>>> all{std::in_place};
        result<void> problem;
        auto const read = core_.for_each_row(system_row::dead_letter, [&](row_view each, date_time) {
            dead_letter<T>& made = all->emplace_back();
            made.id = each.row_key.substr(system_row::dead_letter.size());
            made.deliveries = static_cast<std::uint32_t>(detail::int32_in(each, detail::queue_property::deliveries));
            made.reason = detail::text_in(each, detail::queue_property::why);
            made.stored = row{each};
            if (auto decoded = decode(each, made.message); !decoded && problem) { problem = std::move(decoded); }
        });
        if (!read || !problem) { return failure{read ? problem.error() : read.error()}; }
        return all;
    }
    /// Moves a dead letter back into its lane, where it can be claimed `max_deliveries` times again. A saga resumes at its last recorded step.
    /// ReceiptLost if another program requeued or purged it first.
    [[nodiscard]] result<void> requeue(dead_letter<T> const& dead) const {
        return core_.requeue(dead.stored, dead.stored.view().etag());
    }
    /// Removes a dead letter. ReceiptLost if another program requeued or purged it first.
    [[nodiscard]] result<void> purge(dead_letter<T> const& dead) const {
        return core_.purge(dead.stored, dead.stored.view().etag());
    }
    /// Removes the ids of messages that were completed or purged longer ago than the window, and returns how many were removed. A later
    /// `enqueue` or `relay` of a removed id delivers the message again. Cost: reads all ids, and one request for each removed id.
    [[nodiscard]] result<std::size_t> sweep(std::chrono::nanoseconds window = std::chrono::hours{24}) const {
        return core_.sweep(window);
    }

private:
    [[nodiscard]] static result<void> decode(row_view stored, T& to) { return from_row(detail::entity_in(stored), to); }

    detail::queue_core core_;
};

ENTITABLE_END_NAMESPACE
