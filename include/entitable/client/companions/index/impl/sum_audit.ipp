// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/aggregate/aggregate_declarations.hpp>
#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/client/companions/index/detail/sum_audit.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/try.hpp>

#include <map>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Recomputes the sums of one partition and compares them. Used by one thread at a time.
class partition_audit {
public:
    partition_audit(index_family const& family, std::size_t position, std::string const& partition_key)
        : family_(family), position_(position), partition_(key_interval::only(partition_key)) {}

    /// Reads the stored sums, then the archive rows and the entities: if a change to these is read, the version of
    /// their sums has changed.
    [[nodiscard]] result<void> read() {
        entities_ = 0;
        ENTITABLE_CHECK(read_sums(stored_));
        ENTITABLE_CHECK(begin_with_archived());
        result<void> good;
        for (entity_type const& type : family_.types) {
            for (counted_type const& how : type.sums) {
                if (how.companion != position_) { continue; }
                ENTITABLE_CHECK(family_.main.for_each_row_of(*type.type, partition_, [&](row_view entity) {
                    ++entities_;
                    if (good) { good = count(type, how, entity); }
                }));
                ENTITABLE_CHECK(good);
            }
        }
        return compare();
    }
    /// Adds to `settled` the correct rows that have not changed since they were read. Returns false if any of them has changed. If an
    /// entity that the sums lacked is removed between the two reads, a row equals its recomputation and is still wrong.
    [[nodiscard]] result<bool> settle(std::set<std::string>& settled) const {
        rows_by_key now;
        ENTITABLE_CHECK(read_sums(now));
        bool all = true;
        for (auto const& [row_key, each] : now) {
            if (wrong_.contains(row_key) || settled.contains(row_key)) { continue; }
            auto const before = stored_.find(row_key);
            bool const same = before != stored_.end() && before->second.view().etag() == each.view().etag();
            if (same) { settled.insert(row_key); }
            all = all && same;
        }
        return all;
    }
    /// Rewrites the wrong rows under their versions; false if a writer changed a row first.
    [[nodiscard]] result<bool> mend(std::set<std::string>& settled) {
        bool all = true;
        for (auto& [row_key, change] : wrong_) {
            auto const written = family_.main.write(mutation{change});
            if (!written && (written.error().effect != effect::none || !was_beaten(written.error()))) {
                return failure{written.error()};
            }
            if (written) { settled.insert(row_key); }
            all = all && written.has_value();
        }
        return all;
    }
    /// Whether no writer has changed a wrong row since it was read.
    [[nodiscard]] result<bool> is_still() {
        rows_by_key now;
        if (wrong_.empty()) { return true; }
        ENTITABLE_CHECK(read_sums(now));
        for (auto const& [row_key, change] : wrong_) {
            auto const before = stored_.find(row_key);
            auto const after = now.find(row_key);
            bool const same = (before == stored_.end()) == (after == now.end()) &&
                (after == now.end() || before->second.view().etag() == after->second.view().etag());
            if (!same) { return false; }
        }
        return true;
    }
    /// Returns the wrong rows and the changes that correct them.
    [[nodiscard]] std::map<std::string, mutation> const& wrong() const noexcept { return wrong_; }
    [[nodiscard]] std::uint64_t entities() const noexcept { return entities_; }
    [[nodiscard]] std::uint64_t correct() const noexcept { return correct_; }

private:
    using rows_by_key = std::map<std::string, row>;
    struct computed_sums {
        row empty;
        row sums;
    };

    [[nodiscard]] reading mode() const noexcept { return family_.main.options().reading; }
    [[nodiscard]] result<void> read_sums(rows_by_key& into) const {
        into.clear();
        return family_.main.for_each_row_of(*family_.shapes[position_].type, partition_,
            [&](row_view each) { into.insert_or_assign(std::string{each.row_key}, row{each}); });
    }
    /// Starts each sum with its archived part, to which the entities are added.
    [[nodiscard]] result<void> begin_with_archived() {
        computed_.clear();
        std::string end{system_row::sum};
        end.back() = '"'; // this is the character after '!'
        key_interval const rows{
            key_bound::including(std::string{system_row::sum}), key_bound::excluding(std::move(end))};
        index_shape const& shape = family_.shapes[position_];
        result<void> good;
        ENTITABLE_CHECK(family_.main.for_each_row({partition_, rows}, {}, true, [&](row_view archived) {
            archived.row_key.remove_prefix(system_row::sum.size());
            if (!good || !shape.type->matches(archived.partition_key, archived.row_key)) { return; }
            auto empty = shape.without_sums(archived, mode());
            if (empty) {
                computed_.try_emplace(std::string{archived.row_key}, computed_sums{*std::move(empty), row{archived}});
            } else {
                good = std::move(empty).as_failure();
            }
        }));
        return good;
    }
    [[nodiscard]] result<void> count(entity_type const& type, counted_type const& how, row_view entity) {
        ENTITABLE_TRY(decoded_entity const decoded, type.decode(entity, mode()));
        std::string row_key;
        ENTITABLE_CHECK(how.key(decoded.get(), entity, row_key));
        auto at = computed_.find(row_key);
        if (at == computed_.end()) {
            ENTITABLE_TRY(row place, how.place(decoded.get(), entity));
            at = computed_.try_emplace(std::move(row_key), computed_sums{place, place}).first;
        }
        row_view const before = at->second.sums.view();
        ENTITABLE_TRY(at->second.sums, how.fold(&before, nullptr, decoded.get(), entity, mode()));
        return {};
    }
    void compare_row(std::string const& row_key, row_view wanted, row_view found, row const* stored) {
        if (same_sums(wanted, found, family_.options.bound)) {
            ++correct_;
        } else {
            wrong_.emplace(row_key,
                stored != nullptr ? mutation::replace(row{wanted}, stored->view().etag())
                                  : mutation::insert(row{wanted}));
        }
    }
    [[nodiscard]] result<void> compare() {
        wrong_.clear();
        correct_ = 0;
        for (auto const& [row_key, stored] : stored_) {
            ENTITABLE_TRY(row const empty, family_.shapes[position_].without_sums(stored.view(), mode()));
            auto const at = computed_.find(row_key);
            compare_row(row_key, at != computed_.end() ? at->second.sums.view() : empty.view(), stored.view(), &stored);
        }
        for (auto const& [row_key, each] : computed_) {
            if (!stored_.contains(row_key)) { compare_row(row_key, each.sums.view(), each.empty.view(), nullptr); }
        }
        return {};
    }

    index_family const& family_;
    std::size_t position_;
    key_interval partition_;
    rows_by_key stored_;
    std::map<std::string, computed_sums> computed_;
    std::map<std::string, mutation> wrong_;
    std::uint64_t entities_{};
    std::uint64_t correct_{};
};

/// Audits a partition until no writer was active. `building`: the sums may lack entities, so a row that a writer
/// changes between the reads may look correct; it is compared again until both reads return the same version.
ENTITABLE_DECL result<void> audit_partition(index_family const& family, std::size_t position,
    std::string const& partition_key, bool mend, std::size_t max_samples, random_source& random, sum_audit& into,
    bool building) {
    std::set<std::string> found;
    std::set<std::string> settled;
    for (contention rivals{family.options.max_attempts, family.options.delays};;) {
        partition_audit one{family, position, partition_key};
        ENTITABLE_CHECK(one.read());
        if (!mend) { found.clear(); }
        for (auto const& [row_key, change] : one.wrong()) { found.insert(row_key); }
        ENTITABLE_TRY(bool const still, building ? one.settle(settled) : result<bool>{true});
        ENTITABLE_TRY(bool const changed, mend ? one.mend(settled) : one.is_still());
        bool const done = still && changed;
        if (done) {
            into.entities += one.entities();
            into.rows += one.correct() -
                (std::min)(one.correct(), std::uint64_t{found.size() - one.wrong().size()}); // rewritten before
            into.different += found.size();
            for (std::string const& row_key : found) {
                if (into.samples.size() < max_samples) { into.samples.push_back({partition_key, row_key}); }
            }
            return {};
        }
        if (rivals.is_last()) {
            return failure{
                error_code::update_condition_not_satisfied, "other writers changed the sums in every attempt"};
        }
        call const context{family.main.options(), *family.options.time};
        ENTITABLE_CHECK(rivals.wait(random.unit(), context, *family.options.time));
    }
}

ENTITABLE_DECL result<sum_audit> audit_all_sums(
    index_family const& family, std::size_t position, bool mend, std::size_t max_samples, bool building) {
    ENTITABLE_TRY(auto const partitions, family.main.partitions(true)); // a partition may contain only archive rows
    random_source random{family.fresh_seed()};
    result<sum_audit> told{std::in_place};
    for (std::string const& each : partitions) {
        ENTITABLE_CHECK(audit_partition(family, position, each, mend, max_samples, random, *told, building));
    }
    return told;
}

/// Adds the findings of an audit and its first rows.
ENTITABLE_DECL void add_findings(table_verification& to, sum_audit&& found, std::size_t max_samples) {
    to.sums += found.rows;
    to.wrong_sums += found.different;
    for (row_keys& each : found.samples) {
        if (to.wrong_sums_first.size() < max_samples) { to.wrong_sums_first.push_back(std::move(each)); }
    }
}

ENTITABLE_DECL result<table_verification> audit_sums_in(
    index_family const& family, std::size_t position, result<std::string> partition_key, bool mend) {
    if (!partition_key) { return std::move(partition_key).as_failure(); }
    random_source random{family.fresh_seed()};
    sum_audit found;
    ENTITABLE_CHECK(audit_partition(family, position, *partition_key, mend, 10, random, found, false));
    table_verification told;
    told.indexes.entities = found.entities;
    add_findings(told, std::move(found), 10);
    return told;
}

ENTITABLE_DECL result<table_verification> verify_companions(index_family const& family, std::size_t max_samples) {
    result<table_verification> told{std::in_place};
    call context{family.main.options(), *family.options.time};
    context.location = read_location::primary;
    ENTITABLE_TRY(auto const stored, family.read_declaration(context));
    ENTITABLE_TRY(told->indexes, verify_indexes(family, max_samples));
    for (std::size_t position = 0; position < family.shapes.size(); ++position) {
        bool const maintained = stored.own[position].state != index_state::retired;
        if (!family.shapes[position].is_sum() || !maintained) { continue; }
        ENTITABLE_TRY(auto found, audit_all_sums(family, position, false, max_samples));
        add_findings(*told, std::move(found), max_samples);
    }
    return told;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
