#include "nnopbase/op_log.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "runtime/error.h"
#include "runtime/log.h"

namespace nnop {

aclnnStatus Refuse(aclnnStatus status, const char *opName, const std::string &message)
{
    static std::atomic<uint64_t> count{0};
    const char *code = "EZ9999";
    const char *title = "AclNN_Inner_Error";
    if (status / 100000 == 1) {
        code = "EZ1001";
        title = "AclNN_Parameter_Error";
    } else if (status / 100000 == 3) {
        code = "EZ9903";
        title = "AclNN_Runtime_Error";
    }
    if (aclemu::LogEnabled(aclemu::LogLevel::ERROR, "OP")) {
        aclemu::WriteLog(aclemu::LogLevel::ERROR, "OP",
                         "[NNOP][" + std::to_string(syscall(SYS_gettid)) + "] errno[" +
                             std::to_string(status) + "] OpName:[" + opName + "_" + std::to_string(count++) +
                             "] " + message);
    }
    aclemu::ReportError(code, title, message);
    return status;
}

} // namespace nnop
