// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/asio.hpp>

#include <boost/asio/io_context.hpp>

#include <cstdio>

int main() {
    boost::asio::io_context context;
    entitable::asio_loop loop{context.get_executor()};
    auto const slept = [](entitable::event_loop& in) -> entitable::task<entitable::result<void>> {
        co_return co_await sleep_for(in, std::chrono::milliseconds{1});
    };
    bool good = false;
    async_run(loop, slept(loop.loop()),
        [&](std::exception_ptr thrown, entitable::result<void> ended) { good = !thrown && ended.has_value(); });
    context.run();
    std::puts(good ? "slept in an io_context" : "did not sleep");
    return good ? 0 : 1;
}
