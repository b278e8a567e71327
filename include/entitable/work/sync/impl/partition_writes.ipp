// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// The writes of the synchronisation of a partition: what a refusal means, local transactions, pushes.
#pragma once

#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sync/detail/partition_sync.hpp>

#include <algorithm>
#include <iterator>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Bytes of rows in one transaction.
inline constexpr std::size_t most_sync_bytes = 1'500'000;
/// Bytes of notes in one local transaction: a note has the base of its row, too.
inline constexpr std::size_t most_noted_bytes = 3'000'000;
/// Most refusals that name no row: a store that refuses everything would be asked again for each row.
inline constexpr std::size_t most_unnamed = 300;

/// Whether a refusal is the fault of one row, so that the other rows may be written without it.
inline bool is_of_a_row(error const& why) {
    switch (why.code) {
        case error_code::entity_too_large:
        case error_code::property_value_too_large:
        case error_code::property_name_too_long:
        case error_code::property_name_invalid:
        case error_code::too_many_properties:
        case error_code::properties_need_value:
        case error_code::key_value_too_large:
        case error_code::invalid_input:
        case error_code::out_of_range_input:
        case error_code::duplicate_properties_specified:
        case error_code::request_body_too_large:
        case error_code::row_mismatch: // an index or sums of a row that cannot be read as its entity
        case error_code::key_not_splittable: return true;
        case error_code::other_service_error: return why.http_status == 0 || why.http_status == 400;
        default: return false;
    }
}
/// Whether a store has refused a write that it may accept later.
inline bool is_busy(error const& why) {
    return why.code == error_code::server_busy || why.code == error_code::store_busy ||
        why.code == error_code::shard_moving || why.http_status == 429 || why.http_status == 503;
}
/// Bytes of rows in one transaction, by both measures: as they are stored, and as a service counts them.
class transaction_bytes {
public:
    explicit transaction_bytes(profile const& limits)
        : most_stored_((std::min)(most_sync_bytes, limits.max_transaction_size / 8 * 7)),
          most_served_(limits.max_transaction_size / 8 * 7) {}
    /// Whether a transaction has room for more rows.
    [[nodiscard]] bool fits(std::size_t stored, std::size_t served) const {
        return stored_ + stored <= most_stored_ && served_ + served <= most_served_;
    }
    void add(std::size_t stored, std::size_t served) {
        stored_ += stored;
        served_ += served;
    }

private:
    std::size_t most_stored_;
    std::size_t most_served_;
    std::size_t stored_{};
    std::size_t served_{};
};

ENTITABLE_DECL result<bool> partition_sync::refused(error why, std::vector<std::string> const& row_keys, bool divides) {
    last_ = why;
    next_ = attempt::after_delay;
    bool const is_taken = of_.companions != nullptr && why.code == error_code::entity_already_exists &&
        why.operation_index && *why.operation_index < row_keys.size() &&
        why.detail != keys_text(of_.partition_key, row_keys[*why.operation_index]);
    if (!is_taken && (was_beaten(why) || is_busy(why))) { return false; }
    if (!is_taken && !is_of_a_row(why)) { return failure{std::move(why)}; }
    // A transaction that is too large is the fault of all its rows, whichever one the store names.
    bool const named = why.operation_index && why.code != error_code::request_body_too_large;
    bool const single = !row_keys.empty() && row_keys.front() == row_keys.back();
    bool const decides = named ? *why.operation_index < row_keys.size() : single || divides;
    if (!decides || (!named && ++unnamed_ > most_unnamed)) { return failure{std::move(why)}; }
    next_ = attempt::at_once; // a row less, or fewer rows at once: this ends
    if (named || single) {
        std::string const& row_key = row_keys[named ? *why.operation_index : 0];
        hold(row_key, std::move(why));
        rows_a_push_ = most_rows_a_push();
    } else {
        rows_a_push_ = row_keys.size() / 2; // finds the row
    }
    return false;
}

ENTITABLE_DECL resumable<void> partition_sync::begin_again(bool reads_cloud) {
    if (reads_cloud) { there_.reset(); }
    if (next_ == attempt::at_once) { co_return {}; }
    if (rivals_.is_last()) {
        if (!is_busy(last_)) { co_return rivals_.lost(last_); }
        last_.attempts = rivals_.attempt();
        co_return failure{last_};
    }
    std::chrono::nanoseconds const asked = last_.retry_after.value_or(std::chrono::milliseconds{});
    co_await delay_next{(std::max)(rivals_.delay(delays_from().unit()), asked)};
    co_return {};
}

ENTITABLE_DECL resumable<bool> partition_sync::write_here(
    std::vector<mutation> changes, std::vector<std::string> row_keys, sync_state next, bool divides) {
    row state = row_of_state(of_.partition_key, next);
    changes.push_back(version_ ? mutation::replace(std::move(state), *version_) : mutation::insert(std::move(state)));
    transact const request{of_.here, std::move(changes)};
    auto answered = co_await ask(request, at_place(sync_place::here));
    if (!answered) {
        if (answered.error().effect == effect::unknown) { co_return failure{answered.error()}; }
        co_return refused(answered.error(), row_keys, divides);
    }
    version_ = std::move(answered->results.back().etag);
    version_known_ = !version_->empty();
    state_ = std::move(next);
    if (!version_known_) { ENTITABLE_CO_CHECK(co_await read_version()); }
    co_return true;
}

ENTITABLE_DECL resumable<void> partition_sync::read_version() {
    get_entity const reading{of_.here, of_.partition_key, std::string{system_row::synced}, {}};
    ENTITABLE_CO_TRY(auto found, co_await ask(reading, at_place(sync_place::here)));
    ENTITABLE_CO_TRY(sync_state const stored, state_of_row(found.entity.view()));
    if (stored.device != state_.device || stored.receipt != state_.receipt || stored.push != state_.push) {
        co_return failure{error_code::sync_running, "the partition is being synchronised by another call"};
    }
    version_ = std::move(found.etag);
    version_known_ = true;
    co_return {};
}

ENTITABLE_DECL resumable<bool> partition_sync::apply(std::vector<local_change> changes, bool restored) {
    std::size_t at = 0;
    bool first = true;
    do {
        std::vector<mutation> part;
        std::vector<std::string> row_keys;
        std::vector<settled_conflict> conflicts;
        std::uint64_t pulled = 0;
        for (transaction_bytes bytes{of_.local}; at < changes.size(); ++at) {
            local_change& each = changes[at];
            std::size_t operations = 0;
            std::size_t stored = 0;
            std::size_t served = 0;
            for (auto const* made : {&each.row, &each.renamed, &each.base}) {
                if (!*made) { continue; }
                operations += 1;
                stored += (*made)->entity.payload().size();
                served += service_size((*made)->entity);
            }
            bool const fits = part.size() + operations < of_.local.max_operations && bytes.fits(stored, served);
            if (!part.empty() && !fits) { break; }
            bytes.add(stored, served);
            pulled += each.row ? 1U : 0U;
            for (auto* made : {&each.row, &each.renamed, &each.base}) {
                if (!*made) { continue; }
                part.push_back(*std::move(*made));
                row_keys.push_back(each.row_key);
            }
            if (each.conflict) { conflicts.push_back(*std::move(each.conflict)); }
        }
        bool const last = at == changes.size();
        if (first && !last) { list_once(report_.split, of_.partition_key); }
        first = false;
        sync_state next = state_;
        // The cloud has a receipt of another history under the old identity.
        if (restored && last) { next = sync_state{of_.ids->next(), {}, {}}; }
        auto const wrote = co_await write_here(std::move(part), std::move(row_keys), std::move(next));
        bool const may_stand = wrote ? *wrote : wrote.error().effect == effect::unknown;
        if (may_stand) { std::move(conflicts.begin(), conflicts.end(), std::back_inserter(report_.conflicts)); }
        if (!wrote || !*wrote) { co_return wrote; }
        report_.pulled += pulled;
        show_progress();
    } while (at < changes.size());
    if (restored) {
        report_.restored.push_back(of_.partition_key);
        receipt_.reset();
    }
    co_return true;
}

ENTITABLE_DECL transact partition_sync::pushing(std::vector<pushed_row> const& rows, std::string_view name) const {
    transact made{of_.there, {}};
    for (pushed_row const& each : rows) {
        if (!each.here) {
            made.changes.push_back(mutation::remove(row{of_.partition_key, each.row_key, {}}, each.there->etag()));
            continue;
        }
        row content{of_.partition_key, each.row_key, content_of(*each.here)};
        made.changes.push_back(each.there ? mutation::replace(std::move(content), each.there->etag())
                                          : mutation::insert(std::move(content)));
    }
    row receipt = row_of_receipt(of_.partition_key, state_.device, name);
    made.changes.push_back(receipt_ ? mutation::replace(std::move(receipt), receipt_->view().etag())
                                    : mutation::insert(std::move(receipt)));
    return made;
}

ENTITABLE_DECL resumable<bool> partition_sync::push_part(std::vector<pushed_row> rows) {
    // The response to the last part may not have had its version.
    if (receipt_ && receipt_->view().etag().empty()) { ENTITABLE_CO_CHECK(co_await read_receipt()); }
    std::string const name = of_.ids->next();
    std::vector<mutation> notes;
    std::vector<mutation> bases;
    std::vector<std::string> row_keys;
    for (pushed_row const& each : rows) {
        auto const known = here_.bases.find(each.row_key);
        base_row note;
        if (known != here_.bases.end()) { note.content = known->second.content; }
        note.push = name;
        if (each.here) { note.pushed = content_of(*each.here); }
        notes.push_back(mutation::insert_or_replace(row_of_base(of_.partition_key, each.row_key, note)));
        bases.push_back(base_to(each.row_key, each.here));
        row_keys.emplace_back(each.row_key);
    }
    sync_state next = state_;
    next.push = name;
    cleared_ = false;
    // Noted before it is sent: after a lost response the next run knows what it may have sent.
    ENTITABLE_CO_TRY(bool const noted, co_await write_here(std::move(notes), row_keys, next, true));
    if (!noted) { co_return false; }

    transact const request = pushing(rows, name);
    co_await if_abandoned{effect::unknown};
    auto answered = co_await ask(request, at_place(sync_place::there_once));
    if (!answered) {
        if (answered.error().effect == effect::unknown) { co_return failure{answered.error()}; }
        cleared_ = true;
        co_return refused(answered.error(), row_keys, true);
    }
    report_.pushed += rows.size();
    etag const receipt = std::move(answered->results.back().etag);
    receipt_ = row{
        of_.partition_key, receipt_key(state_.device), request.changes.back().entity.payload(), receipt.to_string()};

    next.receipt = name;
    next.push.clear();
    // The bases become what was sent, not what is there now: a program may have changed the rows since.
    auto const ended = co_await write_here(std::move(bases), std::move(row_keys), std::move(next));
    show_progress();
    co_return ended;
}

ENTITABLE_DECL resumable<bool> partition_sync::push(std::vector<pushed_row> rows) {
    if (rows.empty()) {
        if (state_.push.empty()) { co_return true; }
        sync_state next = state_;
        next.push.clear();
        co_return co_await write_here({}, {}, std::move(next));
    }
    bool first = true;
    for (std::size_t at = 0; at < rows.size();) {
        std::vector<pushed_row> part;
        transaction_bytes bytes{of_.cloud};
        for (std::size_t noted = 0; at < rows.size() && part.size() < rows_a_push_; ++at) {
            std::size_t const stored = rows[at].here ? rows[at].here->payload.size() : 0;
            std::size_t const served = rows[at].here ? service_size(*rows[at].here) : 0;
            std::optional<row_view> const base = view_of_base(rows[at].row_key);
            std::size_t const note = stored + (base ? base->payload.size() : 0);
            bool const fits = bytes.fits(stored, served) &&
                noted + note <= (std::min)(most_noted_bytes, of_.local.max_transaction_size / 8 * 7);
            if (!part.empty() && !fits) { break; }
            bytes.add(stored, served);
            noted += note;
            part.push_back(rows[at]);
        }
        if (first && at < rows.size()) { list_once(report_.split, of_.partition_key); }
        first = false;
        ENTITABLE_CO_TRY(bool const pushed, co_await push_part(std::move(part)));
        if (!pushed) { co_return false; }
    }
    co_return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
