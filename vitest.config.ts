import { defineConfig } from 'vitest/config'

/** Resolution and patience that all tests share. */
export const shared = {
  resolve: { conditions: ['halyard-source'] },
  ssr: { resolve: { conditions: ['halyard-source', 'node'] } },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A poll ends as soon as its condition holds; the patience is for machines that are busy, and costs a quick one nothing.
    expect: { poll: { timeout: 30_000, interval: 25 } },
  },
}

export default defineConfig({
  test: {
    globalSetup: ['tests/postgres.ts', 'tests/sqlite.ts', 'tests/chromium.ts'],
    // Most files wait for servers, databases and browsers of their own: two at a time keep even a small machine busy.
    maxWorkers: 2,
    projects: [
      {
        ...shared,
        test: {
          ...shared.test,
          name: 'packages',
          include: ['packages/*/src/**/*.test.{ts,tsx}'],
          // The server's modules are loaded once per worker instead of once per file.
          isolate: false,
        },
      },
      { ...shared, test: { ...shared.test, name: 'system', include: ['tests/**/*.test.ts'] } },
    ],
  },
})
