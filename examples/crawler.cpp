// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// Follows links from page to page in a table that is far away: each read takes 20 ms. One thread, a coroutine for each page, and as many
/// reads in flight as there are pages to visit. Then plain callbacks, for programs without coroutines of their own.

#include <entitable/async.hpp>
#include <entitable/memory.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace std::chrono_literals;

struct page {
    std::string site;
    std::string path;
    std::string title;
    std::string links; // paths, with a space after each
};
ENTITABLE(page, partition_key(site), row_key(path), properties(title, links))

namespace {

/// A store that answers late.
class far_away {
public:
    using is_transport = void;
    explicit far_away(entitable::memory_backend store) : store_(std::move(store)) {}

    [[nodiscard]] entitable::profile profile() const { return store_.profile(); }
    template <entitable::table_request Request>
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        return store_.execute(request, context);
    }
    [[nodiscard]] entitable::shared<entitable::channel> open(entitable::io_driver& io) const {
        return entitable::shared<entitable::channel>{new way{store_, io}};
    }

private:
    class way final : public entitable::channel {
    public:
        way(entitable::memory_backend store, entitable::io_driver& io) : store_(std::move(store)), io_(io) {}

        void send(entitable::request_ref request, entitable::call& context, void* tag) override {
            sent_.push_back({request, &context, tag, io_.time().steady()});
        }
        void cancel(void*, entitable::error const&) override {} // answered anyway, when its time has come
        void poll(entitable::steady_time now, entitable::completion_sink sink) override {
            while (!sent_.empty() && sent_.front().begun + latency <= now) {
                auto const one = sent_.front();
                sent_.erase(sent_.begin());
                one.request.visit([&](auto const& request) {
                    auto answer = store_.execute(request, *one.context);
                    entitable::completion done{request, answer, *one.context, one.tag, one.begun};
                    sink(done);
                });
            }
        }
        [[nodiscard]] entitable::steady_time wakes_at() const noexcept override {
            return sent_.empty() ? entitable::steady_time::max() : sent_.front().begun + latency;
        }

    private:
        struct sent {
            entitable::request_ref request;
            entitable::call* context;
            void* tag;
            entitable::steady_time begun;
        };
        static constexpr auto latency = 20ms;

        entitable::memory_backend store_;
        entitable::io_driver& io_;
        std::vector<sent> sent_;
    };

    entitable::memory_backend store_;
};

/// Shared by the coroutines of one crawl, which all run on one thread.
struct crawl {
    entitable::async_table<page> pages;
    std::string site;
    std::set<std::string> seen;
    std::size_t dead{};
};

entitable::task<entitable::result<void>> visit(crawl& all, std::string path) { // `all` outlives the loop's run
    auto found = co_await all.pages.find(all.site, path);
    if (!found) { co_return std::move(found).as_failure(); }
    if (!*found) {
        ++all.dead;
        co_return {};
    }
    std::vector<entitable::task<entitable::result<void>>> next;
    std::string const& links = (*found)->links;
    for (std::size_t from = 0, to = 0; (to = links.find(' ', from)) != std::string::npos; from = to + 1) {
        if (std::string link = links.substr(from, to - from); all.seen.insert(link).second) {
            next.push_back(visit(all, link));
        }
    }
    for (auto& each : co_await when_all(std::move(next))) { ENTITABLE_CO_CHECK(std::move(each)); }
    co_return {};
}

/// Calls a callback at the end of a coroutine of four lines.
entitable::task<> tell(entitable::async_table<page> pages, std::string site, std::string path,
    std::function<void(entitable::result<page>)> done) {
    done(co_await pages.get(site, path));
}

} // namespace

int main() {
    entitable::memory_backend const store;
    entitable::table<page> const written{store, "Pages"};
    written.create().value();
    constexpr int count = 300; // page n links to 4n + 1 ... 4n + 4, some of which do not exist
    for (int number = 0; number < count; ++number) {
        page made{"example.org", "page-" + std::to_string(number), "Page " + std::to_string(number), ""};
        for (int link = 4 * number + 1; link <= 4 * number + 4 && link < count + 10; ++link) {
            made.links += "page-" + std::to_string(link) + " ";
        }
        written.insert(made).value();
    }

    entitable::any_store const distant = far_away{store};
    entitable::event_loop loop{{.in_flight = 500}};
    crawl all{{loop, distant, "Pages"}, "example.org", {"page-0"}};
    auto const begin = std::chrono::steady_clock::now();
    loop.run(visit(all, "page-0")).value();
    auto const took = std::chrono::steady_clock::now() - begin;
    std::printf("%zu links, %zu of them dead\n", all.seen.size(), all.dead);
    std::printf("one after the other: over 6 s; together: %s\n", took < 3s ? "a fraction of it" : "not less");

    for (std::string const path : {"page-7", "page-12", "page-999"}) {
        loop.spawn(tell(all.pages, "example.org", path, [path](entitable::result<page> const& found) {
            std::printf("%s: %s\n", path.c_str(), found ? found->title.c_str() : found.error().message.c_str());
        }));
    }
    loop.run();
}
