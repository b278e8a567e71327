// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/guid.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/mapping/codec.hpp>
#include <entitable/shards/detail/lookup_map_state.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Calls `take(part)` for each part of "a;b;c".
template <class Take>
void for_each_shard_part(std::string_view list, char separator, Take const& take) {
    while (!list.empty()) {
        std::size_t const end = list.find(separator);
        take(list.substr(0, end));
        list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    }
}

inline std::int64_t shard_number_in(std::string_view text) noexcept {
    std::int64_t number = 0;
    for (char const each : text) {
        if (each >= '0' && each <= '9') {
            number = number * 10 + (each - '0');
        }
    }
    return number;
}

inline std::vector<shard_table> shard_tables_in(std::string_view list) {
    std::vector<shard_table> all;
    for_each_shard_part(list, ';', [&](std::string_view part) {
        std::size_t const colon = part.find(':');
        if (colon != std::string_view::npos) {
            all.push_back(
                {std::string{part.substr(0, colon)}, shard_number_in(part.substr(colon)), part.ends_with('-')});
        }
    });
    return all;
}
inline std::string text_of(std::vector<shard_table> const& tables) {
    std::string out;
    for (shard_table const& each : tables) {
        out += text::joined(
            {out.empty() ? "" : ";", each.name, ":", std::to_string(each.epoch), each.dropping ? "-" : ""});
    }
    return out;
}
inline std::vector<shard_retired> shard_retired_in(std::string_view list) {
    std::vector<shard_retired> all;
    for_each_shard_part(list, ';', [&](std::string_view part) {
        std::vector<std::string> fields;
        for_each_shard_part(part, ':', [&](std::string_view field) { fields.emplace_back(field); });
        if (fields.size() == 3) {
            all.push_back({fields[0], shard_number_in(fields[1]), shard_number_in(fields[2])});
        }
    });
    return all;
}
inline std::string text_of(std::vector<shard_retired> const& retired) {
    std::string out;
    for (shard_retired const& each : retired) {
        out += text::joined(
            {out.empty() ? "" : ";", each.store, ":", std::to_string(each.epoch), ":", std::to_string(each.until)});
    }
    return out;
}

inline failure map_fault(std::string why) {
    return failure{error_code::shard_map_invalid, text::joined({"the map of the shards ", why})};
}

/// Whether the virtual shards cover every key once.
inline result<void> check_coverage(shard_map_copy const& map) {
    auto const number = static_cast<std::size_t>(map.header.number);
    if (map.places.size() < number || number == 0) {
        return map_fault("has fewer rows than virtual shards");
    }
    for (std::size_t at = 0; at < map.places.size(); ++at) {
        shard_map_row const& row = map.places[at].row;
        if (row.shard != static_cast<std::int32_t>(at)) {
            return map_fault(text::joined({"has no row for the virtual shard ", std::to_string(at)}));
        }
        if (map.header.strategy == "ranges") {
            bool const last = at + 1 == map.places.size();
            bool const meets = last ? row.high.empty() : !row.high.empty() && row.high == map.places[at + 1].row.low;
            if ((at == 0 && !row.low.empty()) || !meets) {
                return map_fault(text::joined({"leaves a gap at the end of the range ", std::to_string(at)}));
            }
        }
    }
    return {};
}

ENTITABLE_DECL result<shard_map_ref> lookup_map_state::read(call const& caller) {
    call context;
    context.deadline = caller.deadline;
    context.cancellation = caller.cancellation;
    for (int attempt = 0;; ++attempt) {
        auto made = shard_map_ref::make();
        made->asked_at = now();
        query_entities asked{table, {}, {}, {}, 1000, {}};
        asked.range.partition = key_interval::only("map");
        bool headed = false;
        std::size_t pages = 0;
        do {
            auto found = catalogue.execute(asked, context);
            if (!found) {
                failure away{error_code::map_unavailable,
                    text::joined({"the map of the shards cannot be read: ", found.error().to_string()})};
                away.error().detail = found.error().detail;
                return away;
            }
            ++pages;
            for (std::size_t index = 0; index < found->rows.size(); ++index) {
                row_view const each = found->rows[index];
                if (each.row_key == "header") {
                    headed = true;
                    made->version = each.etag();
                    ENTITABLE_CHECK(from_row(each, made->header));
                } else if (each.row_key.starts_with("shard")) {
                    shard_place& place = made->places.emplace_back();
                    place.version = each.etag();
                    ENTITABLE_CHECK(from_row(each, place.row));
                    place.retired = shard_retired_in(place.row.retired);
                }
            }
            asked.continuation = std::move(found->continuation);
        } while (asked.continuation);
        if (!headed) {
            return map_fault("has no header: it was not made, or not to its end");
        }
        if (pages > 1) { // a change in between shows in the header
            auto const again = catalogue.execute(get_entity{table, "map", "header", {}}, context);
            if (!again || !(again->etag == made->version)) {
                if (attempt < 20) {
                    continue;
                }
                return failure{error_code::map_unavailable, "the map of the shards changes faster than it can be read"};
            }
        }
        made->tables = shard_tables_in(made->header.tables);
        ENTITABLE_CHECK(check_coverage(*made));
        return made;
    }
}

ENTITABLE_DECL result<shard_map_ref> lookup_map_state::fresh(call const& context) {
    std::unique_lock<std::mutex> guard{lock};
    std::uint64_t const wanted = begun + 1;
    for (;;) {
        if (held && held_began >= wanted) {
            return held;
        }
        if (auto allowed = check_call(context); !allowed) {
            return std::move(allowed).as_failure();
        }
        if (renewing) {
            changed.wait_for(guard, std::chrono::milliseconds{5}); // a cancellation wakes nobody
            continue;
        }
        renewing = true;
        std::uint64_t const number = ++begun;
        guard.unlock();
        auto renewed = [&]() -> result<shard_map_ref> {
            struct at_end {
                lookup_map_state& state;
                ~at_end() {
                    std::lock_guard<std::mutex> const again{state.lock};
                    state.renewing = false;
                    state.changed.notify_all();
                }
            } const end{*this};
            auto found = read(context);
            if (found) {
                std::lock_guard<std::mutex> const again{lock};
                held = *found;
                held_began = number;
            }
            return found;
        }();
        if (!renewed) {
            return renewed;
        }
        guard.lock();
    }
}

ENTITABLE_DECL result<shard_map_ref> lookup_map_state::current(call const& context) {
    steady_time const at = now();
    {
        std::lock_guard<std::mutex> const guard{lock};
        if (held) {
            bool const fresh = at < held->asked_at + std::chrono::milliseconds{held->places.front().row.lease_ms} / 3;
            bool const pointless = at < renewal_failed + std::chrono::seconds{1} && renewal_failed != steady_time{};
            if (fresh || renewing || pointless) {
                return held;
            }
        }
    }
    auto renewed = fresh(context);
    std::lock_guard<std::mutex> const guard{lock};
    if (!renewed && held) {
        renewal_failed = at; // the lease decides whether what is held is good
        return held;
    }
    return renewed;
}

ENTITABLE_DECL result<std::uint32_t> lookup_map_state::shard_of(std::string_view partition_key) const {
    auto const found = shards.shard_of(partition_key);
    if (!found) {
        failure refused{error_code::shard_unmapped, "the partition key belongs to no virtual shard of the map"};
        refused.error().detail = text::printable(text::shortened(partition_key));
        return refused;
    }
    return *found;
}

ENTITABLE_DECL result<void> lookup_map_state::change(std::optional<std::int32_t> shard, call const& caller,
    function_ref<result<bool>(shard_map_copy const&, shard_map_draft&)> edit) {
    constexpr int most_attempts = 50;
    call context;
    context.deadline = caller.deadline;
    context.cancellation = caller.cancellation;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        ENTITABLE_TRY(auto const map, fresh(context));
        shard_map_draft draft{map->header, map->tables, {}, {}, shard.has_value()};
        if (shard) {
            shard_place const& place = map->places.at(static_cast<std::size_t>(*shard));
            draft.row = place.row;
            draft.retired = place.retired;
        }
        ENTITABLE_TRY(bool const wanted, edit(*map, draft));
        if (!wanted) {
            return {};
        }
        draft.header.tables = text_of(draft.tables);
        draft.header.nonce = guid::random().to_string();
        ++draft.header.version;
        transact request{table, {}};
        ENTITABLE_TRY(auto header, to_row(draft.header));
        request.changes.push_back(mutation::replace(std::move(header), map->version));
        if (shard) {
            draft.row.retired = text_of(draft.retired);
            draft.row.nonce = draft.header.nonce;
            ENTITABLE_TRY(auto row, to_row(draft.row));
            request.changes.push_back(
                mutation::replace(std::move(row), map->places.at(static_cast<std::size_t>(*shard)).version));
        }
        for (int sending = 0; sending < most_attempts; ++sending) {
            auto const done = catalogue.execute(request, context);
            if (done) {
                return {};
            }
            bool const lost = done.error().effect == effect::unknown;
            if (!lost && done.error().code != error_code::update_condition_not_satisfied) {
                return failure{done.error()};
            }
            // A sending whose answer was lost may have been the one that the ETag refused now.
            ENTITABLE_TRY(auto const read_again, fresh(context));
            if (read_again->header.nonce == draft.header.nonce) {
                return {};
            }
            if (!(read_again->version == map->version)) {
                break;
            }
        }
    }
    return failure{error_code::map_unavailable, "the map of the shards is changed by others all the time"};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
