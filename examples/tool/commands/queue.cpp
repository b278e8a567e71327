// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../exchange/progress.hpp"
#include "../text.hpp"
#include <entitable/client/mapping/macro.hpp>
#include <entitable/core/try.hpp>
#include <entitable/messaging.hpp>

#include <algorithm>

/// A message of any type: the queue keeps its properties in the stored row.
struct any_message {
    std::string partition;
    std::string row;
};
ENTITABLE(any_message, partition_key(partition), row_key(row))

namespace tool {

namespace {

using queue_of_any = entitable::table_queue<any_message>;
using dead = entitable::dead_letter<any_message>;

struct queue_command_options {
    std::string store;
    std::string queue;
    std::vector<std::string> ids;
    bool dead{};
    bool all{};
    bool yes{};
};

/// "3 d 04:05:06", with as many parts as needed: "0:07".
std::string duration_text(std::chrono::nanoseconds given) {
    auto const seconds =
        std::chrono::duration_cast<std::chrono::seconds>((std::max)(given, std::chrono::nanoseconds{}));
    std::uint64_t const all = static_cast<std::uint64_t>(seconds.count());
    std::string made = all >= 86'400 ? std::to_string(all / 86'400) + " d " : std::string{};
    auto const two = [](std::uint64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    if (all >= 3'600) { made += two(all / 3'600 % 24) + ":"; }
    return made + (all >= 3'600 ? two(all / 60 % 60) : std::to_string(all / 60)) + ":" + two(all % 60);
}

/// The properties of a message, without those of the queue.
std::string content_of(dead const& letter) {
    std::string made;
    entitable::property_cursor properties{letter.stored.view().payload};
    for (entitable::property_view each; properties.next(each);) {
        if (!each.present || each.name.starts_with("Queue_")) { continue; }
        made += made.empty() ? "" : ", ";
        made += printable(each.name) + "=" + printable(plain_text(each.value));
    }
    return made;
}

outcome show(queue_command_options const& given, console& with) {
    ENTITABLE_TRY(auto const store, open_store(given.store));
    queue_of_any const queue{store, given.queue};
    if (!given.dead) {
        ENTITABLE_TRY(auto const size, queue.approximate_size());
        ENTITABLE_TRY(auto const age, queue.oldest_age());
        with.out << "ready         " << grouped(size.ready) << "\nheld          " << grouped(size.held)
                 << "\ndead letters  " << grouped(size.dead_letters) << "\noldest        "
                 << (age ? duration_text(*age) : std::string{"-"}) << '\n';
        return exit_code::success;
    }
    ENTITABLE_TRY(auto const letters, queue.dead_letters());
    text_table shown{with, {{"id", false}, {"deliveries", true}, {"reason", false}, {"message", false}}};
    for (dead const& each : letters) {
        shown.add({printable(each.id), std::to_string(each.deliveries), printable(each.reason), content_of(each)});
    }
    if (!letters.empty()) { shown.finish(); }
    return exit_code::success;
}

/// Selects dead letters by their ids, or all.
entitable::result<std::vector<dead>> selected(queue_command_options const& given, queue_of_any const& queue) {
    if (given.all == !given.ids.empty()) { return refuse("name the ids of dead letters, or give --all"); }
    ENTITABLE_TRY(auto letters, queue.dead_letters());
    if (given.all) { return letters; }
    std::vector<dead> made;
    for (std::string const& id : given.ids) {
        auto const found =
            std::find_if(letters.begin(), letters.end(), [&](dead const& each) { return each.id == id; });
        if (found == letters.end()) { return refuse("the queue has no dead letter with the id " + printable(id)); }
        made.push_back(std::move(*found));
        letters.erase(found);
    }
    return made;
}

/// Changes each letter. One that another program changed first is reported, and the others are still changed.
outcome change(std::vector<dead> const& letters, std::string const& word, console& with,
    std::function<entitable::result<void>(dead const&)> const& function) {
    std::uint64_t changed = 0;
    for (dead const& each : letters) {
        auto const done = function(each);
        if (done) {
            ++changed;
        } else if (done.error().code == entitable::error_code::receipt_lost) {
            with.err << "entitable: another program changed the dead letter " << printable(each.id) << " first\n";
        } else {
            return entitable::failure{done.error()};
        }
    }
    with.out << grouped(changed) << (changed == 1 ? " dead letter " : " dead letters ") << word << '\n';
    return changed == letters.size() ? exit_code::success : exit_code::some_failed;
}

outcome requeue(queue_command_options const& given, console& with) {
    ENTITABLE_TRY(auto const store, open_store(given.store));
    queue_of_any const queue{store, given.queue};
    ENTITABLE_TRY(auto const letters, selected(given, queue));
    return change(letters, "requeued", with, [&](dead const& each) { return queue.requeue(each); });
}

outcome purge(queue_command_options const& given, console& with) {
    ENTITABLE_TRY(auto const store, open_store(given.store));
    queue_of_any const queue{store, given.queue};
    ENTITABLE_TRY(auto const letters, selected(given, queue));
    if (!letters.empty()) {
        ENTITABLE_CHECK(confirm(with, given.yes,
            "Delete " + grouped(letters.size()) + (letters.size() == 1 ? " dead letter of " : " dead letters of ") +
                given.queue + "?"));
    }
    return change(letters, "deleted", with, [&](dead const& each) { return queue.purge(each); });
}

} // namespace

void add_queue(command_list& all) {
    auto given = std::make_shared<queue_command_options>();
    auto action = std::make_shared<std::string>();
    CLI::App& command =
        all.add("queue", "Shows the length, the age and the dead letters of a queue; requeues and purges them",
            "entitable queue shop.db parcels\n"
            "entitable queue shop.db parcels --dead\n"
            "entitable queue shop.db parcels requeue 01J8ZX\n"
            "entitable queue shop.db parcels purge --all --yes",
            [given, action](console& with) {
                return action->empty()     ? show(*given, with)
                    : *action == "requeue" ? requeue(*given, with)
                                           : purge(*given, with);
            });
    command.description(
        "Shows the length, the age and the dead letters of a queue; requeues and purges them.\n"
        "Without an action: how many messages can be claimed (ready), are claimed or delayed (held), were claimed too "
        "often (dead letters), and the age of the oldest message, which also counts the time before it was requeued. "
        "All messages are read. A sent saga is a message too. Queues of Azure Queue Storage are not read.");
    command.add_option("STORE", given->store, store_help)->required();
    command.add_option("QUEUE", given->queue, "Table of the queue")->required();
    command.add_option("ACTION", *action, "requeue: dead letters can be claimed again; purge: deletes dead letters")
        ->check(CLI::IsMember{{"requeue", "purge"}});
    command.add_option("IDS", given->ids, "Ids of dead letters, as --dead shows them");
    command.add_flag("--dead", given->dead, "List the dead letters: id, deliveries, last reason, message");
    command.add_flag("--all", given->all, "All dead letters");
    command.add_flag("--yes", given->yes, "Purge without a question");
}

} // namespace tool
