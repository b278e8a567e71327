// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `scripted`: a transport with scripted responses, to test how an application handles responses that no backend returns on demand: a lost
/// response, a busy server, an empty page.
///
///     testing::scripted service;
///     service.expect<write_entity>().fails(error_code::server_busy);
///     service.expect<write_entity>([](write_entity const& it) { return it.table == "Orders"; }).answers(written{});
///     ... the application uses `service` ...
///     CHECK(service.finished());

#include <entitable/core/shared.hpp>
#include <entitable/core/transport/transport.hpp>
#include <entitable/core/try.hpp>
#include <entitable/testing/verdict.hpp>

#include <functional>
#include <memory>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// Expects requests in the order of the script, and returns the scripted response to each. An unexpected request fails with NotSupported
/// and is recorded for `finished()`; the script does not advance. A cheap handle: copies share the script.
///
/// Thread safety: safe to use from several threads, once the script is written.
class scripted {
    struct step {
        explicit step(std::string_view kind) : request(kind) {}
        virtual ~step() = default;
        std::string_view request;
    };

    template <class Request>
    struct step_of final : step {
        using answer = std::function<result<response_of<Request>>(Request const&)>;
        step_of() : step(Request::name) {}
        std::function<bool(Request const&)> matches;
        answer reply = [](Request const&) { return result<response_of<Request>>{std::in_place}; };
    };

public:
    using is_transport = void; ///< opts in to `transport`

    /// The response to a request of the script; by default an empty response.
    template <table_request Request>
    class expectation {
    public:
        /// Returns this response.
        void answers(response_of<Request> response) {
            step_->reply = [answer = std::move(response)](
                               Request const&) { return result<response_of<Request>>{answer}; };
        }
        /// Returns this error.
        void fails(error problem) {
            step_->reply = [answer = std::move(problem)](
                               Request const&) -> result<response_of<Request>> { return failure{answer}; };
        }
        /// Returns an error of this code and this effect.
        void fails(error_code code, entitable::effect left = effect::none) {
            error problem{code, "scripted"};
            problem.effect = left;
            fails(std::move(problem));
        }
        /// Returns the result of a function: `result<response>(Request const&)`.
        void does(typename step_of<Request>::answer reply) { step_->reply = std::move(reply); }

    private:
        friend class scripted;
        explicit expectation(step_of<Request>& expected) : step_(&expected) {}
        step_of<Request>* step_;
    };

    /// Starts with an empty script, and with the profile of this service.
    explicit scripted(entitable::profile service = storage_profile()) : script_(shared<script>::make()) {
        script_->service = service;
    }

    /// Expects the next request to be of this kind and, if `matches` is given, to satisfy it.
    template <table_request Request>
    expectation<Request> expect(std::function<bool(Request const&)> matches = {}) {
        auto made = std::make_unique<step_of<Request>>();
        made->matches = std::move(matches);
        expectation<Request> added{*made};
        std::lock_guard const guard{own().lock};
        own().steps.push_back(std::move(made));
        return added;
    }

    /// Whether every expectation was met and no other request came; names the violations.
    [[nodiscard]] verdict finished() const {
        std::lock_guard const guard{own().lock};
        std::string why = own().surprises;
        for (std::size_t at = own().next; at < own().steps.size(); ++at) {
            why += "step " + std::to_string(at + 1) + " was not requested: " + std::string{own().steps[at]->request} +
                '\n';
        }
        return why.empty() ? verdict::yes() : verdict::no(std::move(why));
    }

    [[nodiscard]] entitable::profile profile() const {
        return script_ ? script_->service : entitable::profile{};
    } ///< profile of the simulated service

    /// Returns the response of the script's next step; an unexpected request fails with NotSupported and is recorded.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (!script_) { return entitable::detail::moved_from("transport"); }
        ENTITABLE_CHECK(check_call(context));
        step_of<Request>* now = nullptr;
        {
            std::lock_guard const guard{own().lock};
            bool const over = own().next == own().steps.size();
            step* const expected = over ? nullptr : own().steps[own().next].get();
            now = dynamic_cast<step_of<Request>*>(expected);
            if (now == nullptr || (now->matches && !now->matches(request))) {
                std::string const surprise = "step " + std::to_string(own().next + 1) + ": expected " +
                    (over ? std::string{"nothing more"} : std::string{expected->request}) + ", got " +
                    std::string{Request::name} + (now != nullptr ? " that does not match" : "");
                own().surprises += surprise + '\n';
                return failure{error_code::not_supported, "the script does not expect this request: " + surprise};
            }
            ++own().next;
        }
        return count_attempt(request, context, system_clock(), [&] { return now->reply(request); });
    }

private:
    struct script : counted {
        std::mutex lock;
        entitable::profile service;
        std::vector<std::unique_ptr<step>> steps;
        std::size_t next{0};
        std::string surprises;
    };
    /// The state that copies share. Ends the program after a move, since no error can be returned.
    [[nodiscard]] script& own() const {
        ENTITABLE_ASSERT(script_, "the script of a moved-from transport was used",
            entitable::detail::misuse("use the object that the transport was moved into"));
        return *script_;
    }

    shared<script> script_;
};

} // namespace testing
ENTITABLE_END_NAMESPACE
