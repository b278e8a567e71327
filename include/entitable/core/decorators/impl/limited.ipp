// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/decorators/limited.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class rate_gate final : public request_gate {
public:
    explicit rate_gate(rate_limit const& limit);

    [[nodiscard]] result<steady_time> enter(steady_time now, steady_time deadline) override;
    void leave(error const*, steady_time) noexcept override {}

private:
    rate_limit const limit_;
    result<void> usable_;
    steady_time::duration interval_{}; ///< time between two requests
    steady_time::duration burst_{};    ///< time that a burst may run ahead
    std::mutex lock_;
    steady_time due_{(steady_time::min)()}; ///< time at which the rate is used up; guarded by lock_
};

ENTITABLE_DECL result<void> check_limit(rate_limit const& limit) {
    if (!(limit.requests_a_second >= 0.001 && limit.requests_a_second <= 1e9)) { // false for NaN
        return failure{
            error_code::out_of_range_input, "rate_limit::requests_a_second must be between 0.001 and 1,000,000,000"};
    }
    if (limit.burst == 0) { return failure{error_code::out_of_range_input, "rate_limit::burst must be at least 1"}; }
    if (limit.longest_wait.count() < 0) {
        return failure{error_code::out_of_range_input, "rate_limit::longest_wait must not be negative"};
    }
    return {};
}

ENTITABLE_DECL rate_gate::rate_gate(rate_limit const& limit)
    : request_gate(*limit.time), limit_(limit), usable_(check_limit(limit)) {
    if (!usable_) { return; }
    double const interval = 1e9 / limit.requests_a_second;
    auto const in = [](double nanoseconds) {
        // At most three decades, so that a sum with a point in time does not overflow.
        auto const whole = static_cast<std::int64_t>((std::min)(nanoseconds, 1e18));
        return std::chrono::duration_cast<steady_time::duration>(std::chrono::nanoseconds{whole});
    };
    interval_ = in(interval);
    burst_ = in(interval * static_cast<double>(limit.burst - 1));
}

ENTITABLE_DECL result<steady_time> rate_gate::enter(steady_time now, steady_time deadline) {
    if (!usable_) { return failure{usable_.error()}; }
    std::lock_guard const guard{lock_};
    steady_time const due = (std::max)(due_, now);
    steady_time const turn = due - now > burst_ ? due - burst_ : now;
    if (turn > now && (turn - now > limit_.longest_wait || turn >= deadline)) {
        error busy{error_code::server_busy,
            text::joined({"the limit of ", std::to_string(limit_.requests_a_second),
                " requests a second: the turn of this request comes in ",
                std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(turn - now).count()),
                turn >= deadline ? " ms, after the deadline of the call"
                                 : " ms, later than rate_limit::longest_wait"})};
        busy.retry_after = std::chrono::ceil<std::chrono::milliseconds>(turn - now);
        return failure{std::move(busy)};
    }
    due_ = due + interval_;
    return turn;
}

ENTITABLE_DECL shared<request_gate> open_rate_gate(rate_limit const& limit) {
    return shared<request_gate>{new rate_gate{limit}};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
