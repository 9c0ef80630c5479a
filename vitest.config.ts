import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['halyard-source'] },
  ssr: { resolve: { conditions: ['halyard-source', 'node'] } },
  test: {
    include: ['packages/*/src/**/*.test.{ts,tsx}', 'tests/**/*.test.ts'],
    globalSetup: ['tests/postgres.ts', 'tests/chromium.ts'],
    // Most files wait for servers, databases and browsers of their own: two at a time keep even a small machine busy.
    maxWorkers: 2,
    testTimeout: 60_000,
    // A poll ends as soon as its condition holds; the patience is for machines that are busy, and costs a quick one nothing.
    expect: { poll: { timeout: 30_000, interval: 25 } },
    hookTimeout: 60_000,
  },
})
