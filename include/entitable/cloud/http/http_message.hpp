// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// HTTP requests and responses as plain data.

#include <entitable/core/config.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/wipe.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE

/// The methods used by table services. `merge` is the older name of `patch`.
enum class http_method : std::uint8_t {
    get,     ///< reads
    post,    ///< inserts, batches
    put,     ///< replaces
    merge,   ///< the table service's own method
    patch,   ///< merges
    delete_, ///< removes
    head,    ///< reads only the header fields
    options, ///< queries the permitted methods
};

/// Returns the method's name, for example "DELETE".
[[nodiscard]] std::string_view to_string(http_method method) noexcept;

namespace detail {
struct known_fields;
}

/// Header fields in the order in which they were added, in one block of text: a few fields cost one allocation, and none once the block has
/// grown. Names are compared ignoring case (RFC 9110, 5.1). Thread safety: one thread at a time.
///
/// A field may contain a secret: removed text is overwritten, whether it is removed by a change, by growth or by freeing the block.
class http_headers {
public:
    http_headers() = default;                    ///< empty
    http_headers(http_headers const&) = default; ///< the same fields
    /// Takes the fields of `other`, which is empty afterwards.
    http_headers(http_headers&& other) noexcept : text_(std::move(other.text_)), size_(std::exchange(other.size_, 0)) {}
    /// Replaces all fields.
    http_headers& operator=(http_headers other) noexcept {
        text_.swap(other.text_);
        size_ = other.size_;
        return *this;
    }
    ~http_headers() { wipe(text_.data(), text_.size()); }

    /// Adds a field, without the spaces and tabs around the value. Returns false and adds nothing if `name` is not a token (RFC 9110,
    /// 5.6.2) or `value` has a control character other than a tab (especially CR, LF and NUL): such a field could inject another field.
    [[nodiscard]] bool add(std::string_view name, std::string_view value);
    /// Replaces all fields of that name with this field, or adds it; its position is unspecified. Returns false and changes nothing under
    /// the conditions of `add`.
    [[nodiscard]] bool set(std::string_view name, std::string_view value);
    /// Removes every field of that name.
    void remove(std::string_view name) noexcept;

    /// Returns the value of the first field of that name; valid until the fields change.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;
    /// Returns the number of fields of that name.
    [[nodiscard]] std::size_t count(std::string_view name) const noexcept;
    /// Calls `visit` for each field, in order.
    void for_each(function_ref<void(std::string_view name, std::string_view value)> visit) const;

    [[nodiscard]] std::size_t size() const noexcept { return size_; } ///< number of fields
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }  ///< whether there are no fields
    /// Removes all fields and keeps the memory.
    void clear() noexcept {
        wipe(text_.data(), text_.size());
        text_.clear();
        size_ = 0;
    }

    /// Returns all fields, each as "name: value" and a NUL character, for C interfaces.
    [[nodiscard]] std::string const& text() const noexcept { return text_; }

private:
    friend struct detail::known_fields;

    void make_room(std::size_t more);
    /// Returns the start of the next field of that name, at `from` or after; the size of the text if there is none.
    [[nodiscard]] std::size_t next_named(std::string_view name, std::size_t from) const noexcept;
    void remove_from(std::string_view name, std::size_t from) noexcept;

    std::string text_;
    std::size_t size_{};
};

/// One request. The client adds Host, Content-Length and the fields of the connection.
struct http_request {
    http_method method{http_method::get}; ///< the method
    std::string url;                      ///< absolute, escaped as needed; sent unchanged, byte for byte
    http_headers headers;                 ///< header fields in addition to those that the client writes
    std::string body;                     ///< empty for none

    /// Clears address and header fields, which may contain a credential, and overwrites their memory, which is not freed.
    void forget_credential() noexcept {
        wipe(url.data(), url.size());
        url.clear();
        headers.clear();
    }
};

/// One response.
struct http_response {
    /// The capacity of `body` exceeds its size by at least this many bytes, so that a parser may read past its end.
    static constexpr std::size_t padding = 64;

    std::uint16_t status{}; ///< for example 404
    http_headers headers;   ///< received header fields; names are case-insensitive
    std::string body;       ///< received body
};

namespace detail {

/// Adds fields that are known to be valid and not present yet, without checking their characters.
struct known_fields {
    /// Adds one field.
    static void add(http_headers& to, std::string_view name, std::string_view value) {
        to.make_room(name.size() + value.size() + 3);
        to.text_.append(name).append(": ", 2).append(value).push_back('\0');
        ++to.size_;
    }
    /// Adds one field in the form "name: value".
    static void add(http_headers& to, std::string_view field) {
        to.make_room(field.size() + 1);
        to.text_.append(field).push_back('\0');
        ++to.size_;
    }
    /// Adds several fields of a literal: "name: value", a NUL, "name: value".
    template <std::size_t Size>
    static void add(http_headers& to, char const (&fields)[Size], std::size_t count) {
        to.make_room(Size);
        to.text_.append(fields, Size); // including the final NUL
        to.size_ += count;
    }
};

/// Whether a header field is valid: the name is a token, and the value has no control character except tabs.
[[nodiscard]] bool is_good_field(std::string_view name, std::string_view value) noexcept;

/// Whether two names of header fields are equal, ignoring the case of ASCII letters.
[[nodiscard]] bool same_field_name(std::string_view left, std::string_view right) noexcept;

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/http/impl/http_message.ipp>
#endif
