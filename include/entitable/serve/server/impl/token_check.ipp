// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/serve/server/detail/regular_file.hpp>
#include <entitable/serve/server/detail/token_parts.hpp>
#include <entitable/serve/server/token_check.hpp>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads the keys of a file. Errors: InvalidInput, which names the file.
ENTITABLE_DECL result<token_keys> read_key_file(std::string const& path) {
    auto const refused = [&](std::string_view why) {
        return failure{error_code::invalid_input, text::joined({"the key file ", path, ": ", why})};
    };
    std::string why;
    std::FILE* const file = open_regular_file(path, why);
    if (file == nullptr) { return refused(why); }
    constexpr std::size_t most = 1024 * 1024;
    std::string json(most + 1, '\0');
    json.resize(std::fread(json.data(), 1, json.size(), file));
    bool const failed = std::ferror(file) != 0;
    static_cast<void>(std::fclose(file));
    if (failed) { return refused("it cannot be read"); }
    if (json.size() > most) { return refused("it is larger than 1 MiB"); }
    auto made = read_token_keys(json);
    if (!made) { return refused(made.error().message); }
    return made;
}

class token_check_state {
public:
    explicit token_check_state(token_rules rules) : rules_(std::move(rules)) {
        if (rules_.issuers.empty()) {
            rules_.issuers = {"https://sts.windows.net/*", "https://login.microsoftonline.com/*",
                "https://sts.chinacloudapi.cn/*", "https://login.partner.microsoftonline.cn/*",
                "https://login.microsoftonline.us/*", "https://sts.microsoftonline.de/*",
                "https://sts.windows-ppe.net/*"};
        }
    }
    token_check_state(token_rules rules, std::string file, token_keys keys)
        : rules_(std::move(rules)),
          file_(std::move(file)),
          keys_(std::make_shared<token_keys const>(std::move(keys))) {}

    result<void> reload() const {
        if (file_.empty()) { return {}; }
        auto read = read_key_file(file_);
        if (!read) { return std::move(read).as_failure(); }
        auto made = std::make_shared<token_keys const>(*std::move(read));
        std::lock_guard const guard{lock_};
        keys_ = std::move(made);
        return {};
    }

    bearer_verdict judge(std::string_view account, std::string_view token) const {
        auto const said = parse_token(token);
        if (!said) { return bearer_verdict::refused("The token is malformed."); }
        if (!file_.empty() && !is_signed(*said)) { return bearer_verdict::refused("Signature validation failed."); }
        if (!accepts_issuer(said->issuer)) {
            return bearer_verdict::refused("Issuer validation failed. Issuer did not match.");
        }
        if (!accepts_audience(said->audiences, account)) {
            return bearer_verdict::refused("Audience validation failed. Audience did not match.");
        }
        std::int64_t const now = (rules_.time->now().ticks - date_time::unix_epoch) / date_time::ticks_per_second;
        constexpr std::int64_t most = 1'000'000'000'000; // longer than all times of tokens, so that no sum overflows
        std::int64_t const skew = std::clamp(std::int64_t{rules_.skew.count()}, -most, most);
        if (now - skew >= said->expires) {
            return bearer_verdict::refused("Lifetime validation failed. The token is expired.");
        }
        if (said->begins && now + skew < *said->begins) {
            return bearer_verdict::refused("Lifetime validation failed. The token is not yet valid.");
        }
        if (!accepts_object(said->object)) {
            return bearer_verdict::refused("The identity of the token is not accepted.");
        }
        return true;
    }

private:
    [[nodiscard]] bool is_signed(token_parts const& said) const {
        std::shared_ptr<token_keys const> keys;
        {
            std::lock_guard const guard{lock_};
            keys = keys_;
        }
        auto const found = keys->find(said.key_id);
        // The key decides on the algorithm, and the token has to agree: no token selects another algorithm for a public key.
        return found != keys->end() && said.algorithm == found->second.algorithm() &&
            found->second.verifies(said.signed_text, said.signature);
    }
    [[nodiscard]] bool accepts_issuer(std::string_view issuer) const {
        for (std::string_view each : rules_.issuers) {
            bool const begins = each.ends_with('*');
            if (begins) { each.remove_suffix(1); }
            if (begins ? issuer.starts_with(each) : issuer == each) { return true; }
        }
        return false;
    }
    [[nodiscard]] bool accepts_audience(std::vector<std::string> const& audiences, std::string_view account) const {
        constexpr std::string_view mark = "{account}";
        for (std::string_view const each : rules_.audiences) {
            std::size_t const at = each.find(mark);
            std::string wanted{each};
            if (at != std::string_view::npos) { wanted.replace(at, mark.size(), account); }
            while (wanted.ends_with('/')) { wanted.pop_back(); }
            for (std::string_view said : audiences) {
                if (said.ends_with('/')) { said.remove_suffix(1); }
                if (said == wanted) { return true; }
            }
        }
        return false;
    }
    [[nodiscard]] bool accepts_object(std::string_view object) const {
        for (std::string_view const each : rules_.objects) {
            if (object == each) { return true; }
        }
        return rules_.objects.empty();
    }

    token_rules rules_;
    std::string const file_; ///< empty if signatures are not checked
    mutable std::mutex lock_;
    mutable std::shared_ptr<token_keys const> keys_; ///< guarded by lock_
};

} // namespace detail

ENTITABLE_DECL token_check token_check::without_signatures(token_rules rules) {
    return token_check{std::make_shared<detail::token_check_state const>(std::move(rules))};
}

ENTITABLE_DECL result<token_check> token_check::with_keys(std::string key_file, token_rules rules) {
    if (rules.issuers.empty()) {
        return failure{error_code::invalid_input,
            "token_rules::issuers is empty: the keys of an authority sign the tokens of all its tenants"};
    }
    if (key_file.empty()) { return failure{error_code::invalid_input, "the name of the key file is empty"}; }
    auto keys = detail::read_key_file(key_file);
    if (!keys) { return std::move(keys).as_failure(); }
    return token_check{
        std::make_shared<detail::token_check_state const>(std::move(rules), std::move(key_file), *std::move(keys))};
}

ENTITABLE_DECL result<void> token_check::reload() const {
    if (!state_) { return failure{error_code::invalid_input, "the token check was moved from"}; }
    return state_->reload();
}

ENTITABLE_DECL bearer_verdict token_check::operator()(std::string_view account, std::string_view token) const {
    if (!state_) { return bearer_verdict::refused("This server cannot check tokens."); }
    return state_->judge(account, token);
}

ENTITABLE_END_NAMESPACE
