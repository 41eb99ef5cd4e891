#!/usr/bin/env bash
# Install Debian's Chromium with its driver, where that is allowed; elsewhere say so and go on.
set -euo pipefail
there() { command -v chromedriver >/dev/null && command -v chromium >/dev/null; }
there && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  # Without a network this gives up soon, and nothing that follows fails for it.
  quick="-o Acquire::Retries=0 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20"
  export DEBIAN_FRONTEND=noninteractive
  { timeout 120 apt-get $quick update -qq &&
    timeout 600 apt-get $quick install -y -qq --no-install-recommends chromium chromium-driver; } >/dev/null 2>&1 || true
fi
there || echo "There is no Chromium with its driver, and it cannot be installed here: the browser tests are skipped."
