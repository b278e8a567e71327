// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Any authorized request to a server: a line with the method and the address, header lines, an empty line, the body. Each is
// answered, and never with a status of an internal failure.

#include <entitable/cloud/wire/detail/service_address.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/server.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace entitable;

namespace {

table_server make_server() {
    server_options options;
    options.accounts.push_back({"acct", "a2V5", {}, {}});
    options.bearer = [](std::string_view, std::string_view) { return true; };
    options.bearer_over_http = true;
    memory_backend const store;
    call context;
    static_cast<void>(store.execute(create_table{"Orders"}, context));
    row_builder const one{"p", "1"};
    static_cast<void>(store.execute(write_entity{"Orders", mutation::insert(one.build())}, context));
    return table_server{store, options};
}

std::string_view take_line(std::string_view& from) {
    std::size_t const end = from.find('\n');
    std::string_view const line = from.substr(0, end);
    from.remove_prefix(end == std::string_view::npos ? from.size() : end + 1);
    return line;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static table_server const server = make_server();
    std::string_view rest{reinterpret_cast<char const*>(data), size};
    std::string_view const first = take_line(rest);
    http_request request;
    auto const method = detail::method_named(first.substr(0, first.find(' ')));
    request.method = method.value_or(http_method::get);
    request.url = "http://127.0.0.1/acct/";
    request.url += first.substr(first.find(' ') == std::string_view::npos ? first.size() : first.find(' ') + 1);
    static_cast<void>(request.headers.add("Authorization", "Bearer x"));
    for (std::string_view line = take_line(rest); !line.empty(); line = take_line(rest)) {
        std::size_t const colon = line.find(':');
        if (colon != std::string_view::npos) {
            static_cast<void>(request.headers.add(line.substr(0, colon), line.substr(colon + 1)));
        }
    }
    request.body = rest;
    auto const response = server.answer(request);
    if (response.status < 200 || (response.status >= 500 && response.status != 501)) { std::abort(); }
    return 0;
}
