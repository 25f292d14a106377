#include "runtime/error.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>

#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/clock.h"
#include "runtime/environment.h"
#include "runtime/error_text.h"
#include "runtime/thread_value.h"

namespace aclemu {
namespace {

constexpr size_t kMaxText = 1024; // CANN's limit for one message
constexpr size_t kMaxMessages = 64; // nobody reads more, and a loop that never reads must not grow

struct Pending {
    std::vector<Message> messages;
    std::string read; // what the last aclGetRecentErrMsg of this thread returned
};

// Messages of the whole process, when err_msg_mode asks for them.
struct Shared {
    std::atomic<bool> on{false};
    std::mutex mutex;
    std::vector<Message> messages;
};

Shared &SharedMessages()
{
    static auto *shared = new Shared();
    return *shared;
}

bool IsInternal(const Message &message)
{
    return message.code.size() >= 4 && message.code.compare(message.code.size() - 4, 4, "9999") == 0;
}

void Truncate(std::string *text)
{
    if (text->size() <= kMaxText) {
        return;
    }
    size_t end = kMaxText;
    while (end > 0 &&
           (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) { // not inside a UTF-8 character
        --end;
    }
    text->resize(end);
}

std::string Stamp(const Message &message)
{
    return "[PID: " + std::to_string(getpid()) + "] " + message.time + " ";
}

} // namespace

std::string LayOut(const std::vector<Message> &messages, bool older)
{
    // What the caller can act on leads, even if an internal message came first.
    auto head =
        std::find_if(messages.begin(), messages.end(), [](const Message &m) { return !IsInternal(m); });
    const bool internal = head == messages.end();
    if (internal) {
        head = messages.begin();
    }
    std::string text;
    if (older) {
        text = head->code + ": " + Stamp(*head) + head->text + "\n";
    } else if (internal) {
        text = head->code + ": Internal error!\n" + head->code + Stamp(*head) + head->title + "(" +
               head->code + "):  " + head->text + "\n";
    } else {
        text = Stamp(*head) + head->title + "(" + head->code + "): " + head->text + "\n";
    }
    if (!head->cause.empty()) {
        text += "        Possible Cause: " + head->cause + "\n";
    }
    if (!head->solution.empty()) {
        text += "        Solution: " + head->solution + "\n";
    }
    if (messages.size() > 1) {
        text +=
            older ? "        TraceBack (most recent call last):\n" : "TraceBack (most recent call last):\n";
        for (auto message = messages.begin(); message != messages.end(); ++message) {
            if (message != head) {
                text += "        " + message->text + "\n";
            }
        }
    }
    return text;
}

namespace {

void Add(Message message, std::vector<Message> *messages)
{
    const bool known = std::any_of(messages->begin(), messages->end(), [&message](const Message &other) {
        return other.code == message.code && other.text == message.text;
    });
    if (!known && messages->size() < kMaxMessages) {
        message.time = LocalTime();
        messages->push_back(std::move(message));
    }
}

} // namespace

void ReportMessage(Message message)
{
    Truncate(&message.text);
    Shared &shared = SharedMessages();
    if (shared.on && !IsForkedChild()) {
        message.text += "[THREAD:" + std::to_string(syscall(SYS_gettid)) + "]";
        const std::lock_guard<std::mutex> lock(shared.mutex);
        Add(std::move(message), &shared.messages);
    } else {
        Add(std::move(message), &ThreadValue<Pending>().messages);
    }
}

void ShareErrors(bool share)
{
    SharedMessages().on = share;
}

bool OlderErrorForm()
{
    static const bool older = EnvironmentChoice("ACLEMU_ERROR_FORM", {"newer", "older"}) == 1;
    return older;
}

void ReportError(const char *code, const char *title, const std::string &message)
{
    ReportMessage({code, title, message, "", "", ""});
}

} // namespace aclemu

const char *aclGetRecentErrMsg()
{
    bool older = false;
    try {
        older = aclemu::OlderErrorForm();
    } catch (const std::invalid_argument &) { // the device refused it and said so
    }
    aclemu::Pending &pending = aclemu::ThreadValue<aclemu::Pending>();
    aclemu::Shared &shared = aclemu::SharedMessages();
    std::vector<aclemu::Message> messages = std::move(pending.messages);
    pending.messages.clear();
    if (shared.on && !aclemu::IsForkedChild()) {
        const std::lock_guard<std::mutex> lock(shared.mutex);
        messages.insert(messages.end(), shared.messages.begin(), shared.messages.end());
        shared.messages.clear();
    }
    if (messages.empty()) {
        return nullptr;
    }
    pending.read = aclemu::LayOut(messages, older);
    return pending.read.c_str();
}
