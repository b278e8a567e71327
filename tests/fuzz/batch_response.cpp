// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Answers to transactions: any bytes give one result for each operation, or an error that reports the effect on the data.

#include <entitable/cloud/wire/detail/batch_answer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

using namespace entitable;

namespace {

void require(bool fact) {
    if (!fact) { std::abort(); }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size == 0) { return 0; }
    std::size_t const count = data[0] % 5U;
    std::vector<mutation> changes;
    for (std::size_t index = 0; index < count; ++index) {
        row const keys{"p", "r", {}};
        changes.push_back(index == 2 ? mutation::remove(keys, any_etag) : mutation::insert(keys));
    }
    std::string const text(reinterpret_cast<char const*>(data) + 1, size - 1);
    std::size_t const line = text.find('\n');
    http_response response;
    response.status = 202;
    // The first line is the content type; without one, the usual one.
    bool const own =
        line != std::string::npos && text[0] != '-' && response.headers.add("Content-Type", text.substr(0, line));
    if (!own) { static_cast<void>(response.headers.add("Content-Type", "multipart/mixed; boundary=b")); }
    response.body = own ? text.substr(line + 1) : text;
    detail::json_reader reader;
    auto const outcome = detail::read_batch_answer(response, changes, reader);
    if (outcome) {
        require(outcome->results.size() == count);
        for (std::size_t index = 0; index < count; ++index) {
            require(outcome->results[index].etag.empty() == (changes[index].kind == mutation_kind::remove));
        }
        return 0;
    }
    error const& problem = outcome.error();
    require(!problem.operation_index || *problem.operation_index < count);
    require(problem.code != error_code::transport_failed || problem.effect == effect::unknown);
    require((problem.http_status >= 300 && problem.http_status < 500) || problem.http_status == 501 ||
        problem.http_status == 505 || problem.effect == effect::unknown);
    require(problem.to_string().size() < 8000);
    return 0;
}
