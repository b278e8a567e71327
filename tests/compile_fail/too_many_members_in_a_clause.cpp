// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "at most 64 members in one clause"

#include <entitable/entitable.hpp>

struct sheet {
    std::string name;
    std::int32_t page{};
    bool m00, m01, m02, m03, m04, m05, m06, m07, m08, m09, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21,
        m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39, m40, m41, m42, m43,
        m44, m45, m46, m47, m48, m49, m50, m51, m52, m53, m54, m55, m56, m57, m58, m59, m60, m61, m62, m63, m64;
};

ENTITABLE(sheet,
    partition_key(name),
    row_key(page),
    properties(
        m00, m01, m02, m03, m04, m05, m06, m07, m08, m09, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20,
    m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39, m40, m41,
    m42, m43, m44, m45, m46, m47, m48, m49, m50, m51, m52, m53, m54, m55, m56, m57, m58, m59, m60, m61, m62,
    m63
#if defined(BROKEN)
    , m64))
#else
    ), properties(m64))
#endif
