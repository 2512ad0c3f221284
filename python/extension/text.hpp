/*
 * Text that is composed of several parts.
 */
#pragma once

#include <locale>
#include <sstream>
#include <string>

namespace trivance
{

// Unlike c10::str it does not depend on the program's global locale, which may write 1000 as "1.000".
template <typename... Parts> std::string text_of(const Parts &...parts)
{
    std::ostringstream text;
    text.imbue(std::locale::classic());
    (text << ... << parts);
    return text.str();
}

} // namespace trivance
