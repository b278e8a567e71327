// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/log/logged_changes.hpp>

#include <charconv>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::string log_position::to_string() const {
    if (numbers.empty()) { return {}; }
    std::string made = "1!" + log.to_string();
    for (std::int64_t const each : numbers) { made.append("!").append(std::to_string(each)); }
    return made;
}

ENTITABLE_DECL std::optional<log_position> log_position::parse(std::string_view text) {
    log_position made;
    if (text.empty()) { return made; }
    constexpr std::size_t of_log = 2 + 36;
    if (!text.starts_with("1!") || text.size() < of_log) { return std::nullopt; }
    auto const log = guid::parse(text.substr(2, 36));
    if (!log) { return std::nullopt; }
    made.log = *log;
    text.remove_prefix(of_log);
    while (!text.empty()) {
        if (text.front() != '!') { return std::nullopt; }
        text.remove_prefix(1);
        std::int64_t number = -1;
        auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (problem != std::errc{} || number < 0) { return std::nullopt; }
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        made.numbers.push_back(number);
    }
    return made.numbers.empty() ? std::nullopt : std::optional{std::move(made)};
}

ENTITABLE_END_NAMESPACE
