// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `batch_packer`: packs writes into entity group transactions.
///
///     batch_packer packer{"Runners", target.profile()};
///     packer.add(mutation::insert(row)).value(); // any number, in any partitions
///     while (auto next = packer.take()) { target.execute(*next, context).value(); }

#include <entitable/core/request/profile.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {

/// Returns an upper bound of the bytes of a write in a transaction: by `service_size`, or as a part of multipart/mixed with the entity in
/// JSON, whichever is more. Assumes that the service's address has at most 512 bytes.
[[nodiscard]] std::size_t transaction_size(std::string_view table, mutation const& change);

/// Upper bound of the bytes of a transaction in addition to its writes.
inline constexpr std::size_t transaction_frame = 512;

} // namespace detail

/// Packs writes into transactions that a service accepts: each in one partition, with at most `profile::max_operations` writes of at most
/// `profile::max_transaction_size` bytes as sent, and each row at most once. Writes of one partition stay in order, within a transaction
/// and from one to the next; the order of partitions is undefined. Thread safety: one thread at a time.
class batch_packer {
public:
    /// Packs for one table. Uses only the limits above and `max_entity_size`.
    batch_packer(std::string table, profile const& limits);

    /// Adds a write; `tag` is returned with its transaction. Errors: EntityTooLarge or RequestBodyTooLarge for a write that no transaction
    /// can hold, which is not added and not moved from. All other rules of a service are checked when the transaction is sent.
    [[nodiscard]] result<void> add(mutation&& change, std::uint64_t tag = 0);
    [[nodiscard]] result<void> add(mutation const& change, std::uint64_t tag = 0) {
        mutation copied = change;
        return add(std::move(copied), tag);
    }

    /// Returns the next full transaction; nullopt if no transaction is full. `tags`, if not null, receives the tags of its writes,
    /// in order.
    [[nodiscard]] std::optional<transact> take_full(std::vector<std::uint64_t>* tags = nullptr);
    /// Returns the next transaction, a full one first; nullopt if no write is left. `tags` as above.
    [[nodiscard]] std::optional<transact> take(std::vector<std::uint64_t>* tags = nullptr);

    /// Number of full transactions.
    [[nodiscard]] std::size_t full() const noexcept { return full_.size() - taken_; }
    /// Number of writes that were added and not taken.
    [[nodiscard]] std::size_t held() const noexcept { return held_; }

private:
    struct known_change {
        std::uint64_t key; ///< hash of its row key, to find duplicates quickly
        std::size_t size;  ///< its size, or an upper bound
    };
    struct open_batch {
        std::vector<mutation> changes;
        std::vector<std::uint64_t> tags;             ///< tags of the changes
        std::vector<known_change> known;             ///< what is known of the changes
        std::array<std::uint64_t, 16> seen{};        ///< a bit for each of their hashes
        std::size_t size{detail::transaction_frame}; ///< size of the whole transaction
        std::size_t measured{};                      ///< number of exact sizes
    };

    [[nodiscard]] bool has(open_batch const& batch, mutation const& change, std::uint64_t key) const;
    [[nodiscard]] bool has_room(open_batch& batch, mutation const& change, std::size_t& size) const;
    [[nodiscard]] transact give(open_batch&& batch, std::vector<std::uint64_t>* tags);

    std::string table_;
    profile limits_;
    std::map<std::string, open_batch, std::less<>> open_; ///< open batches by partition key
    std::vector<open_batch> full_;                        ///< full batches, in the order in which they were filled
    std::size_t taken_{};                                 ///< number of batches taken from `full_`
    std::size_t held_{};
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/batch_packer.ipp>
#endif
