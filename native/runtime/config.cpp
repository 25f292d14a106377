#include "runtime/config.h"

#include <cctype>
#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/api.h"

namespace aclemu {
namespace {

// Checks JSON without keeping anything of it.
class JsonChecker {
public:
    explicit JsonChecker(const std::string &text) : at_(text.c_str()), end_(at_ + text.size()) {}

    bool IsDocument()
    {
        const bool valid = Value(0);
        Space();
        return valid && at_ == end_;
    }

private:
    static constexpr int kMaxDepth = 64;

    void Space()
    {
        while (at_ < end_ && std::strchr(" \t\r\n", *at_) != nullptr && *at_ != '\0') {
            ++at_;
        }
    }

    bool Take(char wanted)
    {
        Space();
        if (at_ == end_ || *at_ != wanted) {
            return false;
        }
        ++at_;
        return true;
    }

    bool Word(const char *word)
    {
        const size_t length = std::strlen(word);
        if (static_cast<size_t>(end_ - at_) < length || std::strncmp(at_, word, length) != 0) {
            return false;
        }
        at_ += length;
        return true;
    }

    bool String()
    {
        if (!Take('"')) {
            return false;
        }
        while (at_ < end_ && *at_ != '"') {
            if (static_cast<unsigned char>(*at_) < 0x20) {
                return false;
            }
            at_ += *at_ == '\\' && at_ + 1 < end_ ? 2 : 1;
        }
        return Take('"');
    }

    bool Digits()
    {
        const char *start = at_;
        while (at_ < end_ && std::isdigit(static_cast<unsigned char>(*at_)) != 0) {
            ++at_;
        }
        return at_ > start;
    }

    bool Number()
    {
        at_ += at_ < end_ && *at_ == '-' ? 1 : 0;
        if (!Digits()) {
            return false;
        }
        if (at_ < end_ && *at_ == '.') {
            ++at_;
            if (!Digits()) {
                return false;
            }
        }
        if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
            ++at_;
            at_ += at_ < end_ && (*at_ == '+' || *at_ == '-') ? 1 : 0;
            return Digits();
        }
        return true;
    }

    bool Members(int depth, char close, bool named)
    {
        if (Take(close)) {
            return true;
        }
        do {
            if ((named && !(String() && Take(':'))) || !Value(depth + 1)) {
                return false;
            }
        } while (Take(','));
        return Take(close);
    }

    bool Value(int depth)
    {
        Space();
        if (at_ == end_ || depth > kMaxDepth) {
            return false;
        }
        switch (*at_) {
            case '{':
                ++at_;
                return Members(depth, '}', true);
            case '[':
                ++at_;
                return Members(depth, ']', false);
            case '"':
                return String();
            default:
                return Word("true") || Word("false") || Word("null") || Number();
        }
    }

    const char *at_;
    const char *end_;
};

bool ReadFile(const char *path, std::string *text)
{
    std::FILE *file = std::fopen(path, "rb");
    if (file == nullptr) {
        return false;
    }
    char block[4096];
    size_t count = 0;
    while ((count = std::fread(block, 1, sizeof(block), file)) > 0) {
        text->append(block, count);
    }
    const bool complete = std::ferror(file) == 0;
    std::fclose(file);
    return complete;
}

} // namespace

aclError ReadConfig(const char *path)
{
    if (path == nullptr || *path == '\0') {
        return ACL_SUCCESS;
    }
    std::string text;
    if (!ReadFile(path, &text)) {
        return Fail(ACL_ERROR_INVALID_FILE, "parameter configPath names \"%s\", which cannot be read", path);
    }
    if (!JsonChecker(text).IsDocument()) {
        return Fail(ACL_ERROR_PARSE_FILE, "parameter configPath names \"%s\", which is not JSON", path);
    }
    return ACL_SUCCESS;
}

} // namespace aclemu
