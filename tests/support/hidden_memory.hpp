// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Searches the writable memory of the process for a secret. Linux only.

#include <fcntl.h>
#include <support/catch.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <random>
#include <string_view>

namespace entitable_test {

/// Memory that no search reads: for the searched texts, and for the data being read.
class hidden_memory {
public:
    hidden_memory()
        : begin_(
              static_cast<char*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        REQUIRE(begin_ != MAP_FAILED);
    }
    hidden_memory(hidden_memory const&) = delete;
    hidden_memory& operator=(hidden_memory const&) = delete;
    ~hidden_memory() {
        ::close(memory_);
        ::munmap(begin_, size);
    }

    [[nodiscard]] std::string_view add(std::string_view text) { return add({text}); }
    [[nodiscard]] std::string_view add(std::initializer_list<std::string_view> parts) {
        char* const at = begin_ + used_;
        for (std::string_view const part : parts) {
            REQUIRE(used_ + part.size() < buffer_at);
            std::memcpy(begin_ + used_, part.data(), part.size());
            used_ += part.size();
        }
        return {at, static_cast<std::size_t>(begin_ + used_ - at)};
    }
    /// A secret of letters and digits.
    [[nodiscard]] std::string_view make_secret(std::size_t length) {
        constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        REQUIRE(used_ + length < buffer_at);
        char* const at = begin_ + used_;
        std::random_device source;
        for (std::size_t index = 0; index < length; ++index) { at[index] = alphabet[source() % 62]; }
        used_ += length;
        return {at, length};
    }

    /// The number of the given pieces of `text`, 12 bytes each, in the writable memory of the process, hidden memory
    /// excepted.
    [[nodiscard]] std::size_t pieces_elsewhere(std::string_view text) {
        std::FILE* const maps = std::fopen("/proc/self/maps", "r");
        REQUIRE(maps != nullptr);
        std::size_t found = 0;
        char line[512];
        while (std::fgets(line, sizeof line, maps) != nullptr) {
            unsigned long first = 0;
            unsigned long last = 0;
            char rights[8]{};
            bool const read = std::sscanf(line, "%lx-%lx %7s", &first, &last, rights) == 3;
            if (read && rights[0] == 'r' && rights[1] == 'w') { found += pieces_between(first, last, text); }
        }
        std::fclose(maps);
        REQUIRE(unread_ == 0);
        return found;
    }

private:
    static constexpr std::size_t page_size = 4096;

    /// Reads only mapped pages: most of what a sanitizer reserves is never mapped.
    [[nodiscard]] std::size_t pieces_between(unsigned long first, unsigned long last, std::string_view text) {
        std::size_t found = 0;
        unsigned char there[1024];
        auto const own = reinterpret_cast<unsigned long>(begin_);
        std::size_t pages = 0; // read, and not yet searched
        auto const look = [&] {
            found += pieces_in_buffer(pages * page_size, text);
            pages = 0;
        };
        constexpr unsigned long largest = 1UL << 38U; // address space of a sanitizer
        for (unsigned long at = last - first > largest ? last : first; at < last; at += page_size) {
            unsigned long const index = (at - first) / page_size % std::size(there);
            if (index == 0) {
                unsigned long const span = std::size(there) * page_size;
                if (::mincore(reinterpret_cast<void*>(at), last - at < span ? last - at : span, there) != 0) { break; }
            }
            bool const wanted = (there[index] & 1U) != 0 && (at < own || at >= own + size);
            if (!wanted || pages == most_pages) { look(); }
            if (wanted) {
                auto const got =
                    ::pread(memory_, begin_ + buffer_at + pages * page_size, page_size, static_cast<off_t>(at));
                unread_ += got == static_cast<ssize_t>(page_size) ? 0U : 1U;
                ++pages;
            }
        }
        look();
        return found;
    }
    [[nodiscard]] std::size_t pieces_in_buffer(std::size_t bytes, std::string_view text) const {
        constexpr std::size_t piece = 12;
        std::size_t const step = text.size() / 16 > piece ? text.size() / 16 : piece;
        std::size_t found = 0;
        for (std::size_t at = 0; bytes != 0 && at + piece <= text.size(); at += step) {
            char const* place = begin_ + buffer_at;
            char const* const end = place + bytes;
            while ((place = static_cast<char const*>(
                        ::memmem(place, static_cast<std::size_t>(end - place), text.data() + at, piece))) != nullptr) {
                ++found;
                place += piece;
            }
        }
        return found;
    }

    static constexpr std::size_t size = std::size_t{4} << 20;
    static constexpr std::size_t buffer_at = std::size_t{1} << 20;
    static constexpr std::size_t most_pages = (size - buffer_at) / page_size;
    char* const begin_;
    int const memory_{::open("/proc/self/mem", O_RDONLY | O_CLOEXEC)};
    std::size_t used_{};
    std::size_t unread_{}; ///< pages
};

} // namespace entitable_test
