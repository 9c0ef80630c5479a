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
    // Node itself loads the built program.
    server: { deps: { external: [/packages\/server\/dist\//] } },
  },
}

/**
 * Files that run the server in their own process and change nothing that belongs to the whole process. The demo sets
 * environment variables.
 */
const sharing = ['packages/*/src/**/*.test.{ts,tsx}', 'tests/{edge,security}/*.test.ts', 'tests/web/!(demo).test.ts']

export default defineConfig({
  test: {
    globalSetup: ['tests/server-bundle.mjs', 'tests/postgres.ts', 'tests/sqlite.ts', 'tests/chromium.ts'],
    // Most files wait for servers, databases and browsers of their own: two at a time keep even a small machine busy.
    maxWorkers: 2,
    // Projects run in the order of their names: the many short files of the second keep all workers busy until the end.
    projects: [
      {
        ...shared,
        test: {
          ...shared.test,
          name: 'isolated',
          include: ['tests/**/*.test.ts'],
          exclude: sharing,
        },
      },
      {
        ...shared,
        test: {
          ...shared.test,
          name: 'shared',
          include: sharing,
          // The server's modules are loaded once per worker instead of once per file.
          isolate: false,
        },
      },
    ],
  },
})
