// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/bulk_progress_line.hpp>
#include <entitable/core/text.hpp>

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Formats "1,234,567".
[[nodiscard]] ENTITABLE_DECL std::string with_separators(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

/// Formats "1:02:03" or "2:03".
[[nodiscard]] ENTITABLE_DECL std::string clock_text(std::chrono::nanoseconds time) {
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
    auto const two = [](auto number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    std::string const minutes =
        seconds >= 3600 ? std::to_string(seconds / 3600) + ":" + two(seconds / 60 % 60) : std::to_string(seconds / 60);
    return minutes + ":" + two(seconds % 60);
}

[[nodiscard]] ENTITABLE_DECL bool is_terminal(std::FILE* output) noexcept {
#if defined(_WIN32)
    return ::_isatty(::_fileno(output)) != 0;
#else
    return ::isatty(::fileno(output)) != 0;
#endif
}

} // namespace detail

ENTITABLE_DECL std::string to_string(bulk_progress const& progress) {
    using detail::with_separators;
    std::uint64_t const settled = progress.read - progress.held;
    std::string made = with_separators(settled);
    if (progress.total) {
        std::uint64_t const total = *progress.total;
        made += text::joined({" of ", with_separators(total)});
        made += " rows (" + std::to_string(total == 0 ? 100 : settled * 100 / total) + " %)";
    } else {
        made += " rows";
    }
    if (progress.rows_a_second > 0) {
        made += ", " + with_separators(static_cast<std::uint64_t>(progress.rows_a_second)) + " a second";
    }
    if (progress.ended) {
        made += " for " + detail::clock_text(progress.elapsed);
    } else if (progress.left) {
        made += ", " + detail::clock_text(*progress.left) + " left";
    }
    char const* mark = "; ";
    auto const add = [&](std::uint64_t number, char const* what) {
        if (number > 0) {
            made += mark + with_separators(number) + what;
            mark = ", ";
        }
    };
    add(progress.already_there, " already there");
    add(progress.superseded, " superseded");
    add(progress.refused, " refused");
    add(progress.retried, " sent again");
    add(progress.in_flight, " in flight");
    return made;
}

ENTITABLE_DECL bulk_progress_line::bulk_progress_line(std::FILE* output, std::chrono::nanoseconds every)
    : output_(output), every_(every), terminal_(detail::is_terminal(output)) {}

ENTITABLE_DECL void bulk_progress_line::operator()(bulk_progress const& progress) {
    if (!terminal_ && !progress.ended && progress.elapsed - printed_ < every_) { return; }
    printed_ = progress.elapsed;
    std::string line = to_string(progress);
    std::size_t const width = line.size();
    if (terminal_ && width < width_) { line.append(width_ - width, ' '); }
    width_ = width;
    std::fprintf(output_, "%s%s%s", terminal_ ? "\r" : "", line.c_str(), terminal_ && !progress.ended ? "" : "\n");
    std::fflush(output_);
}

ENTITABLE_END_NAMESPACE
