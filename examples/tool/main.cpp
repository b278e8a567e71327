// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// The command `entitable`: looks into, fills, copies and serves any store. `entitable --help` lists the commands.

#include "console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <istream>
#include <ostream>
#include <streambuf>

namespace {

/// Writes to a descriptor and stores the reason of a failure, which `std::cout` loses.
class descriptor_output : public std::streambuf {
public:
    explicit descriptor_output(int descriptor) : descriptor_(descriptor) {
        setp(block_.data(), block_.data() + block_.size());
    }
    /// The `errno` of the failure; 0 if there was none.
    [[nodiscard]] int error() const noexcept { return error_; }

protected:
    int sync() override { return write_block() ? 0 : -1; }
    int_type overflow(int_type next) override {
        if (!write_block()) { return traits_type::eof(); }
        if (!traits_type::eq_int_type(next, traits_type::eof())) { sputc(traits_type::to_char_type(next)); }
        return traits_type::not_eof(next);
    }

private:
    bool write_block() {
        char const* at = pbase();
        while (at != pptr() && error_ == 0) {
            ssize_t const count = ::write(descriptor_, at, static_cast<std::size_t>(pptr() - at));
            if (count >= 0) {
                at += count;
            } else if (errno != EINTR) {
                error_ = errno;
            }
        }
        setp(block_.data(), block_.data() + block_.size());
        return error_ == 0;
    }

    int descriptor_;
    int error_{};
    std::array<char, 65'536> block_;
};

/// Reads from a descriptor what is there, so that lines of a pipe arrive as they are written.
class descriptor_input : public std::streambuf {
public:
    explicit descriptor_input(int descriptor) : descriptor_(descriptor) {}

protected:
    int_type underflow() override {
        ssize_t count = 0;
        do { count = ::read(descriptor_, block_.data(), block_.size()); } while (count < 0 && errno == EINTR);
        if (count <= 0) { return traits_type::eof(); }
        setg(block_.data(), block_.data(), block_.data() + count);
        return traits_type::to_int_type(block_.front());
    }

private:
    int descriptor_;
    std::array<char, 65'536> block_;
};

std::size_t width_of_terminal() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) { return size.ws_col; }
    return 80;
}

entitable::cancellation_source* interruption = nullptr; // for the signal handler

void cancel_on_interrupt(int) { interruption->cancel(); }

} // namespace

int main(int count, char** words) {
    std::signal(SIGPIPE, SIG_IGN);
    descriptor_output out_buffer{STDOUT_FILENO};
    descriptor_output err_buffer{STDERR_FILENO};
    descriptor_input in_buffer{STDIN_FILENO};
    std::ostream out{&out_buffer};
    std::ostream err{&err_buffer};
    std::istream in{&in_buffer};
    err << std::unitbuf;

    entitable::cancellation_source interrupted;
    interruption = &interrupted;
    auto const variable = [](char const* name) -> char const* {
        return std::getenv(name);
    }; // NOLINT(concurrency-mt-unsafe)
    tool::console with{out, err, in};
    with.in_is_terminal = ::isatty(STDIN_FILENO) == 1;
    with.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
    with.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
    if (with.out_is_terminal) { with.width = width_of_terminal(); }
    char const* const no_colour = variable("NO_COLOR");
    with.colours = with.out_is_terminal && (no_colour == nullptr || *no_colour == 0);
    with.interrupted = interrupted.token();
    with.handle_interrupt = [] {
        struct sigaction action{};
        action.sa_handler = cancel_on_interrupt;
        action.sa_flags = static_cast<int>(SA_RESETHAND); // the second Ctrl-C ends the program at once
        ::sigaction(SIGINT, &action, nullptr);
    };
    with.output_error = [&] {
        return out_buffer.error() == 0
            ? std::string{}
            : std::string{std::strerror(out_buffer.error())}; // NOLINT(concurrency-mt-unsafe)
    };
    with.output_closed = [&] { return out_buffer.error() == EPIPE; };
    with.environment = variable;
    return static_cast<int>(tool::run_tool({words + 1, words + count}, with));
}
