// `npm run test:quick`: unit, engine and HTTP tests on SQLite only, without a browser. `npm test` runs everything.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureInstalled, root } from './prepare.mjs'

await ensureInstalled('test')
const vitest = join(root, 'node_modules', '.bin', 'vitest')
const { status } = spawnSync(vitest, ['run', '--config', 'vitest.quick.config.ts', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  shell: process.platform === 'win32',
  env: { ...process.env, TZ: 'UTC', TEST_DIALECTS: 'sqlite' },
})
process.exit(status ?? 1)
