// Libraries are built with hidden visibility: this marks what the emulator's own libraries use of each other.
#pragma once

#define ACLEMU_API __attribute__((visibility("default")))
