// What the extension brings along of libraries whose shared form would load the system's C++
// library beside ours: fmt, which has no archive everywhere. A symbol that is missing here after an
// update of fmt fails the import.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template dragonbox::decimal_fp<float> dragonbox::to_decimal(float number) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double number) noexcept;
template thousands_sep_result<char> thousands_sep_impl(locale_ref locale);
template char decimal_point_impl(locale_ref locale);

}  // namespace detail
FMT_END_NAMESPACE

// yaml-cpp's archive is made for programs and wants this variable of the C library beside itself.
// False is right in every process: Python may start threads.
extern "C" __attribute__((
    visibility("hidden"))) char __libc_single_threaded;  // NOLINT(bugprone-reserved-identifier)
char __libc_single_threaded = 0;                         // NOLINT(bugprone-reserved-identifier)
