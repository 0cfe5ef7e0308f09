#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: check-tools.sh RELEASE MAVEN_JAVA_HOME
# Names the first tool that the build lacks, in one line, and what to install (package names are Debian's).
release=$1
maven_java_home=$2

missing() {
  echo "Missing: $1. Install it with: $2" >&2
  exit 1
}

# A JDK's `release` file says JAVA_VERSION="25.0.3"; a JRE has no javac.
is_new_enough() {
  [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
  major=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release")
  [ "${major:-0}" -ge "$release" ]
}

# The places that maven-toolchains-plugin 3.2.0 looks in (ToolchainDiscoverer.findJdks).
has_jdk() {
  [ -e "$HOME/.m2/toolchains.xml" ] && return 0
  is_new_enough "$maven_java_home" && return 0
  for home in $(env | sed -n 's/^JAVA[A-Za-z0-9_]*_HOME=//p'); do
    is_new_enough "$home" && return 0
  done
  for parent in "$HOME/.jdks" "$HOME/.m2/jdks" "$HOME/.sdkman/candidates/java" "$HOME/.gradle/jdks" \
    "$HOME/.jenv/versions" "$HOME/.jbang/cache/jdks" "$HOME/.asdf/installs/java" "$HOME/.jabba/jdk" \
    /usr/jdk /usr/java /opt/java /usr/lib/jvm; do
    for home in "$parent"/*; do
      is_new_enough "$home" && return 0
    done
  done
  return 1
}

has_jdk || missing "a JDK $release or newer (looked in JAVA_HOME, JAVA*_HOME, /usr/lib/jvm and ~/.sdkman, among others)" \
  "apt-get install temurin-$release-jdk (packages.adoptium.net), or openjdk-$release-jdk where Debian has it"
command -v cmake >/dev/null 2>&1 || missing "cmake" "apt-get install cmake"
command -v make >/dev/null 2>&1 || command -v ninja >/dev/null 2>&1 || missing "make" "apt-get install make"
if [ -n "$CXX" ]; then
  command -v "${CXX%% *}" >/dev/null 2>&1 || missing "the C++ compiler named by CXX, $CXX" "apt-get install g++, and unset CXX"
else
  command -v c++ >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 ||
    missing "a C++17 compiler" "apt-get install g++"
fi
