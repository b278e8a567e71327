// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `any_store`: any transport as one type, so that `table<E>` is one type over every store.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/transport.hpp>

ENTITABLE_BEGIN_NAMESPACE

class channel;
class io_driver;

namespace detail {

/// A virtual function for each kind of request: there is one class in the chain per kind.
template <class... Requests>
class answering;

template <>
class answering<> : public counted {
public:
    virtual ~answering() = default;
    [[nodiscard]] virtual entitable::profile profile() const = 0;
    virtual void open(io_driver& io, shared<channel>& opened) = 0; ///< empty if the transport has no channel of its own
    [[nodiscard]] virtual bool at_once() const noexcept = 0;

protected:
    void execute(); ///< never defined; provides a name for the `using` of the first link
};

template <class First, class... Rest>
class answering<First, Rest...> : public answering<Rest...> {
public:
    using answering<Rest...>::execute;
    [[nodiscard]] virtual result<response_of<First>> execute(First const&, call&) = 0;
};

class transport_interface : public all_requests::apply<answering> {}; // a short name, for shorter symbols

/// The same chain, implemented by a transport.
template <class T, class... Requests>
class answering_with;

template <class T>
class answering_with<T> : public transport_interface {
public:
    explicit answering_with(T const& wrapped) : wrapped_(wrapped) {}
    using transport_interface::execute;

    entitable::profile profile() const override { return wrapped_.profile(); }
    void open(io_driver& io, shared<channel>& opened) override {
        if constexpr (requires { opened = wrapped_.open(io); }) { opened = wrapped_.open(io); }
    }
    bool at_once() const noexcept override { return answers_at_once<T>; }

protected:
    T wrapped_;
};

template <class T, class First, class... Rest>
class answering_with<T, First, Rest...> : public answering_with<T, Rest...> {
public:
    using answering_with<T, Rest...>::answering_with;
    using answering_with<T, Rest...>::execute;
    result<response_of<First>> execute(First const& request, call& context) override {
        return entitable::execute(this->wrapped_, request, context);
    }
};

template <class... Requests>
struct model_of {
    template <class T>
    using type = answering_with<T, Requests...>;
};

/// Makes the chain over a transport. If the library is compiled separately, the chain of each backend is compiled once.
template <transport T>
transport_interface* make_model(T const& wrapped) {
    return new all_requests::apply<model_of>::template type<T>(wrapped);
}

/// A class that derives from any_store and adds no function of a transport opts in with this type, and is copied as its base.
template <class T>
concept is_any = requires { requires std::same_as<typename T::is_any_transport, T>; };

} // namespace detail

/// A transport of any type, type-erased. Holds a copy, which shares the state of the original; its copies are cheap. After a move it
/// returns InvalidInput, as does a table, a batch or a query over it. Thread safety: that of the transport, which is safe to use from
/// several threads.
class any_store {
public:
    using is_transport = void;         ///< opts in to `transport`
    using visits_entities = any_store; ///< opts in to `read_entity`
    using visits_pages = any_store;    ///< opts in to `read_entities`

    /// Copies any transport; copies of this object share that copy.
    template <class T>
        requires(
            !std::same_as<T, any_store> && requires { typename T::is_transport; } && !detail::is_any<T> && transport<T>)
    any_store(T const& wrapped) : interface_(detail::make_model(wrapped)) {}
    any_store(any_store const& other) noexcept;            ///< shares the transport
    any_store(any_store&& other) noexcept;                 ///< takes the transport
    any_store& operator=(any_store const& other) noexcept; ///< shares the transport
    any_store& operator=(any_store&& other) noexcept;      ///< takes the transport
    ~any_store();

    /// Profile of the transport; a default profile after a move.
    [[nodiscard]] entitable::profile profile() const {
        return interface_ ? interface_->profile() : entitable::profile{};
    }

    /// Forwards a request.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (!interface_) { return detail::moved_from("table or transport"); }
        return interface_->execute(request, context);
    }

    /// Whether the transport never waits: see `answers_at_once`.
    [[nodiscard]] bool at_once() const noexcept { return !interface_ || interface_->at_once(); }
    /// An address that is the same for all copies; null after a move.
    [[nodiscard]] void const* identity() const noexcept { return interface_.get(); }

    /// Opens the transport's own channel; null if it has no channel, see `open_channel`.
    [[nodiscard]] shared<channel> open(io_driver& io) const;

private:
    shared<detail::transport_interface> interface_;
};

namespace detail {

/// A transport that responds to every request with InvalidInput: the handle was moved from. Used by handles in that
/// state.
ENTITABLE_LAZY [[nodiscard]] any_store moved_from_transport(std::string_view handle);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/transport/impl/any_store.ipp>
#endif

#endif
