// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Makes and retires hashed stores.

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/store_rows.hpp>
#include <entitable/shards/map/hash_stores.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Makes hashed stores. Headers contain "making" until every store has a header. This distinguishes a store that lost
/// its header later from a store that never had a header: a repeated call writes no header if any store has a complete
/// one.
class hash_stores_making {
public:
    hash_stores_making(hash_stores_state& state, std::int64_t generation) : state_(state), rows_(state.names.size()) {
        header_.generation = generation;
        header_.number = static_cast<std::int32_t>(state.names.size());
        header_.hash_version = shard_hash_version;
        header_.state = "making";
    }

    result<void> run() {
        for (std::size_t place = 0; place < rows_.size(); ++place) { // checks all stores before anything is written
            ENTITABLE_CHECK(read(place));
        }
        std::size_t const whole = count([](hash_store_header const& each) { return !is_being_made(each); });
        if (whole == rows_.size()) {
            return failure{error_code::already_made,
                text::joined(
                    {"hashed stores of generation ", std::to_string(header_.generation), " already exist: open them"})};
        }
        if (whole > 0) {
            for (std::size_t place = 0; place < rows_.size(); ++place) {
                if (!own(place)) { return lost_header(place); }
            }
        }
        // If two programs make the stores concurrently, the first store decides the fleet.
        header_.fleet = own(0) ? own(0)->fleet : guid::random().to_string();
        for (std::size_t place = 0; place < rows_.size(); ++place) {
            if (!own(place)) { ENTITABLE_CHECK(begin(place)); }
        }
        for (std::size_t place = 0; place < rows_.size(); ++place) {
            if (is_being_made(*own(place))) { ENTITABLE_CHECK(end(place)); }
        }
        return {};
    }

private:
    /// Reads a store's rows, and checks that it may be part of the fleet.
    result<void> read(std::size_t place) {
        ENTITABLE_TRY(auto const through, state_.store(place));
        ENTITABLE_TRY(rows_[place], read_store_rows(through, state_.names[place]));
        if (own(place) != nullptr) { return state_.judge(place, rows_[place], true); }
        for (found_header const& each : rows_[place].headers) {
            if (each.header.generation > header_.generation) {
                return wrong_store(state_.names[place],
                    text::joined({" has the generation ", std::to_string(each.header.generation),
                        ": an earlier generation can no longer be made"}));
            }
        }
        return rows_[place].identity
            ? wrong_store(state_.names[place], text::joined({" belongs to the map ", rows_[place].identity->map}))
            : result<void>{};
    }

    result<void> begin(std::size_t place) {
        ENTITABLE_TRY(auto const through, state_.store(place));
        call creating; // created only now, so that a late header finds no table in an emptied store
        auto table = through.execute(create_table{std::string{store_rows_table}, true}, creating);
        if (!table && table.error().code != error_code::table_already_exists) { return std::move(table).as_failure(); }
        header_.place = static_cast<std::int32_t>(place);
        ENTITABLE_TRY(auto made, to_row(header_));
        call context;
        auto done =
            through.execute(write_entity{std::string{store_rows_table}, mutation::insert(std::move(made))}, context);
        if (!done && done.error().code != error_code::entity_already_exists) { return std::move(done).as_failure(); }
        auto read_back = read(place);
        if (!read_back && done && rows_[place].identity) { // a map was made over the store concurrently, so neither may
                                                           // use it
            ENTITABLE_TRY(auto keys, to_row(header_));
            call again;
            static_cast<void>(through.execute(
                write_entity{std::string{store_rows_table}, mutation::remove(std::move(keys), done->etag)}, again));
        }
        ENTITABLE_CHECK(std::move(read_back));
        if (own(place) == nullptr) { return lost_header(place); }
        header_.fleet = own(place)->fleet;
        return {};
    }
    /// Another program that makes the same fleet may have finished it, with the same content.
    result<void> end(std::size_t place) {
        ENTITABLE_TRY(auto const through, state_.store(place));
        hash_store_header whole = *own(place);
        whole.state.reset();
        ENTITABLE_TRY(auto row, to_row(whole));
        call context;
        auto done = through.execute(
            write_entity{std::string{store_rows_table}, mutation::replace(std::move(row), own_found(place)->version)},
            context);
        if (!done && was_beaten(done.error(), rival_change::changed_or_inserted)) {
            ENTITABLE_CHECK(read(place));
            return own(place) != nullptr && !is_being_made(*own(place)) ? result<void>{} : lost_header(place);
        }
        return done ? result<void>{} : std::move(done).as_failure();
    }

    [[nodiscard]] failure lost_header(std::size_t place) const {
        return wrong_store(state_.names[place],
            text::joined({" has no header for generation ", std::to_string(header_.generation),
                ", but other stores do: either it was emptied, or a name in the list opens the wrong store"}));
    }
    /// Returns the header of the generation; null if the store has none.
    [[nodiscard]] found_header const* own_found(std::size_t place) const {
        auto const& all = rows_[place].headers;
        auto const found = std::find_if(all.begin(), all.end(),
            [&](found_header const& each) { return each.header.generation == header_.generation; });
        return found == all.end() ? nullptr : &*found;
    }
    [[nodiscard]] hash_store_header const* own(std::size_t place) const {
        found_header const* const found = own_found(place);
        return found == nullptr ? nullptr : &found->header;
    }
    template <class Is>
    [[nodiscard]] std::size_t count(Is const& is) const {
        std::size_t number = 0;
        for (std::size_t place = 0; place < rows_.size(); ++place) {
            number += own(place) != nullptr && is(*own(place)) ? 1U : 0U;
        }
        return number;
    }

    hash_stores_state& state_;
    hash_store_header header_;
    std::vector<store_rows> rows_; ///< rows last read, indexed by place
};

/// A generation that is retired. A store that has the header of a different list or fleet is not changed: the store opener returned the
/// wrong store.
class hash_stores_retiring {
public:
    /// `fleet`: identity of these stores; empty to use the identity in the first header.
    hash_stores_retiring(
        std::vector<std::string> const& names, store_opener const& opener, std::int64_t generation, std::string fleet)
        : names_(names), opener_(opener), fleet_(std::move(fleet)) {
        tombstone_.generation = generation;
        tombstone_.state = "retired"; // has no hash version, so that programs of earlier versions also refuse it
    }

    result<void> run() {
        for (std::size_t place = 0; place < names_.size(); ++place) { // checks all stores before anything is written
            ENTITABLE_TRY(auto const through, opener_(names_[place]));
            ENTITABLE_CHECK(find(through, place));
        }
        for (std::size_t place = 0; place < names_.size(); ++place) {
            ENTITABLE_TRY(auto const through, opener_(names_[place]));
            ENTITABLE_CHECK(retire(through, place));
        }
        return {};
    }

private:
    static constexpr int most_attempts =
        10; ///< limit of restarts because of programs that make the same fleet concurrently

    /// The header of a store; nullopt if the store has no header.
    result<std::optional<found_header>> find(any_store const& through, std::size_t place) {
        ENTITABLE_TRY(auto const rows, read_store_rows(through, names_[place]));
        for (found_header const& each : rows.headers) {
            if (each.header.generation == tombstone_.generation) {
                ENTITABLE_CHECK(judge(each.header, place));
                return std::optional{each};
            }
        }
        if (rows.identity) {
            return wrong_store(names_[place], text::joined({" belongs to the map ", rows.identity->map}));
        }
        return std::optional<found_header>{};
    }
    result<void> judge(hash_store_header const& header, std::size_t place) {
        if (is_retired(header)) { return {}; }
        bool const is_whole = !is_being_made(header);
        if (is_whole && fleet_.empty()) { fleet_ = header.fleet; }
        if (header.number == static_cast<std::int32_t>(names_.size()) &&
            header.place == static_cast<std::int32_t>(place) && (!is_whole || header.fleet == fleet_)) {
            return {};
        }
        return wrong_store(names_[place],
            text::joined({", place ", std::to_string(place), " of ", std::to_string(names_.size()),
                " in the list, has the header of place ", std::to_string(header.place), " of ",
                std::to_string(header.number), " of the fleet ", header.fleet,
                ": the list is wrong, or one of its names opens the wrong store"}));
    }
    result<void> retire(any_store const& through, std::size_t place) {
        std::string const table{store_rows_table};
        call context;
        auto made = through.execute(create_table{table, true}, context);
        if (!made && made.error().code != error_code::table_already_exists) { return std::move(made).as_failure(); }
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            ENTITABLE_TRY(auto const found, find(through, place));
            if (found && is_retired(found->header)) { return {}; }
            ENTITABLE_TRY(auto row, to_row(tombstone_));
            call again;
            auto const done = through.execute(
                write_entity{table,
                    found ? mutation::replace(std::move(row), found->version) : mutation::insert(std::move(row))},
                again);
            if (done || !was_beaten(done.error())) {
                return done ? result<void>{} : result<void>{failure{done.error()}};
            }
        }
        return failure{error_code::update_condition_not_satisfied,
            text::joined({"too many conflicts with other changes of the header of the store ", names_[place]})};
    }

    std::vector<std::string> const& names_;
    store_opener const& opener_;
    hash_store_header tombstone_;
    std::string fleet_;
};

} // namespace detail

ENTITABLE_DECL result<hash_stores> hash_stores::make(
    std::vector<std::string> stores, store_opener opener, hash_stores_options const& options) {
    ENTITABLE_CHECK(detail::check_hash_stores(stores, options));
    auto const state =
        shared<detail::hash_stores_state>::make(stores, opener, options.generation, options.check_every, *options.time);
    ENTITABLE_CHECK(detail::hash_stores_making{*state, options.generation}.run());
    return open(std::move(stores), std::move(opener), options);
}

ENTITABLE_DECL result<void> hash_stores::retire(
    std::vector<std::string> stores, store_opener opener, hash_stores_options const& options) {
    ENTITABLE_CHECK(detail::check_hash_stores(stores, options));
    return detail::hash_stores_retiring{stores, opener, options.generation, {}}.run();
}

ENTITABLE_DECL result<void> hash_stores::retire() const {
    if (!state_) { return detail::moved_from("list of stores"); }
    store_opener const opener = [this](std::string_view name) { return state_->stores.open(name); };
    return detail::hash_stores_retiring{state_->names, opener, state_->generation, state_->fleet}.run();
}

ENTITABLE_END_NAMESPACE
