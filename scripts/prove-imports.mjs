// `node scripts/prove-imports.mjs [--pairs 1000000] [--seed N] [--source unleash] [--sdks DIRECTORY]`: compares imported
// flags with the services' own SDKs, which are installed into the directory unless they are there.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureInstalled, root } from './prepare.mjs'
import { runBundled } from './run-bundled.mjs'

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    source: { type: 'string', default: '' },
    sdks: { type: 'string', default: join(root, '.cache', 'import-sdks') },
  },
})

/** The versions that the converters were written against. */
const versions = {
  '@launchdarkly/node-server-sdk': '9.13.7',
  'unleash-client': '6.12.1',
  '@growthbook/growthbook': '1.8.0',
  'flagsmith-nodejs': '8.1.2',
  '@openfeature/core': '1.12.0',
  '@openfeature/flagd-core': '4.0.1',
  'configcat-node': '11.4.1',
  'posthog-node': '5.67.0',
  '@flipt-io/flipt-client-js': '0.5.1',
}

await ensureInstalled('test')
const directory = resolve(values.sdks)
const missing = Object.keys(versions).filter(name => !existsSync(join(directory, 'node_modules', name)))
if (missing.length > 0) {
  mkdirSync(directory, { recursive: true })
  if (!existsSync(join(directory, 'package.json'))) {
    writeFileSync(join(directory, 'package.json'), '{ "private": true }\n')
  }
  const wanted = missing.map(name => `${name}@${versions[name]}`)
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...wanted]
  const { status } = spawnSync('npm', install, {
    cwd: directory,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
}

await runBundled('tests/imports/prove.ts', [directory, values.pairs, values.seed, values.source], {
  cwd: root,
  env: { ...process.env, NODE_ENV: 'production' },
})
