// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Runs the command entitable in this process, with its input, and whole output.

#include "console.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace entitable_test {

/// What a run printed, and its exit code.
struct tool_outcome {
    int code{};
    std::string out;
    std::string err;
};

/// The surroundings of a run.
struct tool_setting {
    std::string in{};
    bool is_terminal{}; ///< all three streams
    std::size_t width{80};
    bool colours{};
};

inline tool_outcome run_tool_with(tool_setting const& setting, std::vector<std::string> const& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    std::istringstream in{setting.in};
    tool::console with{out, err, in};
    with.in_is_terminal = with.out_is_terminal = with.err_is_terminal = setting.is_terminal;
    with.width = setting.width;
    with.colours = setting.colours;
    tool_outcome made;
    made.code = static_cast<int>(tool::run_tool(arguments, with));
    made.out = out.str();
    made.err = err.str();
    return made;
}

template <class... Words>
tool_outcome run_tool(Words const&... words) {
    return run_tool_with({}, {std::string{words}...});
}

/// The text with versions and times replaced: they differ from run to run.
inline std::string timeless(std::string const& text) {
    static std::regex const version{R"(W/(\\)?"[^"]*")"};
    static std::regex const time{R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)"};
    return std::regex_replace(std::regex_replace(text, version, "ETAG"), time, "TIME");
}

/// The name of a file that does not exist; the file is removed at the end.
class scratch_store {
public:
    scratch_store() {
        static int number = 0;
        path_ = std::filesystem::temp_directory_path() /
            ("entitable-tool-" + std::to_string(::getpid()) + "-" + std::to_string(++number) + ".db");
        remove();
    }
    scratch_store(scratch_store const&) = delete;
    scratch_store& operator=(scratch_store const&) = delete;
    ~scratch_store() { remove(); }
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    void remove() const {
        std::error_code ignored;
        for (char const* end : {"", "-wal", "-shm", "-lock", "-journal"}) {
            std::filesystem::remove(path_.string() + end, ignored);
        }
    }
    std::filesystem::path path_;
};

} // namespace entitable_test
