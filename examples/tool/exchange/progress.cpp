// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "progress.hpp"

#include <entitable/core/address/store_address.hpp>
#include <entitable/core/text.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tool {

namespace {

constexpr std::chrono::milliseconds between_draws{100};

std::string clock_time(double seconds) {
    auto const all = static_cast<std::uint64_t>((std::min)(seconds, 3.6e8));
    std::string made = std::to_string(all / 3600);
    if (all < 3600) {
        made.clear();
    } else {
        made += ':';
    }
    std::string minutes;
    entitable::text::append_decimal(minutes, all / 60 % 60, all < 3600 ? 1 : 2);
    made += minutes + ":";
    entitable::text::append_decimal(made, all % 60, 2);
    return made;
}

} // namespace

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) { digits.insert(at - 3, 1, ','); }
    return digits;
}

std::string counted_rows(std::uint64_t number) { return grouped(number) + (number == 1 ? " row" : " rows"); }

entitable::result<void> confirm_overwrite(console const& with, bool yes, std::string const& path) {
    std::error_code problem;
    if (!std::filesystem::exists(path, problem)) { return {}; }
    return confirm(with, yes, path + " exists. Overwrite it?");
}

std::string store_identity(std::string const& address) {
    auto const parsed = entitable::store_address::parse(address);
    if (!parsed) { return "unknown"; }
    switch (parsed->component()) {
        case entitable::store_component::memory: return "memory:" + parsed->place();
        case entitable::store_component::file: {
            std::error_code problem;
            // Absolute first: the canonical path of a file that does not exist yet would stay relative.
            auto path = std::filesystem::absolute(std::filesystem::path{parsed->place()}, problem);
            if (!problem) { path = std::filesystem::weakly_canonical(path, problem); }
            return "file:" + (problem ? parsed->place() : path.string());
        }
        case entitable::store_component::postgres: return "postgres";
        case entitable::store_component::azure: return "azure";
        case entitable::store_component::shards: return "shards";
    }
    return "unknown";
}

bool same_store(std::string const& one, std::string const& other) {
    std::string const first = store_identity(one);
    return one == other ||
        (first == store_identity(other) && (first.starts_with("file:") || first.starts_with("memory:")) &&
            first != "memory:");
}

void progress_line::show(std::string_view given) {
    if (!with_->err_is_terminal) { return; }
    std::string text{given.substr(0, with_->width > 1 ? with_->width - 1 : given.size())};
    std::size_t const size = text.size();
    if (shown_ > size) { text.append(shown_ - size, ' '); }
    with_->err << '\r' << text << std::flush;
    shown_ = size;
}

void progress_line::show_rows(std::uint64_t rows, std::optional<std::uint64_t> total) {
    if (!with_->err_is_terminal) { return; }
    if (!first_) { first_ = rows; }
    auto const now = std::chrono::steady_clock::now();
    if (now - drawn_ < between_draws) { return; }
    drawn_ = now;
    double const seconds = std::chrono::duration<double>(now - begun_).count();
    double const rate = seconds > 0 ? static_cast<double>(rows - *first_) / seconds : 0;
    std::string text = counted_rows(rows);
    if (total && *total != 0) {
        text += " (" + std::to_string((std::min)(rows * 100 / *total, std::uint64_t{100})) + " %)";
    }
    text += ", " + grouped(static_cast<std::uint64_t>(rate)) + " a second";
    if (total && *total > rows && rate > 0) {
        text += ", " + clock_time(static_cast<double>(*total - rows) / rate) + " left";
    }
    show(text);
}

void progress_line::clear() {
    if (shown_ == 0) { return; }
    show({});
    with_->err << '\r' << std::flush;
    shown_ = 0;
}

line_log::~line_log() {
    if (file_ != nullptr) { static_cast<void>(std::fclose(file_)); }
}

entitable::failure line_log::failed(int number) const {
    return entitable::failure{
        number == ENOSPC ? entitable::error_code::store_full : entitable::error_code::store_failed,
        "cannot write " + path_ + ": " + std::strerror(number)}; // NOLINT(concurrency-mt-unsafe): one thread writes
}

entitable::result<void> line_log::open(std::uint64_t size) {
    if (file_ != nullptr) { static_cast<void>(std::fclose(file_)); }
    file_ = std::fopen(path_.c_str(), "ab");
    struct stat found{};
    if (file_ == nullptr || ::fstat(::fileno(file_), &found) != 0) { return failed(errno); }
    if (static_cast<std::uint64_t>(found.st_size) < size) {
        return entitable::failure{entitable::error_code::checkpoint_invalid,
            path_ + " is shorter than when the command was interrupted; --restart starts over"};
    }
    if (::ftruncate(::fileno(file_), static_cast<off_t>(size)) != 0) { return failed(errno); }
    return {};
}

void line_log::append(std::string_view line) {
    std::string whole{line};
    whole += '\n';
    if (std::fwrite(whole.data(), 1, whole.size(), file_) != whole.size() && error_ == 0) { error_ = errno; }
}

entitable::result<std::uint64_t> line_log::flush() {
    if (std::fflush(file_) != 0 && error_ == 0) { error_ = errno; }
    if (error_ == 0 && ::fsync(::fileno(file_)) != 0) { error_ = errno; }
    struct stat found{};
    if (error_ == 0 && ::fstat(::fileno(file_), &found) != 0) { error_ = errno; }
    if (error_ != 0) { return failed(error_); }
    return static_cast<std::uint64_t>(found.st_size);
}

void line_log::remove() {
    if (file_ != nullptr) { static_cast<void>(std::fclose(file_)); }
    file_ = nullptr;
    static_cast<void>(::unlink(path_.c_str()));
}

} // namespace tool
