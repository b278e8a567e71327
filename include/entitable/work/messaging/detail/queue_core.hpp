// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of a queue that does not depend on its messages: the protocol of its rows.
///
/// Enqueue inserts an identity and the message as one: an existing identity means that all is done. A lane is in the order in which its
/// messages can be claimed, so a claim reads its head up to now, and no delayed or claimed messages. It moves messages that it has just
/// read, under their ETags, to the time when the claim is over, with one delivery more and a claim id of its own: the new keys and ETags are the
/// receipts. What is renewed stays where it is, with a later time in `Queue_VisibleAt`: so do the claims and delays of programs of format 1.
/// Complete removes the message under its receipt and marks the identity with the claim id, as one. So each answer that was lost can be
/// concluded from what is stored, and no late request of anybody finds an ETag that it knows.

#include <entitable/client/table_core.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/work/messaging/detail/held_time.hpp>
#include <entitable/work/messaging/detail/queue_rows.hpp>
#include <entitable/work/messaging/detail/store_clock.hpp>
#include <entitable/work/messaging/queue_options.hpp>

#include <mutex>
#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What a worker holds: the fence of all that it does.
struct receipt : held_time {
    std::string lane;
    std::string key; ///< the row key of the message
    std::string claim;
    etag version;
    std::uint32_t deliveries{};
    std::int32_t step{};
    std::int64_t steps{};
    bool spent{true}; ///< its message was ended or lost
    bool begun{};     ///< a saga was resumed under it

    [[nodiscard]] std::string_view id() const noexcept { return id_of_message(key); }
};

/// A message that was claimed, as it is stored but for what the claim has changed.
struct held_message {
    receipt held;
    row stored;
};

/// How a message is put in: fixed once, for all its sendings.
struct enqueue_plan {
    std::string id;
    std::size_t lane_number{};
    std::string lane;
    std::string key;
    date_time visible_at; ///< 1601: at once
};

/// What a worker knows of a lane.
struct lane_state {
    store_clock clock; ///< of the store that has the lane
    std::string
        behind; ///< a claim begins behind this row key: rows before it are held where they stand; empty: at the head
    date_time head_due;  ///< when it begins at the head again
    date_time ahead_due; ///< when it looks at rows whose time has not come
};

/// OutOfRangeInput for options that cannot be, but for the lanes.
[[nodiscard]] result<void> check_queue_options(queue_options const& options);
/// Waits before another sending of a request; false where there were enough.
[[nodiscard]] bool wait_before_sending(queue_options const& options, random_source& random, std::uint32_t& attempt);
/// Waits as `wait_until`, and looks at a second token: false if that ended the wait.
[[nodiscard]] result<bool> wait_unless_stopped(
    steady_time until, call const& waiting, cancellation_token const& stop, clock& time);
/// When a wait that begins now ends: `no_deadline` for `no_timeout`.
[[nodiscard]] steady_time end_of_wait(std::chrono::nanoseconds wait, steady_time now) noexcept;
/// ReceiptLost.
[[nodiscard]] failure receipt_is_lost();
/// InvalidInput: a receipt that has ended.
[[nodiscard]] failure receipt_is_spent();

/// A queue. Safe to use from several threads; copies share what a worker remembers.
class queue_core {
public:
    using receipt_type = receipt;

    queue_core(any_transport through, std::string name, queue_options options);

    [[nodiscard]] table_core const& table() const { return state().table; }
    [[nodiscard]] queue_options const& options() const { return state().options; }
    [[nodiscard]] clock& time() const { return *state().options.time; }
    [[nodiscard]] random_source& random() const { return state().ids.random(); }
    [[nodiscard]] result<void> check_options() const;

    /// The same queue for what is done under a receipt: its requests ignore the cancellation of `queue_options::calls`. What ended the wait for
    /// work must not keep the work in hand from being ended.
    [[nodiscard]] queue_core under_receipt() const {
        queue_core made = *this;
        made.under_receipt_ = true;
        return made;
    }

    /// The same, and each of its requests is sent once: whoever asks has a time of its own to ask again.
    [[nodiscard]] queue_core sending_once() const {
        queue_core made = under_receipt();
        made.once_ = true;
        return made;
    }

    [[nodiscard]] result<bool> create() const;
    /// Read once. ResourceNotFound where the queue was not created, StoreNewer where a later version of the library has made it.
    [[nodiscard]] result<std::size_t> lanes() const;
    /// The time of a lane's store, as far as it is known.
    [[nodiscard]] date_time store_time(std::size_t lane) const;
    [[nodiscard]] std::string fresh_id() const { return state().ids.next(); }
    /// Of a message.
    [[nodiscard]] std::string message_id() const { return state().ids.next_at(time().now()); }

    [[nodiscard]] result<enqueue_plan> plan(enqueue_options const& how) const;
    [[nodiscard]] result<enqueued> enqueue(enqueue_plan const& at, row_view message) const;
    /// Several messages, in one transaction for each 32 of them, under fresh ids. Returns how many were enqueued, and the error, if any.
    [[nodiscard]] result<std::vector<enqueued>> enqueue_group(std::vector<row> const& messages) const;
    /// Whether the properties that the queue adds later fit with the message; else TooManyProperties or EntityTooLarge.
    [[nodiscard]] static result<void> check_room(row_view message);

    [[nodiscard]] result<std::vector<held_message>> claim(std::uint32_t most, claim_options const& how) const;
    /// Merges properties into the message under its receipt, with other changes of the lane: until it is known, or lost.
    [[nodiscard]] result<void> write(
        receipt& held, function_ref<void(row_builder&)> properties, std::vector<mutation> const& beside = {}) const;
    [[nodiscard]] result<void> renew(receipt& held, std::chrono::nanoseconds visibility) const;
    /// With a reason, unless that is empty. The receipt is not spent yet.
    [[nodiscard]] result<void> give_back(receipt& held, std::string_view why, std::chrono::nanoseconds delay) const;
    /// `group`: the row key of the mark that a transaction of several has left, if it was applied.
    [[nodiscard]] result<void> complete(receipt& held, std::string_view group = {}) const;
    /// Several at once, those of a lane as one; how many are done. What was lost is not counted.
    [[nodiscard]] result<std::size_t> complete_group(std::vector<receipt*> const& all) const;
    /// Reads the message of a receipt and updates the receipt; false if the receipt is lost.
    [[nodiscard]] result<bool> look(receipt& held) const;
    /// Reads the stored version if the last write was settled by its operation row, whose answer has no version.
    [[nodiscard]] result<void> know_version(receipt& held) const;
    /// Takes a stored message over as the receipt; false where it is not this claim's.
    [[nodiscard]] static bool adopt(receipt& held, row_view stored);
    /// What the last failure of a message said.
    [[nodiscard]] result<std::string> reason(receipt const& held) const;
    /// Reads the row of a message, however often that takes.
    [[nodiscard]] result<std::optional<row>> read(std::string const& lane, std::string_view key, date_time& told) const;
    /// The format of the queue; 0 before its header was read.
    [[nodiscard]] std::int32_t format() const { return state().format.load(memory_order::relaxed); }

    [[nodiscard]] result<void> for_each_row(
        std::string_view prefix, function_ref<void(row_view, date_time)> visit) const;
    [[nodiscard]] result<void> requeue(row_view dead, etag version) const;
    [[nodiscard]] result<void> purge(row_view dead, etag version) const;
    [[nodiscard]] result<std::size_t> sweep(std::chrono::nanoseconds window) const;
    /// Puts in what outbox rows of a table say; how many.
    [[nodiscard]] result<std::size_t> relay(
        any_transport const& from, std::string const& table, std::optional<std::string> const& partition) const;
    [[nodiscard]] std::string outbox_prefix() const;
    [[nodiscard]] result<row> outbox_row(std::string_view partition, std::string_view id, row_view message) const;

    /// Sends a request once, under a call of its own, and notes the store's time.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> send(Request const& request, date_time& told) const {
        return send_to(state().table.transport(), request, told);
    }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> send_to(
        any_transport const& through, Request const& request, date_time& told) const {
        call context{options().calls, time()};
        context.location = read_location::primary;
        if (under_receipt_) { context.cancellation = {}; }
        auto answer = through.execute(request, context);
        told = context.server_date != date_time{} ? context.server_date : time().now();
        return answer;
    }

private:
    /// A message that is to be claimed.
    struct pick {
        row stored;
        etag version;
    };
    /// Messages that a claim has read behind its own, for the next claims of this worker: so that not each of them reads the lane. A claim of one
    /// that others have by now is refused, by its ETag; then the lane is read each time for a while.
    struct spare_messages {
        std::vector<pick> ready; ///< the first one at the end
        steady_time until{};     ///< later ones may stand before them
        std::uint32_t pause{};   ///< so many reads keep none
        std::uint32_t next_pause{8};
    };
    struct shared_state : counted {
        shared_state(any_transport through, std::string name, queue_options how);

        table_core table;
        queue_options options;
        fresh_ids ids;
        atomic<std::size_t> lanes{0};   ///< 0: not read yet
        atomic<std::int32_t> format{0}; ///< written before `lanes`
        std::mutex guard;
        store_clock clock;                   ///< guarded: of the store that has the header
        std::vector<lane_state> lane_states; ///< guarded
        std::vector<spare_messages> spares;  ///< guarded: of each lane
        std::size_t next_lane{};             ///< guarded
    };
    /// What a look at a lane found.
    struct found_rows {
        std::vector<pick> ready;
        std::vector<pick> used_up;
        date_time told;
        date_time due; ///< when the first of those that are invisible can be had
        std::string
            last_held; ///< the last row key of those that are held where they stand, before the first that is ready
        std::size_t held{}; ///< how many these are
    };
    /// Which part of a lane is looked at, and for how many messages.
    struct search {
        std::string behind; ///< empty: from the head
        date_time up_to;    ///< rows whose time is later are left alone, but for those of the first page if it says so
        bool ahead{};       ///< the first page continues behind that
        std::uint32_t page{};   ///< rows of the first page
        std::uint32_t most{};   ///< messages
        std::uint32_t spares{}; ///< and so many behind them, of the page that has the last one
    };
    /// Messages that are being moved by a claim: each is removed and inserted.
    struct moves {
        transact request;
        std::vector<receipt> made; ///< what the claim gives, but for versions and times

        [[nodiscard]] mutation& from(std::size_t index) { return request.changes[2 * index]; }
        [[nodiscard]] mutation& to(std::size_t index) { return request.changes[2 * index + 1]; }
        /// Only these; false if the row is not one of them.
        bool keep(std::vector<bool> const& which);
    };

    [[nodiscard]] bool again(std::uint32_t& attempt) const {
        return !once_ && wait_before_sending(options(), random(), attempt);
    }
    /// Whether the message of a receipt was completed under it, alone or with a group.
    [[nodiscard]] result<bool> is_done(receipt const& held, std::string_view group) const;
    void know_time(std::size_t lane, date_time told) const;
    /// Asks the store of a lane, where its time is not known well enough for a delay.
    [[nodiscard]] result<date_time> certain_time(enqueue_plan const& of) const;
    /// Sends an enqueue until it is known; true where its rows were there before.
    [[nodiscard]] result<bool> put(transact const& request, std::size_t lane) const;
    /// A fresh id of a message whose lane is this one.
    [[nodiscard]] std::string id_in_lane(std::size_t lane, std::size_t lanes) const;
    [[nodiscard]] result<found_rows> scan(
        std::string const& lane, search const& at, cancellation_token const& stop) const;
    [[nodiscard]] result<std::vector<held_message>> claim_from(std::size_t lane, std::uint32_t most, bool waits,
        cancellation_token const& stop, date_time& due, date_time& told) const;
    /// The first of those that an earlier claim has read behind its own.
    [[nodiscard]] std::vector<pick> spares_of(std::size_t lane, std::uint32_t most) const;
    /// Leaves only so many there, and keeps the others.
    void keep_spares(std::size_t lane, std::vector<pick>& ready, std::uint32_t most) const;
    void forget_spares(std::size_t lane, bool beaten) const;
    void forget_spares(std::string_view lane) const;
    [[nodiscard]] moves moves_of(std::string const& lane, std::vector<pick> ready, date_time until) const;
    [[nodiscard]] result<std::vector<held_message>> take(
        std::string const& lane, std::vector<pick> ready, date_time scanned) const;
    /// The rows of a lane between two keys, both included, until all are read.
    [[nodiscard]] result<void> for_each_between(std::string const& lane, std::string_view first, std::string_view last,
        std::uint32_t& attempt, function_ref<void(row_view, date_time)> visit) const;
    [[nodiscard]] bool bury(std::string const& lane, pick const& one) const;
    /// Whether the dead letter still exists under another ETag, which replaces the refused one.
    [[nodiscard]] result<bool> is_still_dead(row_view dead, etag& version) const;

    /// What all copies share; after a move what answers InvalidInput.
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
