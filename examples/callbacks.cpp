// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// Tables by callbacks, in a program without coroutines and with another kind of loop: here a queue of events, as in programs with windows.
/// One more thread runs the tables; answers come back as events. The only coroutine is `tell`.

#include <entitable/async.hpp>
#include <entitable/memory.hpp>

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

struct song {
    std::string album;
    std::int32_t number{};
    std::string title;
    std::int32_t plays{};
};
ENTITABLE(song, partition_key(album), row_key(width(number, 3)), properties(title, plays))
using s = entitable::fields<song>;

namespace {

/// The program's own loop.
class events {
public:
    void post(std::function<void()> event) {
        std::lock_guard const guard{lock_};
        all_.push_back(std::move(event));
        changed_.notify_one();
    }
    void run() {
        while (!ended_) {
            std::unique_lock guard{lock_};
            changed_.wait(guard, [&] { return !all_.empty(); });
            auto const next = std::move(all_.front());
            all_.pop_front();
            guard.unlock();
            next();
        }
    }
    void end() { ended_ = true; } ///< called by an event

private:
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> all_;
    bool ended_{};
};

/// Awaits `ask()`, and posts `done(result)` as an event.
template <class Ask, class Done>
entitable::task<> tell(events& to, Ask ask, Done done) {
    auto answer = co_await ask();
    to.post([done = std::move(done), answer = std::move(answer)]() mutable { done(std::move(answer)); });
}

/// Songs, for code without coroutines. Its functions are called from any thread, the callbacks as events.
class song_shelf {
public:
    song_shelf(events& to, entitable::any_store store) : to_(to), store_(std::move(store)) {
        thread_ = std::thread{[this] { loop_.run_until_stopped(); }};
    }
    ~song_shelf() {
        loop_.post([this] { loop_.stop(); });
        thread_.join();
    }

    void add(song one, std::function<void(entitable::result<entitable::written>)> done) {
        begin([this, one = std::move(one)] { return songs().insert(one); }, std::move(done));
    }
    void play(
        std::string album, std::int32_t number, std::function<void(entitable::result<entitable::updated<song>>)> done) {
        auto const once_more = [](song& it) { ++it.plays; };
        begin([this, album = std::move(album), number, once_more] { return songs().update(album, number, once_more); },
            std::move(done));
    }
    void list(std::string album, std::function<void(entitable::result<std::vector<song>>)> done) {
        begin([this, album = std::move(album)] { return songs().where(s::album == album).to(); }, std::move(done));
    }

private:
    [[nodiscard]] entitable::async_table<song> songs() { return {loop_, store_, "Songs"}; }
    template <class Ask, class Done>
    void begin(Ask ask, Done done) {
        loop_.post([this, ask = std::move(ask), done = std::move(done)] { loop_.spawn(tell(to_, ask, done)); });
    }

    events& to_;
    entitable::any_store store_;
    entitable::event_loop loop_;
    std::thread thread_;
};

} // namespace

int main() {
    entitable::memory_backend const store; // or entitable::azure_backend{...}
    entitable::table<song>{store, "Songs"}.create().value();

    events program;
    song_shelf shelf{program, store};
    shelf.add({"Blue", 1, "All I Want", 0}, [&](entitable::result<entitable::written> added) {
        std::printf("added: %s\n", added ? "yes" : added.error().to_string().c_str());
        shelf.play("Blue", 1, [&](entitable::result<entitable::updated<song>> played) {
            std::printf("%s was played %d time\n", played.value().entity.title.c_str(), played.value().entity.plays);
            shelf.play("Blue", 2, [&](entitable::result<entitable::updated<song>> none) {
                std::printf("song 2: %s\n", none ? "played" : std::string{to_string(none.error().code)}.c_str());
                shelf.list("Blue", [&](entitable::result<std::vector<song>> all) {
                    std::printf("%zu song on the album\n", all.value().size());
                    program.end();
                });
            });
        });
    });
    program.run();
}
