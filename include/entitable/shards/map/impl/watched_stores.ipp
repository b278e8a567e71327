// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/transport/run_all.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/watched_stores.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL query_entities query_of_store_rows() {
    query_entities asked{std::string{store_rows_table}, {}, {}, {}, 1000, {}};
    asked.range.partition = key_interval::only(std::string{store_rows_partition});
    return asked;
}

ENTITABLE_DECL failure wrong_store(std::string_view name, std::string_view found) {
    return failure{error_code::wrong_store, text::joined({"the store ", name, found})};
}

ENTITABLE_DECL result<any_store> watched_stores::open(std::string_view name) {
    std::lock_guard<std::mutex> const guard{lock_};
    auto known = stores_.find(name);
    if (known != stores_.end() && known->second.through) { return *known->second.through; }
    auto made = open_with(open_, name);
    if (!made) {
        failure named{made.error()};
        named.error().message = text::joined({"the store ", name, " cannot be opened: ", made.error().message});
        return named;
    }
    watched& here = stores_[std::string{name}];
    here.through.emplace(*std::move(made));
    return *here.through;
}

ENTITABLE_DECL void watched_stores::doubt(std::string_view name) {
    std::lock_guard<std::mutex> const guard{lock_};
    if (auto known = stores_.find(name); known != stores_.end()) { known->second.checked_at.reset(); }
}

ENTITABLE_DECL result<any_store> watched_stores::checked(
    std::string_view name, call const& caller, wants_type wants, judge_type judge) {
    steady_time const now = time_.steady();
    {
        std::lock_guard<std::mutex> const guard{lock_};
        auto const known = stores_.find(name);
        if (known != stores_.end() && known->second.through && !is_due(known->second, now)) {
            return *known->second.through;
        }
    }
    return std::move(checked(std::vector<std::string_view>{name}, caller, wants, judge).front());
}

ENTITABLE_DECL std::vector<result<any_store>> watched_stores::checked(
    std::vector<std::string_view> const& names, call const& caller, wants_type wants, judge_type judge) {
    std::vector<result<any_store>> all;
    std::vector<std::size_t> due; // indices of the stores to check
    all.reserve(names.size());
    steady_time const now = time_.steady();
    for (std::string_view const name : names) {
        all.push_back(open(name));
        if (!all.back()) { continue; }
        {
            std::lock_guard<std::mutex> const guard{lock_};
            watched& here = stores_.find(name)->second;
            if (!is_due(here, now)) { continue; }
            here.checking = true;
        }
        if (wants(name)) {
            due.push_back(all.size() - 1);
            continue;
        }
        std::lock_guard<std::mutex> const guard{lock_};
        watched& here = stores_.find(name)->second;
        here.checking = false;
        here.checked_at = now;
    }
    if (due.empty()) { return all; }
    query_entities const asked = query_of_store_rows();
    poll_driver io{time_};
    std::vector<shared<channel>> channels;
    std::vector<channel*> ways;
    std::vector<shard_page_request> requests;
    std::vector<call> calls(due.size());
    requests.reserve(due.size());
    for (std::size_t at = 0; at < due.size(); ++at) {
        channels.push_back(open_channel(*all[due[at]], io));
        ways.push_back(channels.back().get());
        requests.emplace_back(asked, at);
        calls[at].deadline = caller.deadline;
        calls[at].cancellation = caller.cancellation;
    }
    struct at_end {
        watched_stores& stores;
        std::vector<std::string_view> const& names;
        std::vector<std::size_t> const& due;
        ~at_end() {
            std::lock_guard<std::mutex> const guard{stores.lock_};
            for (std::size_t const each : due) { stores.stores_.find(names[each])->second.checking = false; }
        }
    } const end{*this, names, due};
    (void)run_all(requests, calls, ways, io, requests.size());
    for (std::size_t at = 0; at < due.size(); ++at) {
        std::string_view const name = names[due[at]];
        auto judged = judge(name, requests[at].finish());
        std::lock_guard<std::mutex> const guard{lock_};
        watched& here = stores_.find(name)->second;
        here.checked_at.reset();
        if (judged) {
            here.checked_at = now;
        } else {
            all[due[at]] = result<any_store>{std::move(judged).as_failure()};
        }
    }
    return all;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
