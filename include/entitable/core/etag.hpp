// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `etag`: the version of an entity, returned by the service with each read and write, and sent back to make a write conditional. Opaque
/// text; the usual form, made from the Timestamp, is stored in eight bytes.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/date_time.hpp>

#include <string>
#include <string_view>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE

/// Version of an entity. Two versions are equal if their texts are equal byte for byte.
class etag {
public:
    etag() = default;
    /// Parses an ETag as a response contains it.
    ENTITABLE_LAZY explicit etag(std::string_view text);
#if defined(ENTITABLE_SEPARATE_COMPILATION)
    /// \cond
    // Compiled once: each write of a program moves and destroys one.
    etag(etag const& other);
    etag(etag&& other) noexcept;
    etag& operator=(etag const& other);
    etag& operator=(etag&& other) noexcept;
    ~etag();
    /// \endcond
#endif
    /// Makes `W/"datetime'2020-11-07T01%3A23%3A13.377335Z'"` from `timestamp`.
    [[nodiscard]] static etag of(date_time timestamp) noexcept {
        etag made;
        made.timestamp_ = timestamp.ticks;
        return made;
    }
    /// Makes `W/"s<epoch>t<timestamp>"`, the timestamp as 16 hexadecimal digits: the version of a row that may move from store to store, where
    /// only the epoch of its place differs.
    ENTITABLE_LAZY [[nodiscard]] static etag of(date_time timestamp, std::uint64_t epoch);

    /// Whether there is no version, for example because the entity was not stored.
    [[nodiscard]] bool empty() const noexcept { return timestamp_ == no_timestamp && text_.empty(); }
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const; ///< the text that the service writes
    /// Whether the ETag was made from a Timestamp alone, which `timestamp()` then returns.
    [[nodiscard]] bool is_of_timestamp() const noexcept { return timestamp_ != no_timestamp && text_.empty(); }
    [[nodiscard]] date_time timestamp() const noexcept { return {timestamp_}; } ///< valid only if `is_of_timestamp()`
    /// Whether the text is a valid ETag: `"..."` or `W/"..."` of printable ASCII, at most 1 KiB. Conditional writes with an invalid ETag
    /// fail with InvalidInput.
    ENTITABLE_LAZY [[nodiscard]] bool is_valid() const noexcept;

    friend bool operator==(etag const& left, etag const& right) noexcept {
        return left.timestamp_ == right.timestamp_ && left.text_ == right.text_;
    }

private:
    static constexpr std::int64_t no_timestamp = -1;

    ENTITABLE_LAZY bool take_with_epoch(std::string_view text);

    std::int64_t timestamp_{no_timestamp}; // a text of the usual form is always stored here, never in text_
    std::string text_;                     // with a timestamp: the digits of its epoch, if it has one
};

/// "Any version": the last writer wins.
struct any_etag_t {};
/// Stands for any version: `table.replace(changed, any_etag)`.
inline constexpr any_etag_t any_etag{};

/// Condition of a write: the entity must exist, with any version or with a given one.
class etag_condition {
public:
    /// Accepts any version; the entity must exist.
    etag_condition(any_etag_t) noexcept {}
    /// Accepts exactly this version. An empty version matches no stored entity.
    etag_condition(etag version) : version_(static_cast<etag&&>(version)), any_(false) {}

    /// Does not compile: an ETag is made explicitly.
    template <class Text>
        requires(std::is_convertible_v<Text const&, std::string_view> && !std::is_convertible_v<Text const&, etag>)
    etag_condition(Text const&) { // NOLINT: implicit, for the message
        static_assert(
            sizeof(Text) == 0, "a condition is an ETag, not a text: etag{text}, the ETag that was read, or any_etag");
    }

    [[nodiscard]] bool any() const noexcept { return any_; } ///< whether any version is accepted
    /// The required version; empty if any is accepted.
    [[nodiscard]] etag const& version() const noexcept { return version_; }
    /// Whether a stored version satisfies the condition.
    [[nodiscard]] bool accepts(etag const& stored) const noexcept { return any_ || version_ == stored; }
    /// Whether a stored version that is that of a Timestamp satisfies the condition.
    [[nodiscard]] bool accepts(date_time stored) const noexcept {
        return any_ || (version_.is_of_timestamp() ? version_.timestamp() == stored : version_ == etag::of(stored));
    }

private:
    etag version_;
    bool any_{true};
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/etag.ipp>
#endif

#endif
