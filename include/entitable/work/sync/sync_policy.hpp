// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Conflicts of a synchronisation: `sync_conflict`, the decision about it, and the policies that decide.

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/row/row.hpp>

#include <functional>
#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// A row that was changed on both sides since both had the same content. A side without the row has no value.
struct sync_conflict {
    std::string partition_key; ///< PartitionKey of the row
    std::string row_key;       ///< RowKey of the row
    std::optional<row> base;   ///< the content that both sides had last; absent if they never had the same row
    std::optional<row> here;   ///< the content in the local table
    std::optional<row> there;  ///< the content in the cloud
    /// The local table is older than what it has sent: its file was restored from a backup, or copied to another device. The content in the
    /// cloud wins; the policy is called so that the program can store the local content, and its decision is ignored.
    bool restored{};
};

/// How a conflict was decided.
enum class sync_choice : std::uint8_t {
    theirs, ///< the content in the cloud
    mine,   ///< the content in the local table
    merged, ///< content that a policy made
    both,   ///< the content in the cloud, and the local content under another key
};

/// Returns the name of a choice, for example "theirs".
[[nodiscard]] constexpr std::string_view to_string(sync_choice choice) noexcept {
    constexpr std::string_view words[] = {"theirs", "mine", "merged", "both"};
    return words[static_cast<std::size_t>(choice)];
}

/// The decision about a conflict. These hold the row back: damaged content, content that the local store does not accept, other keys for
/// `merged`, and for `both` another partition key or a row key that is taken.
struct sync_decision {
    sync_choice choice{sync_choice::theirs}; ///< how it was decided
    /// For `merged`: the content, or none to remove the row. For `both`: the local content under its new key, in the same partition.
    std::optional<row> content{};
};

/// Decides conflicts. Called before anything is written, and again for a row that changes in the meantime: it should depend on nothing but
/// its argument. No policy may trust a clock. An error holds the row back: see `sync_report::held`. Must not throw.
using sync_policy = std::function<result<sync_decision>(sync_conflict const&)>;

/// The content in the cloud wins.
[[nodiscard]] inline result<sync_decision> keep_theirs(sync_conflict const&) { return sync_decision{}; }
/// The local content wins.
[[nodiscard]] inline result<sync_decision> keep_mine(sync_conflict const&) {
    return sync_decision{sync_choice::mine, {}};
}

/// Merges property by property: a property that only one side has changed gets the value of that side. `otherwise` decides if both sides
/// have changed one property differently, or if one side has removed the row.
[[nodiscard]] sync_policy merge_properties(sync_policy otherwise = keep_theirs);

namespace detail {

/// Returns the content of `made`, with the properties of `older` that `made` does not name, not even as absent.
[[nodiscard]] row with_undeclared(row_view made, row_view older);

/// Reads one side of a conflict as an entity.
template <class E>
[[nodiscard]] result<std::optional<E>> entity_of_side(std::optional<row> const& side) {
    std::optional<E> read;
    if (side) { ENTITABLE_CHECK(from_row(side->view(), read.emplace())); }
    return read;
}

/// Writes a merged entity: under the keys of the conflict, with the properties that E does not declare.
template <class E>
[[nodiscard]] result<sync_decision> merged_decision(sync_conflict const& of, std::optional<E> const& merged) {
    if (!merged) { return sync_decision{sync_choice::merged, {}}; }
    ENTITABLE_TRY(row made, to_row(*merged));
    if (made.partition_key() != of.partition_key || made.row_key() != of.row_key) {
        return failure{error_code::invalid_input, "the function of merged_by must not change the keys of the entity"};
    }
    std::optional<row> const& older = of.there ? of.there : of.here;
    return sync_decision{sync_choice::merged, older ? with_undeclared(made.view(), older->view()) : std::move(made)};
}

} // namespace detail

/// Merges entities: `function(base, here, there)` takes three `std::optional<E> const&` and returns the merged entity, as E, as optional to
/// remove it, or as a result of either. Properties that E does not declare come from the cloud. Errors hold the row back, and so does an entity with other keys (InvalidInput).
template <mapped_entity E, class Function>
[[nodiscard]] sync_policy merged_by(Function function) {
    using side = std::optional<E> const&;
    static_assert(std::is_invocable_v<Function&, side, side, side>,
        "the function of merged_by must take base, here and there, each as std::optional<E> const&");
    return [function = std::move(function)](sync_conflict const& of) mutable -> result<sync_decision> {
        ENTITABLE_TRY(auto const base, detail::entity_of_side<E>(of.base));
        ENTITABLE_TRY(auto const here, detail::entity_of_side<E>(of.here));
        ENTITABLE_TRY(auto const there, detail::entity_of_side<E>(of.there));
        auto made = function(base, here, there);
        if constexpr (requires { made.error(); }) {
            if (!made) { return std::move(made).as_failure(); }
            return detail::merged_decision<E>(of, *std::move(made));
        } else {
            return detail::merged_decision<E>(of, std::move(made));
        }
    };
}

/// Keeps both: the content in the cloud under the key, and the local content as a new row. `rename(E& mine)` changes the row key of the
/// local entity. A row that one side has removed is kept by the other. Errors hold the row back: InvalidInput if the partition key changed
/// or the row key did not, EntityAlreadyExists if there is a row with the new key or another conflict got it, KeyReserved.
template <mapped_entity E, class Rename>
[[nodiscard]] sync_policy kept_both(Rename rename) {
    static_assert(
        std::is_invocable_v<Rename&, E&>, "the function of kept_both must take an E&, and change its row key");
    return [rename = std::move(rename)](sync_conflict const& of) mutable -> result<sync_decision> {
        if (!of.here) { return sync_decision{}; }
        if (!of.there) { return sync_decision{sync_choice::mine, {}}; }
        ENTITABLE_TRY(auto mine, detail::entity_of_side<E>(of.here));
        rename(*mine);
        ENTITABLE_TRY(row made, to_row(*mine));
        if (made.partition_key() != of.partition_key || made.row_key() == of.row_key) {
            return failure{error_code::invalid_input,
                "the function of kept_both must change the row key of the entity, and keep its partition key"};
        }
        return sync_decision{sync_choice::both, detail::with_undeclared(made.view(), of.here->view())};
    };
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/sync/impl/sync_policy.ipp>
#endif
