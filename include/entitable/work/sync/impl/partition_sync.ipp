// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_row_kinds.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sync/detail/partition_sync.hpp>

#include <algorithm>
#include <iterator>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Most rows of one push: the transaction also has the receipt, and keeps room for two rows of a log.
inline constexpr std::size_t most_pushed = 97;
/// Bytes of rows in one transaction.
inline constexpr std::size_t most_sync_bytes = 1'500'000;
/// Bytes of notes in one local transaction: a note has the base of its row, too.
inline constexpr std::size_t most_noted_bytes = 3'000'000;
/// Most refusals that name no row: a store that refuses everything would be asked again for each row.
inline constexpr std::size_t most_unnamed = 300;
/// How often several pages are read again because they changed.
inline constexpr std::size_t most_unsteady = 5;

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
        case error_code::request_body_too_large: return true;
        case error_code::other_service_error: return why.http_status == 0 || why.http_status == 400;
        default: return false;
    }
}
/// Whether a store has refused a write that it may accept later.
inline bool is_busy(error const& why) {
    return why.code == error_code::server_busy || why.code == error_code::store_busy ||
        why.code == error_code::shard_moving || why.http_status == 429 || why.http_status == 503;
}
/// Adds the key of a partition to a list of the report, once.
inline void list_once(std::vector<std::string>& list, std::string const& partition_key) {
    if (list.empty() || list.back() != partition_key) { list.push_back(partition_key); }
}
/// Bytes of rows in one transaction, by both measures: as they are stored, and as a service counts them.
class transaction_bytes {
public:
    explicit transaction_bytes(profile const& limits) : most_served_(limits.max_transaction_size / 8 * 7) {}
    /// Whether a transaction has room for more rows.
    [[nodiscard]] bool fits(std::size_t stored, std::size_t served) const {
        return stored_ + stored <= most_sync_bytes && served_ + served <= most_served_;
    }
    void add(std::size_t stored, std::size_t served) {
        stored_ += stored;
        served_ += served;
    }

private:
    std::size_t most_served_;
    std::size_t stored_{};
    std::size_t served_{};
};
inline ask_options at_place(sync_place place) {
    ask_options how;
    how.place = static_cast<std::size_t>(place);
    return how;
}

ENTITABLE_DECL partition_sync::partition_sync(synced_partition of, sync_report& report)
    : of_(std::move(of)), report_(report), rivals_(of_.max_attempts, of_.delays), rows_a_push_(most_rows_a_push()) {}

ENTITABLE_DECL std::size_t partition_sync::most_rows_a_push() const {
    return (std::min)({most_pushed, of_.cloud.max_operations - 1, of_.local.max_operations - 1});
}

ENTITABLE_DECL void partition_sync::end(result<void> const& ran) {
    ++report_.partitions;
    for (auto& [row_key, why] : held_) { report_.held.push_back({of_.partition_key, row_key, std::move(why)}); }
    if (!ran) { report_.failed.push_back({of_.partition_key, ran.error()}); }
}

// ---- reads ------------------------------------------------------------------------------------------------

ENTITABLE_DECL resumable<synced_rows> partition_sync::read(sync_place from) {
    bool const local = from == sync_place::here;
    query_entities all;
    all.table = local ? of_.here : of_.there;
    all.range.partition = key_interval::only(of_.partition_key);
    page_cursor pages{std::move(all)};
    synced_rows found;
    while (pages.more()) {
        ENTITABLE_CO_TRY(auto answered, pages.take(co_await ask(std::as_const(pages).request(), at_place(from))));
        found.pages.push_back(std::move(answered.rows));
    }
    std::string const state_key = local ? std::string{system_row::synced} : receipt_key(state_.device);
    ENTITABLE_CO_CHECK(sort_rows(found, state_key));
    if (found.foreign) {
        auto const* const kind = system_row::kind_of(found.foreign->row_key);
        co_return failure{error_code::not_supported,
            text::joined({"the table \"", local ? of_.here : of_.there, "\" has ", kind->holds,
                ", which synchronize does not support"})};
    }
    co_return found;
}

ENTITABLE_DECL result<void> partition_sync::know_version() {
    std::optional<etag> const version = here_.state ? std::optional{here_.state->etag()} : std::nullopt;
    if (version_known_ && version != version_) {
        return failure{error_code::sync_running,
            "the partition is being synchronised by another call: the state of its synchronisation has changed"};
    }
    version_ = version;
    version_known_ = true;
    return {};
}

ENTITABLE_DECL resumable<void> partition_sync::read_here() {
    bool const first = !version_known_;
    ENTITABLE_CO_TRY(here_, co_await read(sync_place::here));
    ENTITABLE_CO_CHECK(know_version());
    settled_here_ = here_.pages.size() == 1;
    if (first && !settled_here_) {
        // Another call may have written rows, bases and the state between two pages: a row would be older than its base. From here on
        // the version of the state shows that.
        synced_rows const before = std::move(here_);
        ENTITABLE_CO_TRY(here_, co_await read(sync_place::here));
        ENTITABLE_CO_CHECK(know_version());
        settled_here_ = same_versions(before, here_);
    }
    if (here_.state) {
        ENTITABLE_CO_TRY(state_, state_of_row(*here_.state));
    } else {
        // Nothing in the cloud has this name before the state is stored: a push follows its note.
        if (state_.device.empty()) { state_.device = of_.ids->next(); }
        state_.receipt.clear();
        state_.push.clear();
    }
    co_return {};
}

ENTITABLE_DECL resumable<void> partition_sync::read_receipt() {
    get_entity const reading{of_.there, of_.partition_key, receipt_key(state_.device), {}};
    auto found = co_await ask(reading, at_place(sync_place::there));
    if (found) {
        receipt_ = std::move(found->entity);
    } else if (found.error().code == error_code::resource_not_found) {
        receipt_.reset();
    } else {
        co_return failure{found.error()};
    }
    co_return {};
}

ENTITABLE_DECL resumable<void> partition_sync::read_there() {
    ENTITABLE_CO_TRY(there_, co_await read(sync_place::there));
    settled_there_ = there_->pages.size() == 1;
    if (settled_there_) {
        receipt_ = there_->state ? std::optional{row{*there_->state}} : std::nullopt;
        co_return {};
    }
    // The receipt must not be older than a row: a push of a time before a restoration may have come in between.
    co_return co_await read_receipt();
}

ENTITABLE_DECL resumable<bool> partition_sync::is_steady(sync_place of) {
    bool const local = of == sync_place::here;
    bool& settled = local ? settled_here_ : settled_there_;
    if (settled) { co_return true; }
    // Two equal readings in succession show one point in time between them.
    ENTITABLE_CO_TRY(auto again, co_await read(of));
    bool same = same_versions(again, local ? here_ : *there_);
    if (!same && ++unsteady_ > most_unsteady) {
        list_once(report_.torn, of_.partition_key);
        same = true; // row by row: each is written under its own version
    }
    settled = same;
    if (!local && !same) { there_.reset(); }
    co_return same;
}

// ---- writes -----------------------------------------------------------------------------------------------

ENTITABLE_DECL result<bool> partition_sync::refused(error why, std::vector<std::string> const& row_keys, bool divides) {
    last_ = why;
    next_ = attempt::after_delay;
    if (was_beaten(why) || is_busy(why)) { return false; }
    if (!is_of_a_row(why)) { return failure{std::move(why)}; }
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
    co_return true;
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
    co_return co_await write_here(std::move(bases), std::move(row_keys), std::move(next));
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

// ---- the protocol -----------------------------------------------------------------------------------------

ENTITABLE_DECL resumable<void> partition_sync::settle() {
    ENTITABLE_CO_CHECK(co_await read_receipt());
    std::optional<row_view> const receipt = receipt_ ? std::optional{receipt_->view()} : std::nullopt;
    std::string_view const last = push_of_receipt(receipt);
    sync_state next = state_;
    next.push.clear();
    std::vector<mutation> bases;
    if (last == state_.push) {
        for (auto const& [row_key, base] : here_.bases) {
            if (base.push != state_.push) { continue; }
            std::optional<row_view> content;
            if (base.pushed) { content = row_view{of_.partition_key, row_key, *base.pushed}; }
            bases.push_back(base_to(row_key, content));
        }
        next.receipt = state_.push;
    } else if (last == state_.receipt) {
        // Not applied so far. The receipt gets another version, so that the push is refused if it arrives late.
        row same = row_of_receipt(of_.partition_key, state_.device, last);
        write_entity const touch{of_.there,
            receipt ? mutation::replace(std::move(same), receipt->etag()) : mutation::insert(std::move(same))};
        auto const touched = co_await ask(touch, at_place(sync_place::there_once));
        if (!touched) {
            if (touched.error().effect == effect::unknown) { co_return failure{touched.error()}; }
            ENTITABLE_CO_TRY(bool const never, refused(touched.error(), {}, false));
            static_cast<void>(never);
            co_return co_await begin_again(true);
        }
    } // else the receipt is of another history, and its version refuses the push
    ENTITABLE_CO_TRY(bool const wrote, co_await write_here(std::move(bases), {}, std::move(next)));
    if (!wrote) { co_return co_await begin_again(true); }
    co_return {};
}

ENTITABLE_DECL resumable<void> partition_sync::run() {
    for (;;) {
        // The local rows are read again after each change of them: a program may write them at any time.
        ENTITABLE_CO_CHECK(co_await read_here());
        if (!state_.push.empty() && !cleared_) {
            // Before anything is compared: the rows of a push that was applied would look like changes of others.
            ENTITABLE_CO_CHECK(co_await settle());
            continue;
        }
        if (!there_) { ENTITABLE_CO_CHECK(co_await read_there()); }
        std::optional<row_view> const receipt = receipt_ ? std::optional{receipt_->view()} : std::nullopt;
        bool const restored = push_of_receipt(receipt) != state_.receipt;
        ENTITABLE_CO_TRY(auto planned, decide(restored));
        if (planned.pulls > 0) {
            // A transaction of another device must not be seen in part, not even if the rest of it is on a page that was read before.
            ENTITABLE_CO_TRY(bool const steady, co_await is_steady(sync_place::there));
            if (!steady) { continue; }
        }
        if (!planned.changes.empty() || restored) {
            ENTITABLE_CO_TRY(bool const applied, co_await apply(std::move(planned.changes), restored));
            if (!applied) { ENTITABLE_CO_CHECK(co_await begin_again(false)); }
            continue;
        }
        if (!planned.pushes.empty()) {
            ENTITABLE_CO_TRY(bool const steady, co_await is_steady(sync_place::here));
            if (!steady) { continue; }
        }
        ENTITABLE_CO_TRY(bool const pushed, co_await push(std::move(planned.pushes)));
        if (pushed) { co_return {}; }
        ENTITABLE_CO_CHECK(co_await begin_again(true));
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
