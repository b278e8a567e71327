// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of a queue that does not depend on its messages: the protocol of its rows.
///
/// Enqueue inserts an identity row and the message in one transaction: an existing identity means that the message was enqueued before. A
/// lane is sorted by the time from which its messages can be claimed, so a claim reads the head up to now and skips delayed and claimed
/// messages. The claim moves the messages that it has just read, under their ETags, to the time when the claim ends, with the delivery
/// count raised by one and a new claim id: the new keys and ETags are the receipts. A renewed message keeps its key and gets a later time
/// in `Queue_VisibleAt`; claims and delays of programs of format 1 do the same. Complete removes the message under its receipt and marks
/// the identity with the claim id, in one transaction. So the outcome of each request whose response was lost can be derived from the stored
/// rows, and no late request of any worker matches a stored ETag.

#include <entitable/client/table_core.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/work/messaging/detail/held_time.hpp>
#include <entitable/work/messaging/detail/queue_rows.hpp>
#include <entitable/work/messaging/message_queue.hpp>

#include <mutex>
#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The receipt of a claimed message: it fences every write of the worker.
struct receipt : held_time {
    std::string lane;
    std::string key; ///< row key of the message
    std::string claim;
    etag version;
    std::uint32_t deliveries{};
    std::int32_t step{};
    std::int64_t steps{};
    bool spent{true}; ///< the message was completed, released or lost
    bool begun{};     ///< a saga was resumed under this receipt

    [[nodiscard]] std::string_view id() const noexcept { return id_of_message(key); }
};

/// A claimed message: its receipt, and the stored row without the changes of the claim.
struct held_message {
    receipt held;
    row stored;
};

/// The keys and times of one enqueue, which are the same for every attempt of its request.
struct enqueue_plan {
    std::string id;
    std::size_t lane_number{};
    std::string lane;
    std::string key;
    date_time visible_at; ///< time from which the message can be claimed; 1601: immediately
};

/// State of a lane known to a worker.
struct lane_state {
    store_clock clock; ///< clock of the store that contains the lane
    std::string
        behind; ///< row key after which a claim starts to read: the messages before this key were renewed in place;
                ///< empty: the head
    date_time head_due;  ///< time from which a claim starts at the head again
    date_time ahead_due; ///< time from which a claim also reads rows whose time is in the future
};

/// Returns OutOfRangeInput for invalid options; does not check the number of lanes.
[[nodiscard]] result<void> check_queue_options(queue_options const& options);
/// Waits before another attempt of a request; false if no attempt is left.
[[nodiscard]] bool wait_before_sending(queue_options const& options, random_source& random, contention& sends);
/// Waits like `wait_until`, and also watches a second token: false if the second token ended the wait.
[[nodiscard]] result<bool> wait_unless_stopped(
    steady_time until, call const& waiting, cancellation_token const& stop, clock& time);
/// The end of a wait that starts now: `no_deadline` for `no_timeout`.
[[nodiscard]] steady_time end_of_wait(std::chrono::nanoseconds wait, steady_time now) noexcept;
/// The error ReceiptLost.
[[nodiscard]] failure receipt_is_lost();
/// The error InvalidInput for a receipt that was used before.
[[nodiscard]] failure receipt_is_spent();

/// The protocol of a queue. Safe to use from several threads; copies share the state of a worker.
class queue_core {
public:
    using receipt_type = receipt;

    queue_core(any_store through, std::string name, queue_options options);

    [[nodiscard]] table_core const& table() const { return state().table; }
    [[nodiscard]] queue_options const& options() const { return state().options; }
    [[nodiscard]] clock& time() const { return *state().options.time; }
    [[nodiscard]] random_source& random() const { return state().ids.random(); }
    [[nodiscard]] result<void> check_options() const;
    /// Inserts the header row, unless it exists.
    [[nodiscard]] result<void> write_header() const;

    /// Returns the same queue for calls under a receipt: the requests of that queue ignore the cancellation of
    /// `queue_options::calls`, because a cancelled wait for work must not prevent a worker from ending the message that
    /// it holds.
    [[nodiscard]] queue_core under_receipt() const {
        queue_core made = *this;
        made.under_receipt_ = true;
        return made;
    }

    /// Like `under_receipt`, but each request is sent once: the caller decides when to try again.
    [[nodiscard]] queue_core sending_once() const {
        queue_core made = under_receipt();
        made.once_ = true;
        return made;
    }

    [[nodiscard]] result<bool> create() const;
    /// Returns the number of lanes, which is read once. ResourceNotFound if the queue was not created, StoreNewer if a later version of the library created
    /// it.
    [[nodiscard]] result<std::size_t> lanes() const;
    /// Returns the estimated time of a lane's store.
    [[nodiscard]] date_time store_time(std::size_t lane) const;
    [[nodiscard]] std::string fresh_id() const { return state().ids.next(); }
    /// Returns a fresh id of a message.
    [[nodiscard]] std::string message_id() const { return state().ids.next_at(time().now()); }

    [[nodiscard]] result<enqueue_plan> plan(enqueue_options const& how) const;
    [[nodiscard]] result<enqueued> enqueue(enqueue_plan const& at, row_view message) const;
    /// Enqueues several messages under fresh ids, up to 32 in each transaction. Returns the messages that were enqueued, or the error.
    [[nodiscard]] result<std::vector<enqueued>> enqueue_group(std::vector<row> const& messages) const;
    /// Checks that the properties that the queue adds later fit with the message; otherwise returns TooManyProperties or EntityTooLarge.
    [[nodiscard]] static result<void> check_room(row_view message);

    [[nodiscard]] result<std::vector<held_message>> claim(std::uint32_t most, claim_options const& how) const;
    /// Merges properties into the message under its receipt, together with other changes of the lane. Retries until the write is settled or the
    /// receipt is lost.
    [[nodiscard]] result<void> write(
        receipt& held, function_ref<void(row_builder&)> properties, std::vector<mutation> const& beside = {}) const;
    [[nodiscard]] result<void> renew(receipt& held, std::chrono::nanoseconds visibility) const;
    /// Releases the message after a delay, and stores a reason unless it is empty. Does not mark the receipt as spent.
    [[nodiscard]] result<void> give_back(receipt& held, std::string_view why, std::chrono::nanoseconds delay) const;
    /// Completes the message. `group`: row key of the mark that a transaction of several messages has written, if it was applied.
    [[nodiscard]] result<void> complete(receipt& held, std::string_view group = {}) const;
    /// Completes several messages, with one transaction for each lane, and returns how many. Lost messages are not
    /// counted.
    [[nodiscard]] result<std::size_t> complete_group(std::vector<receipt*> const& all) const;
    /// Reads the message of a receipt and updates the receipt; false if the receipt is lost.
    [[nodiscard]] result<bool> look(receipt& held) const;
    /// Reads the stored version if the last write was settled by its operation row, whose response has no version.
    [[nodiscard]] result<void> know_version(receipt& held) const;
    /// Updates the receipt from the stored message; false if the message does not belong to this claim.
    [[nodiscard]] static bool adopt(receipt& held, row_view stored);
    /// Returns the stored reason for the last failure of a message.
    [[nodiscard]] result<std::string> reason(receipt const& held) const;
    /// Reads the row of a message, with as many attempts as the options allow.
    [[nodiscard]] result<std::optional<row>> read(std::string const& lane, std::string_view key, date_time& told) const;
    /// Returns the format of the queue; 0 until its header is read.
    [[nodiscard]] std::int32_t format() const { return state().format.load(memory_order::relaxed); }

    [[nodiscard]] result<void> for_each_row(
        std::string_view prefix, function_ref<void(row_view, date_time)> visit) const;
    [[nodiscard]] result<void> requeue(row_view dead, etag version) const;
    [[nodiscard]] result<void> purge(row_view dead, etag version) const;
    [[nodiscard]] result<std::size_t> sweep(std::chrono::nanoseconds window) const;
    /// Enqueues the messages of a table's outbox rows, and returns how many.
    [[nodiscard]] result<std::size_t> relay(
        any_store const& from, std::string const& table, std::optional<std::string> const& partition) const;
    [[nodiscard]] std::string outbox_prefix() const;
    [[nodiscard]] result<row> outbox_row(std::string_view partition, std::string_view id, row_view message) const;

    /// Sends a request once, in a separate call, and stores the store's time in `told`.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> send(Request const& request, date_time& told) const {
        return send_to(state().table.store(), request, told);
    }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> send_to(
        any_store const& through, Request const& request, date_time& told) const {
        call context{options().calls, time()};
        context.location = read_location::primary;
        if (under_receipt_) { context.cancellation = {}; }
        auto answer = through.execute(request, context);
        told = context.server_date != date_time{} ? context.server_date : time().now();
        return answer;
    }

private:
    /// A message to be claimed.
    struct pick {
        row stored;
        etag version;
    };
    /// Messages that a claim has read in addition to its own, for the next claims of this worker, so that not every
    /// claim reads the lane. If another worker has claimed such a message in between, its ETag makes the claim fail;
    /// after that every claim reads the lane for a while.
    struct spare_messages {
        std::vector<pick> ready; ///< messages in reverse order: the first message is at the end
        steady_time until{};     ///< time after which newer messages may precede these
        std::uint32_t pause{};   ///< number of reads that keep no spare messages
        std::uint32_t next_pause{8};
    };
    struct shared_state : counted {
        shared_state(any_store through, std::string name, queue_options how);

        table_core table;
        queue_options options;
        fresh_ids ids;
        atomic<std::size_t> lanes{0};   ///< number of lanes; 0: not read yet
        atomic<std::int32_t> format{0}; ///< format of the queue; written before `lanes`
        std::mutex guard;
        store_clock clock;                   ///< clock of the store that holds the header; guarded by `guard`
        std::vector<lane_state> lane_states; ///< state of each lane; guarded by `guard`
        std::vector<spare_messages> spares;  ///< spare messages of each lane; guarded by `guard`
        std::size_t next_lane{};             ///< lane that the next claim reads first; guarded by `guard`
    };
    /// The result of reading a lane.
    struct found_rows {
        std::vector<pick> ready;
        std::vector<pick> used_up;
        date_time told;
        date_time due;         ///< time at which the first invisible message can be claimed
        std::string last_held; ///< row key of the last message counted in `held`
        std::size_t held{};    ///< number of messages that are held under their keys before the first ready message
    };
    /// The part of a lane to read, and the number of messages to find.
    struct search {
        std::string behind;     ///< row key after which the read starts; empty: the head
        date_time up_to;        ///< latest time of the rows that are read; see `ahead`
        bool ahead{};           ///< the first page also reads rows after `up_to`
        std::uint32_t page{};   ///< number of rows of the first page
        std::uint32_t most{};   ///< number of messages to find
        std::uint32_t spares{}; ///< number of further messages to keep, from the page that contains the last message
    };
    /// Messages that are being moved by a claim: each is removed and inserted.
    struct moves {
        transact request;
        std::vector<receipt> made; ///< receipts of the claim, without versions and times

        [[nodiscard]] mutation& from(std::size_t index) { return request.changes[2 * index]; }
        [[nodiscard]] mutation& to(std::size_t index) { return request.changes[2 * index + 1]; }
        /// Keeps only the given messages; returns false if none is left.
        bool keep(std::vector<bool> const& which);
    };

    /// The attempts of one request.
    [[nodiscard]] contention contend() const noexcept { return {options().max_attempts, options().delays}; }
    [[nodiscard]] bool again(contention& sends) const {
        return !once_ && wait_before_sending(options(), random(), sends);
    }
    /// Whether the message of a receipt was completed under that receipt, alone or with a group.
    [[nodiscard]] result<bool> is_done(receipt const& held, std::string_view group) const;
    void know_time(std::size_t lane, date_time told) const;
    /// The time of a lane's store; sends a request if the estimate is too uncertain for a delay.
    [[nodiscard]] result<date_time> certain_time(enqueue_plan const& of) const;
    /// Sends an enqueue until its effect is known; true if its rows existed before.
    [[nodiscard]] result<bool> put(transact const& request, std::size_t lane) const;
    /// Returns a fresh id that belongs to this lane.
    [[nodiscard]] std::string id_in_lane(std::size_t lane, std::size_t lanes) const;
    [[nodiscard]] result<found_rows> scan(
        std::string const& lane, search const& at, cancellation_token const& stop) const;
    [[nodiscard]] result<std::vector<held_message>> claim_from(std::size_t lane, std::uint32_t most, bool waits,
        cancellation_token const& stop, date_time& due, date_time& told) const;
    /// Takes the first spare messages of a lane.
    [[nodiscard]] std::vector<pick> spares_of(std::size_t lane, std::uint32_t most) const;
    /// Reduces `ready` to `most` messages, and stores the rest as spare messages.
    void keep_spares(std::size_t lane, std::vector<pick>& ready, std::uint32_t most) const;
    void forget_spares(std::size_t lane, bool beaten) const;
    void forget_spares(std::string_view lane) const;
    [[nodiscard]] moves moves_of(std::string const& lane, std::vector<pick> ready, date_time until) const;
    [[nodiscard]] result<std::vector<held_message>> take(
        std::string const& lane, std::vector<pick> ready, date_time scanned) const;
    /// Visits the rows of a lane with these keys.
    [[nodiscard]] result<void> for_each_in(std::string const& lane, key_interval keys, contention& sends,
        function_ref<void(row_view, date_time)> visit) const;
    [[nodiscard]] bool bury(std::string const& lane, pick const& one) const;
    /// Whether the dead letter still exists with a different ETag, which is stored in `version`.
    [[nodiscard]] result<bool> is_still_dead(row_view dead, etag& version) const;
    /// Sends a transaction that removes a dead letter until the outcome is known. `was_applied` finds out whether an earlier send was.
    [[nodiscard]] result<void> end_dead(
        row_view dead, etag version, transact request, function_ref<result<bool>()> was_applied) const;

    /// Returns the state that all copies share, or for a moved-from queue a state whose requests return InvalidInput.
    [[nodiscard]] shared_state& state() const { return state_ ? *state_ : absent_state(); }
    [[nodiscard]] static shared_state& absent_state();

    shared<shared_state> state_;
    bool under_receipt_{};
    bool once_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/messaging/impl/queue_claim.ipp>
#include <entitable/work/messaging/impl/queue_core.ipp>
#include <entitable/work/messaging/impl/queue_ends.ipp>
#include <entitable/work/messaging/impl/queue_keeping.ipp>
#include <entitable/work/messaging/impl/queue_putting.ipp>
#include <entitable/work/messaging/impl/queue_spares.ipp>
#endif
