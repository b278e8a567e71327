// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One save of a unit of work: settles lost changes, then sends new changes. Without the types of entities.

#include <entitable/core/request/settling.hpp>
#include <entitable/work/tracking/detail/entity_tracker.hpp>

#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Outcome of one change.
struct row_outcome {
    tracked_entity* of;
    entity_state was; ///< kind of change
    save_outcome outcome;
    std::optional<error> problem;
};

/// The outcome of one change, without its type.
struct change_refusal {
    std::string_view partition_key;
    std::string_view row_key;
    save_outcome outcome;
    std::optional<error> const* problem;
};
/// Makes one error for a save in which some changes were not saved: the error of the first refused change, or else of
/// the first lost change, or else of the first change that was not sent.
[[nodiscard]] failure refusal_of(std::vector<change_refusal> const& changes);

/// One save; used once.
class save_run {
public:
    save_run(entity_tracker& all, save_options how, failed_changes failed)
        : all_(all), through_(all.core().store()), how_(how), again_(failed == failed_changes::send_again) {}

    /// Runs the save. After an error nothing was sent except requests that settle lost changes.
    [[nodiscard]] result<std::vector<row_outcome>> run();

private:
    /// A change to be sent.
    struct planned {
        tracked_entity* of;
        entity_state was;
        mutation change;
    };

    // ---- lost changes ----
    void settle_all();
    [[nodiscard]] result<write_outcome> outcome_of_lost(unsettled_save const& lost);
    void settle(tracked_entity& of, mutation const& sent, write_outcome told);
    void settle_by_reading(tracked_entity& of, mutation const& sent);
    void take_as_applied(tracked_entity& of, mutation const& sent);
    /// Reads a row of unknown version.
    [[nodiscard]] result<void> read_version(tracked_entity& of);

    // ---- planning ----
    void plan();
    void plan_one(tracked_entity& of);
    [[nodiscard]] result<mutation> change_of(tracked_entity& of, row_view now);
    /// Reads all properties of an attached row.
    [[nodiscard]] result<void> read_base(tracked_entity& of);
    [[nodiscard]] result<std::vector<std::vector<planned>>> transactions();

    // ---- sending ----
    void send_all(std::vector<std::vector<planned>> parts);
    [[nodiscard]] bool send(std::vector<planned>& part);
    [[nodiscard]] result<std::vector<written>> execute(std::vector<planned> const& part);
    void done(planned& one, written const& made);
    void refused(planned const& one, error problem);

    [[nodiscard]] result<std::optional<get_entity::response>> read(tracked_entity const& of);
    [[nodiscard]] call fresh_call() const;
    void tell(tracked_entity& of, entity_state was, save_outcome outcome, std::optional<error> problem = {});
    /// A change that is not sent blocks the transaction of its partition.
    void hold_up(tracked_entity const& of);
    void fail(tracked_entity& of, entity_state was, error problem);

    entity_tracker& all_;
    any_store through_;
    save_options how_;
    bool again_; ///< failed changes are sent again, like the historical client does
    std::vector<row_outcome> told_;
    std::size_t settled_{};                      ///< number of changes replaced by a later change of the same entity
    std::set<std::string, std::less<>> blocked_; ///< partitions whose transactions are not sent
    bool failed_{};                              ///< a change failed before it was sent
    std::vector<planned> planned_;
    row scratch_;
};

/// Returns the kind of a change, for reports.
[[nodiscard]] inline entity_state state_of_change(mutation_kind kind) noexcept {
    return kind == mutation_kind::remove ? entity_state::removed
        : kind == mutation_kind::insert  ? entity_state::added
                                         : entity_state::modified;
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/tracking/impl/lost_changes.ipp>
#include <entitable/work/tracking/impl/save_run.ipp>
#endif
