// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/validate.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sync/detail/partition_sync.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether both sides have the same content; a side without the row has none.
inline bool same_side(std::optional<row_view> const& one, std::optional<row_view> const& other) {
    if (!one || !other) { return !one && !other; }
    return same_properties(*one, *other);
}
inline std::optional<row> row_of_side(std::optional<row_view> const& side) {
    return side ? std::optional{row{*side}} : std::nullopt;
}
/// Makes `from` the content of a row, whose present content is `now`; nullopt if it is already.
inline std::optional<mutation> change_to(std::optional<row_view> const& now, std::optional<row_view> const& from) {
    if (same_side(now, from)) { return std::nullopt; }
    if (!from) { return mutation::remove(row{now->partition_key, now->row_key, {}}, now->etag()); }
    row content{from->partition_key, from->row_key, content_of(*from)};
    return now ? mutation::replace(std::move(content), now->etag()) : mutation::insert(std::move(content));
}

ENTITABLE_DECL std::optional<row_view> partition_sync::view_of_base(std::string_view row_key) const {
    auto const found = here_.bases.find(row_key);
    if (found == here_.bases.end() || !found->second.content) { return std::nullopt; }
    return row_view{of_.partition_key, row_key, *found->second.content};
}

ENTITABLE_DECL bool partition_sync::is_uncertain(std::string_view row_key) const {
    auto const found = here_.bases.find(row_key);
    return found != here_.bases.end() && !state_.receipt.empty() && found->second.push == state_.receipt;
}

ENTITABLE_DECL void partition_sync::hold(std::string_view row_key, error why) {
    held_.insert_or_assign(std::string{row_key}, std::move(why));
}

ENTITABLE_DECL bool partition_sync::is_held(sides const& of) {
    if (held_.find(of.row_key) != held_.end()) { return true; }
    if (of_.companions != nullptr &&
        of_.companions->kind_of(of_.partition_key, of.row_key) == maintained_row::unlisted) {
        hold(of.row_key,
            error{error_code::invalid_input,
                "the table has indexes or sums, and its list does not have the type of this row"});
        return true;
    }
    for (std::optional<row_view> const& side : {of.here, of.there}) {
        if (side && side->payload.size() > max_synced_payload) {
            hold(of.row_key,
                error{error_code::entity_too_large,
                    text::joined({"the stored row has ", std::to_string(side->payload.size()),
                        " bytes; synchronised rows have at most ", std::to_string(max_synced_payload)})});
            return true;
        }
    }
    std::string const key = text::joined({system_row::base, of.row_key});
    if (auto valid = validate_key(key, "RowKey", of_.local); !valid) {
        error why = valid.error();
        why.message += text::joined({"; the key of a base is ", std::to_string(system_row::base.size()),
            " characters longer than that of its row"});
        hold(of.row_key, std::move(why));
        return true;
    }
    return false;
}

ENTITABLE_DECL mutation partition_sync::base_to(std::string_view row_key, std::optional<row_view> content) const {
    if (!content) {
        return mutation::remove(row{of_.partition_key, text::joined({system_row::base, row_key}), {}}, any_etag);
    }
    base_row base;
    base.content = content_of(*content);
    return mutation::insert_or_replace(row_of_base(of_.partition_key, row_key, base));
}

ENTITABLE_DECL bool partition_sync::is_accepted(std::string_view row_key, row_view written, profile const& by) {
    auto valid = validate_entity(written, by);
    if (!valid) { hold(row_key, valid.error()); }
    return valid.has_value();
}

ENTITABLE_DECL result<void> partition_sync::check_decision(sides const& of, sync_decision const& decided) const {
    bool const both = decided.choice == sync_choice::both;
    if (!both && (decided.choice != sync_choice::merged || !decided.content)) { return {}; }
    if (!decided.content) {
        return failure{error_code::invalid_input, "the policy decided to keep both, and returned no content"};
    }
    row_view const content = decided.content->view();
    if (content.partition_key != of_.partition_key || (!both && content.row_key != of.row_key)) {
        return failure{error_code::invalid_input,
            both ? "the policy returned content of another partition"
                 : "the policy returned merged content with other keys than those of the row"};
    }
    ENTITABLE_CHECK(check_payload(content.payload));
    if (!both) { return {}; }
    if (system_row::is_one(content.row_key)) {
        return failure{error_code::key_reserved,
            "the policy returned a new row key that begins with \"~!\", which is reserved for the library"};
    }
    if (of_.companions != nullptr &&
        of_.companions->kind_of(of_.partition_key, content.row_key) != maintained_row::entity) {
        return failure{
            error_code::invalid_input, "the policy returned a new row key that is not a key of an entity of the table"};
    }
    if (here_.rows.contains(content.row_key) || there_->rows.contains(content.row_key) ||
        here_.bases.contains(content.row_key) ||
        std::find(renamed_.begin(), renamed_.end(), content.row_key) != renamed_.end()) {
        return failure{error_code::entity_already_exists, "kept_both: there is a row with the new row key"};
    }
    return {};
}

/// Decides a conflict: fills in the change of the local row.
ENTITABLE_DECL std::optional<partition_sync::local_change> partition_sync::settle_conflict(
    sides const& of, local_change made, bool restored) {
    sync_conflict conflict{of_.partition_key, std::string{of.row_key}, row_of_side(of.base), row_of_side(of.here),
        row_of_side(of.there), restored};
    auto decided = (*of_.conflicts)(conflict);
    if (restored) {
        decided = keep_theirs(conflict);
    } // the policy was called so that the program can store the content
    if (decided) {
        if (auto possible = check_decision(of, *decided); !possible) { decided = std::move(possible).as_failure(); }
    }
    if (!decided) {
        hold(of.row_key, decided.error());
        return std::nullopt;
    }
    switch (decided->choice) {
        case sync_choice::theirs: made.row = change_to(of.here, of.there); break;
        case sync_choice::mine: break;
        case sync_choice::merged:
            made.row = change_to(of.here, decided->content ? std::optional{decided->content->view()} : std::nullopt);
            break;
        case sync_choice::both:
            made.row = change_to(of.here, of.there);
            made.renamed = mutation::insert(
                row{of_.partition_key, decided->content->row_key(), content_of(decided->content->view())});
            break;
    }
    for (auto const* written : {&made.row, &made.renamed}) {
        if (*written && (*written)->kind != mutation_kind::remove &&
            !is_accepted(of.row_key, (*written)->entity, of_.local)) {
            return std::nullopt;
        }
    }
    if (made.renamed) { renamed_.emplace_back(made.renamed->entity.row_key()); }
    made.conflict = settled_conflict{std::move(conflict), decided->choice};
    return made;
}

/// The local change that a row needs; none if it needs none, or is held back.
ENTITABLE_DECL std::optional<partition_sync::local_change> partition_sync::change_of(sides const& of, bool restored) {
    // The base may be content of this device that nobody else has had.
    bool const uncertain = restored && is_uncertain(of.row_key);
    bool const same_here = same_side(of.here, of.base) && !uncertain;
    bool const same_there = same_side(of.there, of.base);
    if (same_there && (same_here || !restored)) { return std::nullopt; }
    local_change made{std::string{of.row_key}};
    if (!same_there) { made.base = base_to(of.row_key, of.there); }
    if (!of.there && here_.bases.find(of.row_key) == here_.bases.end()) { made.base.reset(); }
    if (same_here) {
        if (of.there && !is_accepted(of.row_key, *of.there, of_.local)) { return std::nullopt; }
        made.row = change_to(of.here, of.there);
        return made;
    }
    if (same_side(of.here, of.there)) { return made; }
    return settle_conflict(of, std::move(made), restored);
}

ENTITABLE_DECL result<partition_sync::plan> partition_sync::decide(bool restored) {
    plan made;
    renamed_.clear();
    auto here = here_.rows.begin();
    auto there = there_->rows.begin();
    auto base = here_.bases.begin();
    for (;;) {
        // The least key of the three lists.
        std::optional<std::string_view> least;
        auto const consider = [&](auto const& at, auto const& in) {
            if (at != in.end() && (!least || at->first < *least)) { least = at->first; }
        };
        consider(here, here_.rows);
        consider(there, there_->rows);
        consider(base, here_.bases);
        if (!least) { break; }
        sides of{*least, view_of_base(*least), {}, {}};
        if (here != here_.rows.end() && here->first == *least) { of.here = (here++)->second; }
        if (there != there_->rows.end() && there->first == *least) { of.there = (there++)->second; }
        if (base != here_.bases.end() && base->first == *least) { ++base; }
        bool const same_there = same_side(of.there, of.base);
        if (same_there && same_side(of.here, of.base)) {
            // A base that names a push that was refused. No later push may come to replace it, and with the name each run compares everything.
            auto const known = here_.bases.find(of.row_key);
            bool const left_over = known != here_.bases.end() && !known->second.push.empty();
            if (left_over && !held_.contains(of.row_key)) {
                made.changes.push_back({std::string{of.row_key}, {}, {}, base_to(of.row_key, of.base), {}});
            }
            continue;
        }
        if (is_held(of)) { continue; }
        made.pulls += same_there ? 0 : 1;
        if (auto change = change_of(of, restored)) {
            made.changes.push_back(*std::move(change));
        } else if (same_there && held_.find(of.row_key) == held_.end() &&
            (!of.here || is_accepted(of.row_key, *of.here, of_.cloud))) {
            made.pushes.push_back({of.row_key, of.here, of.there});
        }
    }
    ENTITABLE_CHECK(check_removals(made, restored));
    return made;
}

ENTITABLE_DECL result<void> partition_sync::check_removals(plan const& made, bool restored) const {
    if (of_.allow_many_removals) { return {}; }
    constexpr std::size_t most_unasked = 20;
    std::size_t here = 0;
    for (local_change const& each : made.changes) {
        bool const chosen = each.conflict && !restored;
        here += each.row && each.row->kind == mutation_kind::remove && !chosen ? 1U : 0U;
    }
    // A restored file finds a receipt with another name; without any, it is the cloud that lost rows.
    if (here > 0 && !receipt_ && !state_.receipt.empty()) {
        constexpr std::string_view advice = "allow_many_removals if that is intended";
        return failure{error_code::many_removals,
            text::joined({"the synchronisation would remove ", std::to_string(here), " of ",
                std::to_string(here_.rows.size()), " rows of the partition from the local table, and the table \"",
                of_.there, "\" has no receipt of it: it was dropped, or is another table than before; call it with ",
                advice})};
    }
    std::size_t there = 0;
    for (pushed_row const& each : made.pushes) { there += each.here ? 0U : 1U; }
    auto const refuse = [&](std::size_t removed, std::size_t all, std::string_view from) -> result<void> {
        if (all < most_unasked || removed * 2 <= all) { return {}; }
        return failure{error_code::many_removals,
            text::joined({"the synchronisation would remove ", std::to_string(removed), " of ", std::to_string(all),
                " rows of the partition from the ", from,
                " table: call it with allow_many_removals if that is intended"})};
    };
    ENTITABLE_CHECK(refuse(here, here_.rows.size(), "local"));
    return refuse(there, there_->rows.size(), "cloud's");
}

} // namespace detail
ENTITABLE_END_NAMESPACE
