#!/usr/bin/env bash
# Install Debian's Chromium with its driver, where that is allowed; elsewhere say so and go on.
set -euo pipefail
if command -v chromedriver >/dev/null && command -v chromium >/dev/null; then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null || true
fi
command -v chromedriver >/dev/null || echo "There is no chromedriver: the browser tests will be skipped."
