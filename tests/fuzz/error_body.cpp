// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Bodies of errors, and the XML of settings: any bytes give an error of bounded size with the received status.

#include <entitable/cloud/account/service_settings.hpp>
#include <entitable/cloud/wire/detail/error_answer.hpp>

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
    if (size < 2) { return 0; }
    http_response response;
    response.status = static_cast<std::uint16_t>(300 + (data[0] * 256 + data[1]) % 700);
    response.body.assign(reinterpret_cast<char const*>(data) + 2, size - 2);
    static_cast<void>(response.headers.add("Retry-After", response.body.substr(0, 32)));
    detail::json_reader reader;
    auto made = detail::to_failure(detail::read_error_answer(response, reader), "get_entity", true);
    error const& problem = made.error();
    require(problem.http_status == response.status);
    require(problem.to_string().size() < 8000);
    require(!problem.retry_after ||
        (problem.retry_after->count() >= 0 && problem.retry_after->count() <= 1'000'000'000'000));
    if (auto const properties = detail::read_properties(response.body)) {
        if (auto const xml = detail::write_xml(*properties)) {
            auto const again = detail::read_properties(*xml);
            require(again && detail::write_xml(*again).value() == *xml);
        }
    }
    if (auto const policies = detail::read_policies(response.body)) {
        if (auto const xml = detail::write_xml(*policies)) {
            auto const again = detail::read_policies(*xml);
            require(again && detail::write_xml(*again).value() == *xml);
        }
    }
    static_cast<void>(detail::read_statistics(response.body));
    return 0;
}
