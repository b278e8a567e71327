// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Sums of a property whose type is known at run time.

#include <entitable/core/value.hpp>

#include <cmath>
#include <cstdint>
#include <optional>

namespace tool {

/// Count, sum, minimum and maximum of a property. Integers are exact as long as the sum fits 64 bits; then, and with a Double, the sum is
/// a Double with compensated rounding.
class number_fold {
public:
    /// Adds a value; others than numbers are counted apart.
    void add(entitable::value_view given) {
        bool const is_integer =
            given.type() == entitable::edm_type::int32 || given.type() == entitable::edm_type::int64;
        if (!is_integer && given.type() != entitable::edm_type::float64) {
            ++others_;
            return;
        }
        double const number = is_integer ? static_cast<double>(given.as_int64()) : given.as_float64();
        ++count_;
        if (!least_ || number < as_double(*least_)) { least_ = entitable::value{given}; }
        if (!most_ || number > as_double(*most_)) { most_ = entitable::value{given}; }
        add_compensated(number);
        std::int64_t next = 0;
        if (!is_integer || add_overflows(exact_, given.as_int64(), next)) {
            is_exact_ = false;
        } else {
            exact_ = next;
        }
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }   ///< numbers
    [[nodiscard]] std::uint64_t others() const noexcept { return others_; } ///< values of other types
    [[nodiscard]] std::optional<entitable::value> sum() const {
        if (is_exact_) { return entitable::value{entitable::value_view{exact_}}; }
        return entitable::value{entitable::value_view{rough()}};
    }
    [[nodiscard]] std::optional<entitable::value> minimum() const { return least_; }
    [[nodiscard]] std::optional<entitable::value> maximum() const { return most_; }
    [[nodiscard]] std::optional<entitable::value> mean() const {
        if (count_ == 0) { return std::nullopt; }
        return entitable::value{entitable::value_view{rough() / static_cast<double>(count_)}};
    }

private:
    [[nodiscard]] static double as_double(entitable::value const& of) {
        entitable::value_view const view = of.view();
        return view.type() == entitable::edm_type::float64 ? view.as_float64() : static_cast<double>(view.as_int64());
    }
    [[nodiscard]] static bool add_overflows(std::int64_t left, std::int64_t right, std::int64_t& sum) {
        if (right > 0 ? left > INT64_MAX - right : left < INT64_MIN - right) { return true; }
        sum = left + right;
        return false;
    }
    /// Neumaier's summation.
    void add_compensated(double number) {
        double const next = sum_ + number;
        rest_ += std::abs(sum_) >= std::abs(number) ? (sum_ - next) + number : (number - next) + sum_;
        sum_ = next;
    }
    [[nodiscard]] double rough() const { return std::isfinite(sum_) ? sum_ + rest_ : sum_; }

    std::uint64_t count_{};
    std::uint64_t others_{};
    std::int64_t exact_{};
    bool is_exact_{true};
    double sum_{};
    double rest_{};
    std::optional<entitable::value> least_;
    std::optional<entitable::value> most_;
};

} // namespace tool
