// A few threads that help with launches. They start when first needed and sleep in between.
#pragma once

#include <functional>
#include <memory>

namespace ascendc {

// Something a helper may join; it must cope with being called late, or never.
using HelpRequest = std::shared_ptr<std::function<void()>>;

// Asks for `count` helpers. Returns at once; fewer may come, so nobody may depend on them.
void AskHelpers(const HelpRequest &request, unsigned count);

} // namespace ascendc
