#include "runtime/config.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "runtime/api.h"
#include "runtime/error_text.h"

namespace aclemu {
namespace {

// Checks JSON and keeps the texts that are members of its outermost object.
class JsonChecker {
public:
    explicit JsonChecker(const std::string &text) : at_(text.c_str()), end_(at_ + text.size()) {}

    bool IsDocument()
    {
        const bool valid = Value(0);
        Space();
        return valid && at_ == end_;
    }

    // As written, so without its escapes undone; "" if there is none.
    std::string Text(const std::string &name) const
    {
        const auto found = texts_.find(name);
        return found != texts_.end() ? found->second : "";
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

    bool String(std::string *text = nullptr)
    {
        if (!Take('"')) {
            return false;
        }
        const char *start = at_;
        while (at_ < end_ && *at_ != '"') {
            if (static_cast<unsigned char>(*at_) < 0x20) {
                return false;
            }
            at_ += *at_ == '\\' && at_ + 1 < end_ ? 2 : 1;
        }
        if (text != nullptr) {
            text->assign(start, std::min(at_, end_));
        }
        return at_ < end_ && *at_++ == '"';
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
            std::string name;
            if (named && !(String(&name) && Take(':'))) {
                return false;
            }
            Space();
            const char *start = at_;
            if (!Value(depth + 1)) {
                return false;
            }
            if (named && depth == 0 && *start == '"') {
                texts_[name].assign(start + 1, at_ - 1);
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
    std::map<std::string, std::string> texts_;
};

constexpr off_t kMaxFile = off_t{1} << 20;

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

aclError ReadConfig(const char *path, std::string *text)
{
    if (path == nullptr || *path == '\0') {
        return ACL_SUCCESS;
    }
    struct stat file = {};
    if (stat(path, &file) == 0 && (!S_ISREG(file.st_mode) || file.st_size > kMaxFile)) { // others may never end
        return Fail(ACL_ERROR_INVALID_FILE,
                    "parameter configPath names \"%s\", which is not a regular file of at most %lld bytes", path,
                    static_cast<long long>(kMaxFile));
    }
    if (!ReadFile(path, text)) {
        return Fail(ACL_ERROR_INVALID_FILE, "parameter configPath names \"%s\", which cannot be read", path);
    }
    JsonChecker checker(*text);
    if (!checker.IsDocument()) {
        return Fail(ACL_ERROR_PARSE_FILE, "parameter configPath names \"%s\", which is not JSON", path);
    }
    ShareErrors(checker.Text("err_msg_mode") == "1");
    return ACL_SUCCESS;
}

} // namespace aclemu
