// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#include <entitable/macros.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

import entitable.async;
import entitable.bulk;
import entitable.file;
import entitable.shards;
import entitable.testing;
import shop.order;

// Defined in a file that includes headers.
std::size_t count_rows(entitable::any_store const& store, std::string_view table);
entitable::result<int> refused();

namespace {

using shop::order;

entitable::task<entitable::result<std::size_t>> read(entitable::async_table<order> orders) {
    using o = entitable::fields<order>;
    ENTITABLE_CO_TRY(auto const found, co_await orders.where(o::customer == "ann" && o::number >= 2).to());
    co_return found.size();
}

entitable::result<void> work(entitable::any_store const& store) {
    entitable::table<order> const orders{store, "orders"};
    ENTITABLE_CHECK(orders.create_if_absent());
    std::vector<order> const many{{"ann", 1, "tea"}, {"ann", 2, "cake"}, {"bob", 1, "tea"}};
    auto const loaded = entitable::bulk_insert(orders, many);
    std::printf("%d loaded\n", static_cast<int>(static_cast<bool>(loaded)));
    ENTITABLE_TRY(auto const cake, orders.get("ann", 2));
    std::printf("%s\n", cake.what.c_str());
    entitable::event_loop loop;
    ENTITABLE_TRY(auto const found, loop.run(read(entitable::async_table<order>{loop, store, "orders"})));
    std::printf("%zu awaited, %zu rows\n", found, count_rows(store, "orders"));
    return {};
}

} // namespace

int main() {
    entitable::memory_backend const memory;
    entitable::testing::spy watched{memory};
    work(watched).value();
    std::printf("%s\n", watched.seen().empty() ? "nothing was sent" : "requests were seen");

    entitable::file_backend const file = entitable::file_backend::open("orders.db").value();
    work(file).value();

    entitable::memory_backend catalogue;
    entitable::memory_backend east;
    auto const open = [&](std::string_view) -> entitable::result<entitable::any_store> {
        return entitable::any_store{east};
    };
    auto const map =
        entitable::lookup_map::make(catalogue, "map", entitable::virtual_shards{4}, {"east"}, open).value();
    work(entitable::sharded{map, open}).value();

    try {
        (void)refused().value();
    } catch (entitable::error const& thrown) { std::printf("%s\n", thrown.message.c_str()); }
}
