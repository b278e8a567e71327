// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `etag`: the version of an entity, given by the service with each read and write and sent back to make a
/// write conditional. Opaque text; the usual form, made from the Timestamp, is kept in eight bytes.

#include <entitable/core/date_time.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// An entity's version. Equal when the texts are equal, byte for byte.
class etag {
public:
    etag() = default;
    /// From the text of a service's answer.
    ENTITABLE_LAZY explicit etag(std::string_view text);
    /// `W/"datetime'2020-11-07T01%3A23%3A13.377335Z'"` of `timestamp`.
    [[nodiscard]] static etag of(date_time timestamp) noexcept {
        etag made;
        made.timestamp_ = timestamp.ticks;
        return made;
    }

    /// No version: of something that was not stored.
    [[nodiscard]] bool empty() const noexcept { return timestamp_ == no_timestamp && text_.empty(); }
    ENTITABLE_LAZY [[nodiscard]] std::string text() const; ///< as the service writes it
    /// Whether it was made of a Timestamp, which `timestamp()` returns then.
    [[nodiscard]] bool is_of_timestamp() const noexcept { return timestamp_ != no_timestamp; }
    [[nodiscard]] date_time timestamp() const noexcept { return {timestamp_}; } ///< undefined where it was made of none
    /// Whether a service can have given it: `"..."` or `W/"..."` of printable ASCII, 1 KiB at most. A write under another one is
    /// refused with InvalidInput.
    ENTITABLE_LAZY [[nodiscard]] bool is_valid() const noexcept;

    friend bool operator==(etag const& left, etag const& right) noexcept {
        return left.timestamp_ == right.timestamp_ && left.text_ == right.text_;
    }

private:
    static constexpr std::int64_t no_timestamp = -1;

    std::int64_t timestamp_{no_timestamp}; // a text of the usual form is always kept here, never in text_
    std::string text_;
};

/// "Whatever the version": the last writer wins.
struct any_etag_t {};
/// Stands for any version: `table.replace(changed, any_etag)`.
inline constexpr any_etag_t any_etag{};

/// What a conditional write requires of the stored entity: that it exists, and possibly its version.
class etag_condition {
public:
    /// Any version: the entity has to exist.
    etag_condition(any_etag_t) noexcept {}
    /// This very version. An empty one is met by no stored entity.
    etag_condition(etag version) : version_(static_cast<etag&&>(version)), any_(false) {}

    [[nodiscard]] bool any() const noexcept { return any_; } ///< whether any version will do
    /// The version asked for; empty where any will do.
    [[nodiscard]] etag const& version() const noexcept { return version_; }
    /// Whether a stored entity meets it.
    [[nodiscard]] bool accepts(etag const& stored) const noexcept { return any_ || version_ == stored; }

private:
    etag version_;
    bool any_{true};
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/etag.ipp>
#endif
