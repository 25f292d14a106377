// Checks of the test programs: the first that fails ends the program and says what was found.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "acl/acl.h"

inline std::string RecentText()
{
    const char *text = aclGetRecentErrMsg();
    return text != nullptr ? text : "";
}

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::_Exit(1);                                                       \
        }                                                                        \
    } while (false)

#define CHECK_CODE(call, expected)                                                                        \
    do {                                                                                                  \
        const int code_ = (call);                                                                         \
        if (code_ != (expected)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s returned %d, not %d: %s\n", __FILE__, __LINE__, #call, code_, \
                         static_cast<int>(expected), RecentText().c_str());                               \
            std::_Exit(1);                                                                                \
        }                                                                                                 \
    } while (false)

#define CHECK_OK(call) CHECK_CODE(call, 0)

// The call fails with `expected`, and the error text it leaves names `word`.
#define CHECK_REFUSED(call, expected, word)                                                               \
    do {                                                                                                  \
        (void)RecentText();                                                                               \
        CHECK_CODE(call, expected);                                                                       \
        const std::string text_ = RecentText();                                                           \
        if (text_.find(word) == std::string::npos) {                                                      \
            std::fprintf(stderr, "%s:%d: %s: the text does not name %s: %s\n", __FILE__, __LINE__, #call, \
                         word, text_.c_str());                                                            \
            std::_Exit(1);                                                                                \
        }                                                                                                 \
    } while (false)
