// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `batch_packer`: writes in, entity group transactions out.
///
///     batch_packer packer{"Runners", target.profile()};
///     packer.add(mutation::insert(row)).value(); // any number, of any partitions
///     while (auto next = packer.take()) { target.execute(*next, context).value(); }

#include <entitable/core/result.hpp>
#include <entitable/request/profile.hpp>
#include <entitable/request/requests.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {

/// The most bytes that a write takes in a transaction: by `service_size`, or as a part of multipart/mixed with the entity in
/// JSON, whichever is more. The address of the service is taken to have at most 512 bytes.
[[nodiscard]] std::size_t transaction_size(std::string_view table, mutation const& change);

/// The bytes that a transaction takes besides its writes, at most.
inline constexpr std::size_t transaction_frame = 512;

} // namespace detail

/// Packs writes into transactions that a service accepts: of one partition, with at most `profile::max_operations` writes of
/// at most `profile::max_transaction_size` bytes as they are sent, and each row at most once. Writes of one partition keep
/// their order, within a transaction and from one to the next; partitions are in no order. Thread safety: one thread at a time.
class batch_packer {
public:
    /// For one table. Of `limits` only those above and `max_entity_size` count.
    batch_packer(std::string table, profile const& limits);

    /// Adds a write; `tag` comes back with its transaction. Errors: EntityTooLarge or RequestBodyTooLarge for a write that no
    /// transaction can hold, which is left out and not moved from. All other rules of a service are checked when the transaction is
    /// sent.
    [[nodiscard]] result<void> add(mutation&& change, std::uint64_t tag = 0);
    [[nodiscard]] result<void> add(mutation const& change, std::uint64_t tag = 0) {
        mutation copied = change;
        return add(std::move(copied), tag);
    }

    /// The next transaction that is full; nothing when all can still grow. `tags`, if not null, gets the tags of its writes, in
    /// order.
    [[nodiscard]] std::optional<transact> take_full(std::vector<std::uint64_t>* tags = nullptr);
    /// The next transaction, a full one first; nothing when no write is left. `tags` as above.
    [[nodiscard]] std::optional<transact> take(std::vector<std::uint64_t>* tags = nullptr);

    /// How many transactions are full.
    [[nodiscard]] std::size_t full() const noexcept { return full_.size() - taken_; }
    /// How many writes were added and not taken.
    [[nodiscard]] std::size_t held() const noexcept { return held_; }

private:
    struct open_batch {
        std::vector<mutation> changes;
        std::vector<std::uint64_t> tags;             ///< of the changes
        std::vector<std::uint64_t> keys;             ///< numbers of their row keys, which tell most of them apart
        std::vector<std::size_t> sizes;              ///< of the changes: what they take, or more
        std::size_t size{detail::transaction_frame}; ///< with all of these
        std::size_t measured{};                      ///< how many of the sizes are exact
    };

    [[nodiscard]] bool has(open_batch const& batch, mutation const& change, std::uint64_t key) const;
    [[nodiscard]] bool has_room(open_batch& batch, mutation const& change, std::size_t& size) const;
    [[nodiscard]] transact give(open_batch&& batch, std::vector<std::uint64_t>* tags);

    std::string table_;
    profile limits_;
    std::map<std::string, open_batch, std::less<>> open_; ///< by partition key
    std::vector<open_batch> full_;                        ///< in the order in which they were filled
    std::size_t taken_{};                                 ///< of full_
    std::size_t held_{};
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/request/impl/batch_packer.ipp>
#endif
