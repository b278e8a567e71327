// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/rest/connection_string.hpp>

#include <cstdio>
#include <string>

int main() {
    auto const settings = entitable::parse_connection_string("UseDevelopmentStorage=true").value();
    std::string signature;
    bool const has_key = settings.credential.sign("entitable", signature);
    std::printf("%s signs\n", std::string{settings.credential.account()}.c_str());
    return has_key && signature.size() == 44 ? 0 : 1;
}
