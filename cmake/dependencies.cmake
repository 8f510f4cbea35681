# What the libraries stand on. The build includes this file, and so does the package configuration of
# an installed tree, so that both find the same targets under the same names.
find_package(Threads REQUIRED)
find_package(msgpack REQUIRED)
find_package(leveldb REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libzmq REQUIRED IMPORTED_TARGET libzmq>=4.3)
pkg_check_modules(libsodium REQUIRED IMPORTED_TARGET libsodium)
find_package(ZLIB REQUIRED)

# Debian's leveldb asks for -lsnappy, which its package does not bring; the shared library links it
# by itself.
set_property(TARGET leveldb::leveldb PROPERTY INTERFACE_LINK_LIBRARIES)
