// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// Field notes on two devices and in a cloud: both devices work offline, change the same note, remove notes, and synchronise. A conflict is
/// shown with its three sides, and a file that is restored from a backup brings nothing back.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/print.hpp>
#include <entitable/sync.hpp>

#include <cstdio>
#include <string>

struct note {
    std::string site;
    std::string plant;
    std::int32_t seen{};
    std::string remark;
};
ENTITABLE(note, partition_key(site), row_key(plant), properties(seen, remark))

namespace {

using notes = entitable::table<note>;
using f = entitable::fields<note>;

// A device has a file, a cloud has a service; here all of them are in memory.
notes made_on(entitable::memory_backend const& store) {
    notes const made{store, "notes"};
    made.create().value();
    return made;
}

void show(char const* who, notes const& of) {
    std::printf("%s\n", who);
    of.where(f::site == "dune")
        .for_each([](note const& each) {
            std::printf("  %-10s %3d  %s\n", each.plant.c_str(), each.seen, each.remark.c_str());
        })
        .value();
}

std::string text_of(std::optional<entitable::row> const& side) {
    if (!side) { return "removed"; }
    note read;
    entitable::from_row(side->view(), read).value();
    return std::to_string(read.seen) + " " + read.remark;
}

void synchronise(char const* who, notes const& device, notes const& cloud) {
    // Counts are added up; whatever else both have changed, the cloud's value stays.
    auto const add_counts = entitable::merged_by<note>(
        [](std::optional<note> const& base, std::optional<note> const& here, std::optional<note> const& there) {
            if (!here || !there) { return here ? here : there; } // an edit is kept, whoever removed the note
            note merged = *there;
            merged.seen += here->seen - (base ? base->seen : 0);
            return std::optional{merged};
        });
    auto const report = synchronize(device, cloud, {.partitions = {"dune"}, .conflicts = add_counts}).value();
    std::printf("%s: %d pulled, %d pushed\n", who, static_cast<int>(report.pulled), static_cast<int>(report.pushed));
    for (auto const& each : report.conflicts) {
        std::printf("  conflict %s, %s\n    base  %s\n    here  %s\n    there %s\n", each.sides.row_key.c_str(),
            std::string{to_string(each.choice)}.c_str(), text_of(each.sides.base).c_str(),
            text_of(each.sides.here).c_str(), text_of(each.sides.there).c_str());
    }
    for (auto const& each : report.failed) { std::printf("  failed: %s\n", each.error.to_string().c_str()); }
}

} // namespace

int main() {
    entitable::memory_backend const tablet_store;
    entitable::memory_backend const phone_store;
    entitable::memory_backend const cloud_store;
    notes const tablet = made_on(tablet_store);
    notes const phone = made_on(phone_store);
    notes const cloud = made_on(cloud_store);

    tablet.insert({"dune", "marram", 40, "north slope"}).value();
    tablet.insert({"dune", "sea holly", 3, ""}).value();
    tablet.insert({"dune", "thistle", 1, "not sure"}).value();
    synchronise("tablet", tablet, cloud);
    synchronise("phone", phone, cloud);

    // A week without a network.
    tablet.update("dune", "sea holly", [](note& each) { each.seen += 2; }).value();
    tablet.remove("dune", "thistle", entitable::any_etag).value();
    phone
        .update("dune", "sea holly",
            [](note& each) {
                each.seen += 5;
                each.remark = "by the path";
            })
        .value();
    phone.insert({"dune", "sea rocket", 12, "in flower"}).value();
    show("the phone before", phone);

    synchronise("tablet", tablet, cloud);
    synchronise("phone", phone, cloud);
    synchronise("tablet", tablet, cloud);
    show("the tablet", tablet);
    show("the phone", phone);
    show("the cloud", cloud);
}
