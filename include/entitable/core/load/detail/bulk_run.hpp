// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `bulk_run`: a complete bulk load over one channel. Untyped, compiled once.

#include <entitable/core/config.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/load/bulk_options.hpp>
#include <entitable/core/load/detail/bulk_pace.hpp>
#include <entitable/core/load/detail/bulk_part.hpp>
#include <entitable/core/load/detail/bulk_position.hpp>
#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/transport/channel.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A set of numbers other than 0. Its memory grows and never shrinks.
class held_keys {
public:
    /// Adds a number; returns whether it was new.
    bool insert(std::uint64_t key) {
        if (2 * (count_ + 1) > slots_.size()) { grow(); }
        std::size_t at = home(key);
        for (; slots_[at] != 0; at = next(at)) {
            if (slots_[at] == key) { return false; }
        }
        slots_[at] = key;
        ++count_;
        return true;
    }
    void erase(std::uint64_t key) noexcept {
        if (slots_.empty()) { return; }
        std::size_t at = home(key);
        while (slots_[at] != key) {
            if (slots_[at] == 0) { return; }
            at = next(at);
        }
        --count_;
        // Later entries move up, unless that would put them before their home slot.
        for (std::size_t behind = next(at); slots_[behind] != 0; behind = next(behind)) {
            std::size_t const mask = slots_.size() - 1;
            if (((behind - home(slots_[behind])) & mask) >= ((behind - at) & mask)) {
                slots_[at] = slots_[behind];
                at = behind;
            }
        }
        slots_[at] = 0;
    }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

private:
    [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept {
        return static_cast<std::size_t>(key) & (slots_.size() - 1);
    }
    [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & (slots_.size() - 1); }
    void grow() {
        std::vector<std::uint64_t> const before =
            std::exchange(slots_, std::vector<std::uint64_t>(slots_.empty() ? 1024 : 2 * slots_.size()));
        count_ = 0;
        for (std::uint64_t const each : before) {
            if (each != 0) { insert(each); }
        }
    }

    std::vector<std::uint64_t> slots_;
    std::size_t count_{};
};

/// Kind of the next item of an input.
enum class bulk_input : std::uint8_t {
    row,     ///< a change
    passed,  ///< an element that needs no write
    refused, ///< an element that is not a row, with the reason
    end,
    stopped, ///< the input failed; with the reason
    barred,  ///< a row that must not be written, with its keys and the reason
};

/// Data of the next item. One object is reused for all items.
struct bulk_item {
    mutation change;
    std::optional<error> why;
};

/// Bytes of a row in memory.
[[nodiscard]] inline std::size_t stored_bytes(row_view each) noexcept {
    return each.partition_key.size() + each.row_key.size() + each.payload.size();
}

using bulk_source = function_ref<bulk_input(bulk_item&)>;

class bulk_run {
public:
    /// `source` and `change` (null except for updates) must outlive the run.
    bulk_run(any_store through, std::string table, call_options calls, bulk_mode mode, bulk_source source,
        bulk_change const* change, bulk_options const& options);
    bulk_run(bulk_run const&) = delete;
    bulk_run& operator=(bulk_run const&) = delete;
    ~bulk_run() = default;

    [[nodiscard]] result<bulk_report> run();

private:
    struct waiting_row {
        mutation change;
        std::uint64_t index;
    };

    // the input
    [[nodiscard]] result<void> begin();
    [[nodiscard]] bool wants_rows() const noexcept;
    [[nodiscard]] std::uint64_t most_span() const noexcept;
    void read_rows();
    void take_row(bulk_item& item, std::uint64_t index);
    void hold(mutation&& change, std::uint64_t index);
    void take_duplicate(mutation&& change, std::uint64_t index, std::uint64_t key);
    void pack(mutation&& change, std::uint64_t index);
    void make_parts(bool all);
    void try_out(shared<bulk_part> const& part);
    void check_resumed();

    // sending
    void send_due(steady_time now);
    [[nodiscard]] shared<bulk_part> pick(steady_time now);
    [[nodiscard]] bool may_go(shared<bulk_part> const& part, steady_time now);
    void send(shared<bulk_part> part, steady_time now);
    void take(completion& done);
    void go_on(shared<bulk_part> const& part, steady_time now);
    void take_trouble(bulk_part& part, error const& problem, steady_time now);
    [[nodiscard]] steady_time wakes_at(steady_time now);

    // settled rows
    void settle(mutation const& change, std::uint64_t index, bulk_end end, error const* why);
    void settle_index(std::uint64_t index);
    void refuse(row_view keys, std::uint64_t index, error const& why);
    void release(std::uint64_t key);

    void stop(error why);
    void look_for_stop(steady_time now);
    [[nodiscard]] bool has_rows() const noexcept;
    void save_checkpoint();
    void tell(steady_time now, bool at_end);
    [[nodiscard]] result<bulk_report> finish();

    any_store through_;
    std::string table_;
    call_options calls_;
    bulk_mode mode_;
    bulk_source source_;
    bulk_change const* change_;
    bulk_options options_;
    bulk_identity identity_;
    profile limits_;
    clock* time_;
    steady_time begun_;
    steady_time deadline_{no_deadline};

    bulk_item item_;
    bool input_ended_{};
    row_digest digest_; ///< digest of the input so far
    bulk_position position_;
    std::uint64_t next_index_{};
    std::optional<bulk_resume> resumed_;
    batch_packer packer_;
    held_keys keys_; ///< keys of rows that are held and do not wait for another row
    std::map<std::uint64_t, std::deque<waiting_row>> followers_; ///< waiting rows, by the key that they wait for
    std::vector<waiting_row> gathered_;                ///< rows of this round of reading; not used for rows in order
    std::map<std::uint64_t, std::size_t> gathered_at_; ///< positions in `gathered_`, by key
    std::uint64_t held_bytes_{};

    random_source random_;
    bulk_pressure pressure_;
    std::vector<shared<bulk_part>> queue_;  ///< parts that are not sent yet; the last part is next
    std::deque<shared<bulk_part>> ready_;   ///< parts with further steps
    std::vector<shared<bulk_part>> paused_; ///< parts that wait until a later time
    std::map<std::string, std::deque<shared<bulk_part>>> waiting_; ///< parts that wait for their partition
    std::vector<shared<bulk_part>> running_;                       ///< parts with a pending request
    static constexpr std::size_t usual_in_flight = 32;
    std::size_t weight_{};              ///< sum of the weights of the pending parts
    std::size_t transaction_weight_{1}; ///< weight of a part of several rows: at most the usual number is pending
    std::optional<steady_time> trouble_since_; ///< nothing has succeeded since this time
    steady_time last_good_{};

    bulk_report report_;
    std::optional<error> stopped_;
    steady_time told_{};
    std::uint64_t told_settled_{};
    steady_time saved_{};
    bool changed_{};          ///< set if anything changed since the checkpoint was saved
    std::uint64_t unsaved_{}; ///< upper bound of the rows to send again if the load ended now
    bool sent_{};             ///< whether anything was sent

    poll_driver io_;
    shared<channel> way_; ///< channel of the load, destroyed first
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/load/impl/bulk_input.ipp>
#include <entitable/core/load/impl/bulk_run.ipp>
#include <entitable/core/load/impl/bulk_sending.ipp>
#endif
