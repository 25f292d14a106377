// Pending error messages of a thread and how CANN lays them out.
#pragma once

#include <string>
#include <vector>

namespace aclemu {

struct Message {
    std::string code; // "EE1001"
    std::string title; // "Invalid_Argument"
    std::string text;
    std::string time;
    std::string cause; // "" leaves the line out, as for solution
    std::string solution;
};

// As ReportError, with the lines that say why it may have happened and what to do.
void ReportMessage(Message message);

// Whether messages are of the process, not of the thread they were made in; then each names its thread.
void ShareErrors(bool share);

// The whole text for `messages` (not empty), in the layout of release 9 or, if `older`, of 8 and before.
std::string LayOut(const std::vector<Message> &messages, bool older);

// Whether messages have the form of releases before 9: ACLEMU_ERROR_FORM. Throws std::invalid_argument for others.
bool OlderErrorForm();

} // namespace aclemu
