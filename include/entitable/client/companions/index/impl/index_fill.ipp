// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_build.hpp>
#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/core/load/detail/bulk_run.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Iterates over the expected rows of one index for all entities of a table, page after page. Used by one thread at a time.
class wanted_rows {
public:
    wanted_rows(index_family const& family, std::size_t index) : family_(family), index_(index) {
        pages_.request().table = family.main.name();
        pages_.request().range.row = type().row.interval();
    }

    /// Returns the next row; nullopt at the end.
    [[nodiscard]] result<std::optional<row>> next() {
        for (;;) {
            while (at_ == page_.size()) {
                if (!pages_.more()) { return std::optional<row>{}; }
                call context{family_.main.options(), *family_.options.time};
                context.location = read_location::primary;
                context.operation_id.clear();
                ENTITABLE_TRY(auto found, pages_.take(family_.main.store().execute(pages_.request(), context)));
                page_ = std::move(found.rows);
                at_ = 0;
            }
            row_view const each = page_[at_++];
            if (system_row::is_one(each.row_key) || !type().matches(each.partition_key, each.row_key)) { continue; }
            ENTITABLE_CHECK(check_payload(each.payload));
            if (auto derived = family_.derive(each, family_.main.options().reading, rows_); !derived) {
                failure told = std::move(derived).as_failure();
                if (told.error().detail.empty()) { told.error().detail = keys_text(each.partition_key, each.row_key); }
                return told;
            }
            if (rows_[index_]) { return std::move(rows_[index_]); }
        }
    }

private:
    [[nodiscard]] type_pattern const& type() const noexcept { return *family_.shapes[index_].of; }

    index_family const& family_;
    std::size_t index_;
    page_cursor<query_entities> pages_{query_entities{}};
    page page_;
    std::size_t at_{};
    index_rows rows_;
};

ENTITABLE_DECL result<index_repair> fill_index(index_family const& family, std::size_t index) {
    result<index_repair> done{std::in_place};
    ENTITABLE_CHECK(apply_intents(family, *done));
    // A row of a unique index is never overwritten here: it may belong to another entity, and only a writer that has read that entity may
    // take it over.
    bulk_mode const mode = family.shapes[index].unique ? bulk_mode::insert : bulk_mode::insert_or_replace;
    wanted_rows wanted{family, index};
    auto const source = [&](bulk_item& item) -> bulk_input {
        auto next = wanted.next();
        if (!next) {
            item.why.emplace(next.error());
            return bulk_input::stopped;
        }
        if (!*next) { return bulk_input::end; }
        item.change = mode == bulk_mode::insert ? mutation::insert(**std::move(next))
                                                : mutation::insert_or_replace(**std::move(next));
        return bulk_input::row;
    };
    std::optional<error> refused;
    bulk_options how;
    how.time = family.options.time;
    how.seed = family.options.seed;
    how.keep_refused = 1;
    how.on_refused = [&](refused_row const& each) {
        if (each.error.code != error_code::entity_already_exists && !refused) { refused = each.error; }
    };
    call_options calls = family.main.options();
    calls.operation_id.clear();
    bulk_report report;
    {
        table_core const& place = family.places[index];
        bulk_run load{place.store(), place.name(), std::move(calls), mode, source, nullptr, how};
        ENTITABLE_TRY(report, load.run());
    }
    if (refused) { return failure{*std::move(refused)}; }
    if (report.retried > 0) {
        // A request whose response was lost may still be applied, with outdated rows: the comparison must come after it.
        call context{family.main.options(), *family.options.time};
        clock& time = *family.options.time;
        ENTITABLE_CHECK(wait_until(
            time.steady() + std::chrono::duration_cast<steady_time::duration>(family.options.longest_request), context,
            time));
    }
    ENTITABLE_TRY(index_repair mended, repair_index(family, index));
    done->written = report.written + mended.written;
    done->removed = mended.removed;
    done->found = std::move(mended.found);
    return done;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
