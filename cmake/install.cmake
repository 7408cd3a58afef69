# A relocatable folder with a CMake package.
