# What the libraries stand on. The build includes this file, and so does the package configuration of an
# installed tree, so that both find the same targets under the same names.
find_package(Threads REQUIRED)
find_package(msgpack REQUIRED)
find_package(leveldb REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libzmq REQUIRED IMPORTED_TARGET libzmq>=4.3)
pkg_check_modules(libsodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
