// What the C functions of this library do around their work.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "aclnn/opdev/op_errno.h"
#include "nnopbase/op_log.h"
#include "runtime/call_log.h"
#include "runtime/error.h"

namespace nnop {

// 161001 for an argument that must not be NULL.
inline aclnnStatus RefuseNull(const char *function, const char *argument)
{
    aclemu::ReportError("EZ1011", "Invalid_Argument_Null_Pointer",
                        std::string(function) + " failed: argument " + argument + " is nullptr.");
    return ACLNN_ERR_PARAM_NULLPTR;
}

// 161002 for an object that was destroyed or is none of ours.
inline aclnnStatus RefuseStale(const char *function, const char *argument)
{
    return Refuse(ACLNN_ERR_PARAM_INVALID, function,
                  std::string(function) + " failed: argument " + argument +
                      " is not a live object of its type; it may have been destroyed.");
}

// Lets no exception out of a C function that returns a status ...
template <typename Function>
aclnnStatus Api(const char *name, Function function) noexcept
{
    try {
        aclnnStatus status = ACLNN_SUCCESS;
        try {
            status = function();
        } catch (const std::exception &error) {
            status = Refuse(ACLNN_ERR_INNER, name, std::string(name) + " failed: " + error.what());
        }
        if (aclemu::CallsLogged()) {
            aclemu::LogCall(name, status);
        }
        return status;
    } catch (...) {
        return ACLNN_ERR_INNER;
    }
}

// ... or an object, NULL on failure.
template <typename Function>
auto Make(const char *name, Function function) noexcept -> decltype(function())
{
    try {
        decltype(function()) made = nullptr;
        try {
            made = function();
        } catch (const std::exception &error) {
            Refuse(ACLNN_ERR_INNER, name, std::string(name) + " failed: " + error.what());
        }
        if (aclemu::CallsLogged()) {
            aclemu::LogCall(name, made != nullptr ? 0 : ACLNN_ERR_INNER);
        }
        return made;
    } catch (...) {
    }
    return nullptr;
}

} // namespace nnop
