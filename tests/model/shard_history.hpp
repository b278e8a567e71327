// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Clients that write, read, remove and scan while their table moves, and the answer to each; and whether some order of their requests explains
/// it, key by key, which is enough (Herlihy and Wing, 1990: linearizability is local).

#include "shard_world.hpp"
#include <entitable/retrying.hpp>

namespace shard_world {

/// A table whose clients are checked. A row has a key of one letter or two.
struct judged_table {
    std::optional<sharded> (*open)(any_store const& way, entitable::clock& time);
    row (*make)(std::string const& key, std::string const& value);
    std::array<char const*, 3> keys;   ///< written by clients
    std::array<char const*, 2> steady; ///< rows that always exist, in this order
    int requests{5};                   ///< of each client
    bool inserts{};                    ///< clients insert as well
};

/// Whether some order of the requests for one key explains the answers, after the requests that are done.
inline bool explained(std::vector<event> const& all, std::uint64_t done, std::string const& state,
    std::set<std::pair<std::uint64_t, std::string>>& tried) {
    std::uint64_t first_end = UINT64_MAX;
    bool over = true;
    for (std::size_t index = 0; index < all.size(); ++index) {
        if ((done >> index & 1U) == 0) {
            first_end = (std::min)(first_end, all[index].ended);
            over = over && all[index].ended == UINT64_MAX; // a request with an unknown outcome need not have happened
        }
    }
    if (over) { return true; }
    if (!tried.insert({done, state}).second) { return false; }
    for (std::size_t index = 0; index < all.size(); ++index) {
        event const& each = all[index];
        bool const can_be = each.meets ? !state.empty()
            : each.reads               ? each.value == state
                                       : !each.expects || *each.expects == state;
        if ((done >> index & 1U) == 0 && each.begun < first_end && can_be &&
            explained(all, done | std::uint64_t{1} << index, each.reads ? state : each.value, tried)) {
            return true;
        }
    }
    return false;
}

/// The answers for a key that no order explains, given its first and its last value; empty for no row.
inline std::string unexplained_of(
    scene const& all, std::string const& key, std::string const& first, std::string const& last) {
    std::vector<event> of_key;
    std::copy_if(all.history.begin(), all.history.end(), std::back_inserter(of_key),
        [&](event const& each) { return each.key == key; });
    of_key.push_back({key, true, last, {}, all.ticks + 1, all.ticks + 2});
    std::set<std::pair<std::uint64_t, std::string>> tried;
    if (of_key.size() > 64) { return "the history of " + key + " is too long to be judged"; }
    if (explained(of_key, 0, first, tried)) { return {}; }
    std::string text;
    for (event const& each : of_key) {
        text += (each.meets          ? " met " + each.value
                        : each.reads ? " read " + each.value
                                     : " wrote " + each.value + (each.expects ? " for " + *each.expects : "")) +
            '@' + std::to_string(each.begun) + '-' +
            (each.ended == UINT64_MAX ? std::string{"?"} : std::to_string(each.ended));
    }
    return "no order explains what clients were told of " + key + ":" + text;
}

/// A client that makes one request after another, each drawn at random.
class busy_life {
public:
    busy_life(judged_table const& table, any_store cloud, entitable::clock& time, scene& all, random_source& random,
        bool removes)
        : table_(table), cloud_(std::move(cloud)), time_(time), all_(all), random_(random), removes_(removes) {}

    /// What it writes has this value.
    void request(std::string const& value) {
        event one;
        std::uint64_t const drawn = random_.bits();
        one.key = table_.keys[drawn % 3];
        one.value = value;
        one.begun = ++all_.ticks;
        std::uint64_t const kind = drawn / 3 % (table_.inserts ? 7 : 6);
        switch (kind) {
            case 2:
                if (removes_) {
                    one.value.clear();
                    return write(one, mutation::remove(table_.make(one.key, ""), any_etag));
                }
                break;
            case 3: return read(one);
            case 4: return scan();
            case 5: return replace(one);
            case 6: one.expects = ""; return write(one, mutation::insert(table_.make(one.key, one.value)));
            default: break;
        }
        write(one, mutation::insert_or_replace(table_.make(one.key, one.value)));
    }

private:
    [[nodiscard]] result<get_entity::response> get(std::string const& key) const {
        call context{call_options{}, time_};
        row const asked = table_.make(key, "");
        return cloud_.execute(
            get_entity{"items", std::string{asked.partition_key()}, std::string{asked.row_key()}, {}}, context);
    }
    void read(event one) {
        auto const found = get(one.key);
        if (!found && found.error().code != error_code::resource_not_found) { return; }
        one.reads = true;
        one.value = found ? value_of(found->entity) : "";
        one.ended = ++all_.ticks;
        all_.history.push_back(one);
    }
    /// A few rows per page: rows that never change are returned once.
    void scan() {
        query_entities asked{"items", {}, {}, {}, 2, {}};
        std::vector<std::string> met;
        for (int page = 0; page < 12; ++page) {
            call own;
            auto const found = cloud_.execute(asked, own);
            if (!found) { break; }
            for (std::size_t index = 0; index < found->rows.size(); ++index) {
                row_view const each = found->rows[index];
                for (std::string const key : table_.steady) {
                    row const wanted = table_.make(key, "");
                    if (each.partition_key == wanted.partition_key() && each.row_key == wanted.row_key()) {
                        met.push_back(key);
                    }
                }
            }
            asked.continuation = found->continuation;
            if (!asked.continuation) {
                if (!std::equal(met.begin(), met.end(), table_.steady.begin(), table_.steady.end())) {
                    all_.wrong = "a scan by tokens met";
                    for (std::string const& key : met) { all_.wrong += ' ' + key; }
                }
                break;
            }
        }
        ++all_.ticks;
    }
    /// With the ETag of the read row.
    void replace(event one) {
        auto const found = get(one.key);
        if (found) {
            one.expects = value_of(found->entity);
            write(one, mutation::replace(table_.make(one.key, one.value), found->etag));
        }
    }
    void write(event one, mutation change) {
        all_.history.push_back(one);
        std::size_t const at = all_.history.size() - 1;
        call context{call_options{}, time_};
        auto const done = cloud_.execute(write_entity{"items", std::move(change)}, context);
        std::uint64_t const ended = ++all_.ticks;
        event& told = all_.history[at];
        if (done) {
            told.ended = ended;
        } else if (done.error().effect == effect::none && done.error().code != error_code::cancelled) {
            // Cancelled means a client that was killed: it never learns the outcome of its write.
            bool const none = done.error().code == error_code::resource_not_found;
            told.meets = done.error().code == error_code::entity_already_exists;
            told.reads = true; // nothing was written
            told.value = "";
            told.ended = none || told.meets ? ended : UINT64_MAX;
        }
    }

    judged_table const& table_;
    any_store cloud_;
    entitable::clock& time_;
    scene& all_;
    random_source& random_;
    bool removes_;
};

/// Writes, removes, reads and scans with tokens; half of the clients settle lost answers with operation rows.
inline client_body busy_client(judged_table const& table, std::uint64_t seed) {
    return [&table, seed](any_store const& way, entitable::clock& time, scene& all, int life) {
        random_source random{seed * 100 + static_cast<std::uint64_t>(life)};
        auto const opened = table.open(way, time);
        if (!opened) { return; }
        retrying_options settled;
        settled.operation_rows = true;
        settled.time = &time;
        settled.seed = seed * 100 + static_cast<std::uint64_t>(life);
        // On any table a request that arrives twice is applied twice without an operation row, and a refused removal may be
        // applied when it arrives again: in such worlds all clients use operation rows, and none removes.
        bool const repeated = seed % 2 == 1;
        any_store const cloud =
            random.bits() % 2 == 0 && !repeated ? any_store{*opened} : any_store{retrying{*opened, settled}};
        busy_life client{table, cloud, time, all, random, !repeated};
        for (int number = 0; number < table.requests; ++number) {
            client.request(std::to_string(life) + "." + std::to_string(number));
        }
    };
}

} // namespace shard_world
