// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `retry_operation`: one request with its retries and the requests that settle it, as a resumable operation.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/decorators/detail/retry_course.hpp>
#include <entitable/core/request/settling.hpp>
#include <entitable/core/row/compare.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The request and the ledger must outlive the operation. For a transaction with an operation row, the first change inserts that row.
template <table_request Request>
class retry_operation {
    static constexpr bool writes_one = std::same_as<Request, write_entity>;
    static constexpr bool writes_many = std::same_as<Request, transact>;

public:
    using response = response_of<Request>;

    /// `lost`: an earlier attempt, before this operation, may have been applied.
    retry_operation(
        Request const& asked, request_kind kind, retry_ledger& ledger, steady_time deadline, bool lost = false) noexcept
        : request_(&asked), course_(ledger, kind, deadline, lost) {}

    [[nodiscard]] operation_step next() const noexcept {
        if (outcome_) { return {}; }
        operation_step due{*request_};
        if constexpr (writes_one) { due = reads_ ? operation_step{reading_} : due; }
        if constexpr (writes_many) { due = settling_ ? settling_->next() : due; }
        due.not_before = course_.wakes_at();
        due.because = course_.because();
        return due;
    }

    /// Takes the response to the request.
    void answer(result<response> answered, steady_time now) {
        if (answered) {
            course_.succeeded();
            if constexpr (writes_one) { answered->after_retry = answered->after_retry || course_.lost(); }
            outcome_.emplace(std::move(answered));
            return;
        }
        failure problem = std::move(answered).as_failure();
        refused_at where = refused_at::somewhere;
        if constexpr (writes_many) { where = place_of_refusal(problem.error(), *request_); }
        auto const move = course_.after(problem.error(), now, where);
        switch (move) {
            case retry_course::move::again: break;
            case retry_course::move::success: conclude(etag{}); break;
            case retry_course::move::compare:
                if constexpr (writes_one) {
                    row_view const sent = request_->change.entity;
                    reading_ = {request_->table, std::string{sent.partition_key}, std::string{sent.row_key}, {}};
                    refusal_ = std::move(problem.error());
                    reads_ = true;
                }
                break;
            case retry_course::move::look_up:
            case retry_course::move::settle:
                if constexpr (writes_many) {
                    row_view const sent = request_->changes.front().entity;
                    met_row_ = move == retry_course::move::look_up;
                    settling_.emplace(request_->table, sent.partition_key,
                        sent.row_key.substr(operation_row::row_key_prefix.size()), met_row_);
                    refusal_ = std::move(problem.error());
                }
                break;
            case retry_course::move::fail: outcome_.emplace(std::move(problem)); break;
        }
    }
    /// Takes the response to the read that determines the outcome.
    void answer(result<get_entity::response> found, steady_time now)
        requires(writes_one || writes_many)
    {
        if constexpr (writes_one) {
            if (found) {
                course_.succeeded();
                compare(&*found);
            } else if (found.error().code == error_code::resource_not_found) {
                compare(nullptr);
            } else {
                find_out_again(std::move(found).as_failure(), now);
            }
        } else {
            go_on_settling(std::move(found), now, error_code::resource_not_found);
        }
    }
    /// Takes the response to the insert of the void operation row.
    void answer(result<written> voided, steady_time now)
        requires writes_many
    {
        go_on_settling(std::move(voided), now, error_code::entity_already_exists);
    }

    void abandon(error const& reason) {
        error problem = reason;
        course_.abandon(problem);
        outcome_.emplace(failure{std::move(problem)});
    }
    [[nodiscard]] result<response> finish() { return *std::move(outcome_); }

    /// Number of responses to the request.
    [[nodiscard]] std::uint32_t attempts() const noexcept { return course_.attempts(); }

private:
    void conclude(etag version) {
        if constexpr (writes_one) {
            outcome_.emplace(written{std::move(version), true});
        } else if constexpr (writes_many) {
            outcome_.emplace(response{std::vector<written>(request_->changes.size(), written{{}, true})});
        } else if constexpr (std::is_void_v<response_of<Request>>) {
            outcome_.emplace();
        } else {
            outcome_.emplace(std::in_place);
        }
    }
    void refuse(effect left, std::string_view remark) {
        course_.close(refusal_, left);
        refusal_.message += remark;
        outcome_.emplace(failure{std::move(refusal_)});
    }
    /// A request to determine the outcome has failed.
    void find_out_again(failure problem, steady_time now) {
        if (course_.after_reading(problem.error(), now) == retry_course::move::again) { return; }
        problem.error().message += "; this was a request to find out whether a lost write was applied";
        course_.close(problem.error(), effect::unknown);
        outcome_.emplace(std::move(problem));
    }
    /// `found`: null if there is no entity.
    void compare(get_entity::response* found) {
        if (found == nullptr) {
            refuse(effect::unknown, "; the entity was removed before it could be compared");
        } else if (same_properties(found->entity, request_->change.entity)) {
            conclude(std::move(found->etag));
        } else {
            // The entity is another writer's, or our own with later changes.
            refuse(
                effect::unknown, "; the stored entity differs from the entity sent, and an earlier response was lost");
        }
    }
    /// `expected`: the error code that shows the outcome.
    template <class Answer>
    void go_on_settling(result<Answer> answered, steady_time now, error_code expected) {
        if (!answered && answered.error().code != expected) {
            return find_out_again(std::move(answered).as_failure(), now);
        }
        course_.succeeded();
        settling_->answer(std::move(answered), now);
        if (!settling_->next().done()) { return; }
        switch (*settling_->finish()) {
            case write_outcome::applied:
                if (holds_properties(settling_->found(), request_->changes.front().entity)) {
                    conclude(etag{});
                } else {
                    refuse_as(error_code::operation_id_taken,
                        "another write was applied under this operation id; this write was not applied and never will "
                        "be");
                }
                break;
            case write_outcome::not_applied:
                if (met_row_) {
                    refuse_as(error_code::operation_void,
                        "this operation id was abandoned before: its write was not applied and never will be; a new "
                        "attempt needs a new operation id");
                } else {
                    refuse(effect::none, {});
                }
                break;
            case write_outcome::unknown: refuse(effect::unknown, "; its operation row was removed"); break;
        }
    }
    void refuse_as(error_code code, std::string_view message) {
        refusal_.code = code;
        refusal_.http_status = http_status_of(code);
        refusal_.message = message;
        refusal_.operation_index.reset();
        refuse(effect::none, {});
    }

    Request const* request_;
    retry_course course_;
    bool reads_{};
    bool met_row_{}; ///< set if the operation row was found before it was settled
    get_entity reading_;
    std::optional<settling> settling_;
    error refusal_;
    std::optional<result<response>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
