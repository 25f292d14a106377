// Data types, half precision, data buffers and what the chip is.
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/log.h"
#include "runtime/platform.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

struct aclDataBuffer {
    void *data;
    size_t size;
};

size_t aclDataTypeSize(aclDataType dataType)
{
    switch (dataType) {
        case ACL_DT_UNDEFINED:
        case ACL_STRING:
            return 0;
        case ACL_INT8:
        case ACL_UINT8:
        case ACL_BOOL:
        case ACL_INT4:
        case ACL_UINT1:
        case ACL_HIFLOAT8:
        case ACL_FLOAT8_E5M2:
        case ACL_FLOAT8_E4M3FN:
        case ACL_FLOAT8_E8M0:
            return 1;
        case ACL_FLOAT16:
        case ACL_INT16:
        case ACL_UINT16:
        case ACL_BF16:
            return 2;
        case ACL_FLOAT:
        case ACL_INT32:
        case ACL_UINT32:
        case ACL_COMPLEX32:
            return 4;
        case ACL_COMPLEX128:
            return 16;
        default:
            return 8; // the six- and four-bit floats too: CANN has no case for them
    }
}

float aclFloat16ToFloat(aclFloat16 value)
{
    // An exponent of all ones is a number like any other here, so infinity gives 65536.
    const int exponent = (value >> 10) & 0x1F;
    const int fraction = value & 0x3FF;
    const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                          : std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
    return (value & 0x8000) != 0 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value)
{
    constexpr uint32_t largest = 0x7BFF;
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    const uint32_t sign = (bits >> 16) & 0x8000;
    const uint32_t magnitude = bits & 0x7FFFFFFF;
    const int exponent = static_cast<int>(magnitude >> 23) - 112; // of the half, before subnormals
    if (exponent >= 31) {
        return static_cast<aclFloat16>(sign | largest);
    }
    if (exponent < -10) {
        return static_cast<aclFloat16>(sign);
    }
    // Round to nearest, ties to even: `shift` low bits go.
    const uint32_t fraction = (magnitude & 0x7FFFFF) | 0x800000;
    const unsigned shift = exponent > 0 ? 13 : static_cast<unsigned>(14 - exponent);
    uint32_t half = fraction >> shift;
    const uint32_t rest = fraction & ((1U << shift) - 1);
    const uint32_t tie = 1U << (shift - 1);
    half += rest > tie || (rest == tie && (half & 1) != 0) ? 1 : 0;
    if (exponent > 0) {
        half += static_cast<uint32_t>(exponent - 1) << 10; // a carry out of the fraction raises the exponent
    }
    return static_cast<aclFloat16>(sign | (half > largest ? largest : half));
}

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size)
{
    return new (std::nothrow) aclDataBuffer{data, size};
}

aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer)
{
    return Api("aclDestroyDataBuffer", [=]() -> aclError {
        if (dataBuffer == nullptr) {
            return FailNull("dataBuffer");
        }
        delete dataBuffer;
        return ACL_SUCCESS;
    });
}

aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size)
{
    return Api("aclUpdateDataBuffer", [=]() -> aclError {
        if (dataBuffer == nullptr) {
            return FailNull("dataBuffer");
        }
        *dataBuffer = {data, size};
        return ACL_SUCCESS;
    });
}

void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer)
{
    return dataBuffer != nullptr ? dataBuffer->data : nullptr;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer)
{
    return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer)
{
    return dataBuffer != nullptr ? dataBuffer->size : 0;
}

const char *aclrtGetSocName()
{
    const char *name = nullptr;
    Api("aclrtGetSocName", [&name]() -> aclError {
        name = aclemu::CurrentPlatform().soc;
        return ACL_SUCCESS;
    });
    return name;
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value)
{
    return Api("aclGetDeviceCapability", [=]() -> aclError {
        if (value == nullptr) {
            return FailNull("value");
        }
        const aclError status = aclemu::CheckDevice(deviceId);
        if (status != ACL_SUCCESS) {
            return status;
        }
        const aclemu::Platform &platform = aclemu::CurrentPlatform();
        switch (deviceInfo) {
            case ACL_DEVICE_INFO_AI_CORE_NUM:
                *value = platform.aicCores;
                return ACL_SUCCESS;
            case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
                *value = platform.aivCores;
                return ACL_SUCCESS;
            case ACL_DEVICE_INFO_L2_SIZE:
                *value = static_cast<int64_t>(platform.l2Size);
                return ACL_SUCCESS;
            default:
                return Fail(ACL_ERROR_INVALID_PARAM, "parameter deviceInfo is %d; it must be from %d to %d",
                            deviceInfo, ACL_DEVICE_INFO_AI_CORE_NUM, ACL_DEVICE_INFO_L2_SIZE);
        }
    });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value)
{
    return Api("aclrtGetDeviceInfo", [=]() -> aclError {
        if (value == nullptr) {
            return FailNull("value");
        }
        const aclError status = aclemu::CheckDevice(deviceId);
        if (status != ACL_SUCCESS) {
            return status;
        }
        const aclemu::Platform &platform = aclemu::CurrentPlatform();
        switch (attr) {
            case ACL_DEV_ATTR_AICORE_CORE_NUM:
            case ACL_DEV_ATTR_CUBE_CORE_NUM:
                *value = platform.aicCores;
                return ACL_SUCCESS;
            case ACL_DEV_ATTR_VECTOR_CORE_NUM:
                *value = platform.aivCores;
                return ACL_SUCCESS;
            case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
                *value = static_cast<int64_t>(platform.ubSize);
                return ACL_SUCCESS;
            case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
                *value = static_cast<int64_t>(aclemu::DeviceMemorySize());
                return ACL_SUCCESS;
            case ACL_DEV_ATTR_L2_CACHE_SIZE:
                *value = static_cast<int64_t>(platform.l2Size);
                return ACL_SUCCESS;
            case ACL_DEV_ATTR_PHY_CHIP_ID:
                *value = deviceId;
                return ACL_SUCCESS;
            case ACL_DEV_ATTR_IS_VIRTUAL:
                *value = 0;
                return ACL_SUCCESS;
            case ACL_DEV_ATTR_NPU_ARCH:
                *value = platform.npuArch;
                return ACL_SUCCESS;
            default:
                return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the emulator has no value for attribute %d",
                            attr);
        }
    });
}

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt, ...)
{
    const auto level = static_cast<aclemu::LogLevel>(logLevel);
    if (logLevel < ACL_DEBUG || logLevel > ACL_ERROR || fmt == nullptr || !aclemu::LogEnabled(level, "APP")) {
        return;
    }
    char text[1024];
    va_list arguments;
    va_start(arguments, fmt);
    std::vsnprintf(text, sizeof(text), fmt, arguments);
    va_end(arguments);
    const char *slash = file != nullptr ? std::strrchr(file, '/') : nullptr;
    const char *name = slash != nullptr ? slash + 1 : (file != nullptr ? file : "");
    aclemu::WriteLog(level, "APP",
                     std::string("[") + name + ":" + std::to_string(line) + "] " +
                         (func != nullptr ? func : "") + ": " + text);
}
