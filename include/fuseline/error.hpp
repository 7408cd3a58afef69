// The two error families: Error is the user's fault or the machine's state, InternalError is ours.
#pragma once

#include <exception>
#include <string>


namespace fuseline {

// What went wrong; the command line maps each kind to its exit code.
enum class ErrorKind {
  input,        // a file, value, shape or option that cannot be used
  device,       // a device or a library that is missing or failed
  interrupted,  // the user asked to stop
};

// Something that the user can mend. The message is one line: what, where, what to do.
class Error : public std::exception {
 public:
  explicit Error(std::string message, ErrorKind kind = ErrorKind::input);
  ~Error() override;  // out of line: one vtable and one type identity for all libraries
  const char* what() const noexcept override { return message_.c_str(); }
  ErrorKind kind() const noexcept { return kind_; }

 private:
  std::string message_;
  ErrorKind kind_;
};

// A broken invariant of Fuseline itself: what, and the source line that noticed.
class InternalError : public std::exception {
 public:
  explicit InternalError(std::string message);
  ~InternalError() override;
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

}  // namespace fuseline
