#include "runtime/api.h"

#include <pthread.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/error_text.h"
#include "runtime/log.h"

namespace aclemu {
namespace {

thread_local const char *t_call = "";
thread_local aclError t_lastError = ACL_SUCCESS;

std::atomic<bool> g_used{false};
std::atomic<bool> g_forkedChild{false};

void AfterForkInChild()
{
    if (g_used.load(std::memory_order_relaxed)) {
        g_forkedChild.store(true, std::memory_order_relaxed);
    }
}

struct Advice {
    aclError status;
    const char *code;
    const char *title;
    const char *cause;
    const char *solution;
};

constexpr Advice kAdvice[] = {
    {ACL_ERROR_RT_CONTEXT_NULL, "EE1001", "Invalid_Argument", "",
     "Call aclrtSetDevice or aclrtSetCurrentContext in THIS thread first."},
    {ACL_ERROR_RT_STREAM_CONTEXT, "EE1001", "Invalid_Argument",
     "The stream was made in another context, or is destroyed already.",
     "Use it in the context it was made in (aclrtSetCurrentContext)."},
    {ACL_ERROR_RT_INVALID_DEVICEID, "EE1001", "Invalid_Argument", "",
     "Device ids count from 0; with ASCEND_RT_VISIBLE_DEVICES they are relative to that list."},
    {ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004", "Memory_Allocation_Failure",
     "Available memory is insufficient.",
     "Free device memory that is no longer used, or raise ACLEMU_MEMORY."},
};

// The message that goes with a status, but for its text.
Message Describe(aclError status)
{
    Message message;
    message.code = "EE1001";
    message.title = "Invalid_Argument";
    if (status / 1000 == 100 || status / 1000 == 200) {
        message.code = "EH0001";
    } else if (status / 100000 == 5) {
        message.code = "EE9999";
        message.title = "Runtime_Inner_Error";
    }
    for (const Advice &advice : kAdvice) {
        if (advice.status == status) {
            message.code = advice.code;
            message.title = advice.title;
            message.cause = advice.cause;
            message.solution = advice.solution;
        }
    }
    return message;
}

} // namespace

Call::Call(const char *name) : outer_(t_call)
{
    t_call = name;
}

Call::~Call()
{
    t_call = outer_;
}

aclError Fail(aclError code, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    t_lastError = code;
    Message message = Describe(code);
    message.text = std::string(t_call) + ": " + text + " (" + std::to_string(code) + ").";
    if (LogEnabled(LogLevel::ERROR, "RUNTIME")) {
        WriteLog(LogLevel::ERROR, "RUNTIME", message.text);
    }
    ReportMessage(std::move(message));
    return code;
}

aclError FailNull(const char *parameter)
{
    return Fail(ACL_ERROR_INVALID_PARAM, "parameter %s is NULL; it must be a valid address", parameter);
}

void MarkUsed()
{
    static std::once_flag once;
    std::call_once(once, [] {
        pthread_atfork(nullptr, nullptr, AfterForkInChild);
        g_used.store(true, std::memory_order_relaxed);
    });
}

bool IsForkedChild()
{
    return g_forkedChild.load(std::memory_order_relaxed);
}

aclError FailForked()
{
    return Fail(
        ACL_ERROR_RT_DEV_SETUP_ERROR,
        "this process was forked from one that already used the device, which a fork cannot share; start it "
        "with spawn (multiprocessing: get_context(\"spawn\")), or fork before the first use");
}

} // namespace aclemu

aclError aclrtGetLastError(aclrtLastErrLevel level)
{
    return aclemu::Api("aclrtGetLastError", [level]() -> aclError {
        if (level != ACL_RT_THREAD_LEVEL) {
            return aclemu::Fail(ACL_ERROR_INVALID_PARAM,
                                "parameter level is %d; it must be ACL_RT_THREAD_LEVEL", level);
        }
        const aclError last = aclemu::t_lastError;
        aclemu::t_lastError = ACL_SUCCESS;
        return last;
    });
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level)
{
    return aclemu::Api("aclrtPeekAtLastError", [level]() -> aclError {
        if (level != ACL_RT_THREAD_LEVEL) {
            return aclemu::Fail(ACL_ERROR_INVALID_PARAM,
                                "parameter level is %d; it must be ACL_RT_THREAD_LEVEL", level);
        }
        return aclemu::t_lastError;
    });
}
